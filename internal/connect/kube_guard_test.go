package connect

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const guardPath = "/api/v1/namespaces/kube-system"

func kubeSystem(uid types.UID) corev1.Namespace {
	return corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: uid},
	}
}

func guarded(t *testing.T, uid types.UID) *apiServer {
	return newServer(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if r.URL.Path == guardPath {
			writeJSON(w, 200, kubeSystem(uid))
			return
		}
		answerSecret(w, r, nth)
	})
}

// R1: the guard costs a request and a permission only where it is set.
func TestWithoutTheGuardNoNamespaceIsRead(t *testing.T) {
	server := guarded(t, "a")
	c := mustOpen(t, server.settings(), variables{}.opener())
	if err := c.CheckAllowed(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.Secrets(testNamespace).Create(t.Context(), theSecret(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = get(t, c)
	for _, call := range server.seen() {
		if !strings.HasPrefix(call.path, guardPath+"/secrets") {
			t.Errorf("%s %s", call.method, call.path)
		}
	}
}

func TestAClusterThatIsNotAllowedIsRefusedBeforeTheFirstWrite(t *testing.T) {
	server := guarded(t, "found")
	k := server.settings()
	k.AllowedClusterUIDs = []string{"one", "two"}
	c := mustOpen(t, k, variables{}.opener())
	secrets := c.Secrets(testNamespace)
	_, created := secrets.Create(t.Context(), theSecret(), metav1.CreateOptions{})
	_, updated := secrets.Update(t.Context(), theSecret(), metav1.UpdateOptions{})
	deleted := secrets.Delete(t.Context(), testName, metav1.DeleteOptions{})
	for _, err := range []error{c.CheckAllowed(t.Context()), created, updated, deleted} {
		var refused *ClusterRefusedError
		if !errors.As(err, &refused) || refused.Found != "found" || len(refused.Allowed) != 2 ||
			refused.Target != server.URL {
			t.Errorf("error: %v", err)
		}
	}
	for _, call := range server.seen() {
		if call.method != http.MethodGet || call.path != guardPath {
			t.Errorf("%s %s was sent", call.method, call.path)
		}
	}
}

func TestTheGuardAsksOnceForManyAndAgainAfterAFailure(t *testing.T) {
	failing := true
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		switch {
		case r.URL.Path == guardPath && failing:
			writeJSON(w, 403, status(403, metav1.StatusReasonForbidden, "no"))
		case r.URL.Path == guardPath:
			writeJSON(w, 200, kubeSystem("two"))
		default:
			answerSecret(w, r, nth)
		}
	})
	k := server.settings()
	k.AllowedClusterUIDs = []string{"one", "two"}
	c := mustOpen(t, k, variables{}.opener())
	err := c.CheckAllowed(t.Context())
	var request *RequestError
	if !apierrors.IsForbidden(err) || !errors.As(err, &request) || request.Resource != "namespaces" {
		t.Fatalf("error: %v", err)
	}
	failing = false
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			_, err := c.Secrets(testNamespace).Update(t.Context(), theSecret(), metav1.UpdateOptions{})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	asked := 0
	for _, call := range server.seen() {
		if call.path == guardPath {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("the namespace was read %d times", asked)
	}
}

// A namespace without a UID, or another object, is not an allowed cluster.
func TestTheGuardFailsClosed(t *testing.T) {
	for name, body := range map[string]any{
		"no UID": kubeSystem(""), "empty": struct{}{}, "a Secret": theSecret(),
		"another": corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				writeJSON(w, 200, body)
			})
			k := server.settings()
			k.AllowedClusterUIDs = []string{"one"}
			err := mustOpen(t, k, variables{}.opener()).CheckAllowed(t.Context())
			var answered *AnswerError
			if !errors.As(err, &answered) {
				t.Errorf("error: %v", err)
			}
		})
	}
}
