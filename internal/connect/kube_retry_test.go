package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRetryDecisionRowByRow(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		o     outcome
		again bool
	}{
		"read, 429":                    {outcome{read: true, status: 429, connected: true}, true},
		"write, 429":                   {outcome{status: 429, connected: true}, true},
		"write, 503 with Retry-After":  {outcome{status: 503, connected: true, hasWait: true}, true},
		"write, 503":                   {outcome{status: 503, connected: true}, false},
		"read, 503":                    {outcome{read: true, status: 503, connected: true}, true},
		"write, 500 with Retry-After":  {outcome{status: 500, connected: true, hasWait: true}, false},
		"write, 504":                   {outcome{status: 504, connected: true}, false},
		"read, 504":                    {outcome{read: true, status: 504, connected: true}, true},
		"read, 501":                    {outcome{read: true, status: 501, connected: true}, false},
		"read, 401":                    {outcome{read: true, status: 401, err: io.EOF}, false},
		"read, 409":                    {outcome{read: true, status: 409, err: io.EOF}, false},
		"a wait of an hour":            {outcome{read: true, status: 429, hasWait: true, wait: time.Hour}, false},
		"read, refused":                {outcome{read: true, err: refused}, true},
		"write, refused":               {outcome{err: refused}, true},
		"write, lost after connecting": {outcome{connected: true, err: io.EOF}, false},
		"read, lost after connecting":  {outcome{read: true, connected: true, err: io.EOF}, true},
		"read, body cut short":         {outcome{read: true, connected: true, status: 200, err: io.ErrUnexpectedEOF}, true},
		"write, body cut short":        {outcome{connected: true, status: 201, err: io.ErrUnexpectedEOF}, false},
		"write, answered without one":  {outcome{status: 201, err: io.ErrUnexpectedEOF}, false},
		"read, a page":                 {outcome{read: true, connected: true, status: 200, err: &AnswerError{}}, false},
		"read, bad certificate":        {outcome{read: true, err: &tls.CertificateVerificationError{Err: io.EOF}}, false},
		"read, no such host":           {outcome{read: true, err: &net.DNSError{IsNotFound: true}}, false},
		"read, name server down":       {outcome{read: true, err: &net.DNSError{IsTemporary: true}}, true},
		"read, timed out":              {outcome{read: true, err: context.DeadlineExceeded}, false},
		"read, cancelled":              {outcome{read: true, err: context.Canceled}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, again := new(tries).next(test.o); again != test.again {
				t.Errorf("again: %t", again)
			}
		})
	}
	var all tries
	for try := range maxThrottled + 1 {
		wait, again := all.next(outcome{status: 429, hasWait: true, wait: time.Second})
		if again != (try < maxThrottled) || wait < time.Second || wait > 2*time.Second {
			t.Errorf("try %d: again %t after %s", try, again, wait)
		}
	}
	var failing tries
	for try := range maxFailed + 1 {
		wait, again := failing.next(outcome{read: true, err: io.EOF})
		if again != (try < maxFailed) || wait > maxBackoff {
			t.Errorf("try %d: again %t after %s", try, again, wait)
		}
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got, ok := retryAfter(text, now); !ok || got != want {
			t.Errorf("%q: %s %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "soon", "1.5", "99999999999999"} {
		if _, ok := retryAfter(text, now); ok {
			t.Errorf("%q is taken for a wait", text)
		}
	}
}

// transportFunc plays the network without one, for tests within synctest.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (f transportFunc) open(t *testing.T, k Kubernetes) *Cluster {
	t.Helper()
	o := variables{}.opener()
	o.pause = pause
	o.wrap = func(http.RoundTripper) http.RoundTripper { return f }
	if k.Host == "" {
		k.Host, k.Token = "https://cluster", NewSecret(testToken)
	}
	return mustOpen(t, k, o)
}

func respond(code int, retryAfter string, body any) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	return &http.Response{
		StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(encode(body))),
	}
}

