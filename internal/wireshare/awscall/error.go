// Package awscall is what the stores on AWS have in common: errors that say which call on which
// thing failed and what the service said last, never the content; and bounded waiting.
package awscall

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Kind is the sort of failure, told by the service's error code and never by its text.
type Kind int

// The kinds.
const (
	// Other is any answer of the service that is none of the below.
	Other Kind = iota
	// Denied: the caller may not do this. The services also use it for a key that the caller may
	// not use, and only their text tells which.
	Denied
	// Key: the encryption key is missing, disabled or cannot be used.
	Key
	// Credentials: the service does not accept who is asking.
	Credentials
	// Throttled: too many requests, still so after the last attempt.
	Throttled
	// Unavailable: the service failed.
	Unavailable
	// NoAnswer: no answer of the service arrived. What became of the request is not known.
	NoAnswer
)

// Error is one failed call.
type Error struct {
	Kind Kind
	// Call is the operation, such as "GetSecretValue".
	Call string
	// Subject names what the call was about, such as `secret "billet/ca"`.
	Subject string
	// Code and Message are the service's last answer. Code is empty when there was none; Message
	// then is the transport's.
	Code, Message string
	// Attempts is how often the call was made, 0 if not known.
	Attempts int
	// Needs says which permissions the call takes. It is shown when they may be what is missing.
	Needs string

	err error
}

// Error names the call, the subject, the service's last answer, the attempts, and the permission
// that may be missing.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s on %s: ", e.Call, e.Subject)
	if e.Code != "" {
		text.WriteString(e.Code + ": ")
	}
	text.WriteString(e.Message)
	if e.Attempts > 1 {
		fmt.Fprintf(&text, " (the answer to the last of %d attempts)", e.Attempts)
	}
	if e.Needs != "" && (e.Kind == Denied || e.Kind == Key) {
		fmt.Fprintf(&text, ". The call needs %s", e.Needs)
	}
	return text.String()
}

// Unwrap gives the SDK's error.
func (e *Error) Unwrap() error { return e.err }

// Site is what the calls of one store are about.
type Site struct {
	// Subject names the thing in messages.
	Subject string
	// Needs maps a call to the permissions it takes.
	Needs map[string]string
}

// Fail describes a call that ended with err. Text of the service that repeats any of private, the
// document that was sent, is withheld.
func (s Site) Fail(call string, err error, private []byte) *Error {
	failure := &Error{
		Call: call, Subject: s.Subject, Needs: s.Needs[call],
		Kind: kind(err), Code: Code(err), Message: message(err),
		Attempts: attempts(err), err: err,
	}
	if repeats(failure.Message, private) {
		failure.Message = "(the text of the answer is withheld: it repeats the document)"
		failure.err = errors.New(failure.Code)
	}
	return failure
}

// Code is the service's error code, "" when no answer of the service is in err.
func Code(err error) string {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return ""
	}
	return answer.ErrorCode()
}

func message(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorMessage()
	}
	return err.Error()
}

func attempts(err error) int {
	var counted interface{ AttemptCount() int }
	if errors.As(err, &counted) {
		return counted.AttemptCount()
	}
	var exhausted *retry.MaxAttemptsError
	if errors.As(err, &exhausted) {
		return exhausted.Attempt
	}
	return 0
}

// kinds maps error codes; those of throttling are the SDK's list.
var kinds = map[string]Kind{
	"AccessDenied":          Denied,
	"AccessDeniedException": Denied,

	"DecryptionFailure": Key,
	"EncryptionFailure": Key,
	"InvalidKeyId":      Key,

	"ExpiredToken":                Credentials,
	"ExpiredTokenException":       Credentials,
	"IncompleteSignature":         Credentials,
	"InvalidClientTokenId":        Credentials,
	"InvalidSignatureException":   Credentials,
	"MissingAuthenticationToken":  Credentials,
	"SignatureDoesNotMatch":       Credentials,
	"UnrecognizedClientException": Credentials,

	"TooManyUpdates": Throttled,

	"InternalServerError":  Unavailable,
	"InternalServiceError": Unavailable,
	"ServiceUnavailable":   Unavailable,
}

func kind(err error) Kind {
	code := Code(err)
	if found, known := kinds[code]; known {
		return found
	}
	if _, known := retry.DefaultThrottleErrorCodes[code]; known {
		return Throttled
	}
	if strings.HasPrefix(code, "KMS") {
		return Key
	}
	var response *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	switch {
	case status == http.StatusTooManyRequests:
		return Throttled
	case status >= http.StatusInternalServerError:
		return Unavailable
	case code == "":
		return NoAnswer
	}
	return Other
}
