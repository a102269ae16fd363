package wirecert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Bounds of a minted certificate.
const (
	validFor  = 10 * 365 * 24 * time.Hour
	backdated = time.Hour
)

// Mint makes a new authority in memory, valid from one hour before now. Nothing is written.
func Mint(deployment string, now time.Time) (*Authority, error) {
	if err := CheckDeployment(deployment); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the authority's key: %w", err)
	}
	// 128 random bits: no two authorities share a serial number.
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName, Organization: []string{deployment}},
		NotBefore:    now.UTC().Add(-backdated),
		NotAfter:     now.UTC().Add(validFor),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign |
			x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority's certificate: %w", err)
	}
	return assemble(deployment, der, key)
}

// assemble puts a new authority through the checks that every other one passes.
func assemble(deployment string, der []byte, key *ecdsa.PrivateKey) (*Authority, error) {
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the authority's key: %w", err)
	}
	files := Files{
		KeyName:         pem.EncodeToMemory(&pem.Block{Type: keyType, Bytes: sec1}),
		CertificateName: pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: der}),
		MarkerName:      []byte(deployment + "\n"),
	}
	return CheckFiles(files, deployment, func(name string) string { return "minted " + name })
}
