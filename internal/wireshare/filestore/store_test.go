package filestore_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStore(t *testing.T, options ...filestore.Option) (*filestore.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "authority with spaces.json")
	return filestore.New(path, options...), path
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func TestReadingAnAbsentFileCreatesNothing(t *testing.T) {
	store, path := newStore(t)
	body, version, err := store.ReadAuthority(t.Context())
	if !errors.Is(err, wireshare.ErrNoAuthority) || body != nil || version != "" {
		t.Errorf("%q, %q, %v", body, version, err)
	}
	if got := names(t, filepath.Dir(path)); got != "" {
		t.Errorf("reading made %s", got)
	}
}

func TestASwapReplacesOnlyWhatWasRead(t *testing.T) {
	store, path := newStore(t)
	must(t, store.SwapAuthority(t.Context(), []byte("one"), ""))
	if err := store.SwapAuthority(t.Context(), []byte("two"), ""); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("a second first publish: %v", err)
	}
	body, version, err := store.ReadAuthority(t.Context())
	if err != nil || string(body) != "one" || version == "" {
		t.Fatalf("%q, %q, %v", body, version, err)
	}
	must(t, store.SwapAuthority(t.Context(), []byte("two"), version))
	if err := store.SwapAuthority(t.Context(), []byte("three"), version); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("a swap of what is no longer there: %v", err)
	}
	if got := read(t, path); got != "two" {
		t.Errorf("it holds %q", got)
	}
	if got := names(t, filepath.Dir(path)); got != filepath.Base(path)+" "+
		filepath.Base(path)+".lock" {
		t.Errorf("the directory holds %s", got)
	}
}

func TestAPutReplacesWhateverIsThere(t *testing.T) {
	store, path := newStore(t)
	for _, body := range []string{"one", "two", "two"} {
		must(t, store.PutAuthority(t.Context(), []byte(body)))
		if got := read(t, path); got != body {
			t.Errorf("it holds %q, want %q", got, body)
		}
	}
}

