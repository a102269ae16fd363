// Package wirecerttest makes authorities as billet makes them, and wrong ones: it mints, rotates
// and retires state directories for tests and for the demonstration. The provider never does any
// of it and must not import this package.
package wirecerttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// Deployment is the deployment id of the vectors.
const Deployment = "0123456789abcdef0123456789abcdef"

// Options shape one certificate. The zero value is what billet mints, for Deployment.
type Options struct {
	// Deployment in the subject; Deployment without it.
	Deployment string
	// Organizations in place of the deployment id.
	Organizations []string
	// Replaces becomes a billet-replaces: claim; Units are further organizational units.
	Replaces string
	Units    []string
	// NotBefore and NotAfter; an hour ago and 10 x 365 days from now without them.
	NotBefore, NotAfter time.Time
	// Key to certify; a new P-256 key without it.
	Key *ecdsa.PrivateKey
	// Change is called on the template before it is signed.
	Change func(template *x509.Certificate)
	// Issuer and IssuerKey sign in place of the certificate itself.
	Issuer    *x509.Certificate
	IssuerKey crypto.Signer
}

// Pair is one generation: a certificate and its key, also as PEM.
type Pair struct {
	Key                    *ecdsa.PrivateKey
	Certificate            *x509.Certificate
	KeyPEM, CertificatePEM []byte
	Fingerprint            string
}

// NewPair makes one generation.
func NewPair(o Options) (Pair, error) {
	key := o.Key
	if key == nil {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return Pair{}, err
		}
	}
	template, err := template(o)
	if err != nil {
		return Pair{}, err
	}
	issuer, signer := template, crypto.Signer(key)
	if o.Issuer != nil {
		issuer, signer = o.Issuer, o.IssuerKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), signer)
	if err != nil {
		return Pair{}, err
	}
	return encode(key, der)
}

func template(o Options) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	if o.Deployment == "" {
		o.Deployment = Deployment
	}
	if o.Organizations == nil {
		o.Organizations = []string{o.Deployment}
	}
	if o.Replaces != "" {
		o.Units = append([]string{"billet-replaces:" + o.Replaces}, o.Units...)
	}
	if o.NotBefore.IsZero() {
		o.NotBefore = time.Now().Add(-time.Hour)
	}
	if o.NotAfter.IsZero() {
		o.NotAfter = time.Now().Add(10 * 365 * 24 * time.Hour)
	}
	t := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			CommonName: "billet node wire CA", Organization: o.Organizations,
			OrganizationalUnit: o.Units,
		},
		NotBefore: o.NotBefore.UTC(), NotAfter: o.NotAfter.UTC(),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign |
			x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	if o.Change != nil {
		o.Change(t)
	}
	return t, nil
}

func encode(key *ecdsa.PrivateKey, der []byte) (Pair, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, err
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	p := Pair{
		Key: key, Certificate: cert,
		KeyPEM:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}),
		CertificatePEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
	p.Fingerprint, err = wirecert.CertificateFingerprint(p.CertificatePEM)
	return p, err
}

// Files returns the files of an authority with the pair, and with previous unless it is nil.
func Files(deployment string, current Pair, previous *Pair) wirecert.Files {
	f := wirecert.Files{
		wirecert.KeyName:         current.KeyPEM,
		wirecert.CertificateName: current.CertificatePEM,
		wirecert.MarkerName:      []byte(deployment + "\n"),
	}
	if previous != nil {
		f[wirecert.PreviousKeyName] = previous.KeyPEM
		f[wirecert.PreviousCertificateName] = previous.CertificatePEM
	}
	return f
}