// S18: 30 resources in 30 namespaces, all of them throttled three times.
func TestThirtyAtOnceWaitForNothingButTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		started := time.Now()
		first, perNamespace := 0, map[string][]time.Duration{}
		c := transportFunc(func(r *http.Request) (*http.Response, error) {
			namespace := strings.Split(r.URL.Path, "/")[4]
			mu.Lock()
			perNamespace[namespace] = append(perNamespace[namespace], time.Since(started))
			n := len(perNamespace[namespace])
			if n == 1 && time.Since(started) == 0 {
				first++
			}
			mu.Unlock()
			if n <= 3 {
				return respond(429, "2", status(429, metav1.StatusReasonTooManyRequests, "slow")), nil
			}
			secret := theSecret()
			secret.Namespace = namespace
			return respond(201, "", secret), nil
		}).open(t, Kubernetes{})
		var group sync.WaitGroup
		for i := range 30 {
			group.Go(func() {
				namespace := "team-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
				secret := theSecret()
				secret.Namespace = namespace
				_, err := c.Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if first != 30 {
			t.Errorf("%d of 30 requests left at once", first)
		}
		for namespace, at := range perNamespace {
			if len(at) != 4 {
				t.Errorf("%s: %d requests", namespace, len(at))
			}
			for i := 1; i < len(at); i++ {
				if gap := at[i] - at[i-1]; gap < 2*time.Second || gap > 3*time.Second {
					t.Errorf("%s: came back after %s, was told 2 s", namespace, gap)
				}
			}
		}
	})
}

// S18: throttled for good.
func TestTheLastErrorOfAThrottledOperationIsTheServers(t *testing.T) {
	const message = "too many requests, please try again later"
	throttle := transportFunc(func(*http.Request) (*http.Response, error) {
		return respond(429, "1", status(429, metav1.StatusReasonTooManyRequests, message)), nil
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := get(t, throttle.open(t, Kubernetes{}))
		var request *RequestError
		if !errors.As(err, &request) || request.Attempts != maxThrottled+1 ||
			!strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), "11 attempts") ||
			!apierrors.IsTooManyRequests(err) {
			t.Errorf("error: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c := throttle.open(t, Kubernetes{})
		_, err := c.Secrets(testNamespace).Get(ctx, testName, metav1.GetOptions{})
		if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), message) ||
			ctx.Err() != nil {
			t.Errorf("at the end of the time: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		hour := transportFunc(func(*http.Request) (*http.Response, error) {
			return respond(429, "3600", status(429, metav1.StatusReasonTooManyRequests, message)), nil
		})
		started := time.Now()
		_, err := get(t, hour.open(t, Kubernetes{}))
		if err == nil || !strings.Contains(err.Error(), "1h0m0s") || time.Since(started) > 0 {
			t.Errorf("told to wait an hour, after %s: %v", time.Since(started), err)
		}
	})
}

// A read gets over a restart of the API server; the error of one that does not is bounded.
func TestReadsAreRepeatedAfterLostConnectionsAndServerErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		flaky := transportFunc(func(*http.Request) (*http.Response, error) {
			switch calls++; calls {
			case 1:
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			case 2:
				return nil, io.ErrUnexpectedEOF
			case 3:
				return respond(500, "", status(500, metav1.StatusReasonInternalError, "etcd")), nil
			case 4:
				return respond(502, "", "bad gateway"), nil
			}
			return respond(200, "", theSecret()), nil
		})
		if _, err := get(t, flaky.open(t, Kubernetes{})); err != nil || calls != 5 {
			t.Errorf("%d requests: %v", calls, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		calls, started := 0, time.Now()
		down := transportFunc(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		})
		_, err := get(t, down.open(t, Kubernetes{}))
		if !errors.Is(err, syscall.ECONNREFUSED) || calls != maxFailed+1 ||
			time.Since(started) > 10*time.Second {
			t.Errorf("%d requests in %s: %v", calls, time.Since(started), err)
		}
	})
}

