package wireshare_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

// rounds is how often two first controllers meet.
const rounds = 50

// firstApply is the apply of a host that planned to mint.
func firstApply(ctx context.Context, dir, path string) (wireshare.Result, error) {
	engine := wireshare.NewEngine(filestore.New(path), dir, wirecerttest.Deployment)
	return engine.Apply(ctx, wireshare.Request{
		Settings: wireshare.Settings{MintIfAbsent: true},
		Reviewed: &wireshare.Reviewed{
			Action: wireshare.ActionMint,
			Observation: &wireshare.Observation{
				Deployment: wirecerttest.Deployment,
				Local:      wireshare.Side{State: wireshare.Absent},
				Published:  wireshare.Side{State: wireshare.Absent},
			},
		},
	})
}

// converged makes sure that both directories hold, byte for byte, what is published.
func converged(t *testing.T, path string, dirs ...string) {
	t.Helper()
	body, err := filestore.New(path).GetAuthority(t.Context())
	must(t, err)
	doc, err := wireshare.DecodeDocument(body, wirecerttest.Deployment)
	must(t, err)
	for _, dir := range dirs {
		state, err := wirecert.Read(dir, wirecerttest.Deployment)
		must(t, err)
		if state.Authority == nil || !state.Authority.Files().Equal(doc.Authority.Files()) {
			t.Errorf("%s holds %s, published is %s", filepath.Base(dir), state.Authority,
				doc.Authority)
		}
	}
}

// Both plan on an empty store, both mint at once: one is published, the other adopts it.
func TestTwoFirstControllersInOneProcessConverge(t *testing.T) {
	t.Parallel()
	minted := 0
	for range rounds {
		root := t.TempDir()
		path := filepath.Join(root, "published")
		dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
		results := make([]wireshare.Result, len(dirs))
		errs := make([]error, len(dirs))
		var all sync.WaitGroup
		for i, dir := range dirs {
			all.Go(func() { results[i], errs[i] = firstApply(t.Context(), dir, path) })
		}
		all.Wait()
		for i := range dirs {
			must(t, errs[i])
			if results[i].Outcome == wireshare.OutcomeMinted {
				minted++
			}
		}
		converged(t, path, dirs...)
	}
	if minted != rounds {
		t.Errorf("%d mints in %d rounds", minted, rounds)
	}
}

// Two resources on one directory, one of them by another spelling, serialise on its lock.
func TestTwoResourcesOnOneDirectoryMintOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		root := t.TempDir()
		must(t, os.Symlink(root, filepath.Join(root, "link")))
		path := filepath.Join(root, "published")
		dirs := []string{
			filepath.Join(root, "state"), filepath.Join(root, "link", "state"),
			root + "/./link/../state/",
		}
		outcomes := make(chan wireshare.Outcome, len(dirs))
		var all sync.WaitGroup
		for _, dir := range dirs {
			all.Go(func() {
				res, err := firstApply(t.Context(), dir, path)
				if err != nil {
					t.Error(err)
				}
				outcomes <- res.Outcome
			})
		}
		all.Wait()
		close(outcomes)
		count := map[wireshare.Outcome]int{}
		for o := range outcomes {
			count[o]++
		}
		if count[wireshare.OutcomeMinted] != 1 || count[wireshare.OutcomeAlreadyHeld] != 2 {
			t.Errorf("outcomes %v", count)
		}
		converged(t, path, dirs...)
	}
}

// The same between two processes, which share nothing but the file system.
func TestTwoFirstControllersInTwoProcessesConverge(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var hosts []*host
	for _, name := range []string{"a", "b"} {
		hosts = append(hosts, startHost(t, root, name))
	}
	minted := 0
	for round := range rounds {
		for _, h := range hosts {
			must(t, h.begin(round))
		}
		for _, h := range hosts {
			if h.outcome(t) == string(wireshare.OutcomeMinted) {
				minted++
			}
		}
		converged(t, roundPath(root, round, "published"), roundPath(root, round, "a"),
			roundPath(root, round, "b"))
	}
	for _, h := range hosts {
		must(t, h.in.Close())
		must(t, h.cmd.Wait())
	}
	if minted != rounds {
		t.Errorf("%d mints in %d rounds", minted, rounds)
	}
}

// host is one of the two processes. A line on its input starts a round.
type host struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startHost(t *testing.T, root, name string) *host {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRaceChild$")
	cmd.Env = append(os.Environ(), "BILLET_TEST_RACE_ROOT="+root, "BILLET_TEST_RACE_HOST="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return &host{cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

func (h *host) begin(round int) error {
	_, err := fmt.Fprintln(h.in, round)
	return err
}

func (h *host) outcome(t *testing.T) string {
	t.Helper()
	if !h.out.Scan() {
		t.Fatal("a host ended early")
	}
	return h.out.Text()
}

func roundPath(root string, round int, name string) string {
	return filepath.Join(root, fmt.Sprint(round), name)
}

// TestRaceChild is one of the two processes; alone it does nothing.
func TestRaceChild(t *testing.T) {
	root, name := os.Getenv("BILLET_TEST_RACE_ROOT"), os.Getenv("BILLET_TEST_RACE_HOST")
	if root == "" {
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for round := 0; lines.Scan(); round++ {
		must(t, os.MkdirAll(filepath.Join(root, fmt.Sprint(round)), 0o700))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		res, err := firstApply(ctx, roundPath(root, round, name), roundPath(root, round, "published"))
		cancel()
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(res.Outcome)
	}
}
