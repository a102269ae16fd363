package wireshare_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

// seal makes a tree read-only for as long as the test runs.
func seal(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
}

// Looking creates nothing where nothing was, and changes nothing where something is.
func TestObservingWritesNothing(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	root := t.TempDir()
	dir, path := filepath.Join(root, "state"), filepath.Join(root, "published")
	store := filestore.New(path)
	o, err := wireshare.Observe(t.Context(), store, dir, deployment)
	must(t, err)
	if o.Local.State != wireshare.Absent || o.Published.State != wireshare.Absent {
		t.Errorf("nothing reads as %s and %s", o.Local.State, o.Published.State)
	}
	sameTree(t, nil, tree(t, root))
	must(t, wirecerttest.Write(dir, a.Files()))
	must(t, os.WriteFile(path, encode(t, a), 0o600))
	for _, d := range []string{filepath.Join(dir, "ca"), dir, root} {
		seal(t, d)
	}
	before := tree(t, root)
	o, err = wireshare.Observe(t.Context(), store, dir, deployment)
	must(t, err)
	if o.Local.Info != a.Info() || o.Published.Info != a.Info() {
		t.Error("the two sides are not what is there")
	}
	sameTree(t, before, tree(t, root))
	if _, err := os.Lstat(wirecert.LockPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("observing made the lock")
	}
}

// T6: the observation goes into private state, which anybody with the state can read.
func TestAnObservationHoldsNoKey(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	dir, store := install(t, a), &memory{body: encode(t, a)}
	o, err := wireshare.Observe(t.Context(), store, dir, deployment)
	must(t, err)
	text, err := json.Marshal(o)
	must(t, err)
	noContent(t, string(text), a)
	want := string(a.Files()[wirecert.CertificateName]) +
		string(a.Files()[wirecert.PreviousCertificateName])
	if o.Local.Info.TrustBundlePEM != want || o.Published.Info.TrustBundlePEM != want {
		t.Error("the trust bundle is not both certificates")
	}
	if o.Local.Info.Replaces != old.Fingerprint || !o.Local.Marker || o.Published.Marker {
		t.Errorf("claims %q, markers %v and %v", o.Local.Info.Replaces, o.Local.Marker,
			o.Published.Marker)
	}
}

// K1, C11: what could not be read is never "nothing there".
func TestWhatCannotBeReadIsNotAbsent(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	dir := install(t, a)
	must(t, os.Chmod(wirecert.Path(dir, wirecert.KeyName), 0o644))
	store := filestore.New(filepath.Join(t.TempDir(), "missing", "published"))
	o, err := wireshare.Observe(t.Context(), store, dir, deployment)
	must(t, err)
	if !errors.Is(o.Local.Err(), wirecert.ErrKeyExposed) || o.Local.State != wireshare.Unreadable {
		t.Errorf("the host is %s: %v", o.Local.State, o.Local.Err())
	}
	if !errors.Is(o.Published.Err(), filestore.ErrNoParent) ||
		o.Published.State != wireshare.Unreadable {
		t.Errorf("the store is %s: %v", o.Published.State, o.Published.Err())
	}
	text, err := json.Marshal(o)
	must(t, err)
	var back wireshare.Observation
	must(t, json.Unmarshal(text, &back))
	if back.Local.Err() == nil || back.Local.Err().Error() != o.Local.Err().Error() {
		t.Errorf("after JSON the reason is %v", back.Local.Err())
	}
}

func TestACancelledLookIsAnErrorAndNoObservation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir, store := t.TempDir(), &memory{}
	_, err := wireshare.Observe(ctx, store, dir, deployment)
	_, errLocal := wireshare.ObserveLocal(ctx, dir, deployment)
	_, errPublished := wireshare.ObservePublished(ctx, store, deployment)
	for _, err := range []error{err, errLocal, errPublished} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := wireshare.Observe(t.Context(), store, dir, "x"); !errors.Is(err,
		wirecert.ErrDeployment) {
		t.Errorf("an impossible deployment: %v", err)
	}
}

// Each look reads the store once: stores are billed and throttled by the call.
func TestOneLookReadsTheStoreOnce(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	store := &memory{body: encode(t, a)}
	_, err := wireshare.Observe(t.Context(), store, install(t, a), deployment)
	must(t, err)
	if store.reads != 1 || store.puts != 0 {
		t.Errorf("%d reads, %d puts", store.reads, store.puts)
	}
	side, err := wireshare.ObservePublished(t.Context(), store, deployment)
	must(t, err)
	if side.Info != a.Info() || !side.PublishedAt.Equal(
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("published %+v", side)
	}
}

// C14: plans beside a loop that rotates and retires see whole generations, and nothing else.
func TestPlansBesideAWriterSeeWholeGenerations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := wirecerttest.Mint(dir, wirecerttest.Options{})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, _, err := wirecerttest.Rotate(context.Background(), dir, deployment); err != nil {
				done <- err
				return
			}
			if err := wirecerttest.Retire(context.Background(), dir); err != nil {
				done <- err
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
		done <- nil
	}()
	store := &memory{body: encode(t, whole(t, first, nil))}
	generations := map[string]bool{}
	for range 200 {
		o, err := wireshare.Observe(ctx, store, dir, deployment)
		must(t, err)
		if err := o.Local.Err(); err != nil && !errors.Is(err, wirecert.ErrChanging) {
			t.Fatalf("a writer at work reads as %v", err)
		}
		generations[o.Local.Info.Fingerprint] = true
		if p := o.Local.Info.PreviousFingerprint; p != "" && p != o.Local.Info.Replaces {
			t.Fatalf("a pair of two generations: %s beside %s", p, o.Local.Info.Fingerprint)
		}
	}
	cancel()
	must(t, <-done)
	if len(generations) < 3 {
		t.Errorf("only %d generations: the writer did not run beside the plans", len(generations))
	}
}
