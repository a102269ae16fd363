package wireshare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// plan decides as a plan does, and returns what apply then carries out.
func plan(
	t *testing.T, store wireshare.ConditionalStore, dir, prior string, s settings,
) wireshare.Request {
	t.Helper()
	o, err := wireshare.Observe(t.Context(), store, dir, deployment)
	must(t, err)
	d, err := wireshare.Decide(o, prior, s, time.Now())
	must(t, err)
	return wireshare.Request{Prior: prior, Settings: s, Reviewed: &wireshare.Reviewed{
		Action: d.Action, Fingerprint: d.Fingerprint, Observation: &o,
	}}
}

func apply(
	t *testing.T, store wireshare.ConditionalStore, dir string, r wireshare.Request,
) (wireshare.Result, error) {
	t.Helper()
	res, err := wireshare.NewEngine(store, dir, deployment).Apply(t.Context(), r)
	lockFree(t, dir)
	return res, err
}

func lockFree(t *testing.T, dir string) {
	t.Helper()
	lock, err := wirecert.Lock(context.Background(), dir, 0)
	if err != nil {
		t.Fatalf("the lock is not free: %v", err)
	}
	must(t, lock.Release())
}

// local returns the authority of a directory, or nil.
func local(t *testing.T, dir string) *wirecert.Authority {
	t.Helper()
	state, err := wirecert.Read(dir, deployment)
	must(t, err)
	return state.Authority
}

// tree is everything in a directory but the lock: names, modes, times of change and bytes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == dir || e.Name() == "ca.lock" {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += string(data)
		}
		found[p] = text
		return nil
	}))
	return found
}

func sameTree(t *testing.T, before, after map[string]string) {
	t.Helper()
	for p := range before {
		if after[p] != before[p] {
			t.Errorf("%s changed", filepath.Base(p))
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s was created", filepath.Base(p))
		}
	}
}

// refusal fails unless err is a refusal for the reason that names both fingerprints.
func refusal(t *testing.T, err, reason error, local, published *wirecert.Authority) {
	t.Helper()
	r, ok := errors.AsType[*wireshare.Refusal](err)
	if !ok || !errors.Is(err, reason) {
		t.Fatalf("got %v, want %v", err, reason)
	}
	for found, want := range map[string]*wirecert.Authority{r.Local: local, r.Published: published} {
		if want != nil && found != want.Info().Fingerprint {
			t.Errorf("the refusal names %q, want %s", found, want)
		}
	}
}

func mintSettings() settings { return settings{MintIfAbsent: true} }

func TestAMintIsPublishedBeforeItIsInstalled(t *testing.T) {
	dir := t.TempDir()
	store := &memory{}
	store.beforeSwap = func(*memory, int) {
		if local(t, dir) != nil {
			t.Error("installed before it was published")
		}
	}
	res, err := apply(t, store, dir, plan(t, store, dir, "", mintSettings()))
	must(t, err)
	doc, err := wireshare.DecodeDocument(store.body, deployment)
	must(t, err)
	if !local(t, dir).Files().Equal(doc.Authority.Files()) {
		t.Error("the two sides differ")
	}
	if res.Outcome != wireshare.OutcomeMinted || store.puts != 1 ||
		res.Fingerprint != doc.Authority.Info().Fingerprint {
		t.Errorf("outcome %s of %s with %d puts", res.Outcome, res.Fingerprint, store.puts)
	}
	if o := res.Observation; o.Local.Info != o.Published.Info || o.Published.PublishedAt.IsZero() {
		t.Errorf("the result does not show both sides: %+v", o)
	}
	noContent(t, res.Observation.Local.Info.TrustBundlePEM, doc.Authority)
}

