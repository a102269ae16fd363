package wireshare_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// sides yields each state one side can be in: what cannot be read, nothing with and without the
// traces of an authority, and every authority with one of keys that differs in certificate,
// previous pair, claim or expiry.
func sides(keys ...string) iter.Seq[side] {
	return func(yield func(side) bool) {
		bare := []side{
			unreadable(), absent(), marked(), {State: wireshare.Absent, Interrupted: true},
			{State: wireshare.Absent, Marker: true, Interrupted: true},
		}
		for _, s := range bare {
			if !yield(s) {
				return
			}
		}
		for _, key := range keys {
			for _, change := range variants() {
				if !yield(holds(key, change...)) {
					return
				}
			}
		}
	}
}

func variants() [][]func(*wirecert.Info) {
	same := func(*wirecert.Info) {}
	certificates := []func(*wirecert.Info){same, reissuedAs("another")}
	pairs := []func(*wirecert.Info){same, previous("A"), previous("B"), previous("C"),
		func(i *wirecert.Info) { previous("C")(i); i.PreviousCertificateSHA256 = "another" }}
	claims := []func(*wirecert.Info){same, replaced("A"), replaced("B"), replaced("C")}
	ends := []func(*wirecert.Info){same, until(-time.Hour)}
	var list [][]func(*wirecert.Info)
	for _, c := range certificates {
		for _, p := range pairs {
			for _, r := range claims {
				for _, e := range ends {
					list = append(list, []func(*wirecert.Info){c, p, r, e})
				}
			}
		}
	}
	return list
}

// allSettings is every consent, including for what is not there, with every other setting.
func allSettings() []settings {
	var list []settings
	for bits := range 4 {
		for _, p := range []string{"", "A", "B"} {
			for _, l := range []string{"", "A", "B"} {
				list = append(list, settings{
					MintIfAbsent: bits&1 != 0, PublishRotations: bits&2 != 0,
					AllowReplacingPublished: fp(p), AllowReplacingLocal: fp(l),
				})
			}
		}
	}
	return list
}

// Every combination of what the two sides, the prior state and the settings can be gives exactly
// one action or one refusal, and none without consent replaces anything.
func TestEveryCombinationGivesOneActionAndReplacesNothingUnasked(t *testing.T) {
	t.Parallel()
	all, count := allSettings(), 0
	for local := range sides("A") {
		for published := range sides("A", "B") {
			if published.Marker || published.Interrupted {
				continue // a store has no marker
			}
			o := wireshare.Observation{Deployment: deployment, Local: local, Published: published}
			for i, s := range all {
				// These two decide nothing but minting and warnings: they alternate.
				prior := []string{"", fp("A"), fp("C")}[(i+count/len(all))%3]
				s.NewStore = count%2 == 0
				count++
				if fault := judge(o, prior, s); fault != "" {
					text, _ := json.Marshal([]any{o, prior, s})
					t.Fatalf("%s\n%s", fault, text)
				}
			}
		}
	}
	t.Logf("%d combinations", count)
}

// judge decides one combination and returns what is wrong with the decision. Its rules are written
// against the specification and not against the code: they say what an action needs.
func judge(o wireshare.Observation, prior string, s settings) string {
	d, err := wireshare.Decide(o, prior, s, now())
	refusal, refused := errors.AsType[*wireshare.Refusal](err)
	switch {
	case err != nil && !refused:
		return "an error that is no refusal: " + err.Error()
	case refused && (d.Action != "" || d.ReplacesLocal != "" || d.ReplacesPublished != ""):
		return "a refusal with an action"
	case refused:
		return judgeRefusal(o, prior, s, refusal)
	case d.ReplacesLocal != "" && d.ReplacesPublished != "":
		return "both sides go"
	case o.Local.State == wireshare.Unreadable || o.Published.State == wireshare.Unreadable:
		return "an action over what cannot be read"
	}
	return judgeAction(o, prior, s, d)
}

func judgeAction(o wireshare.Observation, prior string, s settings, d wireshare.Decision) string {
	here, there := o.Local.State == wireshare.Whole, o.Published.State == wireshare.Whole
	local, published := o.Local.Info, o.Published.Info
	switch d.Action {
	case wireshare.ActionMint:
		if here || there || o.Local.Marker || o.Local.Interrupted || prior != "" ||
			!s.MintIfAbsent || d.ReplacesLocal+d.ReplacesPublished != "" {
			return "a mint where there is, was or may be an authority"
		}
		return ""
	case wireshare.ActionAdopt:
		switch {
		case !there || now().After(published.NotAfter) || d.Fingerprint != published.Fingerprint:
			return "an adoption of nothing, or of what expired"
		case here && (d.ReplacesLocal != local.Fingerprint ||
			s.AllowReplacingLocal != local.Fingerprint):
			return "a local authority goes without consent"
		case !here && d.ReplacesLocal != "":
			return "what is not there goes"
		}
	case wireshare.ActionPublish:
		return judgePublish(o, s, d)
	case wireshare.ActionHold:
		if !here || !there || local.Fingerprint != published.Fingerprint ||
			local.CertificateSHA256 != published.CertificateSHA256 ||
			published.PreviousFingerprint != "" &&
				(published.PreviousFingerprint != local.PreviousFingerprint ||
					published.PreviousCertificateSHA256 != local.PreviousCertificateSHA256) {
			return "two sides that differ are called the same"
		}
	default:
		return fmt.Sprintf("no action: %q", d.Action)
	}
	return judgeAfter(o, s, d)
}

