package wireshare

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// SideState says what one side holds.
type SideState string

const (
	// Absent is a positive answer: there is no authority.
	Absent SideState = "absent"
	// Whole is an authority that passed every check.
	Whole SideState = "whole"
	// Unreadable is everything else; it never counts as absent.
	Unreadable SideState = "unreadable"
)

// Side is what the host or the store holds, in public facts alone.
type Side struct {
	State SideState `json:"state"`
	// Reason says why the side is unreadable. It holds no content.
	Reason string `json:"reason,omitempty"`
	// Info describes a whole authority.
	Info wirecert.Info `json:"info,omitzero"`
	// Marker and Interrupted are wirecert.State's; of the local side only.
	Marker      bool `json:"marker,omitempty"`
	Interrupted bool `json:"interrupted,omitempty"`
	// Leftovers are names that never travel; of the local side only.
	Leftovers []string `json:"leftovers,omitempty"`
	// DocumentSize is how long the document that publishes a whole authority is, in bytes; of the
	// local side only.
	DocumentSize int `json:"document_size,omitempty"`
	// PublishedAt is a diagnostic of the published side, in UTC.
	PublishedAt time.Time `json:"published_at,omitzero"`
	// Exposed names a store's file that others than its owner may access.
	Exposed string `json:"exposed,omitempty"`

	err error
}

// Err returns why the side is unreadable, and nil otherwise. After a round trip through JSON it
// is the text alone.
func (s Side) Err() error {
	if s.State != Unreadable {
		return nil
	}
	if s.err != nil {
		return s.err
	}
	return errors.New(s.Reason)
}

// Observation is both sides as one look found them. It is free of secrets and survives JSON, so
// that a plan can be decided again later from exactly what was seen.
type Observation struct {
	Deployment string `json:"deployment"`
	Local      Side   `json:"local"`
	Published  Side   `json:"published"`
}

// exposureReporter is a store that can say that others than its owner may access what it keeps.
type exposureReporter interface {
	// Exposed returns the path to close to others, or nothing.
	Exposed() string
}

// Observe looks at both sides, takes no lock and creates nothing. What cannot be read is reported
// as a side; the error is only for a cancelled context or an impossible deployment id.
func Observe(
	ctx context.Context, store ConditionalStore, stateDir, deployment string,
) (Observation, error) {
	if err := wirecert.CheckDeployment(deployment); err != nil {
		return Observation{}, err
	}
	state, lerr := wirecert.Observe(ctx, stateDir, deployment)
	seen := readPublished(ctx, store, deployment)
	if err := ctx.Err(); err != nil {
		return Observation{}, err
	}
	return Observation{
		Deployment: deployment, Local: localSide(state, deployment, lerr), Published: seen.side,
	}, nil
}

// ObserveLocal is Observe of the directory alone.
func ObserveLocal(ctx context.Context, stateDir, deployment string) (Side, error) {
	state, err := wirecert.Observe(ctx, stateDir, deployment)
	if cerr := ctx.Err(); cerr != nil {
		return Side{}, cerr
	}
	return localSide(state, deployment, err), nil
}

// ObservePublished is Observe of the store alone.
func ObservePublished(
	ctx context.Context, store ConditionalStore, deployment string,
) (Side, error) {
	seen := readPublished(ctx, store, deployment)
	if cerr := ctx.Err(); cerr != nil {
		return Side{}, cerr
	}
	return seen.side, nil
}

// published is one read of a store: the public side, and what an engine needs to act on it.
type published struct {
	side    Side
	doc     *Document
	version Version
	body    []byte
}

func readPublished(ctx context.Context, store ConditionalStore, deployment string) published {
	body, version, err := store.ReadAuthority(ctx)
	if errors.Is(err, ErrNoAuthority) {
		return published{side: Side{State: Absent}, version: version}
	}
	if err != nil {
		return published{side: unreadable(err)}
	}
	doc, err := DecodeDocument(body, deployment)
	if err != nil {
		return published{side: unreadable(err), version: version, body: body}
	}
	side := Side{State: Whole, Info: doc.Authority.Info(), PublishedAt: doc.PublishedAt}
	if r, ok := store.(exposureReporter); ok {
		side.Exposed = r.Exposed()
	}
	return published{side: side, doc: doc, version: version, body: body}
}

func localSide(state wirecert.State, deployment string, err error) Side {
	if err != nil {
		return unreadable(err)
	}
	side := Side{
		State: Absent, Marker: state.Marker, Interrupted: state.Interrupted,
		Leftovers: slices.Clone(state.Leftovers),
	}
	if state.Authority != nil {
		body, err := EncodeDocument(state.Authority, deployment, time.Time{})
		if err != nil {
			return unreadable(err)
		}
		side.State, side.Info, side.DocumentSize = Whole, state.Authority.Info(), len(body)
	}
	return side
}

func unreadable(err error) Side { return Side{State: Unreadable, Reason: err.Error(), err: err} }