func TestOfManyWritersOneWins(t *testing.T) {
	store, path := newStore(t)
	must(t, store.PutAuthority(t.Context(), []byte("start")))
	_, version, err := store.ReadAuthority(t.Context())
	must(t, err)
	wins := make(chan string, 20)
	var all sync.WaitGroup
	for i := range cap(wins) {
		all.Go(func() {
			body := strings.Repeat("x", i+1)
			err := filestore.New(path).SwapAuthority(t.Context(), []byte(body), version)
			if err == nil {
				wins <- body
			} else if !errors.Is(err, wireshare.ErrChanged) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(wins)
	if len(wins) != 1 {
		t.Fatalf("%d writers won", len(wins))
	}
	if winner := <-wins; read(t, path) != winner {
		t.Error("the file is not the winner's")
	}
}

// A reader beside writers finds one whole document or the other, and no error.
func TestReadersNeverSeeAPartOfAFile(t *testing.T) {
	store, _ := newStore(t)
	bodies := []string{strings.Repeat("a", 20_000), strings.Repeat("b", 10_000)}
	must(t, store.PutAuthority(t.Context(), []byte(bodies[0])))
	ctx, cancel := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := store.PutAuthority(context.Background(), []byte(bodies[i%2])); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 5000 {
		body, err := store.GetAuthority(t.Context())
		must(t, err)
		if string(body) != bodies[0] && string(body) != bodies[1] {
			t.Fatalf("a part of a file: %d bytes", len(body))
		}
	}
	cancel()
	writer.Wait()
}

func TestDeleteRemovesOnlyWhatWasReadAndKeepsTheLock(t *testing.T) {
	store, path := newStore(t)
	must(t, store.PutAuthority(t.Context(), []byte("one")))
	_, version, err := store.ReadAuthority(t.Context())
	must(t, err)
	must(t, store.PutAuthority(t.Context(), []byte("two")))
	if err := store.Delete(t.Context(), version); !errors.Is(err, wireshare.ErrChanged) {
		t.Errorf("deleting what is no longer there: %v", err)
	}
	_, version, err = store.ReadAuthority(t.Context())
	must(t, err)
	for range 2 { // the second time it is gone already
		must(t, store.Delete(t.Context(), version))
		if got := names(t, filepath.Dir(path)); got != filepath.Base(path)+".lock" {
			t.Errorf("the directory holds %s", got)
		}
	}
}

// A directory that is not there may be a disk that is not mounted: it is not "nothing published".
func TestAMissingDirectoryIsAnErrorAndIsNotMade(t *testing.T) {
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	for _, path := range []string{
		filepath.Join(root, "missing", "a"), filepath.Join(root, "file", "a"),
	} {
		store := filestore.New(path)
		_, err := store.GetAuthority(t.Context())
		errSwap := store.SwapAuthority(t.Context(), []byte("x"), "")
		errPut := store.PutAuthority(t.Context(), []byte("x"))
		errDelete := store.Delete(t.Context(), "")
		for _, err := range []error{err, errSwap, errPut, errDelete} {
			if err == nil || errors.Is(err, wireshare.ErrNoAuthority) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	_, err := filestore.New(filepath.Join(root, "missing", "a")).GetAuthority(t.Context())
	if !errors.Is(err, filestore.ErrNoParent) {
		t.Errorf("error %v", err)
	}
	if got := names(t, root); got != "file" {
		t.Errorf("the directory holds %s", got)
	}
}

func TestAFileOfMoreThanOneMiBIsNeitherReadNorWritten(t *testing.T) {
	store, path := newStore(t)
	limit := bytes.Repeat([]byte("x"), safefile.MaxSize)
	must(t, store.PutAuthority(t.Context(), limit))
	_, err := store.GetAuthority(t.Context())
	must(t, err)
	if err := store.PutAuthority(t.Context(), append(limit, 'x')); !errors.Is(err,
		safefile.ErrTooLarge) {
		t.Errorf("written: %v", err)
	}
	if got := read(t, path); got != string(limit) {
		t.Errorf("the refused document replaced the old one: %d bytes", len(got))
	}
	must(t, os.WriteFile(path, append(limit, 'x'), 0o600))
	if _, err := store.GetAuthority(t.Context()); !errors.Is(err, safefile.ErrTooLarge) {
		t.Errorf("read: %v", err)
	}
}

func TestALockThatSomebodyHoldsIsWaitedForABoundedTime(t *testing.T) {
	store, path := newStore(t, filestore.WithLockWait(30*time.Millisecond))
	lock, err := safefile.LockFile(t.Context(), path+".lock", 0)
	must(t, err)
	if err := store.PutAuthority(t.Context(), []byte("x")); !errors.Is(err, safefile.ErrLockBusy) {
		t.Errorf("error %v", err)
	}
	if _, err := store.GetAuthority(t.Context()); !errors.Is(err, wireshare.ErrNoAuthority) {
		t.Errorf("a reader waits for the lock: %v", err)
	}
	must(t, lock.Release())
	must(t, store.PutAuthority(t.Context(), []byte("x")))
}

func TestACancelledCallWritesNothing(t *testing.T) {
	store, path := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.GetAuthority(ctx)
	for _, err := range []error{err, store.PutAuthority(ctx, []byte("x")),
		store.SwapAuthority(ctx, []byte("x"), ""), store.Delete(ctx, "")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file was written")
	}
}

// A step that fails leaves what was published, and the next publish is not in its way.
func TestAFailureAtAnyStepKeepsTheOldFile(t *testing.T) {
	failure := errors.New("no space left")
	for at := 1; ; at++ {
		count := 0
		store, path := newStore(t, filestore.WithSteps(func(string) error {
			if count++; count == at {
				return failure
			}
			return nil
		}))
		must(t, os.WriteFile(path, []byte("old"), 0o600))
		err := store.PutAuthority(t.Context(), []byte("new"))
		if err == nil {
			if at < 4 {
				t.Errorf("only %d steps", at-1)
			}
			return
		}
		if got := read(t, path); !errors.Is(err, failure) || got != "old" && got != "new" {
			t.Errorf("step %d: %v, it holds %q", at, err, got)
		}
		must(t, filestore.New(path).PutAuthority(t.Context(), []byte("next")))
		if got := names(t, filepath.Dir(path)); strings.Contains(got, ".new") {
			t.Errorf("step %d leaves %s", at, got)
		}
	}
}
