package wirecert_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

func TestAFingerprintIsComparedExactlyButForWhiteSpace(t *testing.T) {
	f := vectors(t)[0].Fingerprint
	for text, same := range map[string]bool{
		f: true, " \t" + f + "\r\n": true,
		vectors(t)[1].Fingerprint: false,
	} {
		got, err := wirecert.ParseFingerprint(text)
		if err != nil || (got == f) != same {
			t.Errorf("%q: %v, %v, want %v", text, got, err, same)
		}
	}
}

func TestWhatIsNoFingerprintIsExplainedAndIsNoMismatch(t *testing.T) {
	f := vectors(t)[0].Fingerprint
	rest := strings.TrimPrefix(f, "SHA256:")
	sum, err := base64.RawStdEncoding.DecodeString(rest)
	must(t, err)
	sumHex := hex.EncodeToString(sum)
	var colons []string
	for i := 0; i < len(sumHex); i += 2 {
		colons = append(colons, sumHex[i:i+2])
	}
	for text, says := range map[string]string{
		"": "empty", rest: "prefix SHA256: is missing", sumHex: "hexadecimal",
		strings.ToUpper(strings.Join(colons, ":")): "hexadecimal",
		"SHA256:" + sumHex:                         "hexadecimal", "sha256:" + rest: "capital",
		f + "=": "43 characters", f[:30]: "43 characters", f + f: "43 characters",
		f[:20] + "\n" + f[20:]: "43 characters",
		"MD5:00":               "missing", "SHA256:" + base64.RawURLEncoding.EncodeToString(
			[]byte(strings.Repeat("\xff", 32))): "43 characters",
	} {
		_, err := wirecert.ParseFingerprint(text)
		if !errors.Is(err, wirecert.ErrFingerprint) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzParseFingerprint(f *testing.F) {
	f.Add(vectors(f)[0].Fingerprint)
	f.Add("SHA256:")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := wirecert.ParseFingerprint(s)
		if err == nil && (len(got) != 50 || got != strings.TrimSpace(s)) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func FuzzCheckFiles(f *testing.F) {
	p, err := wirecert.Mint(deployment, testTime())
	must(f, err)
	files := p.Files()
	f.Add(files[wirecert.KeyName], files[wirecert.CertificateName])
	f.Fuzz(func(t *testing.T, key, crt []byte) {
		in := wirecert.Files{
			wirecert.KeyName: key, wirecert.CertificateName: crt,
			wirecert.MarkerName: []byte(deployment),
		}
		a, err := check(in)
		if err == nil && !a.Files().Equal(in) {
			t.Error("accepted files are not carried as they are")
		}
	})
}
