package connect

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// operation is what is done, in words of the API and for messages.
type operation struct {
	verb, resource, namespace, name string
	read, watch                     bool
	secrets                         []string // key material in the request
}

// do runs an operation: a credential, an attempt, and the decision whether there is another. The
// attempt builds its request anew, so that a repeated one has its whole body.
func (c *Cluster) do(
	ctx context.Context, op operation, attempt func(context.Context, *exchange) error,
) error {
	var (
		tried   tries
		refused *grant
		last    *exchange
		lastErr error
	)
	for sent := 0; ; sent++ {
		g, err := c.granter.grant(ctx, refused)
		if err != nil {
			return c.ungranted(op, last, err, sent)
		}
		x := &exchange{grant: g, watch: op.watch}
		if lastErr = c.once(ctx, op, x, attempt); lastErr == nil {
			return nil
		}
		last = x
		if x.status == http.StatusUnauthorized && refused == nil && c.granter.renews() {
			refused = g // one more attempt, with a credential that is not this one
			continue
		}
		wait, again := tried.next(x.outcome(op, lastErr))
		failure := func(stopped error, note string) error {
			e := c.fail(op, x, lastErr)
			e.Attempts, e.stopped = sent+1, stopped
			e.Note = strings.Trim(e.Note+". "+note, ". ")
			return e
		}
		switch {
		case ctx.Err() != nil:
			return failure(ctx.Err(), "")
		case !again:
			return failure(nil, c.stopNote(x, lastErr))
		}
		if err := c.pause(ctx, wait); err != nil {
			return failure(err, pauseNote(err, wait))
		}
	}
}

// once makes one attempt, within request_timeout unless it is a watch.
func (c *Cluster) once(
	ctx context.Context, op operation, x *exchange, attempt func(context.Context, *exchange) error,
) error {
	// client-go logs bodies when klog is verbose; with this logger it has nothing to log to.
	ctx = klog.NewContext(withExchange(ctx, x), logr.Discard())
	if !op.watch {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	err := attempt(ctx, x)
	x.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	return err
}

func (x *exchange) outcome(op operation, err error) outcome {
	return outcome{
		read: op.read, connected: x.connected.Load(), status: x.status,
		wait: x.retryAfter, hasWait: x.wait, err: err,
	}
}

// ungranted reports that there is no credential. After a 401 both belong into the error: that the
// server refused the old credential, and why there is no new one.
func (c *Cluster) ungranted(op operation, last *exchange, err error, sent int) error {
	e := c.fail(op, nil, err)
	e.Attempts = sent
	if last != nil && last.status == http.StatusUnauthorized {
		e.Note = "It was asked for because the server refused the credential before it (HTTP 401), " +
			"which has expired or was withdrawn"
	}
	return e
}

func (c *Cluster) redactor(op operation, x *exchange) redactor {
	secrets := slices.Clone(op.secrets)
	for _, hidden := range c.hidden {
		secrets = append(secrets, hidden.Reveal())
	}
	if x != nil && x.grant != nil {
		_, bare, _ := strings.Cut(x.grant.authorization.Reveal(), " ")
		secrets = append(secrets, bare)
	}
	return newRedactor(secrets...)
}

// request starts a request of client-go with everything switched off that is decided here.
func (c *Cluster) request(method, resource string) *rest.Request {
	return c.rest.Verb(method).Resource(resource).
		MaxRetries(0).
		BackOffWithContext(&rest.NoBackoff{}).
		WarningHandler(rest.NoWarnings{})
}
