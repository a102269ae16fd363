//go:build unix

package wireshare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

// crash is one apply that is killed before each of its steps in turn.
type crash struct {
	name string
	// local and published are what the two sides hold before it; nil for nothing.
	local, published *wirecert.Authority
	// consent builds the settings from those two.
	consent func(local, published string) wireshare.Settings
	// want is the one fingerprint that may be left in the end; empty if it is minted.
	want string
}

// crashes covers each path that writes.
func crashes(t *testing.T) []crash {
	t.Helper()
	one := newAuthority(t, wirecerttest.Options{}, nil)
	two := newAuthority(t, wirecerttest.Options{}, nil)
	old, err := wirecerttest.NewPair(wirecerttest.Options{})
	must(t, err)
	rotated := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	none := func(_, _ string) wireshare.Settings { return wireshare.Settings{} }
	return []crash{
		{"mint", nil, nil, func(_, _ string) wireshare.Settings {
			return wireshare.Settings{MintIfAbsent: true}
		}, ""},
		{"adopt", nil, one, none, one.Info().Fingerprint},
		{"adopt a rotation", nil, rotated, none, rotated.Info().Fingerprint},
		{"replace the local one", one, rotated, func(local, _ string) wireshare.Settings {
			return wireshare.Settings{AllowReplacingLocal: local}
		}, rotated.Info().Fingerprint},
		{"publish", one, nil, none, one.Info().Fingerprint},
		{"replace the published one", one, two, func(_, published string) wireshare.Settings {
			return wireshare.Settings{AllowReplacingPublished: published}
		}, one.Info().Fingerprint},
	}
}

// T8, B1: kill -9 before every single change on disk, of the engine, the writer and the file store
// alike. The next run finishes, the lock is free, no key is lost, and there is one authority.
func TestKilledAtAnyStepTheNextRunFinishes(t *testing.T) {
	t.Parallel()
	for _, c := range crashes(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				if at > 100 {
					t.Fatal("more steps than any path has")
				}
				if !killedAt(t, c, at) {
					if at < 5 {
						t.Fatalf("only %d steps: the kills did not reach the writes", at)
					}
					return
				}
			}
		})
	}
}

// killedAt kills one run before step number at, and says whether the run got that far.
func killedAt(t *testing.T, c crash, at int) bool {
	t.Helper()
	dir := t.TempDir()
	stateDir, path := filepath.Join(dir, "state"), filepath.Join(dir, "published")
	settings := prepare(t, c, stateDir, path)
	before := privateKeys(t, dir)
	step, killed := runKilled(t, stateDir, path, settings, at)
	if !killed {
		return false
	}
	where := fmt.Sprintf("killed before step %d (%s)", at, step)
	lock, err := wirecert.Lock(t.Context(), stateDir, 0)
	if err != nil {
		t.Fatalf("%s: the lock is not free: %v", where, err)
	}
	must(t, lock.Release())
	state, err := wirecert.Read(stateDir, wirecerttest.Deployment)
	if err != nil {
		t.Fatalf("%s: the directory does not read: %v", where, err)
	}
	published := onlyPublished(t, path, where)
	wants := map[string]bool{}
	for _, a := range []*wirecert.Authority{c.local, c.published, published} {
		if a != nil {
			wants[a.Info().Fingerprint] = true
		}
	}
	if a := state.Authority; a != nil && !wants[a.Info().Fingerprint] {
		t.Fatalf("%s: a second authority: %s", where, a)
	}
	keysKept(t, dir, before, where)
	// The observer waits a while for what may be the middle of a write: not at each step.
	finish(t, c, stateDir, path, settings, published, at%5 == 1, where)
	keysKept(t, dir, before, where)
	return true
}