func TestAWriteIsRepeatedOnlyIfItDidNotArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		flaky := transportFunc(func(r *http.Request) (*http.Response, error) {
			if calls++; calls <= 2 {
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			return respond(500, "1", status(500, metav1.StatusReasonServerTimeout, "etcd")), nil
		})
		c := flaky.open(t, Kubernetes{})
		_, err := c.Secrets(testNamespace).Update(t.Context(), theSecret(), metav1.UpdateOptions{})
		if !apierrors.IsServerTimeout(err) || calls != 3 {
			t.Errorf("%d requests: %v", calls, err)
		}
	})
}

func TestThrottledOperationsDoNotComeBackTogether(t *testing.T) {
	waits := map[time.Duration]bool{}
	for range 30 {
		wait, _ := new(tries).next(outcome{status: 429, hasWait: true, wait: time.Second})
		waits[wait] = true
	}
	if len(waits) < 20 {
		t.Errorf("30 operations come back at %d times", len(waits))
	}
}

// T8: the last answer and the interrupt are both in the chain, whichever the caller asks for.
func TestAnInterruptBetweenAttemptsIsNamedBesideTheLastAnswer(t *testing.T) {
	throttled := func() (*http.Response, error) {
		return respond(429, "60", status(429, metav1.StatusReasonTooManyRequests, "slow")), nil
	}
	read := func(ctx context.Context, f transportFunc) error {
		secrets := f.open(t, Kubernetes{}).Secrets(testNamespace)
		_, err := secrets.Get(ctx, testName, metav1.GetOptions{})
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := read(ctx, func(*http.Request) (*http.Response, error) { return throttled() })
		if !errors.Is(err, context.Canceled) || !apierrors.IsTooManyRequests(err) ||
			!strings.Contains(err.Error(), "cancelled") {
			t.Errorf("cancelled while waiting: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := read(ctx, func(*http.Request) (*http.Response, error) {
			cancel()
			return throttled()
		})
		if !errors.Is(err, context.Canceled) || !apierrors.IsTooManyRequests(err) {
			t.Errorf("cancelled during the request: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := read(ctx, func(*http.Request) (*http.Response, error) { return throttled() })
		if !errors.Is(err, context.DeadlineExceeded) || !apierrors.IsTooManyRequests(err) {
			t.Errorf("out of time: %v", err)
		}
	})
}

// The operating system gives up on a dial by itself: the error must not blame request_timeout.
func TestRequestTimeoutIsNotBlamedForAnotherDeadline(t *testing.T) {
	dial := transportFunc(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	})
	_, err := get(t, dial.open(t, Kubernetes{}))
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "request_timeout") {
		t.Errorf("error: %v", err)
	}
}

func TestOutcomeOfAWriteIsUnknownOnlyIfItMayHaveBeenCarriedOut(t *testing.T) {
	for name, test := range map[string]struct {
		code    int
		header  string
		unknown bool
	}{
		"conflict": {409, "", false}, "forbidden": {403, "", false}, "redirect": {302, "", false},
		"etcd did not answer in time": {500, "", true}, "bad gateway": {502, "", true},
		"gateway timeout": {504, "", true}, "unavailable": {503, "", true},
		"told to come back": {503, "9999", false}, "a page": {200, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}
				writeJSON(w, test.code, status(test.code, "x", "x"))
			})
			c := mustOpen(t, server.settings(), variables{}.opener())
			_, err := c.Secrets(testNamespace).Update(
				t.Context(), theSecret(), metav1.UpdateOptions{})
			var request *RequestError
			if !errors.As(err, &request) || request.OutcomeUnknown != test.unknown ||
				len(server.seen()) != 1 {
				t.Errorf("%d requests: %v", len(server.seen()), err)
			}
		})
	}
	k := Kubernetes{Host: "https://127.0.0.1:1", Token: NewSecret(testToken)}
	_, err := mustOpen(t, k, variables{}.opener()).Secrets(testNamespace).Create(
		t.Context(), theSecret(), metav1.CreateOptions{})
	var request *RequestError
	if !errors.As(err, &request) || request.OutcomeUnknown ||
		!errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nothing listens: %v", err)
	}
}
