package wireshare_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// Short names for what the tables below are made of. The letters are keys.
type (
	side     = wireshare.Side
	settings = wireshare.Settings
	kinds    = []wireshare.WarningKind
)

// now is the time of every decision here.
func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// fp is a valid fingerprint for a letter.
func fp(letter string) string {
	if letter == "" {
		return ""
	}
	return "SHA256:" + strings.Repeat(letter, 42) + "A"
}

// holds is a side with an authority, good for five years.
func holds(key string, change ...func(*wirecert.Info)) side {
	info := wirecert.Info{
		Fingerprint: fp(key), CertificateSHA256: "certificate of " + key,
		NotBefore: now().Add(-time.Hour), NotAfter: now().Add(5 * 365 * 24 * time.Hour),
	}
	for _, c := range change {
		c(&info)
	}
	return side{State: wireshare.Whole, Info: info}
}

func previous(key string) func(*wirecert.Info) {
	return func(i *wirecert.Info) {
		i.PreviousFingerprint = fp(key)
		i.PreviousCertificateSHA256 = "certificate of " + key
	}
}

func replaced(key string) func(*wirecert.Info) {
	return func(i *wirecert.Info) { i.Replaces = fp(key) }
}

func reissuedAs(text string) func(*wirecert.Info) {
	return func(i *wirecert.Info) { i.CertificateSHA256 = text }
}

func until(d time.Duration) func(*wirecert.Info) {
	return func(i *wirecert.Info) { i.NotAfter = now().Add(d) }
}

func from(d time.Duration) func(*wirecert.Info) {
	return func(i *wirecert.Info) { i.NotBefore = now().Add(d) }
}

func absent() side { return side{State: wireshare.Absent} }

func marked() side { return side{State: wireshare.Absent, Marker: true} }

func unreadable() side { return side{State: wireshare.Unreadable, Reason: "a reason"} }

// row is one row of the table, or one way to consent to it.
type row struct {
	local, published side
	prior            string
	settings         settings
	// Either the action, with what it replaces, or the refusal, with what it offers.
	action   wireshare.Action
	gone     string
	refusal  error
	offers   []string
	warnings kinds
}

func allowPublished(key string) settings { return settings{AllowReplacingPublished: fp(key)} }

func allowLocal(key string) settings { return settings{AllowReplacingLocal: fp(key)} }

