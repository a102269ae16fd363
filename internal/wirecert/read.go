package wirecert

import (
	"context"
	"path/filepath"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Read returns what the state directory holds, from one read. The caller holds the lock; without
// it a writer may be at work, and Observe is the way.
func Read(stateDir, deployment string) (State, error) {
	if err := CheckDeployment(deployment); err != nil {
		return State{}, err
	}
	return take(stateDir).conclude(stateDir, deployment)
}

// conclude checks everything about a snapshot.
func (s snapshot) conclude(stateDir, deployment string) (State, error) {
	if s.err != nil {
		return State{}, s.err
	}
	place := func(name string) string { return Path(stateDir, name) }
	if s.hasID {
		where := filepath.Join(stateDir, idName)
		if err := checkSameDeployment(where, markerID(s.id), deployment); err != nil {
			return State{}, err
		}
	}
	state := State{Interrupted: s.interrupted, Leftovers: s.leftovers}
	if marker, ok := s.files[MarkerName]; ok {
		state.Marker = true
		err := checkSameDeployment(place(MarkerName), markerID(marker), deployment)
		if err != nil {
			return State{}, err
		}
	}
	if len(s.files) == 0 || len(s.files) == 1 && state.Marker {
		return state, nil
	}
	authority, err := CheckFiles(s.files, deployment, place)
	if err != nil {
		return State{}, err
	}
	state.Authority = authority
	return state, nil
}

// settle is how long a refusal must stay the same before an observer believes it: between two
// renames of a writer the files are half of one generation and half of the next, which is no
// corruption.
const settle = 600 * time.Millisecond

// pauses returns the milliseconds between the reads of an observer, together about two
// seconds. Every other one is zero, because two reads agree best right after each other while a
// writer works; the rest differ, so that they do not keep step with a writer that loops.
func pauses() []time.Duration {
	return []time.Duration{
		0, 1, 0, 2, 0, 3, 0, 5, 0, 8, 0, 13, 0, 21, 0, 34, 0, 55, 0, 34, 0, 55, 0, 89, 0, 89, 0,
		144, 0, 144, 0, 144, 0, 200, 0, 200, 0, 250, 0, 250, 0, 250,
	}
}

// observer reads a state directory without its lock and without creating anything.
type observer struct {
	stateDir   string
	deployment string
	// between runs between two reads; a test changes the directory there.
	between func()
}

// Observe returns what the state directory holds. It takes no lock and creates nothing: it reads
// twice and answers only when both reads agree, after a few attempts ErrChanging.
func Observe(ctx context.Context, stateDir, deployment string) (State, error) {
	return observer{stateDir: stateDir, deployment: deployment}.observe(ctx)
}

func (o observer) observe(ctx context.Context) (State, error) {
	if err := CheckDeployment(o.deployment); err != nil {
		return State{}, err
	}
	last, since := take(o.stateDir), time.Now()
	for _, pause := range pauses() {
		if err := wait(ctx, pause*time.Millisecond); err != nil {
			return State{}, err
		}
		if o.between != nil {
			o.between()
		}
		next := take(o.stateDir)
		if !next.equal(last) {
			last, since = next, time.Now()
			continue
		}
		state, err := next.conclude(o.stateDir, o.deployment)
		if next.restful(state, err) || time.Since(since) >= settle {
			return state, err
		}
	}
	return State{}, &FileError{Place: filepath.Join(o.stateDir, dirName), Err: ErrChanging}
}

// restful says whether two agreeing reads are enough. A whole authority is; so is absence where no
// writer has ever been. Anything else may be the middle of somebody's write, except an error
// that no writer causes.
func (s snapshot) restful(state State, err error) bool {
	if err != nil {
		return s.err != nil && !safefile.Transient(s.err)
	}
	if state.Authority != nil {
		return !s.interrupted
	}
	return !s.written && !state.Marker && !s.interrupted
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