func TestLosingTheMintRaceAdoptsTheWinner(t *testing.T) {
	winner := newAuthority(t, wirecerttest.Options{}, nil)
	dir, store := t.TempDir(), &memory{}
	request := plan(t, store, dir, "", mintSettings())
	store.beforeSwap = func(m *memory, n int) {
		if n == 1 {
			m.set(encode(t, winner))
		}
	}
	res, err := apply(t, store, dir, request)
	must(t, err)
	if res.Outcome != wireshare.OutcomeAdopted || !local(t, dir).Files().Equal(winner.Files()) {
		t.Errorf("outcome %s, holds %s, want %s", res.Outcome, local(t, dir), winner)
	}
	if store.puts != 1 {
		t.Errorf("%d puts, want the winner's alone", store.puts)
	}
}

// C7: the winner of the race is adopted under the same rules as any other.
func TestLosingTheMintRaceToWhatIsRefusedWritesNothing(t *testing.T) {
	expired := newAuthority(t, wirecerttest.Options{
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}, nil)
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"expired":   {encode(t, expired), wireshare.ErrExpired},
		"malformed": {[]byte("plain text"), wireshare.ErrPublishedUnreadable}, // S10
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := t.TempDir(), &memory{}
			request := plan(t, store, dir, "", mintSettings())
			store.body = c.body
			_, err := apply(t, store, dir, request)
			refusal(t, err, c.want, nil, nil)
			sameTree(t, nil, tree(t, dir))
			if store.puts != 0 || !bytes.Equal(store.body, c.body) {
				t.Error("the store was written")
			}
		})
	}
}

// B4: an answer that was lost claims nothing, and the next run sees what is there.
func TestAPublishWithoutAnAnswerClaimsNothingAndIsNotRepeated(t *testing.T) {
	for name, committed := range map[string]bool{"committed": true, "not committed": false} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t, wirecerttest.Options{}, nil)
			dir, store := install(t, a), &memory{}
			before := tree(t, dir)
			store.swap = func(m *memory, body []byte) error {
				if committed {
					m.set(body)
					m.puts--
				}
				return errUnreachable
			}
			request := plan(t, store, dir, "", settings{})
			res, err := apply(t, store, dir, request)
			if !errors.Is(err, wireshare.ErrPublishUnknown) || !errors.Is(err, errUnreachable) ||
				res.Outcome != "" {
				t.Fatalf("outcome %q, error %v", res.Outcome, err)
			}
			sameTree(t, before, tree(t, dir))
			store.swap, store.puts = nil, 0
			want, puts := wireshare.OutcomePublished, 1
			if committed {
				want, puts = wireshare.OutcomeAlreadyHeld, 0
			}
			// The saved plan and a new one lead to the same.
			res, err = apply(t, store, dir, request)
			must(t, err)
			if res.Outcome != want || store.puts != puts {
				t.Errorf("the next apply: %s with %d puts", res.Outcome, store.puts)
			}
			if r := plan(t, store, dir, "", settings{}); r.Reviewed.Action != wireshare.ActionHold {
				t.Errorf("the next plan: %s", r.Reviewed.Action)
			}
		})
	}
}

// A mint whose publish was not answered is in the store or nowhere, and never only on this host.
func TestAMintWithoutAnAnswerInstallsNothing(t *testing.T) {
	dir, store := t.TempDir(), &memory{}
	store.swap = func(m *memory, body []byte) error {
		m.set(body)
		return errUnreachable
	}
	request := plan(t, store, dir, "", mintSettings())
	_, err := apply(t, store, dir, request)
	if !errors.Is(err, wireshare.ErrPublishUnknown) {
		t.Fatal(err)
	}
	sameTree(t, nil, tree(t, dir))
	store.swap = nil
	res, err := apply(t, store, dir, request)
	must(t, err)
	if res.Outcome != wireshare.OutcomeAdopted {
		t.Errorf("the next apply: %s", res.Outcome)
	}
}

// S4: a store that does not show what it accepted is no failed publish.
func TestAPublishThatDoesNotShowYetIsSaidToBeAccepted(t *testing.T) {
	dir, store := install(t, newAuthority(t, wirecerttest.Options{}, nil)), &memory{}
	store.swap = func(m *memory, body []byte) error {
		m.set(body)
		return fmt.Errorf("%w: not shown", wireshare.ErrNotConfirmed)
	}
	_, err := apply(t, store, dir, plan(t, store, dir, "", settings{}))
	if !errors.Is(err, wireshare.ErrNotConfirmed) || errors.Is(err, wireshare.ErrPublishUnknown) {
		t.Errorf("error %v", err)
	}
}

