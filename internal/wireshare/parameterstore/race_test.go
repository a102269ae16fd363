package parameterstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// The first publish is guarded by the service.
func TestOfEightFirstWritersExactlyOneWins(t *testing.T) {
	for round := range 10 {
		b := newBench(t)
		var wait sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wait.Go(func() {
				results[i] = b.other().SwapAuthority(t.Context(),
					document(fmt.Sprintf("%d-%d", round, i)), "")
			})
		}
		wait.Wait()
		winner := -1
		for i, err := range results {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("writers %d and %d both won", winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, wireshare.ErrChanged):
				t.Fatalf("writer %d: %v", i, err)
			}
		}
		if winner < 0 {
			t.Fatal("nobody won")
		}
		wantHistory(t, b, document(fmt.Sprintf("%d-%d", round, winner)))
	}
}

// T8
func TestAnInterruptReturnsSoonAndTheNextRunConverges(t *testing.T) {
	for _, first := range []bool{true, false} {
		b := newBench(t)
		store := b.store(t)
		read, versions := wireshare.Version(""), 1
		if !first {
			read, versions = publish(t, store, document("A")), 2
		}
		reached, release := make(chan struct{}), make(chan struct{})
		b.proxy.Inject(moto.HoldThenCommit("PutParameter", reached, release))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- store.SwapAuthority(ctx, document("B"), read) }()
		<-reached
		cancel()
		select {
		case err := <-result:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("first %v: %v", first, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("still running")
		}
		close(release)
		for deadline := time.Now().Add(10 * time.Second); len(b.history(t)) != versions; {
			if time.Now().After(deadline) {
				t.Fatal("the server never committed")
			}
			time.Sleep(5 * time.Millisecond)
		}
		body, err := store.GetAuthority(t.Context())
		if err != nil || string(body) != string(document("B")) {
			t.Errorf("next run: %v", err)
		}
	}
}
