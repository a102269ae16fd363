package connect

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// verbose makes klog print all that it can, into the buffer that it returns.
func verbose(t *testing.T) *syncBuffer {
	t.Helper()
	var output syncBuffer
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"v": "10", "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "4",
	} {
		before := flags.Lookup(name).Value.String()
		t.Cleanup(func() { _ = flags.Set(name, before) })
		if err := flags.Set(name, value); err != nil && name != "stderrthreshold" {
			t.Fatal(err)
		}
	}
	klog.SetOutput(&output)
	t.Cleanup(func() { klog.SetOutput(new(syncBuffer)) })
	return &output
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// sentinels are the spellings of T6 of what must be nowhere.
func sentinels() []string {
	line := strings.TrimSpace(testKeys)
	raw, _ := base64.StdEncoding.DecodeString(line)
	return []string{
		string(raw), line, base64Of(line), base64Of(testKeys), base64Of(base64Of(testKeys)),
		url.QueryEscape(line), url.QueryEscape(base64Of(testKeys)), testToken, base64Of(testToken),
	}
}

func hasSentinel(text string) string {
	for _, sentinel := range sentinels() {
		if strings.Contains(text, sentinel) {
			return sentinel
		}
	}
	return ""
}

// T6.
func TestNothingIsLoggedHoweverVerboseTheLogIs(t *testing.T) {
	output := verbose(t)
	answers := []func(http.ResponseWriter, *http.Request, int){
		answerSecret,
		func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Warning", `299 - "`+testToken+`"`)
			writeJSON(w, 403, status(403, metav1.StatusReasonForbidden, testKeys))
		},
		func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(testKeys))
		},
		func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(testKeys))
		},
	}
	for _, answer := range answers {
		server := newServer(t, answer)
		s := mustOpen(t, server.settings(), variables{}.opener()).Secrets(testNamespace)
		_, _ = s.Get(t.Context(), testName, metav1.GetOptions{})
		_, _ = s.Create(t.Context(), theSecret(), metav1.CreateOptions{})
		_, _ = s.Update(t.Context(), theSecret(), metav1.UpdateOptions{})
		_, _ = s.List(t.Context(), metav1.ListOptions{})
		_ = s.Delete(t.Context(), testName, metav1.DeleteOptions{})
		if events, err := s.Watch(t.Context(), metav1.ListOptions{}); err == nil {
			<-events.ResultChan()
			events.Stop()
		}
	}
	klog.Flush()
	logged := output.String()
	if found := hasSentinel(logged); found != "" {
		t.Errorf("logged: %s", found)
	}
	klog.V(10).Info("the log works")
	klog.Flush()
	if !strings.Contains(output.String(), "the log works") {
		t.Error("the log of the test shows nothing")
	}
}

// T6: something in between shows the request that it did not like.
func TestNoErrorRepeatsTheRequest(t *testing.T) {
	echo := func(r *http.Request) string {
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		return "denied: " + r.Header.Get("Authorization") + " sent " + body.String() +
			" which is " + testKeys + " " + url.QueryEscape(base64Of(testKeys))
	}
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, int){
		"a webhook": func(w http.ResponseWriter, r *http.Request, _ int) {
			s := status(403, metav1.StatusReasonForbidden, echo(r))
			s.Details.Causes = []metav1.StatusCause{{Message: echo(r) + testKeys}}
			writeJSON(w, 403, s)
		},
		"a cause only": func(w http.ResponseWriter, r *http.Request, _ int) {
			s := status(403, metav1.StatusReasonForbidden, "denied: see the causes")
			s.Details.Causes = []metav1.StatusCause{{Message: echo(r)}}
			writeJSON(w, 403, s)
		},
		"a proxy": func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Error(w, echo(r), http.StatusForbidden)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, answer)
			s := mustOpen(t, server.settings(), variables{}.opener()).Secrets(testNamespace)
			_, err := s.Create(t.Context(), theSecret(), metav1.CreateOptions{})
			for cause := err; cause != nil; cause = unwrap(cause) {
				if found := hasSentinel(cause.Error()); found != "" {
					t.Errorf("%T shows %s", cause, found)
				}
			}
			var api *apierrors.StatusError
			if !errors.As(err, &api) || api.ErrStatus.Code != 403 {
				t.Fatalf("error: %v", err)
			}
			for _, cause := range api.ErrStatus.Details.Causes {
				if found := hasSentinel(cause.Message); found != "" {
					t.Errorf("a cause shows %s", found)
				}
			}
			if name != "a proxy" && !strings.Contains(err.Error(), "denied: ") {
				t.Errorf("the rest of the message is lost: %v", err)
			}
		})
	}
}

func unwrap(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()[0]
	}
	return errors.Unwrap(err)
}

// K13: a denial is shown as it is, in the chain and in the text.
func TestADenialIsShownVerbatim(t *testing.T) {
	const message = `admission webhook "policy.example.com" denied the request: label team is missing`
	server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeJSON(w, 403, status(403, metav1.StatusReasonForbidden, message))
	})
	s := mustOpen(t, server.settings(), variables{}.opener()).Secrets(testNamespace)
	_, err := s.Create(t.Context(), theSecret(), metav1.CreateOptions{})
	var api *apierrors.StatusError
	if !strings.Contains(err.Error(), message) || !errors.As(err, &api) ||
		api.ErrStatus.Message != message || api.ErrStatus.Details.Name != testName {
		t.Errorf("error: %v", err)
	}
}

// T6: a client ends up in somebody's %+v sooner or later.
func TestAClientPrintsItsTargetAlone(t *testing.T) {
	c := mustOpen(t, Kubernetes{Host: "https://h", Token: NewSecret(testToken)},
		variables{}.opener())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, c); got != c.Target() {
			t.Errorf("%s shows %s", verb, got)
		}
	}
	if got := fmt.Sprintf("%+v %#v", c.Secrets("x"), c.Secrets("x")); hasSentinel(got) != "" {
		t.Errorf("shown: %s", got)
	}
}

// T6: the password of a proxy, whether it comes from the settings or from the environment.
func TestAnErrorThatRepeatsThePasswordOfTheProxyIsCleaned(t *testing.T) {
	const proxy = "http://u:proxy-password@proxy.test:3128"
	for name, test := range map[string]struct {
		k   Kubernetes
		env variables
	}{
		"settings":    {Kubernetes{Host: "https://h", ProxyURL: proxy}, nil},
		"environment": {Kubernetes{Host: "https://h"}, variables{"HTTPS_PROXY": proxy}},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.env.opener()
			o.wrap = func(http.RoundTripper) http.RoundTripper {
				return transportFunc(func(*http.Request) (*http.Response, error) {
					return nil, fmt.Errorf("%w: no route by way of %s", context.Canceled, proxy)
				})
			}
			_, err := get(t, mustOpen(t, test.k, o))
			if err == nil || !strings.Contains(err.Error(), "no route") ||
				strings.Contains(err.Error(), "proxy-password") {
				t.Errorf("error: %v", err)
			}
		})
	}
}
