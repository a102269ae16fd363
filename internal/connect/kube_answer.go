package connect

import (
	"errors"
	"fmt"
	"mime"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

var errAnswerTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)

// AnswerError is an answer with the status of a success that is not what was asked for: a page of a
// proxy, an empty object, another kind or another name. It is never taken for an empty Secret, nor
// for the absence of one.
type AnswerError struct {
	Status      int    // of HTTP
	ContentType string // the media type that the answer claims
	Problem     string // never quotes the answer
}

// Error says what the answer was instead.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer is not one of the Kubernetes API: HTTP %d, content type %q, %s. "+
		"Something between this program and the API server, such as a proxy or a login page, "+
		"may have answered", e.Status, e.ContentType, e.Problem)
}

func (x *exchange) answerError(problem string) *AnswerError {
	media, _, err := mime.ParseMediaType(x.contentType)
	if err != nil {
		media = "unknown"
	}
	return &AnswerError{Status: x.status, ContentType: media, Problem: problem}
}

// body is the body of an answer that claims success.
func (x *exchange) success(result rest.Result) ([]byte, error) {
	err := result.Error()
	var status *apierrors.StatusError
	switch {
	case x.err != nil && err == nil:
		return nil, x.err
	case errors.As(err, &status) && x.status >= 200 && x.status < 300:
		// client-go's own, for a content type that cannot be parsed.
		return nil, x.answerError("no valid content type")
	case errors.Is(err, errAnswerTooLarge):
		return nil, x.answerError(errAnswerTooLarge.Error())
	case err != nil:
		return nil, err
	}
	return result.Raw()
}

// kindOf checks the kind of an answer, which is of core/v1.
func (x *exchange) kindOf(body []byte, wanted string) error { return x.kindIn(body, "v1", wanted) }

// kindIn checks the kind of an answer and the version of its group.
func (x *exchange) kindIn(body []byte, version, wanted string) error {
	var is metav1.TypeMeta
	switch err := json.Unmarshal(body, &is); {
	case len(body) == 0:
		return x.answerError("no body")
	case err != nil:
		return x.answerError("a body that is not a JSON object")
	case is.Kind == "" || is.APIVersion == "":
		return x.answerError("an object without kind or apiVersion")
	case is.Kind != wanted || is.APIVersion != version:
		return x.answerError(fmt.Sprintf("not a %s %s but another kind of object", version, wanted))
	}
	return nil
}

// object is what decode works on: pointers to the API's types.
type object interface {
	GetName() string
	GetNamespace() string
}

// decode reads an object and checks that it is the one that was asked for.
func (x *exchange) decode(body []byte, kind, namespace, name string, into object) error {
	if err := x.kindOf(body, kind); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return x.answerError("not a valid " + kind)
	}
	if into.GetName() != name || into.GetNamespace() != namespace {
		return x.answerError("the " + kind + " in it has another name or namespace")
	}
	return nil
}

// deleted checks the answer to a deletion: a Status of success, or the object while its finalizers
// run.
func (x *exchange) deleted(body []byte, namespace, name string) error {
	var status metav1.Status
	err := x.kindOf(body, "Status")
	if err == nil {
		if json.Unmarshal(body, &status) == nil && status.Status == metav1.StatusSuccess {
			return nil
		}
		return x.answerError("a Status that is not a success")
	}
	var kept metav1.PartialObjectMetadata
	return x.decode(body, "Secret", namespace, name, &kept)
}
