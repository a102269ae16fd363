package connect

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
)

const pemBegin = "-----BEGIN "

// unreadablePEM explains a text in which no PEM block is found.
func unreadablePEM(text string) fault {
	compact := strings.Join(strings.Fields(text), "")
	decoded, err := base64.StdEncoding.DecodeString(compact)
	switch {
	case err == nil && bytes.Contains(decoded, []byte(pemBegin)):
		return fault{"is base64 of a PEM text, not the PEM text",
			"base64decode(...) gives the PEM text"}
	case strings.Contains(text, pemBegin) && strings.Contains(text, `\n`):
		return fault{`is a PEM text with a backslash and an "n" where the lines should end`,
			`replace(..., "\\n", "\n") gives the PEM text`}
	case strings.Contains(text, pemBegin):
		return fault{"is a broken PEM text",
			"A block is a BEGIN line, lines of base64 and an END line, none of them indented"}
	case len(text) < 1024 && !strings.ContainsAny(strings.TrimSpace(text), " \n") &&
		strings.ContainsAny(text, `/\.`):
		return fault{"is not a PEM text, and looks like the path of a file",
			"file(...) gives the content of a file"}
	}
	return fault{"is not a PEM text", `It starts with a line "-----BEGIN ...-----"`}
}

// parseCertificates checks that text is one or more PEM certificates. CR LF line ends are fine.
func parseCertificates(text string) ([]*x509.Certificate, fault) {
	var found []*x509.Certificate
	rest := []byte(text)
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fault{"has a PEM block that is not a CERTIFICATE",
				"Only certificates belong here"}
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fault{"has a PEM block that is not a valid X.509 certificate", ""}
		}
		found = append(found, certificate)
	}
	// A block that does not decode is skipped by encoding/pem, or ends the search.
	if len(found) == 0 || bytes.Contains(rest, []byte(pemBegin)) ||
		strings.Count(text, pemBegin) != len(found) {
		return nil, unreadablePEM(text)
	}
	return found, fault{}
}

// checkPrivateKey checks that text is a PEM private key that this program can use.
func checkPrivateKey(text string) fault {
	var types []string
	for rest := []byte(text); ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
			return fault{"is an encrypted private key", "Decrypt it first: no passphrase is asked"}
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return fault{}
		}
		types = append(types, block.Type)
	}
	if len(types) == 0 {
		return unreadablePEM(text)
	}
	return fault{"has no PEM block of a private key", ""}
}

// clientPair checks a client certificate and its key. The first fault is of the certificate, the
// second of the key.
func clientPair(cert, key string) (pair *tls.Certificate, ofCert, ofKey fault) {
	if _, wrong := parseCertificates(cert); wrong.found() {
		return nil, wrong, fault{}
	}
	if wrong := checkPrivateKey(key); wrong.found() {
		return nil, fault{}, wrong
	}
	parsed, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		return nil, fault{}, fault{"is not the private key of the client certificate, " +
			"or of a kind that TLS cannot use", "Give the two files of one pair"}
	}
	return &parsed, fault{}, fault{}
}