// Stores are billed and throttled by the call, and read back what they write by themselves.
func TestAnApplyThatPublishesReadsTheStoreOnce(t *testing.T) {
	dir, store := install(t, newAuthority(t, wirecerttest.Options{}, nil)), &memory{}
	request := plan(t, store, dir, "", settings{})
	store.reads = 0
	res, err := apply(t, store, dir, request)
	must(t, err)
	if store.reads != 1 || store.puts != 1 {
		t.Errorf("%d reads, %d puts", store.reads, store.puts)
	}
	side, err := wireshare.ObservePublished(t.Context(), store, deployment)
	must(t, err)
	if got := res.Observation.Published; !reflect.DeepEqual(got, side) {
		t.Errorf("the result says %+v of the store, which holds %+v", got, side)
	}
}

// S10: who publishes between the look and the put wins, and is not overwritten.
func TestAPublishThatLosesTheRaceIsDecidedAgain(t *testing.T) {
	a, stranger := newAuthority(t, wirecerttest.Options{}, nil), newAuthority(t,
		wirecerttest.Options{}, nil)
	for name, c := range map[string]struct {
		other *wirecert.Authority
		want  error
	}{"to a stranger": {stranger, wireshare.ErrDiffer}, "to the same": {a, nil}} {
		for _, reviewed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				dir, store := install(t, a), &memory{}
				before := tree(t, dir)
				request := plan(t, store, dir, "", settings{})
				if !reviewed {
					request.Reviewed = nil
				}
				store.beforeSwap = func(m *memory, _ int) { m.set(encode(t, c.other)) }
				res, err := apply(t, store, dir, request)
				sameTree(t, before, tree(t, dir))
				if c.want != nil {
					refusal(t, err, c.want, a, stranger)
				} else if err != nil || res.Outcome != wireshare.OutcomeAlreadyHeld {
					t.Errorf("outcome %q, error %v", res.Outcome, err)
				}
				if store.puts != 1 || !bytes.Equal(store.body, encode(t, c.other)) {
					t.Error("the other writer's document was replaced")
				}
			})
		}
	}
}

// F1, C9: what consent lets go is moved aside, private keys and all.
func TestAReplacedAuthorityIsMovedAside(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	mine := whole(t, old, nil)
	theirs := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	dir, store := install(t, mine), &memory{body: encode(t, theirs)}
	must(t, os.WriteFile(filepath.Join(dir, "ca", "notes.txt"), []byte("mine"), 0o600))
	request := plan(t, store, dir, "", settings{AllowReplacingLocal: old.Fingerprint})
	clock := time.Date(2026, 11, 30, 23, 59, 58, 0, time.FixedZone("east", 3600))
	engine := wireshare.NewEngine(store, dir, deployment,
		wireshare.WithNow(func() time.Time { return clock }))
	res, err := engine.Apply(t.Context(), request)
	must(t, err)
	if res.Outcome != wireshare.OutcomeAdopted || !local(t, dir).Files().Equal(theirs.Files()) {
		t.Errorf("outcome %s, holds %s", res.Outcome, local(t, dir))
	}
	aside := filepath.Join(dir, "ca.superseded-20261130T225958Z")
	marker := filepath.Join(dir, "authority-created.superseded-20261130T225958Z")
	if len(res.MovedAside) != 2 || res.MovedAside[0] != aside || res.MovedAside[1] != marker {
		t.Errorf("moved to %v", res.MovedAside)
	}
	for path, want := range map[string][]byte{
		filepath.Join(aside, "ca.key"):    mine.Files()[wirecert.KeyName],
		filepath.Join(aside, "ca.crt"):    mine.Files()[wirecert.CertificateName],
		filepath.Join(aside, "notes.txt"): []byte("mine"),
		marker:                            []byte(deployment + "\n"),
	} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if store.puts != 0 {
		t.Error("the store was written")
	}
}

