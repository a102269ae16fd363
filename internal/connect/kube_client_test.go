package connect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// The whole of a Secret makes the way there and back, with the requests of client-go's own client.
func TestRequestsAreThoseOfTheTypedClient(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch {
		case r.Method == http.MethodDelete:
			writeJSON(w, 200, metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success",
			})
		case strings.HasSuffix(r.URL.Path, "/secrets") && r.Method == http.MethodGet:
			writeJSON(w, 200, corev1.SecretList{
				TypeMeta: metav1.TypeMeta{Kind: "SecretList", APIVersion: "v1"},
				ListMeta: metav1.ListMeta{ResourceVersion: "9"},
				Items:    []corev1.Secret{*theSecret()},
			})
		default:
			writeJSON(w, 200, theSecret())
		}
	})
	ours := mustOpen(t, server.settings(), variables{}.opener()).Secrets(testNamespace)
	typed, err := typedv1.NewForConfig(&rest.Config{
		Host: server.URL, BearerToken: testToken, UserAgent: testAgent,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(server.ca.pem)},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs := typed.Secrets(testNamespace)
	uid, version := theSecret().UID, "7"
	selected := metav1.ListOptions{FieldSelector: "metadata.name=" + testName}
	deleting := metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	}
	type client interface {
		Get(context.Context, string, metav1.GetOptions) (*corev1.Secret, error)
		Create(context.Context, *corev1.Secret, metav1.CreateOptions) (*corev1.Secret, error)
		Update(context.Context, *corev1.Secret, metav1.UpdateOptions) (*corev1.Secret, error)
		Delete(context.Context, string, metav1.DeleteOptions) error
		List(context.Context, metav1.ListOptions) (*corev1.SecretList, error)
	}
	run := func(c client) {
		ctx := t.Context()
		got, err := c.Get(ctx, testName, metav1.GetOptions{})
		check(t, err, got)
		got, err = c.Create(ctx, theSecret(), metav1.CreateOptions{FieldManager: "billet"})
		check(t, err, got)
		got, err = c.Update(ctx, theSecret(), metav1.UpdateOptions{})
		check(t, err, got)
		list, err := c.List(ctx, selected)
		if err != nil || len(list.Items) != 1 || list.ResourceVersion != "9" || list.Kind != "" {
			t.Errorf("list: %v", err)
		}
		if err := c.Delete(ctx, testName, deleting); err != nil {
			t.Error(err)
		}
	}
	run(ours)
	mine := server.seen()
	run(theirs)
	all := server.seen()
	for i, got := range mine {
		want := all[len(mine)+i]
		if got.method != want.method || got.path != want.path || got.query != want.query ||
			strings.TrimSpace(got.body) != strings.TrimSpace(want.body) ||
			got.protocol != want.protocol {
			t.Errorf("%s %s?%s %s, client-go sends %s %s?%s %s", got.method, got.path, got.query,
				got.body, want.method, want.path, want.query, want.body)
		}
		for _, name := range []string{"Authorization", "User-Agent", "Content-Type"} {
			if got.header.Get(name) != want.header.Get(name) {
				t.Errorf("%s: header %s differs", got.method, name)
			}
		}
	}
	if len(mine) != 5 || mine[0].protocol != "HTTP/2.0" {
		t.Errorf("%d requests by %s", len(mine), mine[0].protocol)
	}
}

func check(t *testing.T, err error, got *corev1.Secret) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Data["keys"]) != testKeys || got.Name != testName || got.Kind != "" {
		t.Errorf("got %s/%s of kind %q", got.Namespace, got.Name, got.Kind)
	}
}