// rows is the table of the specification, row by row.
func rows() map[string]row {
	mint := settings{MintIfAbsent: true}
	const hold, publish, adopt = wireshare.ActionHold, wireshare.ActionPublish,
		wireshare.ActionAdopt
	ahead := holds("N", replaced("O"), previous("O"))
	return map[string]row{
		"nothing anywhere mints": {local: absent(), published: absent(), settings: mint,
			action: wireshare.ActionMint, warnings: kinds{wireshare.WarnMint}},
		"nothing anywhere with prior state never mints": {local: absent(), published: absent(),
			settings: mint, prior: "F", refusal: wireshare.ErrGone},
		"nothing anywhere without mint_if_absent": {local: absent(), published: absent(),
			refusal: wireshare.ErrNothingToAdopt},
		"a marker without an authority never mints": {local: marked(), published: absent(),
			settings: mint, refusal: wireshare.ErrLost},
		"an unfinished installation never mints": {
			local:     side{State: wireshare.Absent, Interrupted: true},
			published: absent(), settings: mint, refusal: wireshare.ErrLost},
		"an empty host adopts": {local: absent(), published: holds("F"), action: adopt},
		"an empty host with a marker adopts": {local: marked(), published: holds("F"),
			action: adopt},
		"an empty host with prior state adopts": {local: absent(), published: holds("F"),
			prior: "F", action: adopt},
		"an empty host adopts another than was accepted, with a warning": {local: absent(),
			published: holds("G"), prior: "F", action: adopt,
			warnings: kinds{wireshare.WarnAcceptedChanged}},
		"an empty store gets the first copy": {local: holds("F"), published: absent(),
			action: publish},
		"a copy that was gone is published again, with a warning": {local: holds("F"),
			published: absent(), prior: "F", action: publish,
			warnings: kinds{wireshare.WarnCopyGone}},
		"a new store gets its first copy": {local: holds("F"), published: absent(), prior: "F",
			settings: settings{NewStore: true}, action: publish},
		"both the same": {local: holds("F"), published: holds("F"), prior: "F", action: hold},
		"both the same and mid-rotation": {local: holds("F", previous("O")),
			published: holds("F", previous("O")), prior: "F", action: hold},
		"both the same and not what was accepted": {local: holds("G"), published: holds("G"),
			prior: "F", action: hold, warnings: kinds{wireshare.WarnAcceptedChanged}},
		"a re-issued certificate": {local: holds("F", reissuedAs("x")), published: holds("F"),
			refusal: wireshare.ErrReissued, offers: []string{"published F", "local F"}},
		"a re-issued certificate, published by consent": {settings: allowPublished("F"),
			local: holds("F", reissuedAs("x")), published: holds("F"), action: publish, gone: "F"},
		"a re-issued certificate, adopted by consent": {settings: allowLocal("F"),
			local: holds("F", reissuedAs("x")), published: holds("F"), action: adopt, gone: "F"},
		"a re-issued previous certificate": {local: holds("F", previous("O")),
			published: holds("F", previous("O"), func(i *wirecert.Info) {
				i.PreviousCertificateSHA256 = "x"
			}), refusal: wireshare.ErrReissued, offers: []string{"published F", "local F"}},
		"the host retired": {local: holds("F"), published: holds("F", previous("O")),
			action: publish},
		"the host has yet to retire": {local: holds("F", previous("O")), published: holds("F"),
			action: hold, warnings: kinds{wireshare.WarnPresentsPrevious}},
		"two previous pairs": {local: holds("F", previous("O")), settings: allowPublished("F"),
			published: holds("F", previous("P")), refusal: wireshare.ErrPreviousDiffer},
		"the host rotated": {local: ahead, published: holds("O"), prior: "O",
			refusal: wireshare.ErrLocalAhead, offers: []string{"published O", "rotations"}},
		"the host rotated, with consent": {local: ahead, published: holds("O"),
			settings: allowPublished("O"), action: publish, gone: "O"},
		"the host rotated, with publish_rotations": {local: ahead, published: holds("O"),
			settings: settings{PublishRotations: true}, action: publish, gone: "O"},
		"the host rotated as billet did before it wrote claims": {
			local: holds("N", previous("O")), published: holds("O"),
			settings: settings{PublishRotations: true}, action: publish, gone: "O"},
		"a claim without the previous pair proves nothing": {
			local: holds("N", replaced("O")), published: holds("O"),
			settings: settings{PublishRotations: true}, refusal: wireshare.ErrDiffer,
			offers: []string{"published O", "local N"}},
		"a claim of another proves nothing": {
			local: holds("N", replaced("P"), previous("O")), published: holds("O"),
			settings: settings{PublishRotations: true}, refusal: wireshare.ErrDiffer,
			offers: []string{"published O", "local N"}},
		"the host is behind": {local: holds("O"), published: ahead,
			settings: settings{PublishRotations: true}, refusal: wireshare.ErrLocalBehind,
			offers: []string{"local O"}},
		"the host is behind, with consent": {local: holds("O"), published: ahead,
			settings: allowLocal("O"), action: adopt, gone: "O"},
		"the host is behind a rotation that is over": {local: holds("O"),
			published: holds("N", replaced("O")), settings: allowLocal("O"), action: adopt,
			gone: "O"},
		"a host that is behind does not roll the fleet back": {local: holds("O"),
			published: ahead, settings: allowPublished("N"), refusal: wireshare.ErrLocalBehind,
			offers: []string{"local O"}},
		"strangers": {local: holds("X"), published: holds("Y"),
			settings: settings{PublishRotations: true}, refusal: wireshare.ErrDiffer,
			offers: []string{"published Y", "local X"}},
		"strangers, published by consent": {local: holds("X"), published: holds("Y"),
			settings: allowPublished("Y"), action: publish, gone: "Y"},
		"strangers, adopted by consent": {local: holds("X"), published: holds("Y"),
			settings: allowLocal("X"), action: adopt, gone: "X"},
		"strangers, consent for what is not there": {local: holds("X"), published: holds("Y"),
			settings: allowPublished("X"), refusal: wireshare.ErrDiffer,
			offers: []string{"published Y", "local X"}},
		"strangers, both consents": {local: holds("X"), published: holds("Y"),
			settings: settings{AllowReplacingPublished: fp("Y"), AllowReplacingLocal: fp("X")},
			refusal:  wireshare.ErrContradiction},
		"a host that cannot be read": {local: unreadable(), published: holds("F"),
			settings: allowLocal("F"), refusal: wireshare.ErrLocalUnreadable},
		"a host that cannot be read and nothing published": {local: unreadable(),
			published: absent(), settings: mint, refusal: wireshare.ErrLocalUnreadable},
		"a store that cannot be read": {local: holds("F"), published: unreadable(),
			settings: allowPublished("F"), refusal: wireshare.ErrPublishedUnreadable},
		"a store that cannot be read and an empty host": {local: absent(),
			published: unreadable(), settings: mint, refusal: wireshare.ErrPublishedUnreadable},
	}
}

