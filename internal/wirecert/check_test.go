package wirecert_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

func check(files wirecert.Files) (*wirecert.Authority, error) {
	return wirecert.CheckFiles(files, deployment, func(name string) string { return "/D/" + name })
}

func pair(t testing.TB, o wirecerttest.Options) wirecerttest.Pair {
	t.Helper()
	p, err := wirecerttest.NewPair(o)
	must(t, err)
	return p
}

// refusedAs checks the reason and that no line of any PEM body is in the text.
func refusedAs(t *testing.T, err, want error, files wirecert.Files) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	noContent(t, err.Error(), files)
}

func noContent(t *testing.T, text string, files wirecert.Files) {
	t.Helper()
	for name, data := range files {
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if len(line) < 20 || strings.HasPrefix(line, "-----") || name == wirecert.MarkerName {
				continue
			}
			for _, s := range []string{line, base64.StdEncoding.EncodeToString([]byte(line))} {
				if strings.Contains(text, s) {
					t.Errorf("the text quotes %s", name)
				}
			}
		}
	}
}

// C3
func TestWhiteSpaceAroundOnePEMBlockIsFineAndNothingElseIs(t *testing.T) {
	p := pair(t, wirecerttest.Options{})
	other := pair(t, wirecerttest.Options{})
	crt := string(p.CertificatePEM)
	for name, c := range map[string]struct {
		text string
		fine bool
	}{
		"blank lines":         {"\n\n" + crt + "\n \n\t\n", true},
		"CRLF":                {strings.ReplaceAll(crt, "\n", "\r\n"), true},
		"spaces after END":    {strings.TrimSuffix(crt, "\n") + "   \n", true},
		"no final newline":    {strings.TrimSuffix(crt, "\n"), true},
		"text before":         {"# my CA\n" + crt, false},
		"second certificate":  {crt + string(other.CertificatePEM), false},
		"key after":           {crt + string(p.KeyPEM), false},
		"text after":          {crt + "x", false},
		"headers":             {strings.Replace(crt, "E-----\n", "E-----\nA: b\n\n", 1), false},
		"byte order mark":     {"\xef\xbb\xbf" + crt, false},
		"indented":            {"  " + strings.ReplaceAll(crt, "\n", "\n  "), false},
		"indented body":       {strings.ReplaceAll(crt, "\nM", "\n M"), false},
		"one line":            {strings.ReplaceAll(crt, "\n", " "), false},
		"literal backslash n": {strings.ReplaceAll(crt, "\n", `\n`), false},
		"empty":               {"", false},
		"blank":               {"\n\n", false},
		"no END":              {crt[:len(crt)/2], false},
		"blank line inside":   {strings.Replace(crt, "\nM", "\n\nM", 1), false},
		"corrupt first": {strings.Replace(crt, "-----END CERTIFICATE-----\n", "", 1) +
			string(other.CertificatePEM), false},
		"another type": {strings.ReplaceAll(crt, "CERTIFICATE", "X509 CRL"), false},
		"END differs":  {strings.Replace(crt, "END CERTIFICATE", "END X509 CRL", 1), false},
		"not base64":   {strings.Replace(crt, "\nM", "\n*", 1), false},
		"damaged DER": {string(pem.EncodeToMemory(&pem.Block{
			Type: "CERTIFICATE", Bytes: p.Certificate.Raw[:100]})), false},
		"trailing DER": {string(pem.EncodeToMemory(&pem.Block{
			Type: "CERTIFICATE", Bytes: append(bytes.Clone(p.Certificate.Raw), 0)})), false},
	} {
		t.Run(name, func(t *testing.T) {
			files := wirecerttest.Files(deployment, p, nil)
			files[wirecert.CertificateName] = []byte(c.text)
			a, err := check(files)
			if !c.fine {
				refusedAs(t, err, wirecert.ErrPEM, files)
				var fe *wirecert.FileError
				if !errors.As(err, &fe) || fe.Place != "/D/ca.crt" {
					t.Errorf("%v does not name ca.crt", err)
				}
				return
			}
			must(t, err)
			if got := a.Info(); got.Fingerprint != p.Fingerprint ||
				got.CertificatePEM != string(p.CertificatePEM) {
				t.Error("white space changed the fingerprint or the certificate")
			}
			if got := string(a.Files()[wirecert.CertificateName]); got != c.text {
				t.Error("the bytes are not carried as they are")
			}
		})
	}
}

