package connect

import (
	"context"
	"sync"
	"time"
)

// execGranter keeps the credential of a program until it expires or is refused. However many
// requests ask at once, the program runs once, and all of them get its credential or its error.
type execGranter struct {
	run func(ctx context.Context) (*grant, error)
	now func() time.Time

	mu      sync.Mutex
	current *grant // nil: none yet
	flight  *flight
	runs    int
}

// flight is one run of the program.
type flight struct {
	done    chan struct{} // closed when g and err are set
	g       *grant
	err     error
	waiting int
	cancel  context.CancelFunc
}

func newExecGranter(p *plugin, e *endpoint, o opener) *execGranter {
	return &execGranter{
		run: func(ctx context.Context) (*grant, error) { return p.run(ctx, e, o.execTimeout) },
		now: time.Now,
	}
}

func (x *execGranter) renews() bool { return true }

func (x *execGranter) grant(ctx context.Context, refused *grant) (*grant, error) {
	x.mu.Lock()
	if x.usable(refused) {
		defer x.mu.Unlock()
		return x.current, nil
	}
	f := x.join(ctx)
	x.mu.Unlock()
	select {
	case <-f.done:
		return f.g, f.err
	case <-ctx.Done():
		x.leave(f)
		return nil, ctx.Err()
	}
}

// usable: there is a credential, it has not expired, and it is newer than the refused one. The
// last makes 30 requests that were refused together run the program once.
func (x *execGranter) usable(refused *grant) bool {
	if x.current == nil || (refused != nil && x.current.generation <= refused.generation) {
		return false
	}
	return x.current.expires.IsZero() || x.now().Before(x.current.expires)
}

func (x *execGranter) join(ctx context.Context) *flight {
	if x.flight != nil {
		x.flight.waiting++
		return x.flight
	}
	x.runs++
	// The run belongs to all who wait for it: it ends when the last of them has gone.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), waiting: 1, cancel: cancel}
	x.flight = f
	go x.fly(running, f, x.runs)
	return f
}

func (x *execGranter) fly(ctx context.Context, f *flight, generation int) {
	g, err := x.run(ctx)
	f.cancel()
	x.mu.Lock()
	defer x.mu.Unlock()
	if g != nil {
		g.generation = generation
	}
	f.g, f.err = g, err
	if x.flight == f {
		x.flight = nil
		if err == nil {
			x.current = g
		}
	}
	close(f.done)
}

func (x *execGranter) leave(f *flight) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if x.flight == f {
			x.flight = nil // whoever comes next does not get the cancelled run
		}
	}
}
