package wireshare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// Adopted says what Adopt did.
type Adopted int

const (
	// AdoptedNothing: nothing is published, or Adopt failed. Nothing was written.
	AdoptedNothing Adopted = iota
	// AdoptedInstalled: the published authority was installed.
	AdoptedInstalled
	// AdoptedAlreadyHeld: the host holds the published authority. Nothing was written.
	AdoptedAlreadyHeld
)

// String returns the constant's meaning.
func (a Adopted) String() string {
	switch a {
	case AdoptedInstalled:
		return "installed"
	case AdoptedAlreadyHeld:
		return "already held"
	}
	return "nothing"
}

// Publish replaces the published copy with the authority of the state directory. The caller holds
// the lock, see wirecert.Lock. Nothing is published that is not whole, or that expired. What is
// published already is not written again.
func Publish(ctx context.Context, store Store, stateDir, deployment string) error {
	state, err := wirecert.Read(stateDir, deployment)
	if err != nil {
		return err
	}
	if state.Authority == nil {
		return &Refusal{Err: ErrNothingToPublish, Detail: stateDir}
	}
	now := time.Now()
	local := localSide(state, deployment, nil)
	o := Observation{Deployment: deployment, Local: local}
	if err := refuseExpired(o, Decision{Action: ActionPublish}, now); err != nil {
		return err
	}
	if body, err := store.GetAuthority(ctx); err == nil {
		doc, err := DecodeDocument(body, deployment)
		if err == nil && doc.Authority.Files().Equal(state.Authority.Files()) {
			return nil
		}
	}
	body, err := EncodeDocument(state.Authority, deployment, now)
	if err != nil {
		return err
	}
	if err := store.PutAuthority(ctx, body); err != nil {
		return fmt.Errorf("%w: %w", ErrPublishUnknown, err)
	}
	return nil
}

// Adopt installs the published authority where the state directory holds none. The caller holds
// the lock, see wirecert.Lock. A different local authority is refused with a *Refusal that names
// both fingerprints; with replace it is moved aside first. Half an authority, or one that cannot
// be read, is never completed and never replaced.
func Adopt(
	ctx context.Context, store Store, stateDir, deployment string, replace bool,
) (Adopted, error) {
	state, err := wirecert.Read(stateDir, deployment)
	if err != nil {
		return AdoptedNothing, err
	}
	body, err := store.GetAuthority(ctx)
	if errors.Is(err, ErrNoAuthority) {
		return AdoptedNothing, nil
	}
	if err != nil {
		return AdoptedNothing, err
	}
	doc, err := DecodeDocument(body, deployment)
	if err != nil {
		return AdoptedNothing, err
	}
	o := Observation{
		Deployment: deployment, Local: localSide(state, deployment, nil),
		Published: Side{State: Whole, Info: doc.Authority.Info()},
	}
	d, err := adoption(o, replace)
	if err != nil {
		return AdoptedNothing, err
	}
	if d.Action == ActionHold {
		return AdoptedAlreadyHeld, nil
	}
	if err := refuseExpired(o, d, time.Now()); err != nil {
		return AdoptedNothing, err
	}
	w := wirecert.NewWriter(stateDir, deployment)
	if d.ReplacesLocal != "" {
		err = w.Replace(doc.Authority, d.ReplacesLocal)
	} else {
		err = w.Install(doc.Authority)
	}
	if err != nil {
		return AdoptedNothing, err
	}
	return AdoptedInstalled, nil
}

// adoption is the part of the table that Adopt needs. One authority of which the two sides keep
// more or less of the previous pair is held.
func adoption(o Observation, replace bool) (Decision, error) {
	s := Settings{}
	if replace {
		s.AllowReplacingLocal = o.Local.Info.Fingerprint
	}
	d, err := choose(o, "", s)
	if err == nil && d.Action == ActionPublish {
		d.Action = ActionHold
	}
	// What refuses for want of a direction the table does not offer is the caller's to replace.
	if err != nil && replace && o.Local.State == Whole {
		return Decision{
			Action: ActionAdopt, Fingerprint: o.Published.Info.Fingerprint,
			ReplacesLocal: o.Local.Info.Fingerprint,
		}, nil
	}
	return d, err
}
