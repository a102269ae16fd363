package wireshare

import (
	"fmt"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// Reviewed is what a person saw before they said yes, as far as the caller still knows it. Empty
// fields are not compared; Apply without Reviewed decides afresh.
type Reviewed struct {
	// Action that was planned.
	Action Action
	// Fingerprint that was planned to be accepted; empty for Mint.
	Fingerprint string
	// Observation the plan was decided from.
	Observation *Observation
}

// review stops everything that is not what was reviewed, with four exceptions that write nothing
// new, or only what was reviewed:
//
//   - a planned Mint may become Adopt: another host published first, and two first controllers
//     must converge on one authority;
//   - a planned step may become Hold when both sides already are what the step would have made
//     them: an earlier run did it and its answer was lost;
//   - a planned Adopt over a local authority may find none: an earlier run was interrupted after
//     it had moved the old one aside;
//   - the marker beside a directory without an authority may have appeared, when one is published:
//     an installation writes it before ca/.
func review(r *Reviewed, o Observation, d Decision) error {
	if r == nil || r.Action != ActionHold && d.Action == ActionHold && reached(r, o) {
		return nil
	}
	if r.Action == ActionMint && d.Action == ActionAdopt && o.Local.State == Absent {
		return nil
	}
	switch {
	case r.Action != "" && r.Action != d.Action,
		r.Fingerprint != "" && r.Fingerprint != d.Fingerprint,
		r.Observation != nil && !sameView(r, o):
		_, err := refuse(o, &Refusal{Err: ErrPlanChanged, Detail: describePlan(r)})
		return err
	}
	return nil
}

// reached says that both sides agree on what was planned, whole and with the same previous pair.
func reached(r *Reviewed, o Observation) bool {
	if view(o.Local) != view(o.Published) {
		return false
	}
	if r.Fingerprint != "" && r.Fingerprint != o.Local.Info.Fingerprint {
		return false
	}
	if r.Observation == nil || r.Action == ActionMint {
		return true
	}
	return view(moved(*r.Observation, Decision{Action: r.Action})) == view(o.Local)
}

// sameView compares what decisions are made from, and neither leftovers nor published_at.
func sameView(r *Reviewed, o Observation) bool {
	was := r.Observation
	if view(was.Published) != view(o.Published) {
		return false
	}
	if o.Local.State == Absent && o.Published.State == Whole &&
		(was.Local.State == Absent || r.Action == ActionAdopt) {
		return true
	}
	return view(was.Local) == view(o.Local) && was.Local.Marker == o.Local.Marker &&
		was.Local.Interrupted == o.Local.Interrupted
}

// facts are what two looks at one side are compared by.
type facts struct {
	state                         SideState
	fingerprint, previous, claims string
	certificate, oldCertificate   string
}

func view(s Side) facts {
	if s.State != Whole {
		return facts{state: s.State}
	}
	return factsOf(s.Info)
}

func factsOf(i wirecert.Info) facts {
	return facts{
		state: Whole, fingerprint: i.Fingerprint, previous: i.PreviousFingerprint,
		claims: i.Replaces, certificate: i.CertificateSHA256,
		oldCertificate: i.PreviousCertificateSHA256,
	}
}

func describePlan(r *Reviewed) string {
	what := string(r.Action)
	if what == "" {
		what = "a step"
	}
	if r.Fingerprint != "" {
		what = fmt.Sprintf("%s for %s", what, r.Fingerprint)
	}
	if r.Observation == nil {
		return "the plan was " + what
	}
	was := r.Observation
	return fmt.Sprintf("the plan was %s, with this host at %s and the store at %s", what,
		sideText(was.Local), sideText(was.Published))
}

func sideText(s Side) string {
	if s.State == Whole {
		return s.Info.Fingerprint
	}
	return string(s.State)
}