// C5
func TestEveryKeyFormButSEC1IsRefusedByName(t *testing.T) {
	p := pair(t, wirecerttest.Options{})
	pkcs8, err := x509.MarshalPKCS8PrivateKey(p.Key)
	must(t, err)
	sec1, err := x509.MarshalECPrivateKey(p.Key)
	must(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	edDER, err := x509.MarshalPKCS8PrivateKey(edKey)
	must(t, err)
	enc := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	for name, c := range map[string]struct{ text, says string }{
		"PKCS#8":         {enc("PRIVATE KEY", pkcs8), "PKCS#8 EC"},
		"parameters":     {enc("EC PARAMETERS", []byte{6, 0}) + string(p.KeyPEM), "EC PARAMETERS"},
		"SEC1 as PKCS#8": {enc("PRIVATE KEY", sec1), "under the wrong label"},
		"PKCS#8 as SEC1": {enc("EC PRIVATE KEY", pkcs8), "PKCS#8 EC"},
		"RSA":            {enc("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "RSA"},
		"RSA as SEC1":    {enc("EC PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "RSA"},
		"Ed25519":        {enc("PRIVATE KEY", edDER), "Ed25519"},
		"encrypted":      {enc("ENCRYPTED PRIVATE KEY", pkcs8), "encrypted"},
		"old encryption": {strings.Replace(string(p.KeyPEM), "KEY-----\n",
			"KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1), "encrypted"},
		"OpenSSH":      {enc("OPENSSH PRIVATE KEY", sec1), "OpenSSH"},
		"certificate":  {string(p.CertificatePEM), "certificate"},
		"trailing DER": {enc("EC PRIVATE KEY", append(bytes.Clone(sec1), 1, 2)), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			files := wirecerttest.Files(deployment, p, nil)
			files[wirecert.KeyName] = []byte(c.text)
			_, err := check(files)
			refusedAs(t, err, wirecert.ErrKeyFormat, files)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			if strings.Contains(c.says, "EC ") && !strings.Contains(err.Error(),
				"openssl ec -in /D/ca.key -out") {
				t.Errorf("%v does not name the command", err)
			}
		})
	}
}

// C6
func TestACertificateThatIsNotThisKindOfAuthorityIsRefused(t *testing.T) {
	root := pair(t, wirecerttest.Options{})
	change := func(f func(*x509.Certificate)) wirecerttest.Options {
		return wirecerttest.Options{Change: f}
	}
	renamed := wirecerttest.Options{Key: root.Key, Units: []string{"another name"}}
	for name, c := range map[string]struct {
		o    wirecerttest.Options
		want error
	}{
		"not a CA": {change(func(c *x509.Certificate) {
			c.IsCA, c.MaxPathLenZero = false, false
		}), wirecert.ErrNotAuthority},
		"no basic constraints": {change(func(c *x509.Certificate) {
			c.BasicConstraintsValid = false
		}), wirecert.ErrNotAuthority},
		"no path length": {change(func(c *x509.Certificate) {
			c.MaxPathLenZero = false
		}), wirecert.ErrNotAuthority},
		"path length 1": {change(func(c *x509.Certificate) {
			c.MaxPathLen, c.MaxPathLenZero = 1, false
		}), wirecert.ErrNotAuthority},
		"another name": {change(func(c *x509.Certificate) {
			c.Subject.CommonName = "x"
		}), wirecert.ErrNotAuthority},
		"no certificate signing": {change(func(c *x509.Certificate) {
			c.KeyUsage = x509.KeyUsageDigitalSignature
		}), wirecert.ErrNotAuthority},
		"signed by another": {wirecerttest.Options{Issuer: root.Certificate, IssuerKey: root.Key,
			Units: []string{"x"}}, wirecert.ErrNotSelfSigned},
		"self-issued, signed by another": {wirecerttest.Options{Issuer: root.Certificate,
			IssuerKey: root.Key}, wirecert.ErrNotSelfSigned},
		"another issuer's name, its own signature": {wirecerttest.Options{Key: root.Key,
			Issuer: pair(t, renamed).Certificate, IssuerKey: root.Key}, wirecert.ErrNotSelfSigned},
		"no organization": {wirecerttest.Options{Organizations: []string{}},
			wirecert.ErrNotAuthority},
		"two organizations": {wirecerttest.Options{Organizations: []string{deployment, "b"}},
			wirecert.ErrNotAuthority},
		"another deployment": {wirecerttest.Options{Organizations: []string{
			strings.Repeat("f", 32)}}, wirecert.ErrDeployment},
		"organization is no id": {wirecerttest.Options{Organizations: []string{"Example"}},
			wirecert.ErrDeployment},
		"two claims": {wirecerttest.Options{Replaces: root.Fingerprint,
			Units: []string{"billet-replaces:" + root.Fingerprint}}, wirecert.ErrNotAuthority},
		"claim of nothing": {wirecerttest.Options{Units: []string{"billet-replaces:"}},
			wirecert.ErrNotAuthority},
	} {
		t.Run(name, func(t *testing.T) {
			files := wirecerttest.Files(deployment, pair(t, c.o), nil)
			_, err := check(files)
			refusedAs(t, err, c.want, files)
			if name == "not a CA" && !strings.Contains(err.Error(), name) {
				t.Errorf("%v gives another reason", err)
			}
		})
	}
}

// C6
func TestAReissuedCertificateHasTheFingerprintAndOtherBytes(t *testing.T) {
	p := pair(t, wirecerttest.Options{})
	a, err := check(wirecerttest.Files(deployment, p, nil))
	must(t, err)
	again := pair(t, wirecerttest.Options{Key: p.Key})
	b, err := check(wirecerttest.Files(deployment, again, nil))
	must(t, err)
	if a.Info().Fingerprint != b.Info().Fingerprint {
		t.Error("the fingerprint did not survive the re-issue")
	}
	if a.Info().CertificateSHA256 == b.Info().CertificateSHA256 {
		t.Error("the re-issue does not show")
	}
}

// C6, B1, C1
func TestPairsThatDoNotBelongTogetherAreRefused(t *testing.T) {
	p, q := pair(t, wirecerttest.Options{}), pair(t, wirecerttest.Options{})
	foreign := pair(t, wirecerttest.Options{Deployment: strings.Repeat("f", 32)})
	whole := func() wirecert.Files { return wirecerttest.Files(deployment, p, &q) }
	for name, c := range map[string]struct {
		change func(wirecert.Files)
		want   error
	}{
		"key of another": {func(f wirecert.Files) { f[wirecert.KeyName] = q.KeyPEM },
			wirecert.ErrKeyMismatch},
		"previous key of another": {func(f wirecert.Files) {
			f[wirecert.PreviousKeyName] = p.KeyPEM
		}, wirecert.ErrKeyMismatch},
		"previous of another deployment": {func(f wirecert.Files) {
			f[wirecert.PreviousKeyName] = foreign.KeyPEM
			f[wirecert.PreviousCertificateName] = foreign.CertificatePEM
		}, wirecert.ErrDeployment},
		"previous is the current one": {func(f wirecert.Files) {
			f[wirecert.PreviousKeyName] = p.KeyPEM
			f[wirecert.PreviousCertificateName] = p.CertificatePEM
		}, wirecert.ErrNotAuthority},
		"no previous key": {func(f wirecert.Files) { delete(f, wirecert.PreviousKeyName) },
			wirecert.ErrIncomplete},
		"no previous certificate": {func(f wirecert.Files) {
			delete(f, wirecert.PreviousCertificateName)
		}, wirecert.ErrIncomplete},
		"no key": {func(f wirecert.Files) { delete(f, wirecert.KeyName) },
			wirecert.ErrIncomplete},
		"no certificate": {func(f wirecert.Files) { delete(f, wirecert.CertificateName) },
			wirecert.ErrIncomplete},
		"only a previous pair": {func(f wirecert.Files) {
			delete(f, wirecert.KeyName)
			delete(f, wirecert.CertificateName)
		}, wirecert.ErrIncomplete},
		"empty key": {func(f wirecert.Files) { f[wirecert.KeyName] = nil }, wirecert.ErrPEM},
		"no marker": {func(f wirecert.Files) { delete(f, wirecert.MarkerName) }, wirecert.ErrNoMarker},
		"marker of another": {func(f wirecert.Files) {
			f[wirecert.MarkerName] = []byte(strings.Repeat("f", 32) + "\n")
		}, wirecert.ErrDeployment},
		"empty marker": {func(f wirecert.Files) { f[wirecert.MarkerName] = nil },
			wirecert.ErrDeployment},
		"unknown file": {func(f wirecert.Files) { f["ca.pem"] = p.KeyPEM }, wirecert.ErrUnknownFile},
	} {
		t.Run(name, func(t *testing.T) {
			files := whole()
			c.change(files)
			_, err := check(files)
			refusedAs(t, err, c.want, files)
		})
	}
}

func TestOtherCurvesAreAuthorities(t *testing.T) {
	for _, curve := range []elliptic.Curve{elliptic.P384(), elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		must(t, err)
		_, err = check(wirecerttest.Files(deployment, pair(t, wirecerttest.Options{Key: key}), nil))
		must(t, err)
	}
}

// T6
func TestTypesWithKeysShowNothingToAnyFormatter(t *testing.T) {
	files := wirecerttest.Files(deployment, pair(t, wirecerttest.Options{}), nil)
	a, err := check(files)
	must(t, err)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "files", files, "authority", a)
	text := log.String()
	for _, v := range []any{files, a, &files, struct{ F wirecert.Files }{files}, []any{a, files}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			text += fmt.Sprintf(verb, v)
		}
		data, _ := json.Marshal(v)
		text += string(data)
	}
	noContent(t, text, files)
	if strings.Contains(text, fmt.Sprintf("%x", files[wirecert.KeyName][:20])) {
		t.Error("the key is there in hex")
	}
}
