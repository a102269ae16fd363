package wirecert_test

import (
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

func TestWhatBilletWroteIsRead(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			dir := t.TempDir()
			v.write(t, dir)
			state, err := wirecert.Observe(t.Context(), dir, v.Deployment)
			must(t, err)
			info := state.Authority.Info()
			if info.Fingerprint != v.Fingerprint || info.PreviousFingerprint != v.Previous {
				t.Errorf("fingerprints %s and %s, want %s and %s", info.Fingerprint,
					info.PreviousFingerprint, v.Fingerprint, v.Previous)
			}
			if !state.Marker || len(state.Leftovers) != 0 || state.Interrupted {
				t.Errorf("marker %v, leftovers %v, interrupted %v", state.Marker, state.Leftovers,
					state.Interrupted)
			}
		})
	}
}

func TestWhatIsMintedLooksLikeBilletsOwn(t *testing.T) {
	now := time.Date(2026, 11, 30, 1, 2, 3, 0, time.FixedZone("east", 3600))
	a, err := wirecert.Mint(deployment, now)
	must(t, err)
	info := a.Info()
	if want := now.Add(-time.Hour).UTC(); !info.NotBefore.Equal(want) {
		t.Errorf("not before %s, want %s", info.NotBefore, want)
	}
	if want := now.Add(10 * 365 * 24 * time.Hour).UTC(); !info.NotAfter.Equal(want) {
		t.Errorf("not after %s, want %s", info.NotAfter, want)
	}
	if info.Replaces != "" || info.PreviousFingerprint != "" {
		t.Errorf("a first authority claims %q and has previous %q", info.Replaces,
			info.PreviousFingerprint)
	}
	if got := string(a.Files()[wirecert.MarkerName]); got != deployment+"\n" {
		t.Errorf("marker %q", got)
	}
	b, err := wirecert.Mint(deployment, now)
	must(t, err)
	if b.Info().Fingerprint == info.Fingerprint {
		t.Error("two mints made the same key")
	}
}
