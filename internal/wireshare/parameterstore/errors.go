package parameterstore

import (
	"errors"
	"fmt"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Error codes of the service that the store decides by.
const (
	codeNotFound       = "ParameterNotFound"
	codeTooManyUpdates = "TooManyUpdates"
)

// permissions names what each call takes, for the error that says one is missing.
var permissions = map[string]string{
	"GetParameter": "ssm:GetParameter on the parameter, and kms:Decrypt on its key if that is a " +
		"customer managed one",
	"PutParameter": "ssm:PutParameter on the parameter, and kms:Encrypt and kms:GenerateDataKey " +
		"on its key if that is a customer managed one",
	"DeleteParameter": "ssm:DeleteParameter on the parameter",
}

func subject(config Config) string {
	if config.Region == "" {
		return fmt.Sprintf("parameter %q", config.Name())
	}
	return fmt.Sprintf("parameter %q in region %s", config.Name(), config.Region)
}

// TypeError says that the parameter is not a SecureString: whatever it holds is not encrypted, and
// billet does not publish so.
type TypeError struct{ Subject, Type string }

// Error names the type and the cure.
func (e *TypeError) Error() string {
	return fmt.Sprintf("%s is of type %s, not SecureString, and was left alone. If it holds an "+
		"authority, its keys were readable to everybody who could read parameters. Delete it "+
		"and publish again", e.Subject, e.Type)
}

// SizeError says that the document is longer than the service takes, even in the tier for large
// parameters, which the store asks for by itself.
type SizeError struct {
	Subject     string
	Size, Limit int // bytes
}

// Error names both sizes and the cure.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the document of %d bytes does not fit %s, which takes %d in the largest "+
		"tier. Publish to Secrets Manager, which takes 65,536, or mint the authority with ECDSA "+
		"keys: about 3,000 bytes even during a rotation", e.Size, e.Subject, e.Limit)
}

// OverwrittenError says that another writer published between the last look and the write, which
// went over it: the service has no conditional overwrite. It wraps wireshare.ErrChanged.
type OverwrittenError struct {
	Subject string
	// Lost is the parameter version of the other writer, and Now the one written here. The other
	// one is still in the parameter's history.
	Lost, Now int64

	cause error
}

// Error names both versions and how to see the other one.
func (e *OverwrittenError) Error() string {
	return fmt.Sprintf("%v: version %d of %s was published by another writer and went under "+
		"version %d, written here at the same moment. Compare both (aws ssm "+
		"get-parameter-history) before anything else is published",
		e.cause, e.Lost, e.Subject, e.Now)
}

// Unwrap gives wireshare.ErrChanged.
func (e *OverwrittenError) Unwrap() error { return e.cause }

func isNotFound(err error) bool {
	var failure *awscall.Error
	return errors.As(err, &failure) && failure.Code == codeNotFound
}
