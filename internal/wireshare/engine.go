package wireshare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Outcome says what an apply did.
type Outcome string

const (
	// OutcomeMinted: a new authority was published and installed.
	OutcomeMinted Outcome = "minted"
	// OutcomePublished: the local authority is in the store.
	OutcomePublished Outcome = "published"
	// OutcomeAdopted: the published authority is on the host.
	OutcomeAdopted Outcome = "adopted"
	// OutcomeAlreadyHeld: both sides held it; nothing was written.
	OutcomeAlreadyHeld Outcome = "already_held"
)

// Engine moves the authority of one deployment between one state directory and one store.
type Engine struct {
	store      ConditionalStore
	stateDir   string
	deployment string
	lockWait   time.Duration
	now        func() time.Time
	step       safefile.Step
}

// EngineOption adjusts an Engine.
type EngineOption func(*Engine)

// WithLockWait bounds the wait for the lock; wirecert.DefaultLockWait without it.
func WithLockWait(d time.Duration) EngineOption { return func(e *Engine) { e.lockWait = d } }

// WithNow sets the clock that judges expiry and stamps documents.
func WithNow(now func() time.Time) EngineOption { return func(e *Engine) { e.now = now } }

// NewEngine returns an engine. It does nothing yet.
func NewEngine(
	store ConditionalStore, stateDir, deployment string, options ...EngineOption,
) *Engine {
	e := &Engine{
		store: store, stateDir: stateDir, deployment: deployment,
		lockWait: wirecert.DefaultLockWait, now: time.Now,
	}
	for _, option := range options {
		option(e)
	}
	return e
}

// Request is what Apply carries out.
type Request struct {
	// Prior is the accepted fingerprint, empty without prior state.
	Prior    string
	Settings Settings
	// Reviewed is what the plan showed; nil when nothing could be known then.
	Reviewed *Reviewed
}

// Result is what Apply did and what both sides hold now.
type Result struct {
	Outcome Outcome
	// Fingerprint is the accepted authority.
	Fingerprint string
	Observation Observation
	// Decision that was carried out, with its warnings.
	Decision Decision
	// MovedAside are the paths to which a replaced authority, or what was in the way, went.
	MovedAside []string
}

// rounds bounds how often a lost race is decided again.
const rounds = 3

// Apply takes the lock, looks again, decides again, and stops with a *Refusal unless the decision
// is the reviewed one (see review for the exceptions); only then it writes. A store that another
// writer changed in between is looked at and decided again under the same rules. The lock is
// released on every path.
func (e *Engine) Apply(ctx context.Context, req Request) (res Result, err error) {
	if err := wirecert.CheckDeployment(e.deployment); err != nil {
		return Result{}, err
	}
	lock, err := wirecert.Lock(ctx, e.stateDir, e.lockWait)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	reviewed := req.Reviewed
	for round := 1; ; round++ {
		sight := e.look(ctx)
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		d, err := Decide(sight.seen, req.Prior, req.Settings, e.now())
		if err != nil {
			return Result{Observation: sight.seen, Decision: d}, err
		}
		if err := review(reviewed, sight.seen, d); err != nil {
			return Result{Observation: sight.seen, Decision: d}, err
		}
		res, err := e.execute(ctx, sight, d)
		if err == nil || !errors.Is(err, ErrChanged) || round == rounds {
			return res, err
		}
		// Whatever comes now must still be what this round set out to do.
		if reviewed == nil {
			reviewed = &Reviewed{Action: d.Action, Fingerprint: d.Fingerprint,
				Observation: &sight.seen}
		}
	}
}

// sight is one look under the lock, secrets included.
type sight struct {
	seen      Observation
	local     *wirecert.Authority
	published published
}

func (e *Engine) look(ctx context.Context) sight {
	state, err := wirecert.Read(e.stateDir, e.deployment)
	p := readPublished(ctx, e.store, e.deployment)
	return sight{
		seen: Observation{
			Deployment: e.deployment, Local: localSide(state, e.deployment, err), Published: p.side,
		},
		local: state.Authority, published: p,
	}
}

func (e *Engine) execute(ctx context.Context, s sight, d Decision) (Result, error) {
	switch d.Action {
	case ActionHold:
		return Result{
			Outcome: OutcomeAlreadyHeld, Fingerprint: d.Fingerprint, Observation: s.seen, Decision: d,
		}, nil
	case ActionMint:
		a, err := wirecert.Mint(e.deployment, e.now())
		if err != nil {
			return Result{}, err
		}
		// Into the store first: what is installed is then known to be the only one.
		side, err := e.put(ctx, s.published, a)
		if err != nil {
			return Result{}, err
		}
		return e.install(a, side, d, OutcomeMinted)
	case ActionPublish:
		side, err := e.put(ctx, s.published, s.local)
		if err != nil {
			return Result{}, err
		}
		return e.result(side, d, OutcomePublished)
	case ActionAdopt:
		return e.install(s.published.doc.Authority, s.published.side, d, OutcomeAdopted)
	}
	return Result{}, fmt.Errorf("no such action %q", d.Action)
}

// install writes the authority on the host. From its first byte on it is not cancelled: it takes
// milliseconds, and half of it helps nobody.
func (e *Engine) install(
	a *wirecert.Authority, side Side, d Decision, outcome Outcome,
) (Result, error) {
	w := wirecert.NewWriter(e.stateDir, e.deployment,
		wirecert.WithClock(e.now), wirecert.WithSteps(e.step))
	var err error
	if d.ReplacesLocal != "" {
		err = w.Replace(a, d.ReplacesLocal)
	} else {
		err = w.Install(a)
	}
	if err != nil {
		return Result{}, err
	}
	res, err := e.result(side, d, outcome)
	res.MovedAside = w.Moved()
	return res, err
}

// result reads the host once more; side is what the store is known to hold.
func (e *Engine) result(side Side, d Decision, outcome Outcome) (Result, error) {
	state, err := wirecert.Read(e.stateDir, e.deployment)
	if err != nil {
		return Result{}, err
	}
	local := localSide(state, e.deployment, nil)
	return Result{
		Outcome: outcome, Fingerprint: local.Info.Fingerprint, Decision: d,
		Observation: Observation{Deployment: e.deployment, Local: local, Published: side},
	}, nil
}

// put publishes a in place of what was read. That the store shows it is the store's own promise, so
// nothing is read back here.
func (e *Engine) put(ctx context.Context, read published, a *wirecert.Authority) (Side, error) {
	at := e.now().UTC().Truncate(time.Second) // as precise as the document
	body, err := EncodeDocument(a, e.deployment, at)
	if err != nil {
		return Side{}, err
	}
	if err := e.step.Before("put"); err != nil {
		return Side{}, err
	}
	switch err := e.store.SwapAuthority(ctx, body, read.version); {
	case errors.Is(err, ErrChanged), errors.Is(err, ErrNotConfirmed):
		return Side{}, err
	case err != nil:
		return Side{}, fmt.Errorf("%w: %w", ErrPublishUnknown, err)
	}
	return Side{State: Whole, Info: a.Info(), PublishedAt: at}, nil
}
