package wireshare

import (
	"errors"
	"strings"
)

// Reasons for which nothing is done. Match them with errors.Is; the error around them is a
// *Refusal.
var (
	// ErrLost says that the host had an authority and has none, and that none is published.
	ErrLost = errors.New("this host had an authority and lost it, and none is published; restore " +
		"it from a backup, or from a host that has it")
	// ErrGone says that an accepted authority is gone from both sides. A new one is never minted
	// in its place.
	ErrGone = errors.New("the accepted authority is gone from this host and from the store; " +
		"restore it from a backup, or from a host that has it")
	// ErrNothingToAdopt says that there is none anywhere and none may be minted.
	ErrNothingToAdopt = errors.New("there is nothing to adopt: no authority is published and " +
		"mint_if_absent is false")
	// ErrNothingToPublish says that the host holds no authority.
	ErrNothingToPublish = errors.New("this host holds no authority to publish")
	// ErrDiffer says that two unrelated authorities meet.
	ErrDiffer = errors.New("this host and the store hold different authorities")
	// ErrLocalAhead says that the local authority provably replaced the published one.
	ErrLocalAhead = errors.New("the authority of this host replaced the published one")
	// ErrLocalBehind says that the published authority replaced the local one.
	ErrLocalBehind = errors.New("this host is behind: the published authority replaced its own")
	// ErrReissued says that both sides have the same key under different certificates.
	ErrReissued = errors.New("this host and the store hold different certificates of one key")
	// ErrPreviousDiffer says that the generations being retired differ.
	ErrPreviousDiffer = errors.New("this host and the store retire different previous " +
		"authorities; finish the rotation on one host, then move ca/ aside on the other")
	// ErrExpired says that an expired authority would have been published or adopted.
	ErrExpired = errors.New("an expired authority is neither published nor adopted")
	// ErrContradiction says that the consents allow both directions at once.
	ErrContradiction = errors.New("the consents allow replacing either side; leave one of them")
	// ErrLocalUnreadable and ErrPublishedUnreadable say that a side could not be read, so nothing
	// is written over it.
	ErrLocalUnreadable     = errors.New("the authority of this host cannot be read")
	ErrPublishedUnreadable = errors.New("the published authority cannot be read")
	// ErrPlanChanged says that what was found under the lock is not what was reviewed.
	ErrPlanChanged = errors.New("something changed since the plan; nothing was written")
	// ErrConsent says that a consent is not a fingerprint.
	ErrConsent = errors.New("this consent is not a fingerprint")
	// ErrPublishUnknown says that a publish failed, or that its answer was lost. Nothing is
	// claimed; the next look at the store tells.
	ErrPublishUnknown = errors.New("the authority may not have been published; plan again to " +
		"see what the store holds")
	// ErrNotConfirmed says that a store accepted a publish and still shows the state before it.
	ErrNotConfirmed = errors.New("the store accepted the authority and does not show it yet; " +
		"plan again in a moment")
)

// Names of the attributes that consent.
const (
	AllowReplacingPublished = "allow_replacing_published"
	AllowReplacingLocal     = "allow_replacing_local"
	PublishRotations        = "publish_rotations"
)

// Consent is one setting that would turn a refusal into a step.
type Consent struct {
	// Attribute is one of the constants above.
	Attribute string
	// Value is the fingerprint to name, or "true".
	Value string
}

// Refusal is a decision to do nothing. Its text names both sides and the cure, never content.
type Refusal struct {
	// Err is one of the reasons above.
	Err error
	// Fingerprints as they were found; empty where there is none.
	Local, LocalPrevious         string
	Published, PublishedPrevious string
	// Consents lists what would allow the step; empty when nothing does.
	Consents []Consent
	// Detail adds to the reason: an attribute, what was planned, what was found.
	Detail string
	// Cause is the reader's own error, if reading was the reason.
	Cause error
}

// Error returns the reason, both sides and the consents.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(r.Err.Error())
	if r.Detail != "" {
		b.WriteString(" (" + r.Detail + ")")
	}
	if r.Cause != nil {
		b.WriteString(": " + r.Cause.Error())
	}
	writeSide(&b, "this host", r.Local, r.LocalPrevious)
	writeSide(&b, "published", r.Published, r.PublishedPrevious)
	for i, c := range r.Consents {
		word := "; to allow it set "
		if i > 0 {
			word = ", or "
		}
		b.WriteString(word + c.Attribute + " = " + c.Value)
	}
	return b.String()
}

// Unwrap returns the reason and the reader's error.
func (r *Refusal) Unwrap() []error {
	if r.Cause == nil {
		return []error{r.Err}
	}
	return []error{r.Err, r.Cause}
}

func writeSide(b *strings.Builder, who, fingerprint, previous string) {
	if fingerprint == "" {
		return
	}
	b.WriteString("; " + who + ": " + fingerprint)
	if previous != "" {
		b.WriteString(" with previous " + previous)
	}
}