// K1, K11: what is not the Secret is an error, and only the API server's own NotFound for this
// Secret looks like one.
func TestNoAnswerButTheSecretIsASecretAndNoneButNotFoundIsAbsence(t *testing.T) {
	newer := theSecret()
	newer.APIVersion = "v2"
	other := theSecret()
	other.Name = "another"
	elsewhere := theSecret()
	elsewhere.Namespace = "another"
	untyped := theSecret()
	untyped.TypeMeta = metav1.TypeMeta{}
	pod := theSecret()
	pod.Kind = "Pod"
	namespaceGone := status(404, metav1.StatusReasonNotFound, `namespaces "x" not found`)
	namespaceGone.Details = &metav1.StatusDetails{Name: "x", Kind: "namespaces"}
	html := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(code)
			_, _ = w.Write([]byte("<html>swordfish</html>"))
		}
	}
	object := func(code int, body any) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { writeJSON(w, code, body) }
	}
	raw := func(contentType, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(body))
		}
	}
	const (
		answer  = "answer"  // *AnswerError, no StatusError
		genuine = "status"  // *StatusError as the server sent it
		foreign = "foreign" // *StatusError with the cause UnexpectedServerResponse
	)
	for name, test := range map[string]struct {
		write func(http.ResponseWriter)
		want  string
		code  int
	}{
		"HTML with 200":         {html(200), answer, 200},
		"a Status with 200":     {object(200, status(404, metav1.StatusReasonNotFound, "x")), answer, 200},
		"an empty object":       {object(200, struct{}{}), answer, 200},
		"an empty body":         {raw("application/json", ""), answer, 200},
		"null":                  {raw("application/json", "null"), answer, 200},
		"a list":                {raw("application/json", "[]"), answer, 200},
		"half of it":            {raw("application/json", `{"kind":"Secret","apiVersion":"v1","data":{"ke`), answer, 200},
		"data that is no data":  {raw("application/json", `{"kind":"Secret","apiVersion":"v1","data":{"keys":"%"}}`), answer, 200},
		"a broken content type": {raw("a/b/c;;", "{}"), answer, 200},
		"no content type known": {raw("application/zip", "{}"), answer, 200},
		"another name":          {object(200, other), answer, 200},
		"another namespace":     {object(200, elsewhere), answer, 200},
		"no kind":               {object(200, untyped), answer, 200},
		"another kind":          {object(200, pod), answer, 200},
		"another version":       {object(200, newer), answer, 200},
		"NotFound":              {object(404, status(404, metav1.StatusReasonNotFound, "x")), genuine, 404},
		"NotFound of namespace": {object(404, namespaceGone), genuine, 404},
		"Forbidden":             {object(403, status(403, metav1.StatusReasonForbidden, "x")), genuine, 403},
		"Unauthorized":          {object(401, status(401, metav1.StatusReasonUnauthorized, "x")), genuine, 401},
		"404 of a balancer":     {html(404), foreign, 404},
		"404 in JSON":           {object(404, map[string]string{"message": "swordfish"}), foreign, 404},
		"404 and nothing":       {func(w http.ResponseWriter) { w.WriteHeader(404) }, foreign, 404},
		"403 of a proxy":        {html(403), foreign, 403},
		"a redirect":            {func(w http.ResponseWriter) { w.Header().Set("Location", "/login"); w.WriteHeader(302) }, foreign, 302},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) { test.write(w) })
			got, err := get(t, mustOpen(t, server.settings(), variables{}.opener()))
			if got != nil || err == nil {
				t.Fatalf("got %v", got)
			}
			var request *RequestError
			var answered *AnswerError
			var api *apierrors.StatusError
			if !errors.As(err, &request) || request.Verb != "get" || request.Attempts != 1 {
				t.Errorf("error: %#v", err)
			}
			isAnswer, isStatus := errors.As(err, &answered), errors.As(err, &api)
			if isAnswer != (test.want == answer) || isStatus != (test.want != answer) {
				t.Fatalf("error: %v", err)
			}
			if isAnswer && answered.Status != test.code {
				t.Errorf("status %d", answered.Status)
			}
			if isStatus {
				foreigner := apierrors.HasStatusCause(api, metav1.CauseTypeUnexpectedServerResponse)
				if int(api.ErrStatus.Code) != test.code || foreigner != (test.want == foreign) {
					t.Errorf("status: %+v", api.ErrStatus)
				}
			}
			if strings.Contains(err.Error(), "swordfish") {
				t.Errorf("the error shows a body that is no Status: %v", err)
			}
			if len(server.seen()) != 1 {
				t.Errorf("%d requests", len(server.seen()))
			}
		})
	}
}