// finish runs the next apply, after a plan if there is to be one, and looks at where that leads.
func finish(
	t *testing.T, c crash, stateDir, path string, s wireshare.Settings,
	published *wirecert.Authority, plan bool, where string,
) {
	t.Helper()
	store := filestore.New(path)
	request := wireshare.Request{Settings: s}
	if plan {
		o, err := wireshare.Observe(t.Context(), store, stateDir, wirecerttest.Deployment)
		must(t, err)
		d, err := wireshare.Decide(o, "", s, time.Now())
		if err != nil {
			t.Fatalf("%s: the next plan refuses: %v", where, err)
		}
		request.Reviewed = &wireshare.Reviewed{
			Action: d.Action, Fingerprint: d.Fingerprint, Observation: &o,
		}
	}
	res, err := wireshare.NewEngine(store, stateDir, wirecerttest.Deployment).Apply(t.Context(),
		request)
	if err != nil {
		t.Fatalf("%s: the next apply fails: %v", where, err)
	}
	want := c.want
	if want == "" && published != nil {
		want = published.Info().Fingerprint // minted before the kill, and in the store
	}
	state, err := wirecert.Read(stateDir, wirecerttest.Deployment)
	must(t, err)
	final := onlyPublished(t, path, where)
	if want != "" && res.Fingerprint != want {
		t.Errorf("%s: ended with %s, want %s", where, res.Fingerprint, want)
	}
	if !state.Authority.Files().Equal(final.Files()) {
		t.Errorf("%s: the two sides differ in the end", where)
	}
	for _, temp := range []string{"ca.installing", "authority-created.new"} {
		if _, err := os.Lstat(filepath.Join(stateDir, temp)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s is left in the end", where, temp)
		}
	}
	if _, err := os.Lstat(path + ".new"); !errors.Is(err, fs.ErrNotExist) && res.Outcome ==
		wireshare.OutcomePublished {
		t.Errorf("%s: the store's temporary file is left in the end", where)
	}
}

// prepare writes what the two sides hold before the run.
func prepare(t *testing.T, c crash, stateDir, path string) wireshare.Settings {
	t.Helper()
	var local, published string
	if c.local != nil {
		must(t, wirecerttest.Write(stateDir, c.local.Files()))
		local = c.local.Info().Fingerprint
	}
	if c.published != nil {
		body, err := wireshare.EncodeDocument(c.published, wirecerttest.Deployment, time.Now())
		must(t, err)
		must(t, os.WriteFile(path, body, 0o600))
		published = c.published.Info().Fingerprint
	}
	return c.consent(local, published)
}

// runKilled runs one apply in a process of its own that kills itself before step number at.
func runKilled(
	t *testing.T, stateDir, path string, s wireshare.Settings, at int,
) (step string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), "BILLET_TEST_CRASH_AT="+strconv.Itoa(at),
		"GORACE=atexit_sleep_ms=0", "BILLET_TEST_STATE_DIR="+stateDir, "BILLET_TEST_STORE="+path,
		"BILLET_TEST_MINT="+strconv.FormatBool(s.MintIfAbsent),
		"BILLET_TEST_ALLOW_LOCAL="+s.AllowReplacingLocal,
		"BILLET_TEST_ALLOW_PUBLISHED="+s.AllowReplacingPublished)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return "", false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child failed by itself: %v\n%s", err, out.String())
	}
	return out.String(), true
}

// TestCrashChild is the process that is killed; alone it does nothing.
func TestCrashChild(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv("BILLET_TEST_CRASH_AT"))
	if err != nil {
		return
	}
	count := 0
	step := safefile.Step(func(name string) error {
		if count++; count == at {
			fmt.Print(name)
			must(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
		return nil
	})
	mint, err := strconv.ParseBool(os.Getenv("BILLET_TEST_MINT"))
	must(t, err)
	store := filestore.New(os.Getenv("BILLET_TEST_STORE"), filestore.WithSteps(step))
	engine := wireshare.NewEngine(store, os.Getenv("BILLET_TEST_STATE_DIR"),
		wirecerttest.Deployment, wireshare.WithSteps(step))
	_, err = engine.Apply(context.Background(), wireshare.Request{Settings: wireshare.Settings{
		MintIfAbsent:            mint,
		AllowReplacingLocal:     os.Getenv("BILLET_TEST_ALLOW_LOCAL"),
		AllowReplacingPublished: os.Getenv("BILLET_TEST_ALLOW_PUBLISHED"),
	}})
	must(t, err)
}

// onlyPublished returns what the store holds, which must be nothing or a whole document.
func onlyPublished(t *testing.T, path, where string) *wirecert.Authority {
	t.Helper()
	body, err := filestore.New(path).GetAuthority(t.Context())
	if errors.Is(err, wireshare.ErrNoAuthority) {
		return nil
	}
	if err != nil {
		t.Fatalf("%s: the store does not read: %v", where, err)
	}
	doc, err := wireshare.DecodeDocument(body, wirecerttest.Deployment)
	if err != nil {
		t.Fatalf("%s: a mixed or torn document: %v", where, err)
	}
	return doc.Authority
}