// C1: half an authority is never completed from the store.
func TestHalfAnAuthorityIsLeftAsItIs(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	for _, missing := range []string{
		wirecert.KeyName, wirecert.CertificateName, wirecert.MarkerName,
	} {
		files := a.Files()
		delete(files, missing)
		dir := t.TempDir()
		must(t, wirecerttest.Write(dir, files))
		before := tree(t, dir)
		store := &memory{body: encode(t, a)}
		_, err := apply(t, store, dir, wireshare.Request{Settings: settings{
			MintIfAbsent: true, AllowReplacingLocal: a.Info().Fingerprint,
			AllowReplacingPublished: a.Info().Fingerprint,
		}})
		refusal(t, err, wireshare.ErrLocalUnreadable, nil, a)
		sameTree(t, before, tree(t, dir))
		if store.puts != 0 {
			t.Errorf("without %s the store was written", missing)
		}
	}
}

// C8
func TestACopyWithOtherLineEndingsIsTheSameAndIsAdoptedAsItIs(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	files := a.Files()
	for name, data := range files {
		files[name] = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	crlf, err := wirecert.CheckFiles(files, deployment, func(n string) string { return n })
	must(t, err)
	for _, pair := range [][2]*wirecert.Authority{{a, crlf}, {crlf, a}} {
		dir, store := install(t, pair[0]), &memory{body: encode(t, pair[1])}
		if r := plan(t, store, dir, "", settings{}); r.Reviewed.Action != wireshare.ActionHold {
			t.Errorf("the plan is %s", r.Reviewed.Action)
		}
	}
	dir, store := t.TempDir(), &memory{body: encode(t, crlf)}
	_, err = apply(t, store, dir, plan(t, store, dir, "", settings{}))
	must(t, err)
	if !local(t, dir).Files().Equal(files) {
		t.Error("the line endings changed on the way")
	}
}

// C12
func TestAnApplyWaitsABoundedTimeForTheLock(t *testing.T) {
	dir, store := t.TempDir(), &memory{}
	request := plan(t, store, dir, "", mintSettings())
	lock, err := wirecert.Lock(t.Context(), dir, 0)
	must(t, err)
	engine := wireshare.NewEngine(store, dir, deployment,
		wireshare.WithLockWait(30*time.Millisecond))
	_, err = engine.Apply(t.Context(), request)
	if !errors.Is(err, wirecert.ErrLockBusy) || store.puts != 0 {
		t.Errorf("error %v, %d puts", err, store.puts)
	}
	must(t, lock.Release())
	_, err = engine.Apply(t.Context(), request)
	must(t, err)
}

// T8: an interrupt leaves the lock free and nothing half done.
func TestAnInterruptedApplyReleasesTheLock(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	for name, at := range map[string]func(m *memory, cancel context.CancelFunc){
		"while it reads": func(m *memory, cancel context.CancelFunc) {
			m.beforeRead = func(*memory, int) { cancel() }
		},
		"while it publishes": func(m *memory, cancel context.CancelFunc) {
			m.swap = func(m *memory, body []byte) error {
				m.set(body)
				cancel()
				return context.Canceled
			}
		},
		"after it published": func(m *memory, cancel context.CancelFunc) {
			m.beforeRead = func(m *memory, _ int) {
				if m.puts > 0 {
					cancel()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := install(t, a), &memory{}
			before := tree(t, dir)
			request := plan(t, store, dir, "", settings{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			at(store, cancel)
			res, err := wireshare.NewEngine(store, dir, deployment).Apply(ctx, request)
			if res.Outcome == "" && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			lockFree(t, dir)
			sameTree(t, before, tree(t, dir))
			store.beforeRead, store.swap = nil, nil
			_, err = apply(t, store, dir, plan(t, store, dir, "", settings{}))
			must(t, err)
			if store.revision != 1 {
				t.Errorf("published %d times", store.revision)
			}
		})
	}
}
