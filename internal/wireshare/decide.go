package wireshare

import "time"

// Action is what a decision does.
type Action string

const (
	// ActionHold writes nothing and accepts the authority both sides hold.
	ActionHold Action = "hold"
	// ActionMint makes a new authority, publishes it and installs it.
	ActionMint Action = "mint"
	// ActionPublish puts the local authority into the store.
	ActionPublish Action = "publish"
	// ActionAdopt installs the published authority on the host.
	ActionAdopt Action = "adopt"
)

// Settings is what the configuration allows.
type Settings struct {
	MintIfAbsent     bool
	PublishRotations bool
	// AllowReplacingPublished and AllowReplacingLocal name the one fingerprint that may go.
	AllowReplacingPublished string
	AllowReplacingLocal     string
	// NewStore says that the configuration names another store than before, so that an empty one
	// is no lost copy.
	NewStore bool
}

// Decision is the one action for an observation.
type Decision struct {
	Action Action `json:"action"`
	// Fingerprint is the authority that will be accepted; empty for Mint.
	Fingerprint string `json:"fingerprint,omitempty"`
	// ReplacesLocal and ReplacesPublished are the fingerprints that go, by consent or, for the
	// published one, by PublishRotations.
	ReplacesLocal     string    `json:"replaces_local,omitempty"`
	ReplacesPublished string    `json:"replaces_published,omitempty"`
	Warnings          []Warning `json:"warnings,omitempty"`
}

// Decide returns the one action for what was observed. It is pure: plan and apply call it with the
// same values and get the same answer. prior is the accepted fingerprint, empty without prior
// state. A decision to do nothing because of what was found is a *Refusal; the returned Decision
// then carries only warnings.
func Decide(o Observation, prior string, s Settings, now time.Time) (Decision, error) {
	s, err := normalise(s)
	if err != nil {
		return Decision{}, err
	}
	d, err := choose(o, prior, s)
	if err == nil {
		err = refuseExpired(o, d, now)
	}
	warnings := append(d.Warnings, remarks(o, d, prior, s, now)...)
	if err != nil {
		return Decision{Warnings: warnings}, err
	}
	d.Warnings = warnings
	return d, nil
}

// choose is the table, local before published.
func choose(o Observation, prior string, s Settings) (Decision, error) {
	local, published := o.Local, o.Published
	switch {
	case local.State == Unreadable:
		return refuse(o, &Refusal{Err: ErrLocalUnreadable, Cause: local.Err()})
	case published.State == Unreadable:
		return refuse(o, &Refusal{Err: ErrPublishedUnreadable, Cause: published.Err()})
	case local.State == Absent && published.State == Absent:
		return chooseNothing(o, prior, s)
	case local.State == Absent:
		return Decision{Action: ActionAdopt, Fingerprint: published.Info.Fingerprint}, nil
	case published.State == Absent:
		d := Decision{Action: ActionPublish, Fingerprint: local.Info.Fingerprint}
		if prior != "" && !s.NewStore {
			d.warn(Warning{Kind: WarnCopyGone, Fingerprint: d.Fingerprint})
		}
		return d, nil
	case local.Info.Fingerprint == published.Info.Fingerprint:
		return chooseSame(o, s)
	}
	return chooseDifferent(o, s)
}

// chooseNothing is the row without any authority. Minting where one was lost would cut off every
// node while the control plane looks healthy.
func chooseNothing(o Observation, prior string, s Settings) (Decision, error) {
	switch {
	case o.Local.Interrupted:
		return refuse(o, &Refusal{Err: ErrLost, Detail: "an unfinished installation is left"})
	case o.Local.Marker:
		return refuse(o, &Refusal{Err: ErrLost})
	case prior != "":
		return refuse(o, &Refusal{Err: ErrGone, Detail: prior})
	case !s.MintIfAbsent:
		return refuse(o, &Refusal{Err: ErrNothingToAdopt})
	}
	d := Decision{Action: ActionMint}
	d.warn(Warning{Kind: WarnMint})
	return d, nil
}

// chooseSame is the rows with one key on both sides.
func chooseSame(o Observation, s Settings) (Decision, error) {
	local, published := o.Local.Info, o.Published.Info
	d := Decision{Action: ActionHold, Fingerprint: local.Fingerprint}
	lp, pp := local.PreviousFingerprint, published.PreviousFingerprint
	switch {
	case lp != "" && pp != "" && lp != pp:
		return refuse(o, &Refusal{Err: ErrPreviousDiffer})
	case reissued(local, published):
		publish, adopt := consents(o, s)
		return byConsent(o, publish, adopt, &Refusal{Err: ErrReissued, Consents: eitherWay(o)})
	case lp == pp:
		return d, nil
	case lp == "":
		// The local host retired the previous authority. This drops nothing that is in use here.
		d.Action = ActionPublish
		return d, nil
	}
	d.warn(Warning{Kind: WarnPresentsPrevious, Fingerprint: d.Fingerprint, Other: lp})
	return d, nil
}

// chooseDifferent is the rows with two keys. Without consent nothing is replaced, except a
// published authority that the local one provably replaced, where the configuration says so.
// Where one side provably replaced the other, only the forward direction can be consented to: a
// host left behind must not roll the fleet back.
func chooseDifferent(o Observation, s Settings) (Decision, error) {
	ahead, behind := isAhead(o), isBehind(o)
	publish, adopt := consents(o, s)
	switch {
	case ahead && !behind:
		publish = publish || s.PublishRotations
		return byConsent(o, publish, adopt, &Refusal{Err: ErrLocalAhead, Consents: []Consent{
			{AllowReplacingPublished, o.Published.Info.Fingerprint}, {PublishRotations, "true"},
		}})
	case behind && !ahead:
		return byConsent(o, publish, adopt, &Refusal{Err: ErrLocalBehind, Consents: []Consent{
			{AllowReplacingLocal, o.Local.Info.Fingerprint},
		}})
	}
	return byConsent(o, publish, adopt, &Refusal{Err: ErrDiffer, Consents: eitherWay(o)})
}

// byConsent turns a refusal into the one step that was consented to, if the refusal offers it.
func byConsent(o Observation, publish, adopt bool, refusal *Refusal) (Decision, error) {
	local, published := o.Local.Info.Fingerprint, o.Published.Info.Fingerprint
	switch {
	case publish && adopt:
		return refuse(o, &Refusal{Err: ErrContradiction})
	case publish && offers(refusal, AllowReplacingPublished):
		return Decision{Action: ActionPublish, Fingerprint: local, ReplacesPublished: published}, nil
	case adopt && offers(refusal, AllowReplacingLocal):
		return Decision{Action: ActionAdopt, Fingerprint: published, ReplacesLocal: local}, nil
	}
	return refuse(o, refusal)
}
