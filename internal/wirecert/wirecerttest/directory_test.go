package wirecerttest_test

import (
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

func read(t *testing.T, dir string) wirecert.Info {
	t.Helper()
	state, err := wirecert.Read(dir, wirecerttest.Deployment)
	if err != nil {
		t.Fatal(err)
	}
	if state.Authority == nil || len(state.Leftovers) != 0 {
		t.Fatalf("found %+v", state)
	}
	return state.Authority.Info()
}

func TestARotationIsWholeAtEachStage(t *testing.T) {
	dir := t.TempDir()
	p, err := wirecerttest.Mint(dir, wirecerttest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old, fresh, err := wirecerttest.Rotate(t.Context(), dir, wirecerttest.Deployment)
	if err != nil || old != p.Fingerprint {
		t.Fatalf("rotated from %s, %v, want %s", old, err, p.Fingerprint)
	}
	i := read(t, dir)
	if i.Fingerprint != fresh || i.PreviousFingerprint != old || i.Replaces != old {
		t.Errorf("after the rotation: %+v", i)
	}
	before := i.CertificateSHA256
	if err := wirecerttest.Reissue(t.Context(), dir, wirecerttest.Options{}); err != nil {
		t.Fatal(err)
	}
	i = read(t, dir)
	if i.Fingerprint != fresh || i.CertificateSHA256 == before {
		t.Errorf("after the re-issue: %+v", i)
	}
	if err := wirecerttest.Retire(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if i = read(t, dir); i.Fingerprint != fresh || i.PreviousFingerprint != "" {
		t.Errorf("after the retirement: %+v", i)
	}
}
