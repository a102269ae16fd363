package wireshare

import (
	"fmt"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// normalise trims the consents and refuses one that is no fingerprint: a mistyped consent must not
// look like one that names something else.
func normalise(s Settings) (Settings, error) {
	for _, c := range []struct {
		attribute string
		value     *string
	}{
		{AllowReplacingPublished, &s.AllowReplacingPublished},
		{AllowReplacingLocal, &s.AllowReplacingLocal},
	} {
		if *c.value == "" {
			continue
		}
		f, err := wirecert.ParseFingerprint(*c.value)
		if err != nil {
			return s, &Refusal{Err: ErrConsent, Detail: c.attribute, Cause: err}
		}
		*c.value = f
	}
	return s, nil
}

// consents says which side the settings let go, by the fingerprint it holds now.
func consents(o Observation, s Settings) (publish, adopt bool) {
	return s.AllowReplacingPublished == o.Published.Info.Fingerprint,
		s.AllowReplacingLocal == o.Local.Info.Fingerprint
}

func eitherWay(o Observation) []Consent {
	return []Consent{
		{AllowReplacingPublished, o.Published.Info.Fingerprint},
		{AllowReplacingLocal, o.Local.Info.Fingerprint},
	}
}

func offers(r *Refusal, attribute string) bool {
	for _, c := range r.Consents {
		if c.Attribute == attribute {
			return true
		}
	}
	return false
}

// isAhead says that the local authority provably replaced the published one: the host still holds
// the published one as its previous pair, private key included, and the certificate does not claim
// to have replaced another.
func isAhead(o Observation) bool {
	local, published := o.Local.Info, o.Published.Info.Fingerprint
	return local.PreviousFingerprint == published &&
		(local.Replaces == "" || local.Replaces == published)
}

// isBehind says that the published authority replaced the local one: it claims so, or, without any
// claim, it carries the local one as its previous pair.
func isBehind(o Observation) bool {
	local, published := o.Local.Info.Fingerprint, o.Published.Info
	if published.Replaces != "" {
		return published.Replaces == local
	}
	return published.PreviousFingerprint == local
}

// reissued says that one key stands in two certificates.
func reissued(local, published wirecert.Info) bool {
	return local.CertificateSHA256 != published.CertificateSHA256 ||
		local.PreviousFingerprint == published.PreviousFingerprint &&
			local.PreviousCertificateSHA256 != published.PreviousCertificateSHA256
}

// refuse fills in what was found.
func refuse(o Observation, r *Refusal) (Decision, error) {
	r.Local, r.LocalPrevious = o.Local.Info.Fingerprint, o.Local.Info.PreviousFingerprint
	r.Published = o.Published.Info.Fingerprint
	r.PublishedPrevious = o.Published.Info.PreviousFingerprint
	return Decision{}, r
}

// refuseExpired stops an expired authority from travelling. One that both sides hold only warns.
func refuseExpired(o Observation, d Decision, now time.Time) error {
	side := moved(o, d)
	if d.Action == ActionHold || side.State != Whole || !expired(side, now) {
		return nil
	}
	_, err := refuse(o, &Refusal{Err: ErrExpired, Detail: fmt.Sprintf("%s expired on %s",
		side.Info.Fingerprint, side.Info.NotAfter.Format(time.RFC3339))})
	return err
}

// moved is the side whose authority the decision is about.
func moved(o Observation, d Decision) Side {
	switch d.Action {
	case ActionPublish, ActionHold:
		return o.Local
	case ActionAdopt:
		return o.Published
	}
	return Side{}
}

// remarks are the warnings that do not depend on a row of the table.
func remarks(o Observation, d Decision, prior string, s Settings, now time.Time) []Warning {
	var list []Warning
	if side := moved(o, d); side.State == Whole {
		list = append(list, validity(side, now)...)
	}
	if prior != "" && d.Fingerprint != "" && d.Fingerprint != prior {
		list = append(list, Warning{
			Kind: WarnAcceptedChanged, Fingerprint: d.Fingerprint, Other: prior,
		})
	}
	if len(o.Local.Leftovers) > 0 {
		list = append(list, Warning{Kind: WarnLeftovers, Names: o.Local.Leftovers})
	}
	if o.Published.Exposed != "" {
		list = append(list, Warning{
			Kind: WarnStoreExposed, Names: []string{o.Published.Exposed},
		})
	}
	return append(list, standing(d, s)...)
}

// standing warns of a consent that names the authority in use: it would let the next change
// through without anybody being asked.
func standing(d Decision, s Settings) []Warning {
	if d.Action != ActionHold {
		return nil
	}
	var list []Warning
	for _, c := range []Consent{
		{AllowReplacingPublished, s.AllowReplacingPublished},
		{AllowReplacingLocal, s.AllowReplacingLocal},
	} {
		if c.Value == d.Fingerprint {
			list = append(list, Warning{
				Kind: WarnStandingConsent, Fingerprint: c.Value, Other: c.Attribute,
			})
		}
	}
	return list
}

func (d *Decision) warn(w Warning) { d.Warnings = append(d.Warnings, w) }
