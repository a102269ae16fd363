package secretsmanagerstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// race lets writers publish from one read at once, and returns the index of the one that won.
func race(t *testing.T, stores []*Store, read wireshare.Version, round int) int {
	t.Helper()
	var wait sync.WaitGroup
	start := make(chan struct{})
	results := make([]error, len(stores))
	for i, store := range stores {
		wait.Go(func() {
			<-start
			results[i] = store.SwapAuthority(t.Context(), document(fmt.Sprintf("%d-%d", round, i)),
				read)
		})
	}
	close(start)
	wait.Wait()
	winner := -1
	for i, err := range results {
		switch {
		case err == nil && winner >= 0:
			t.Fatalf("round %d: writers %d and %d both won", round, winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, wireshare.ErrChanged):
			t.Fatalf("round %d: writer %d: %v", round, i, err)
		}
	}
	if winner < 0 {
		t.Fatalf("round %d: nobody won", round)
	}
	return winner
}

func TestOfEightWritersExactlyOneWinsEachRound(t *testing.T) {
	const writers = 8
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	b := newBench(t)
	// Straight to the server: it is the race that counts, and the proxy costs time.
	stores := make([]*Store, writers)
	for i := range stores {
		stores[i] = New(clientOf(t, server.URL, region),
			Config{SecretID: b.name, Region: region, Sleep: b.sleep})
	}
	seen := map[wireshare.Version]bool{}
	read := wireshare.Version("")
	for round := range rounds {
		winner := race(t, stores, read, round)
		body, version, err := stores[0].ReadAuthority(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if string(body) != string(document(fmt.Sprintf("%d-%d", round, winner))) || seen[version] {
			t.Fatalf("round %d: another document than writer %d's is published", round, winner)
		}
		if b.holder(t, pendingStage) != "" {
			t.Fatalf("round %d: the pending stage stays", round)
		}
		seen[version] = true
		read = version
	}
	// No version of a winner is lost.
	versions := b.versions(t)
	for version := range seen {
		if _, kept := versions[string(version)]; !kept {
			t.Errorf("version %s is gone", version)
		}
	}
}

func TestOfEightWritersIntoAnEmptySecretOneWins(t *testing.T) {
	for round := range 5 {
		b := newBench(t)
		emptySecret(t, b)
		stores := make([]*Store, 8)
		for i := range stores {
			stores[i] = New(clientOf(t, server.URL, region),
				Config{SecretID: b.name, Region: region, Sleep: b.sleep})
		}
		winner := race(t, stores, "", round)
		if b.current(t) != string(document(fmt.Sprintf("%d-%d", round, winner))) ||
			b.holder(t, pendingStage) != "" {
			t.Errorf("round %d: %v", round, b.versions(t))
		}
	}
}

func TestCreatingTheNameIsLostToAnotherWriter(t *testing.T) {
	for _, empty := range []bool{true, false} {
		b := newBench(t)
		store := b.store(t)
		b.proxy.Inject(moto.Fault{Operation: "CreateSecret", Times: 1,
			Act: func(x *moto.Exchange) moto.Answer {
				if empty {
					emptySecret(t, b)
				} else {
					publish(t, New(b.direct, Config{SecretID: b.name}), document("W"))
				}
				return x.Forward()
			}})
		err := store.SwapAuthority(t.Context(), document("L"), "")
		want := "W"
		if empty {
			want = "L"
		}
		if empty != (err == nil) || !empty && !errors.Is(err, wireshare.ErrChanged) ||
			b.current(t) != string(document(want)) {
			t.Errorf("empty %v: %v", empty, err)
		}
	}
}

// T8: interrupted while the server holds the call that counts.
func TestAnInterruptReturnsSoonAndTheNextRunConverges(t *testing.T) {
	for _, operation := range []string{
		"CreateSecret", "PutSecretValue", "UpdateSecretVersionStage",
	} {
		t.Run(operation, func(t *testing.T) {
			b := newBench(t)
			store := b.store(t)
			read := wireshare.Version("")
			if operation != "CreateSecret" {
				read = publish(t, store, document("A"))
			}
			reached, release := make(chan struct{}), make(chan struct{})
			b.proxy.Inject(moto.HoldThenCommit(operation, reached, release))
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() { result <- store.SwapAuthority(ctx, document("B"), read) }()
			<-reached
			cancel()
			select {
			case err := <-result:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("still running")
			}
			close(release)
			waitFor(t, func() bool {
				described, err := b.direct.DescribeSecret(t.Context(),
					&secretsmanager.DescribeSecretInput{SecretId: &b.name})
				return err == nil && len(described.VersionIdsToStages) > 0 &&
					(read == "" || len(described.VersionIdsToStages) == 2)
			})
			publish(t, store, document("C"))
			if b.current(t) != string(document("C")) || b.holder(t, pendingStage) != "" {
				t.Errorf("stages: %v", b.versions(t))
			}
		})
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it never happened")
}

// The call took effect at once and the interrupt only hid its answer: that is a success.
func TestAnInterruptAfterTheMoveIsSettled(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	ctx, cancel := context.WithCancel(t.Context())
	b.proxy.Inject(moto.Fault{Operation: "UpdateSecretVersionStage", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			answer := x.Forward()
			cancel()
			<-x.Context.Done()
			return answer
		}})
	err := store.SwapAuthority(ctx, document("B"), read)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b.current(t) != string(document("B")) || b.holder(t, pendingStage) != "" {
		t.Errorf("stages: %v", b.versions(t))
	}
}

// serviceStages answers as the service does where moto fails: it moves AWSCURRENT without a
// version to take it from when no version carries it.
type serviceStages struct {
	API
	moved atomic.Int64
	input *secretsmanager.UpdateSecretVersionStageInput
}

func (s *serviceStages) UpdateSecretVersionStage(ctx context.Context,
	input *secretsmanager.UpdateSecretVersionStageInput, options ...func(*secretsmanager.Options),
) (*secretsmanager.UpdateSecretVersionStageOutput, error) {
	if *input.VersionStage != currentStage {
		return s.API.UpdateSecretVersionStage(ctx, input, options...)
	}
	s.input = input
	s.moved.Add(1)
	return &secretsmanager.UpdateSecretVersionStageOutput{}, nil
}

func (s *serviceStages) GetSecretValue(ctx context.Context,
	input *secretsmanager.GetSecretValueInput, options ...func(*secretsmanager.Options),
) (*secretsmanager.GetSecretValueOutput, error) {
	if s.moved.Load() == 0 {
		return s.API.GetSecretValue(ctx, input, options...)
	}
	return s.API.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{
		SecretId: input.SecretId, VersionId: s.input.MoveToVersionId,
	}, options...)
}

// S3: the pending version of somebody's rotation is untouched.
func TestPublishingBesideAPendingVersionLeavesItAlone(t *testing.T) {
	b := newBench(t)
	pending := pendingOnly(t, b)
	api := &serviceStages{API: clientOf(t, b.proxy.URL, region)}
	store := New(api, Config{SecretID: b.name, Sleep: b.sleep})
	if err := store.SwapAuthority(t.Context(), document("B"), ""); err != nil {
		t.Fatal(err)
	}
	if api.moved.Load() != 1 || api.input.RemoveFromVersionId != nil {
		t.Errorf("moves %d, from %v", api.moved.Load(), api.input.RemoveFromVersionId)
	}
	if b.holder(t, "AWSPENDING") != pending || b.holder(t, pendingStage) != "" {
		t.Errorf("stages: %v", b.versions(t))
	}
	wantCalls(t, b, "DescribeSecret", "PutSecretValue", "UpdateSecretVersionStage",
		"GetSecretValue")
}
