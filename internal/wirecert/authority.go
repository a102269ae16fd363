package wirecert

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"log/slog"
	"time"
)

// Info is what may be said in public about an authority.
type Info struct {
	// Fingerprint is that of the current certificate's public key.
	Fingerprint string `json:"fingerprint"`
	// PreviousFingerprint is that of the generation being retired; empty without one.
	PreviousFingerprint string `json:"previous_fingerprint,omitempty"`
	// Replaces is the fingerprint the current certificate claims to have replaced; empty if none.
	Replaces string `json:"replaces,omitempty"`
	// CertificateSHA256 and PreviousCertificateSHA256 are over the DER bytes, in hex: they differ
	// for a re-issued certificate and do not see line endings.
	CertificateSHA256         string `json:"certificate_sha256"`
	PreviousCertificateSHA256 string `json:"previous_certificate_sha256,omitempty"`
	// CertificatePEM is the current certificate, TrustBundlePEM it and the previous one.
	CertificatePEM string `json:"certificate_pem"`
	TrustBundlePEM string `json:"trust_bundle_pem"`
	// NotBefore and NotAfter bound the current certificate, in UTC.
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
}

// Authority is a whole authority that passed every check. It holds private keys and shows only its
// fingerprint to any formatter.
type Authority struct {
	info  Info
	files Files
}

// Info returns the public facts.
func (a *Authority) Info() Info { return a.info }

// Files returns a copy of the files, private keys included.
func (a *Authority) Files() Files { return a.files.Clone() }

// Format prints the fingerprint for every verb.
func (a *Authority) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(a.String())) }

// String returns the fingerprint, marked as what it is.
func (a *Authority) String() string {
	if a == nil {
		return "no authority"
	}
	return "authority " + a.info.Fingerprint
}

// LogValue logs the fingerprint.
func (a *Authority) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalJSON writes the fingerprint, marked as what it is.
func (a *Authority) MarshalJSON() ([]byte, error) {
	return []byte(`"` + a.String() + `"`), nil
}

// CheckFiles checks everything about an authority's files that does not depend on where they lie,
// and copies them. place names a file for the error text. The required files must be there and
// not empty: half a pair is never completed by anyone.
func CheckFiles(
	files Files, deployment string, place func(name string) string,
) (*Authority, error) {
	if err := CheckDeployment(deployment); err != nil {
		return nil, err
	}
	if err := checkComplete(files, place); err != nil {
		return nil, err
	}
	current, err := checkPair(files, KeyName, CertificateName, deployment, place)
	if err != nil {
		return nil, err
	}
	marker := markerID(files[MarkerName])
	if err := checkSameDeployment(place(MarkerName), marker, deployment); err != nil {
		return nil, err
	}
	info := describe(current)
	if info.Replaces, err = replaces(place(CertificateName), current); err != nil {
		return nil, err
	}
	if _, ok := files[PreviousKeyName]; ok {
		previous, err := checkPair(files, PreviousKeyName, PreviousCertificateName, deployment, place)
		if err != nil {
			return nil, err
		}
		if err := addPrevious(&info, previous, place); err != nil {
			return nil, err
		}
	}
	return &Authority{info: info, files: files.Clone()}, nil
}

// checkPair returns the certificate of a pair that belongs together and to the deployment.
func checkPair(
	files Files, key, crt, deployment string, place func(string) string,
) (*x509.Certificate, error) {
	cert, err := parseCertificate(place(crt), files[crt])
	if err != nil {
		return nil, err
	}
	priv, err := parseKey(place(key), files[key])
	if err != nil {
		return nil, err
	}
	if !priv.PublicKey.Equal(cert.PublicKey) {
		return nil, &FileError{Place: place(key), Err: ErrKeyMismatch,
			Detail: "restore both from one copy"}
	}
	if err := checkAuthority(place(crt), cert, deployment); err != nil {
		return nil, err
	}
	return cert, nil
}

func describe(cert *x509.Certificate) Info {
	text := certificatePEM(cert)
	return Info{
		Fingerprint:       fingerprint(cert),
		CertificateSHA256: derSum(cert),
		CertificatePEM:    text,
		TrustBundlePEM:    text,
		NotBefore:         cert.NotBefore.UTC(),
		NotAfter:          cert.NotAfter.UTC(),
	}
}

func addPrevious(info *Info, cert *x509.Certificate, place func(string) string) error {
	if _, err := replaces(place(PreviousCertificateName), cert); err != nil {
		return err
	}
	info.PreviousFingerprint = fingerprint(cert)
	if info.PreviousFingerprint == info.Fingerprint {
		return &FileError{Place: place(PreviousCertificateName), Err: ErrNotAuthority,
			Detail: "the previous authority has the key of the current one; finish the rotation"}
	}
	info.PreviousCertificateSHA256 = derSum(cert)
	info.TrustBundlePEM += certificatePEM(cert)
	return nil
}

// certificatePEM encodes afresh, so that line endings and white space of a file never show as a
// difference.
func certificatePEM(cert *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: cert.Raw}))
}

func derSum(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.Raw)
	return hex.EncodeToString(sum[:])
}
