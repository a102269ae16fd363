package wireshare_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// scene is what a plan saw, and what had changed by the time of apply.
type scene struct {
	local, published *wirecert.Authority
	settings         settings
	// laterLocal and laterPublished are there at apply; nil for nothing.
	laterLocal, laterPublished *wirecert.Authority
	// outcome of an apply that goes on, or the reason for which it stops.
	outcome wireshare.Outcome
	stops   error
}

func scenes(t *testing.T) map[string]scene {
	old := newPair(t, wirecerttest.Options{})
	f, g := whole(t, old, nil), newAuthority(t, wirecerttest.Options{}, nil)
	again := newAuthority(t, wirecerttest.Options{Key: old.Key}, nil)
	next := newPair(t, wirecerttest.Options{Replaces: old.Fingerprint})
	n, retired := whole(t, next, &old), whole(t, next, nil)
	forward := settings{AllowReplacingPublished: old.Fingerprint}
	back := settings{AllowReplacingLocal: old.Fingerprint}
	mint := mintSettings()
	const adopted, held = wireshare.OutcomeAdopted, wireshare.OutcomeAlreadyHeld
	changed := wireshare.ErrPlanChanged
	return map[string]scene{
		// Allowed: an earlier run, or the other first controller, did it already.
		"mint, and another host published":           {nil, nil, mint, nil, f, adopted, nil},
		"mint, and it is on both sides":              {nil, nil, mint, f, f, held, nil},
		"publish, and it is published":               {f, nil, settings{}, f, f, held, nil},
		"publish a rotation, and it is published":    {n, f, forward, n, n, held, nil},
		"adopt, and it is adopted":                   {nil, f, settings{}, f, f, held, nil},
		"adopt a rotation, and it is adopted":        {f, n, back, n, n, held, nil},
		"adopt a rotation, and the old one is aside": {f, n, back, nil, n, adopted, nil},
		// Everything else stops.
		"mint, and this host has one":             {nil, nil, mint, f, nil, "", changed},
		"mint, and both sides have others":        {nil, nil, mint, f, g, "", wireshare.ErrDiffer},
		"publish, and another is published":       {f, nil, settings{}, f, g, "", wireshare.ErrDiffer},
		"publish, and this host has another":      {f, nil, settings{}, g, nil, "", changed},
		"publish, and this host has none":         {f, nil, mint, nil, nil, "", changed},
		"publish, and it was re-issued":           {f, nil, settings{}, again, nil, "", changed},
		"publish, and this host rotated":          {f, nil, settings{}, n, nil, "", changed},
		"publish, and both sides have another":    {f, nil, settings{}, g, g, "", changed},
		"publish, and both were re-issued":        {f, nil, settings{}, again, again, "", changed},
		"adopt, and both were re-issued":          {nil, f, settings{}, again, again, "", changed},
		"publish a rotation, and it was retired":  {n, f, forward, retired, f, "", changed},
		"publish a rotation, and the copy went":   {n, f, forward, n, nil, "", changed},
		"publish a rotation over a re-issued one": {n, f, forward, n, again, "", changed},
		"adopt, and another is published":         {nil, f, settings{}, nil, g, "", changed},
		"adopt, and nothing is published":         {nil, f, mint, nil, nil, "", changed},
		"adopt, and it was re-issued":             {nil, f, settings{}, nil, again, "", changed},
		"adopt, and it was rotated":               {nil, f, settings{}, nil, n, "", changed},
		"adopt, and this host has another":        {nil, f, settings{}, g, f, "", wireshare.ErrDiffer},
		"adopt a rotation, and it was retired":    {f, n, back, f, retired, "", changed},
		"hold, and both sides have another":       {f, f, settings{}, g, g, "", changed},
		"hold, and both were re-issued":           {f, f, settings{}, again, again, "", changed},
		"hold, and the copy went":                 {f, f, settings{}, f, nil, "", changed},
		"hold, and this host has none":            {f, f, settings{}, nil, f, "", changed},
		"hold, and the host retired":              {n, n, settings{}, retired, n, "", changed},
	}
}

// Everything is looked at again under the lock. What is not what was reviewed stops with both
// fingerprints and nothing written.
func TestWhatChangedSinceThePlanStopsTheApply(t *testing.T) {
	for name, s := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			dir, store := install(t, s.local), &memory{}
			if s.published != nil {
				store.body = encode(t, s.published)
			}
			request := plan(t, store, dir, "", s.settings)
			s.turn(t, dir, store)
			before, puts := tree(t, dir), store.puts
			res, err := apply(t, store, dir, request)
			if s.stops == nil {
				must(t, err)
				if res.Outcome != s.outcome {
					t.Errorf("outcome %s, want %s", res.Outcome, s.outcome)
				}
			} else {
				refusal(t, err, s.stops, s.laterLocal, s.laterPublished)
			}
			if s.stops != nil || s.outcome == wireshare.OutcomeAlreadyHeld {
				sameTree(t, before, tree(t, dir))
			}
			if store.puts != puts {
				t.Error("the store was written")
			}
		})
	}
}

// turn makes the two sides what they are at apply.
func (s scene) turn(t *testing.T, dir string, store *memory) {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(dir, "ca")))
	must(t, os.RemoveAll(wirecert.Path(dir, wirecert.MarkerName)))
	if s.laterLocal != nil {
		must(t, wirecerttest.Write(dir, s.laterLocal.Files()))
	}
	var body []byte
	if s.laterPublished != nil {
		body = encode(t, s.laterPublished)
	}
	store.set(body)
}

// An unreadable side stops with the reader's own reason.
func TestASideThatBecameUnreadableStopsTheApply(t *testing.T) {
	f := newAuthority(t, wirecerttest.Options{}, nil)
	dir, store := install(t, f), &memory{}
	request := plan(t, store, dir, "", settings{})
	store.body = []byte("{}")
	_, err := apply(t, store, dir, request)
	refusal(t, err, wireshare.ErrPublishedUnreadable, nil, nil)
	if !errors.Is(err, wireshare.ErrDocument) {
		t.Errorf("%v does not carry the reader's reason", err)
	}
	store.body = nil
	must(t, os.Remove(wirecert.Path(dir, wirecert.KeyName)))
	_, err = apply(t, store, dir, request)
	refusal(t, err, wireshare.ErrLocalUnreadable, nil, nil)
	if !errors.Is(err, wirecert.ErrIncomplete) || store.puts != 0 {
		t.Errorf("%d puts, error %v", store.puts, err)
	}
}

// T5: where the plan could not look, apply makes the full comparison.
func TestAnApplyWithoutAReviewRefusesAsThePlanWould(t *testing.T) {
	a, b := newAuthority(t, wirecerttest.Options{}, nil), newAuthority(t,
		wirecerttest.Options{}, nil)
	dir, store := install(t, a), &memory{body: encode(t, b)}
	before := tree(t, dir)
	_, err := apply(t, store, dir, wireshare.Request{Settings: mintSettings()})
	refusal(t, err, wireshare.ErrDiffer, a, b)
	sameTree(t, before, tree(t, dir))
	if store.puts != 0 {
		t.Error("the store was written")
	}
}
