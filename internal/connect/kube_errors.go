package connect

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RequestError is an operation on the cluster that failed. client-go's *StatusError is in the chain
// as the server sent it, with the cause UnexpectedServerResponse where the answer was not a Status;
// it is a copy without the text only where that text repeats a secret of the request.
type RequestError struct {
	Verb      string // get, list, watch, create, update or delete, as RBAC calls them
	Resource  string // secrets or namespaces
	Namespace string // "" for namespaces
	Name      string // "" for a list or watch that is not limited to one name
	Target    string // as Cluster.Target
	Identity  string // as Cluster.Identity
	Attempts  int    // requests sent
	// OutcomeUnknown: a write may have reached the server, and its answer did not come back.
	OutcomeUnknown bool
	// Note adds what this package knows, such as that the credential has expired. It may be empty.
	Note string
	Err  error

	said    string // what the server or the network said, fit for a message
	stopped error  // the error of the context that ended the attempts; nil if none did
}

// Error names the operation, the cluster, the last word of the server, and the attempts.
func (e *RequestError) Error() string {
	text := fmt.Sprintf("%s of %s, %s: %s", e.Verb, e.object(), e.Target, e.said)
	if e.Note != "" {
		text += ". " + e.Note
	}
	if e.OutcomeUnknown {
		text += ". The request may have reached the server: whether it was carried out is not known"
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return text
}

// Unwrap gives what the last attempt came to, and the error of the context if that is why there was
// no other.
func (e *RequestError) Unwrap() []error {
	if e.stopped == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.stopped}
}

func (e *RequestError) object() string {
	kind := map[string]string{"secrets": "Secret", "namespaces": "Namespace"}[e.Resource]
	switch {
	case e.Namespace == "":
		return kind + " " + e.Name
	case e.Name == "":
		return kind + "s in namespace " + e.Namespace
	}
	return kind + " " + e.Namespace + "/" + e.Name
}

// fail makes the error of an operation. err may hold what others wrote: it is cleaned first.
func (c *Cluster) fail(op operation, x *exchange, err error) *RequestError {
	hide := c.redactor(op, x)
	err = cleanError(err, hide)
	e := &RequestError{
		Verb: op.verb, Resource: op.resource, Namespace: op.namespace, Name: op.name,
		Target: c.target, Identity: c.identity, Err: err,
		said: hide.clean(describe(err, x)),
	}
	if x != nil {
		e.OutcomeUnknown = !op.read && x.outcomeUnknown()
		if x.status == http.StatusUnauthorized {
			e.Note = c.refusedNote(x.grant)
		}
	}
	return e
}

// outcomeUnknown: no answer, an answer that cannot be read, or the failure of something that had
// passed the request on, such as a gateway, or an API server whose etcd did not answer in time.
func (x *exchange) outcomeUnknown() bool {
	refused := x.status == http.StatusServiceUnavailable && x.wait
	return x.connected.Load() && !refused && (x.status < 300 || x.status >= 500)
}

// cleanError keeps err unless its text repeats a secret.
func cleanError(err error, hide redactor) error {
	if text := err.Error(); hide.clean(text) == text && !causeRepeats(err, hide) {
		return err
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return errors.New(hide.clean(err.Error()))
	}
	copied := *status.ErrStatus.DeepCopy()
	copied.Message = hide.clean(copied.Message)
	if copied.Details != nil {
		for i := range copied.Details.Causes {
			cause := &copied.Details.Causes[i]
			cause.Message = hide.clean(cause.Message)
		}
	}
	return &apierrors.StatusError{ErrStatus: copied}
}

func causeRepeats(err error, hide redactor) bool {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return false
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if hide.clean(cause.Message) != cause.Message {
			return true
		}
	}
	return false
}

// describe is the server's message, or what happened instead of one. The body of an answer that is
// no Status is not shown: it was written by something that does not know what a secret is.
func describe(err error, x *exchange) string {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return withoutURL(err)
	}
	s := status.ErrStatus
	if !apierrors.HasStatusCause(status, metav1.CauseTypeUnexpectedServerResponse) {
		if strings.TrimSpace(s.Message) == "" {
			return fmt.Sprintf("HTTP %d %s", s.Code, s.Reason)
		}
		return s.Message
	}
	answered := "with a body that is not a Status of Kubernetes"
	if x != nil && x.status >= 300 && x.status < 400 {
		answered = "which sends the request elsewhere; it is not followed, since the credential " +
			"would follow too. Is the address complete, and https?"
	}
	return fmt.Sprintf("HTTP %d %s, %s. Something between this program and the API server, such "+
		"as a proxy or a load balancer, may have answered",
		s.Code, http.StatusText(int(s.Code)), answered)
}

// withoutURL drops what net/http puts in front: the target is named already.
func withoutURL(err error) string {
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		return ofURL.Err.Error()
	}
	return err.Error()
}