// F1, C6, S6
func TestDecideRowByRow(t *testing.T) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) { r.check(t) })
	}
}

func (r row) check(t *testing.T) {
	t.Helper()
	o := wireshare.Observation{Deployment: deployment, Local: r.local, Published: r.published}
	d, err := wireshare.Decide(o, fp(r.prior), r.settings, now())
	if !errors.Is(err, r.refusal) || (err == nil) != (r.refusal == nil) {
		t.Fatalf("refusal %v, want %v", err, r.refusal)
	}
	if d.Action != r.action {
		t.Errorf("action %q, want %q", d.Action, r.action)
	}
	if gone := d.ReplacesLocal + d.ReplacesPublished; gone != fp(r.gone) {
		t.Errorf("%q goes, want %q", gone, fp(r.gone))
	}
	if refusal, ok := errors.AsType[*wireshare.Refusal](err); ok {
		checkRefusal(t, refusal, r)
	}
	var got kinds
	for _, w := range d.Warnings {
		got = append(got, w.Kind)
	}
	if !slices.Equal(got, r.warnings) {
		t.Errorf("warnings %v, want %v", got, r.warnings)
	}
}

// checkRefusal looks at what a person needs in order to go on: both fingerprints, and the consent.
func checkRefusal(t *testing.T, refusal *wireshare.Refusal, r row) {
	t.Helper()
	if refusal.Local != r.local.Info.Fingerprint ||
		refusal.Published != r.published.Info.Fingerprint ||
		refusal.LocalPrevious != r.local.Info.PreviousFingerprint ||
		refusal.PublishedPrevious != r.published.Info.PreviousFingerprint {
		t.Errorf("it does not carry what was found: %+v", refusal)
	}
	for _, f := range []string{
		refusal.Local, refusal.Published, refusal.LocalPrevious, refusal.PublishedPrevious,
	} {
		if !strings.Contains(refusal.Error(), f) {
			t.Errorf("%s is not in %q", f, refusal.Error())
		}
	}
	names := map[string]string{
		"published": wireshare.AllowReplacingPublished, "local": wireshare.AllowReplacingLocal,
	}
	var want []wireshare.Consent
	for _, offer := range r.offers {
		who, key, ok := strings.Cut(offer, " ")
		if !ok {
			want = append(want, wireshare.Consent{
				Attribute: wireshare.PublishRotations, Value: "true",
			})
			continue
		}
		want = append(want, wireshare.Consent{Attribute: names[who], Value: fp(key)})
	}
	if !slices.Equal(refusal.Consents, want) {
		t.Errorf("it offers %v, want %v", refusal.Consents, want)
	}
}