func TestAnswersOfDeletionsAreChecked(t *testing.T) {
	finalizing := theSecret()
	for name, test := range map[string]struct {
		body any
		ok   bool
	}{
		"success":    {metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"}, true},
		"finalizers": {finalizing, true},
		"failure":    {status(500, metav1.StatusReasonInternalError, "x"), false},
		"empty":      {struct{}{}, false},
		"page":       {"<html>", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				writeJSON(w, 200, test.body)
			})
			c := mustOpen(t, server.settings(), variables{}.opener())
			err := c.Secrets(testNamespace).Delete(t.Context(), testName, metav1.DeleteOptions{})
			if (err == nil) != test.ok {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestAnEndlessAnswerIsNotHeldInMemory(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "application/json")
		chunk := make([]byte, 1<<20)
		for range maxAnswer>>20 + 1 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := get(t, mustOpen(t, server.settings(), variables{}.opener()))
	var answered *AnswerError
	if !errors.As(err, &answered) || answered.Problem != errAnswerTooLarge.Error() {
		t.Errorf("error: %v", err)
	}
}

func TestWatchDeliversEventsAndOutlivesTheRequestTimeout(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		time.Sleep(300 * time.Millisecond)
		body := encode(theSecret())
		_, _ = w.Write([]byte(`{"type":"ADDED","object":` + body + `}` + "\n"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	k := server.settings()
	k.RequestTimeout = 100 * time.Millisecond
	c := mustOpen(t, k, variables{}.opener())
	events, err := c.Secrets(testNamespace).Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + testName, ResourceVersion: "7",
	})
	if err != nil {
		t.Fatal(err)
	}
	event := <-events.ResultChan()
	if secret, ok := event.Object.(*corev1.Secret); !ok || event.Type != watch.Added ||
		string(secret.Data["keys"]) != testKeys {
		t.Errorf("event %s of %T", event.Type, event.Object)
	}
	events.Stop()
	want := "fieldSelector=metadata.name%3D" + testName + "&resourceVersion=7&watch=true"
	if got := server.seen()[0].query; got != want {
		t.Errorf("query %s", got)
	}
}

func TestAWatchThatDoesNotStartIsAnError(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"page":      func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); w.WriteHeader(200) },
		"forbidden": func(w http.ResponseWriter) { writeJSON(w, 403, status(403, "Forbidden", "no")) },
		"lost":      func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answer(w) })
			c := mustOpen(t, server.settings(), variables{}.opener())
			events, err := c.Secrets(testNamespace).Watch(t.Context(), metav1.ListOptions{})
			var request *RequestError
			if events != nil || !errors.As(err, &request) || request.Verb != "watch" {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// client-go makes an empty watch of it, which would look like one that ended well.
func TestAWatchThatLosesItsConnectionAtOnceIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := transportFunc(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, io.EOF
		}).open(t, Kubernetes{})
		events, err := c.Secrets(testNamespace).Watch(t.Context(), metav1.ListOptions{})
		if events != nil || !errors.Is(err, io.EOF) || calls != maxFailed+1 {
			t.Errorf("%d requests: %v", calls, err)
		}
	})
}

func TestRequestTimeoutBoundsOneRequestAndNamesItself(t *testing.T) {
	server := newServer(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		<-r.Context().Done()
	})
	k := server.settings()
	k.RequestTimeout = 200 * time.Millisecond
	started := time.Now()
	_, err := get(t, mustOpen(t, k, variables{}.opener()))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "request_timeout") ||
		time.Since(started) > 5*time.Second || len(server.seen()) != 1 {
		t.Errorf("after %s: %v", time.Since(started), err)
	}
}

// A write whose answer was lost is not sent again, and the error says what that means.
func TestALostAnswerToAWriteIsReportedAsUnknown(t *testing.T) {
	server := newServer(t, func(http.ResponseWriter, *http.Request, int) {
		panic(http.ErrAbortHandler)
	})
	c := mustOpen(t, server.settings(), variables{}.opener())
	_, err := c.Secrets(testNamespace).Create(t.Context(), theSecret(), metav1.CreateOptions{})
	var request *RequestError
	if !errors.As(err, &request) || !request.OutcomeUnknown || request.Attempts != 1 ||
		len(server.seen()) != 1 {
		t.Errorf("%d requests: %v", len(server.seen()), err)
	}
}

// The measured size: client-go's clientset, informers and discovery stay out of the program.
func TestTheProgramDoesNotLinkTheClientset(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{
		"k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "k8s.io/client-go/informers",
		"k8s.io/client-go/dynamic", "k8s.io/api/apps/v1", "k8s.io/api/rbac/v1",
		"github.com/hashicorp/terraform-plugin",
	} {
		for line := range strings.Lines(string(output)) {
			if strings.HasPrefix(line, forbidden) {
				t.Errorf("imports %s", line)
			}
		}
	}
	if !strings.Contains(string(output), "k8s.io/api/core/v1") {
		t.Error("go list does not list what is imported")
	}
}

type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error {
	*c.closed = true
	return nil
}

func TestTheBodyOfAnAnswerThatIsNoStreamIsClosed(t *testing.T) {
	closed := false
	page := transportFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: 200, Header: http.Header{"Content-Type": {"text/html"}},
			Body: closing{strings.NewReader("<html>"), &closed},
		}, nil
	})
	_, err := page.open(t, Kubernetes{}).Secrets(testNamespace).Watch(
		t.Context(), metav1.ListOptions{})
	var answered *AnswerError
	if !errors.As(err, &answered) || !closed {
		t.Errorf("closed %t: %v", closed, err)
	}
}
