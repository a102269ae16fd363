package wirecert

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

const fingerprintPrefix = "SHA256:"

// fingerprint is the fingerprint of the certificate's public key. It is of the key and not of the
// certificate, so that it survives a re-issue.
func fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return fingerprintPrefix + base64.RawStdEncoding.EncodeToString(sum[:])
}

// CertificateFingerprint returns the fingerprint of the one certificate in pemText: "SHA256:" and
// the unpadded standard base64 of SHA-256 over its SubjectPublicKeyInfo. It says nothing about
// whether the certificate is a node-wire authority.
func CertificateFingerprint(pemText []byte) (string, error) {
	cert, err := parseCertificate("certificate", pemText)
	if err != nil {
		return "", err
	}
	return fingerprint(cert), nil
}

// ParseFingerprint returns the fingerprint in text without the white space around it, or
// ErrFingerprint with an explanation. base64 is case-sensitive, so nothing else is adjusted.
func ParseFingerprint(text string) (string, error) {
	s := strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(s, fingerprintPrefix)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrFingerprint, explainPrefix(s))
	}
	if isHexSum(rest) {
		return "", fmt.Errorf("%w: this is the hexadecimal form; use the base64 form, "+
			"SHA256: and 43 characters", ErrFingerprint)
	}
	sum, err := base64.RawStdEncoding.Strict().DecodeString(rest)
	if err != nil || len(sum) != sha256.Size || strings.ContainsAny(rest, "\r\n") {
		return "", fmt.Errorf("%w: after SHA256: there must be 43 characters of standard base64 "+
			"without padding", ErrFingerprint)
	}
	return s, nil
}

func explainPrefix(s string) string {
	switch {
	case s == "":
		return "it is empty"
	case isHexSum(s):
		return "this is the hexadecimal form; use the base64 form, SHA256: and 43 characters"
	case len(s) >= len(fingerprintPrefix) &&
		strings.EqualFold(s[:len(fingerprintPrefix)], fingerprintPrefix):
		return "the prefix is SHA256: in capital letters"
	}
	return "the prefix SHA256: is missing"
}

// isHexSum recognises a SHA-256 sum in hexadecimal, with or without colons.
func isHexSum(s string) bool {
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	return err == nil && len(b) == sha256.Size
}