func judgePublish(o wireshare.Observation, s settings, d wireshare.Decision) string {
	local, published := o.Local.Info, o.Published.Info
	proven := local.PreviousFingerprint == published.Fingerprint &&
		(local.Replaces == "" || local.Replaces == published.Fingerprint)
	retired := local.Fingerprint == published.Fingerprint &&
		local.CertificateSHA256 == published.CertificateSHA256 && local.PreviousFingerprint == ""
	switch {
	case o.Local.State != wireshare.Whole || now().After(local.NotAfter) ||
		d.Fingerprint != local.Fingerprint:
		return "a publish of nothing, or of what expired"
	case o.Published.State != wireshare.Whole && d.ReplacesPublished != "":
		return "what is not there goes"
	case o.Published.State == wireshare.Whole && d.ReplacesPublished == "" && !retired:
		return "a published authority goes unnamed"
	case d.ReplacesPublished != "" && (d.ReplacesPublished != published.Fingerprint ||
		s.AllowReplacingPublished != published.Fingerprint && !(s.PublishRotations && proven)):
		return "a published authority goes without consent"
	}
	return judgeAfter(o, s, d)
}

// judgeAfter carries the decision out in thought: the next plan with the same configuration holds,
// so a consent left in it is inert.
func judgeAfter(o wireshare.Observation, s settings, d wireshare.Decision) string {
	switch d.Action {
	case wireshare.ActionPublish:
		o.Published = side{State: wireshare.Whole, Info: o.Local.Info}
	case wireshare.ActionAdopt:
		o.Local = side{State: wireshare.Whole, Info: o.Published.Info, Marker: true}
	}
	next, err := wireshare.Decide(o, d.Fingerprint, s, now())
	if err != nil || next.Action != wireshare.ActionHold {
		return fmt.Sprintf("after %s the next plan is %q, %v", d.Action, next.Action, err)
	}
	return ""
}

// judgeRefusal follows each consent that the refusal offers: it must lead to a step that replaces
// exactly what it names.
func judgeRefusal(
	o wireshare.Observation, prior string, s settings, refusal *wireshare.Refusal,
) string {
	if refusal.Local != o.Local.Info.Fingerprint ||
		refusal.Published != o.Published.Info.Fingerprint {
		return "a refusal that does not carry both fingerprints"
	}
	for _, c := range refusal.Consents {
		with := settings{MintIfAbsent: s.MintIfAbsent}
		switch c.Attribute {
		case wireshare.AllowReplacingPublished:
			with.AllowReplacingPublished = c.Value
		case wireshare.AllowReplacingLocal:
			with.AllowReplacingLocal = c.Value
		case wireshare.PublishRotations:
			with.PublishRotations = true
		}
		d, err := wireshare.Decide(o, prior, with, now())
		if errors.Is(err, wireshare.ErrExpired) {
			continue
		}
		gone := d.ReplacesLocal + d.ReplacesPublished
		if err != nil || gone == "" || c.Value != gone && c.Value != "true" {
			return fmt.Sprintf("the offered consent %v leads to %q and %v", c, d.Action, err)
		}
	}
	return ""
}

// The provider keeps the observation in readable private state: it decides the same after JSON,
// and carries nothing but public facts.
func TestAnObservationDecidesTheSameAfterJSON(t *testing.T) {
	for local := range sides("A") {
		for published := range sides("A", "B") {
			o := wireshare.Observation{Deployment: deployment, Local: local, Published: published}
			text, err := json.Marshal(o)
			must(t, err)
			var back wireshare.Observation
			must(t, json.Unmarshal(text, &back))
			s := settings{MintIfAbsent: true, PublishRotations: true}
			d, err := wireshare.Decide(o, "", s, now())
			again, errAgain := wireshare.Decide(back, "", s, now())
			if d.Action != again.Action || d.ReplacesPublished != again.ReplacesPublished ||
				fmt.Sprint(err) != fmt.Sprint(errAgain) {
				t.Fatalf("%s: %v, %v became %v, %v", text, d, err, again, errAgain)
			}
		}
	}
}
