package wireshare

import "time"

// WarningKind says what a plan should say aloud although it goes on.
type WarningKind string

const (
	// WarnMint: a new authority will be made.
	WarnMint WarningKind = "mint"
	// WarnCopyGone: the published copy was gone and is published again.
	WarnCopyGone WarningKind = "copy_gone"
	// WarnPresentsPrevious: this host still presents Other, which the store no longer carries; run
	// the retirement here.
	WarnPresentsPrevious WarningKind = "presents_previous"
	// WarnAcceptedChanged: Other was accepted before and Fingerprint will be.
	WarnAcceptedChanged WarningKind = "accepted_changed"
	// WarnExpired: Fingerprint expired at Time.
	WarnExpired WarningKind = "expired"
	// WarnExpiresSoon: Fingerprint expires at Time, in less than 365 days.
	WarnExpiresSoon WarningKind = "expires_soon"
	// WarnNotYetValid: Fingerprint is valid only from Time, more than an hour ahead.
	WarnNotYetValid WarningKind = "not_yet_valid"
	// WarnLeftovers: Names lie in the directory and never travel.
	WarnLeftovers WarningKind = "leftovers"
	// WarnStandingConsent: the attribute Other still names Fingerprint, the authority in use.
	WarnStandingConsent WarningKind = "standing_consent"
	// WarnStoreExposed: others than its owner may access the store's file, Names[0]; chmod 600 it.
	WarnStoreExposed WarningKind = "store_exposed"
)

// Warning is one of them. Fields that its kind does not mention are zero.
type Warning struct {
	Kind        WarningKind `json:"kind"`
	Fingerprint string      `json:"fingerprint,omitempty"`
	Other       string      `json:"other,omitempty"`
	Time        time.Time   `json:"time,omitzero"`
	Names       []string    `json:"names,omitempty"`
}

// Bounds of the warnings about validity.
const (
	soon      = 365 * 24 * time.Hour
	tolerance = time.Hour
)

// expired says whether the side's authority is past its end.
func expired(s Side, now time.Time) bool { return now.After(s.Info.NotAfter) }

// validity returns the warning, if any, about the time bounds of a whole side.
func validity(s Side, now time.Time) []Warning {
	w := Warning{Fingerprint: s.Info.Fingerprint, Time: s.Info.NotAfter}
	switch {
	case expired(s, now):
		w.Kind = WarnExpired
	case s.Info.NotBefore.Sub(now) > tolerance:
		w.Kind, w.Time = WarnNotYetValid, s.Info.NotBefore
	case s.Info.NotAfter.Sub(now) < soon:
		w.Kind = WarnExpiresSoon
	default:
		return nil
	}
	return []Warning{w}
}
