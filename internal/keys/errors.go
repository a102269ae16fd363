package keys

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrInvalidSecret says that the Secret holds something which only a person can put right. It was
// left byte for byte as it is.
var ErrInvalidSecret = errors.New("the Secret needs a person to fix it")

// ErrRace says that the Secret kept changing under every attempt. Nothing was overwritten.
var ErrRace = errors.New("the Secret kept changing while it was being ensured")

// ErrNamespaceMissing says that the namespace of the Secret does not exist.
var ErrNamespaceMissing = errors.New("the namespace does not exist")

// ErrNamespaceTerminating says that the namespace of the Secret is being deleted.
var ErrNamespaceTerminating = errors.New("the namespace is being terminated")

// errNotTheSecret says that an answer without an error was not the Secret asked for, as from a
// proxy that answers 200. Taking it for a Secret without keys would put new ones over those in use.
var errNotTheSecret = errors.New("the answer is not that Secret")

// RequestError is a request to the API server that failed.
type RequestError struct {
	// Verb is the API verb as RBAC names it: get, create, update or delete.
	Verb            string
	Namespace, Name string
	Err             error
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("%s of the Secret %s/%s: %s", e.Verb, e.Namespace, e.Name, e.Err)
}

func (e *RequestError) Unwrap() error { return e.Err }

// PinnedError refuses a primary key that is not the pinned one.
type PinnedError struct {
	Pinned string
	// Live is the primary key in the Secret; "" when there is none, and no key with the pinned
	// fingerprint to put there. It is the pinned one when a rotation would write another.
	Live string
}

func (e *PinnedError) Error() string {
	switch e.Live {
	case "":
		return fmt.Sprintf("the primary key is pinned to %s, the Secret holds no key, "+
			"and the key that would be written is another one", e.Pinned)
	case e.Pinned:
		return fmt.Sprintf("the primary key is pinned to %s, and a rotation would write another one", e.Pinned)
	}
	return fmt.Sprintf("the primary key is pinned to %s, and the Secret holds %s", e.Pinned, e.Live)
}

// GoneError refuses to put a new key where the accepted one is gone: agents still run with it.
type GoneError struct{ Accepted string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the key is gone; the last accepted primary key is %s", e.Accepted)
}

// SameKeysError refuses a rotation to the very keys that are in the Secret.
type SameKeysError struct{ Live string }

func (e *SameKeysError) Error() string {
	return fmt.Sprintf("the keys to rotate to are those in the Secret, with the primary key %s", e.Live)
}

// ChangedError stops an apply whose reviewed plan is no longer what would happen.
type ChangedError struct {
	// Planned is the primary key that the plan showed; "" when it was to write a new one.
	Planned string
	// Live is the primary key found now; "" when there is none.
	Live string
}

func (e *ChangedError) Error() string {
	switch {
	case e.Planned == "":
		return fmt.Sprintf("the plan was to write a new key, and now the Secret holds %s", e.Live)
	case e.Live == "":
		return fmt.Sprintf("the plan was made for the primary key %s, and now there is no key", e.Planned)
	}
	return fmt.Sprintf("the plan was made for the primary key %s, and now it is %s", e.Planned, e.Live)
}

// explainNamespace adds what a failed create says of the namespace. It comes as a 404 or a 403 that
// would otherwise read as one about the Secret.
func explainNamespace(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	details := status.ErrStatus.Details
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Errorf("%w: %w", ErrNamespaceTerminating, err)
	case apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces":
		return fmt.Errorf("%w: %w", ErrNamespaceMissing, err)
	}
	return err
}

// isLostRace says whether a write failed because somebody else was faster, or may have succeeded
// although it failed. In both cases what is in the Secret counts, and only a read can tell.
func isLostRace(err error, name string) bool {
	var request *RequestError
	if !errors.As(err, &request) || request.Verb == "get" {
		return false
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return true // no answer, or not one of the API server
	}
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || isAbsent(err, name) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}
