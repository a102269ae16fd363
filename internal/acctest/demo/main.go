// Command demo shows the provider at work: the provider of this tree, the real Terraform and a real
// Kubernetes API server, in a scratch directory. Every step says what it does, checks that it showed
// what it should, and the first that did not ends the demo with exit code 1. What it started and
// wrote is gone afterwards, also after an interrupt.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// exitInterrupted is what shells report for a program that an interrupt ended.
const exitInterrupted = 130

// parts run in this order: those that need no cluster first, while its programs are being built.
var parts = []part{
	{"The authority of a fleet: billet_wire_authority", authority},
	{"The gossip keys of an Antrea cluster: billet_memberlist_secret", memberlist},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demo(ctx, os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted:
		fmt.Println("\nInterrupted. What the demo started has ended, and what it wrote is removed.")
		os.Exit(exitInterrupted)
	case err != nil:
		fmt.Printf("\nThe demo failed: %s\n", err)
		os.Exit(1)
	}
	fmt.Println("\nEach step showed what it should.")
}

func demo(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	scratch, err := os.MkdirTemp("", "billet-demo-")
	if err != nil {
		cancel()
		return err
	}
	background := startCluster(ctx, os.Stderr)
	defer func() {
		cancel()
		err = errors.Join(err, background.stop(), os.RemoveAll(scratch))
	}()
	fmt.Fprintf(out, "Building the provider. Terraform works in %s.\n", scratch)
	mirror, err := acctest.BuildProvider(ctx)
	if err != nil {
		return err
	}
	for i, part := range parts {
		fmt.Fprintf(out, "\n=== %s ===\n", part.title)
		s := &stage{ctx: ctx, out: out, mirror: mirror, cluster: background.wait,
			directory: filepath.Join(scratch, fmt.Sprintf("part-%d", i+1))}
		if err := os.Mkdir(s.directory, 0o700); err != nil {
			return err
		}
		if err := part.play(s); err != nil {
			return err
		}
	}
	return nil
}
