package wirecert

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"strings"
)

// parseCertificate returns the one certificate in data.
func parseCertificate(place string, data []byte) (*x509.Certificate, error) {
	b, reason := strictPEM(data)
	if reason == "" && b.kind != certificateType {
		reason = "it is not a certificate"
	}
	if reason != "" {
		return nil, &FileError{Place: place, Err: ErrPEM, Detail: reason}
	}
	// The parser's own error is dropped: it may quote the certificate.
	cert, err := x509.ParseCertificate(b.der)
	if err != nil {
		return nil, &FileError{Place: place, Err: ErrPEM, Detail: "it is a damaged certificate"}
	}
	return cert, nil
}

// checkAuthority refuses a certificate that is not the authority of the deployment.
func checkAuthority(place string, cert *x509.Certificate, deployment string) error {
	refuse := func(err error, detail string) error {
		return &FileError{Place: place, Err: err, Detail: detail}
	}
	_, isECDSA := cert.PublicKey.(*ecdsa.PublicKey)
	switch {
	case !cert.BasicConstraintsValid:
		return refuse(ErrNotAuthority, "it has no basic constraints")
	case !cert.IsCA:
		return refuse(ErrNotAuthority, "it is not a CA")
	case cert.MaxPathLen != 0 || !cert.MaxPathLenZero:
		return refuse(ErrNotAuthority, "its path length is not 0")
	case !isECDSA:
		return refuse(ErrNotAuthority, "its key is not an ECDSA key")
	case cert.KeyUsage != 0 && cert.KeyUsage&x509.KeyUsageCertSign == 0:
		return refuse(ErrNotAuthority, "its key usage does not allow signing certificates")
	case cert.Subject.CommonName != commonName:
		return refuse(ErrNotAuthority, "its common name is not \""+commonName+"\"")
	case !bytes.Equal(cert.RawIssuer, cert.RawSubject):
		return refuse(ErrNotSelfSigned, "another authority issued it")
	}
	err := cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature)
	if err != nil {
		return refuse(ErrNotSelfSigned, "its signature is not by its own key")
	}
	if n := len(cert.Subject.Organization); n != 1 {
		return refuse(ErrNotAuthority, "its subject must have exactly one organization, "+
			"the deployment id")
	}
	if err := checkSameDeployment(place, cert.Subject.Organization[0], deployment); err != nil {
		return err
	}
	return nil
}

// replaces returns the fingerprint of the authority that the certificate claims to have replaced,
// or nothing. Two claims cannot both be true and are refused.
func replaces(place string, cert *x509.Certificate) (string, error) {
	var claim string
	for _, unit := range cert.Subject.OrganizationalUnit {
		rest, ok := strings.CutPrefix(unit, claimPrefix)
		if !ok {
			continue
		}
		if claim != "" {
			return "", &FileError{Place: place, Err: ErrNotAuthority,
				Detail: "it claims twice to replace another authority"}
		}
		f, err := ParseFingerprint(rest)
		if err != nil || f != rest {
			return "", &FileError{Place: place, Err: ErrNotAuthority,
				Detail: "its " + claimPrefix + " claim names no fingerprint"}
		}
		claim = f
	}
	return claim, nil
}
