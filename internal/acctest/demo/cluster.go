package main

import (
	"context"
	"io"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// background is the control plane, built and started while other things go on.
type background struct {
	done    chan struct{}
	cluster *acctest.Cluster
	err     error
}

func startCluster(ctx context.Context, progress io.Writer) *background {
	b := &background{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		if b.err = acctest.BuildControlPlane(ctx, progress); b.err != nil {
			return
		}
		if b.err = ctx.Err(); b.err == nil {
			b.cluster, b.err = acctest.StartCluster()
		}
	}()
	return b
}

func (b *background) wait(ctx context.Context) (*acctest.Cluster, error) {
	select {
	case <-b.done:
		return b.cluster, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stop ends what was started. A start under way is waited for, else its programs would stay.
func (b *background) stop() error {
	<-b.done
	if b.cluster == nil {
		return nil
	}
	return b.cluster.Stop()
}
