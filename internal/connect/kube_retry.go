package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Bounds of the retries of one operation.
const (
	// maxThrottled is how often a server that asks to wait is asked again.
	maxThrottled = 10
	// maxFailed is how often a read is repeated after a lost connection or a server error, and a
	// write after a connection that was not made.
	maxFailed = 4
	// maxRetryAfter is the longest wait that a server may ask for. A longer one ends the
	// operation: nobody should look at a run that stands still for an hour.
	maxRetryAfter = 2 * time.Minute

	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// outcome is one failed attempt, as values.
type outcome struct {
	read      bool // the operation changes nothing
	connected bool
	status    int // 0: no answer
	wait      time.Duration
	hasWait   bool
	err       error
}

// tries counts the attempts that failed in each way.
type tries struct{ throttled, failed int }

// next decides whether the operation is tried again and after how long.
//
// A server that answers 429, or 503 with Retry-After, says that it did not take the request: every
// verb is repeated. After any other failure a read is repeated, and a write only if no connection
// was made, because a write that may have arrived is not sent twice: the second one would answer
// AlreadyExists or Conflict for what the first one did, or undo what somebody did in between.
func (t *tries) next(o outcome) (time.Duration, bool) {
	switch {
	case o.status == http.StatusTooManyRequests,
		o.status == http.StatusServiceUnavailable && o.hasWait:
		t.throttled++
		wait := max(o.wait, backoff(t.throttled))
		if o.hasWait {
			wait = o.wait + jitter(firstBackoff)
		}
		return wait, t.throttled <= maxThrottled && o.wait <= maxRetryAfter
	case o.status >= 500 && o.status != http.StatusNotImplemented:
		t.failed++
		wait := max(o.wait, backoff(t.failed))
		return wait, o.read && t.failed <= maxFailed && o.wait <= maxRetryAfter
	case o.status == 0 || o.cutShort():
		t.failed++
		again := o.read || (o.status == 0 && !o.connected)
		return backoff(t.failed), again && t.failed <= maxFailed && transient(o.err)
	}
	return 0, false
}

// cutShort: the answer was a good one, but its body could not be read to the end.
func (o outcome) cutShort() bool {
	var answer *AnswerError
	return o.status < 300 && !errors.As(o.err, &answer)
}

// tlsAlertReceived is the Op of the net.OpError that crypto/tls makes of an alert of the server,
// such as one that refuses the client certificate.
const tlsAlertReceived = "remote error"

// transient is false for what the same request meets again: a certificate, a name that does not
// exist, a deadline that has passed.
func transient(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		far          *net.OpError
		authority    x509.UnknownAuthorityError
		name         *net.DNSError
	)
	switch {
	case err == nil,
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &verification), errors.As(err, &record), errors.As(err, &authority),
		errors.As(err, &far) && far.Op == tlsAlertReceived,
		errors.Is(err, http.ErrSchemeMismatch), errors.Is(err, errAnswerTooLarge),
		errors.Is(err, errNoGrant):
		return false
	case errors.As(err, &name):
		return !name.IsNotFound
	}
	return true
}

// backoff doubles with each try, and varies so that 30 resources do not come back at once.
func backoff(try int) time.Duration {
	wait := maxBackoff
	if try < 6 {
		wait = min(maxBackoff, firstBackoff<<(try-1))
	}
	return wait/2 + jitter(wait/2)
}

func jitter(below time.Duration) time.Duration { return rand.N(below) }

// pause waits, unless ctx would end first: then it returns at once, and the caller shows the
// server's last word instead of "context deadline exceeded".
func pause(ctx context.Context, wait time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