// C7: what expired does not travel; what both sides hold already only warns.
func TestExpiryStopsWhatWouldTravelAndWarnsOfTheRest(t *testing.T) {
	const day = 24 * time.Hour
	for name, r := range map[string]row{
		"expired, to be published": {local: holds("F", until(-time.Second)), published: absent(),
			refusal: wireshare.ErrExpired, warnings: kinds{wireshare.WarnExpired}},
		"expired, to be adopted": {local: absent(), published: holds("F", until(-time.Second)),
			refusal: wireshare.ErrExpired, warnings: kinds{wireshare.WarnExpired}},
		"expired, to be published by consent": {local: holds("X", until(-day)),
			published: holds("Y"), settings: allowPublished("Y"), refusal: wireshare.ErrExpired,
			warnings: kinds{wireshare.WarnExpired}},
		"expired, to be replaced by consent": {local: holds("X", until(-day)),
			published: holds("Y"), settings: allowLocal("X"), action: wireshare.ActionAdopt,
			gone: "X"},
		"expired and accepted": {local: holds("F", until(-day)),
			published: holds("F", until(-day)), prior: "F", action: wireshare.ActionHold,
			warnings: kinds{wireshare.WarnExpired}},
		"five days left": {local: holds("F", until(5*day)), published: absent(),
			action: wireshare.ActionPublish, warnings: kinds{wireshare.WarnExpiresSoon}},
		"just under 365 days left": {local: absent(), published: holds("F", until(365*day-1)),
			action: wireshare.ActionAdopt, warnings: kinds{wireshare.WarnExpiresSoon}},
		"365 days left": {local: absent(), published: holds("F", until(365*day)),
			action: wireshare.ActionAdopt},
		"valid in half an hour": {local: absent(), published: holds("F", from(30*time.Minute)),
			action: wireshare.ActionAdopt},
		"valid in two days": {local: absent(), published: holds("F", from(2*day)),
			action: wireshare.ActionAdopt, warnings: kinds{wireshare.WarnNotYetValid}},
	} {
		t.Run(name, func(t *testing.T) { r.check(t) })
	}
}

func TestAConsentThatIsNoFingerprintIsRefusedAndNotIgnored(t *testing.T) {
	o := wireshare.Observation{Local: holds("X"), Published: holds("Y")}
	for _, text := range []string{strings.TrimPrefix(fp("Y"), "SHA256:"), "yes",
		strings.Repeat("ab", 32), fp("Y") + "=", " "} {
		for _, s := range []settings{{AllowReplacingPublished: text}, {AllowReplacingLocal: text}} {
			_, err := wireshare.Decide(o, "", s, now())
			if !errors.Is(err, wireshare.ErrConsent) || !errors.Is(err, wirecert.ErrFingerprint) {
				t.Errorf("%+v: %v", s, err)
			}
		}
	}
	s := settings{AllowReplacingPublished: "\t" + fp("Y") + "\n"}
	if d, err := wireshare.Decide(o, "", s, now()); d.Action != wireshare.ActionPublish {
		t.Errorf("white space around a consent is not trimmed: %v", err)
	}
}

// B3, C9
func TestLeftoversAndAnOpenStoreAreWarnedOf(t *testing.T) {
	local, published := holds("F"), holds("F")
	local.Leftovers = []string{"ca.key.new", "notes.txt"}
	published.Exposed = "/share/authority.json"
	o := wireshare.Observation{Local: local, Published: published}
	d, err := wireshare.Decide(o, fp("F"), settings{AllowReplacingPublished: fp("F")}, now())
	must(t, err)
	want := []wireshare.Warning{
		{Kind: wireshare.WarnLeftovers, Names: local.Leftovers},
		{Kind: wireshare.WarnStoreExposed, Names: []string{published.Exposed}},
		{Kind: wireshare.WarnStandingConsent, Fingerprint: fp("F"),
			Other: wireshare.AllowReplacingPublished},
	}
	got, err := json.Marshal(d.Warnings)
	must(t, err)
	expected, err := json.Marshal(want)
	must(t, err)
	if string(got) != string(expected) {
		t.Errorf("warnings %s\nwant %s", got, expected)
	}
}
