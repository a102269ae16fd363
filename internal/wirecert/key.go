package wirecert

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"path/filepath"
)

const (
	keyType         = "EC PRIVATE KEY"
	certificateType = "CERTIFICATE"
	notECDSA        = "; a node-wire authority has an ECDSA key"
)

// parseKey returns the one SEC1 key in data. billet reads nothing else, so every other form is
// refused with its name and the command that converts it.
func parseKey(place string, data []byte) (*ecdsa.PrivateKey, error) {
	form := func(detail string) error {
		return &FileError{Place: place, Err: ErrKeyFormat, Detail: detail}
	}
	b, reason := strictPEM(data)
	if kind := firstType(data); kind != "" && kind != keyType {
		return nil, form(explainKey(kind, b.der, convert(place)))
	}
	if reason == pemHeaders {
		return nil, form(pemHeaders + ", as an encrypted key does" + convert(place))
	}
	if reason != "" {
		return nil, &FileError{Place: place, Err: ErrPEM, Detail: reason}
	}
	var raw asn1.RawValue
	if rest, err := asn1.Unmarshal(b.der, &raw); err != nil || len(rest) > 0 {
		return nil, form("it is damaged")
	}
	// The error is dropped: it may describe the key.
	if key, err := x509.ParseECPrivateKey(b.der); err == nil {
		return key, nil
	}
	return nil, form("under that label there is " + describeDER(b.der, convert(place)))
}

// firstType is the type of the first PEM block in data, if its BEGIN line is where it must be.
func firstType(data []byte) string {
	lines := pemLines(data)
	if len(lines) == 0 {
		return ""
	}
	kind, _ := boundary(lines[0], "BEGIN")
	return kind
}

func explainKey(kind string, der []byte, convert string) string {
	switch kind {
	case "PRIVATE KEY":
		return "it is labelled PKCS#8 and is " + describeDER(der, convert)
	case "ENCRYPTED PRIVATE KEY":
		return "it is an encrypted PKCS#8 key" + convert
	case "EC PARAMETERS":
		return "an EC PARAMETERS block stands before the key" + convert
	case "RSA PRIVATE KEY":
		return "it is an RSA key" + notECDSA
	case "OPENSSH PRIVATE KEY":
		return "it is an OpenSSH key" + convert
	case certificateType:
		return "it is a certificate"
	}
	return "it is another kind of PEM block"
}

// describeDER names the kind of key in der and the cure, and nothing more about it.
func describeDER(der []byte, convert string) string {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		switch key.(type) {
		case *rsa.PrivateKey:
			return "a PKCS#8 RSA key" + notECDSA
		case *ecdsa.PrivateKey:
			return "a PKCS#8 EC key" + convert
		case ed25519.PrivateKey:
			return "a PKCS#8 Ed25519 key" + notECDSA
		}
		return "a PKCS#8 key of another kind" + notECDSA
	}
	if _, err := x509.ParseECPrivateKey(der); err == nil {
		return "a SEC1 key under the wrong label" + convert
	}
	if _, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return "an RSA key" + notECDSA
	}
	return "something damaged or unknown"
}

// convert is the command that writes the form billet reads beside the file.
func convert(place string) string {
	if !filepath.IsAbs(place) {
		place = KeyName
	}
	return "; convert it with `openssl ec -in " + place + " -out NEW` and put NEW in its place"
}
