package wireshare

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// MaxDocument is the largest document, in bytes, that is read.
const MaxDocument = 1 << 20

// ErrDocument says that what is published is not a document of this kind. The text around it says
// what is wrong and quotes nothing.
var ErrDocument = errors.New("the published document is malformed")

// Document is a published authority that passed every check.
type Document struct {
	// Authority holds the carried files, private keys included.
	Authority *wirecert.Authority
	// PublishedAt is when it was published, in UTC. Nothing is decided from it.
	PublishedAt time.Time
}

// wireDocument is the encoding. The names in files are the allowlist's, without a directory.
type wireDocument struct {
	Deployment  string            `json:"deployment"`
	Fingerprint string            `json:"fingerprint"`
	PublishedAt string            `json:"published_at"`
	Files       map[string]string `json:"files"`
}

// EncodeDocument returns the document that publishes the authority of the deployment. It holds
// private keys.
func EncodeDocument(
	a *wirecert.Authority, deployment string, publishedAt time.Time,
) ([]byte, error) {
	doc := wireDocument{
		Deployment:  deployment,
		Fingerprint: a.Info().Fingerprint,
		PublishedAt: publishedAt.UTC().Format(time.RFC3339),
		Files:       map[string]string{},
	}
	for name, data := range a.Files() {
		doc.Files[name] = base64.StdEncoding.EncodeToString(data)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode the document: %w", err)
	}
	return body, nil
}

// DecodeDocument reads a published document and refuses everything that could mean something else
// to another reader, and everything that reading the files from disk would refuse.
func DecodeDocument(body []byte, deployment string) (*Document, error) {
	doc, err := parseDocument(body)
	if err != nil {
		return nil, err
	}
	if err := checkDocumentDeployment(doc.Deployment, deployment); err != nil {
		return nil, err
	}
	published, err := time.Parse(time.RFC3339, doc.PublishedAt)
	if err != nil {
		return nil, malformed("published_at is not an RFC 3339 time")
	}
	files := wirecert.Files{}
	for name, text := range doc.Files {
		data, err := decodeFile(text)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	authority, err := wirecert.CheckFiles(files, deployment, func(name string) string {
		return "published " + name
	})
	if err != nil {
		return nil, err
	}
	if doc.Fingerprint != authority.Info().Fingerprint {
		return nil, malformed("its fingerprint is not that of the certificate it carries")
	}
	return &Document{Authority: authority, PublishedAt: published.UTC()}, nil
}

// DeploymentOf returns the deployment that a document says it belongs to, for who does not know it yet.
// DecodeDocument makes the other checks.
func DeploymentOf(body []byte) (string, error) {
	doc, err := parseDocument(body)
	if err != nil {
		return "", err
	}
	return doc.Deployment, checkDocumentDeployment(doc.Deployment, doc.Deployment)
}

func checkDocumentDeployment(found, want string) error {
	if err := wirecert.CheckDeployment(found); err != nil {
		return fmt.Errorf("published deployment: %w", err)
	}
	if found != want {
		return fmt.Errorf("the published authority: %w: it belongs to %s, the configuration to %s",
			wirecert.ErrDeployment, found, want)
	}
	return nil
}

// decodeFile accepts standard base64 with padding on one line and nothing else: the decoder by
// itself skips line breaks.
func decodeFile(text string) ([]byte, error) {
	for _, c := range text {
		if c == '\n' || c == '\r' {
			return nil, malformed("a file holds line breaks in its base64")
		}
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, malformed("a file is not standard base64")
	}
	return data, nil
}

func malformed(detail string) error { return fmt.Errorf("%w: %s", ErrDocument, detail) }
