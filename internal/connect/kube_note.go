package connect

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// pauseNote explains why there was no other attempt, when the one before is what the error shows.
func pauseNote(stopped error, wait time.Duration) string {
	if errors.Is(stopped, context.Canceled) {
		return "The operation was cancelled before the next attempt"
	}
	return fmt.Sprintf("The time for the operation ends before the next attempt, "+
		"which is due in %s", wait.Round(time.Millisecond))
}

// stopNote explains an end that the last error does not explain by itself.
func (c *Cluster) stopNote(x *exchange, err error) string {
	switch {
	case x.timedOut:
		return "No answer within " + c.timeout.String() + " (request_timeout)"
	case x.wait && x.retryAfter > maxRetryAfter:
		return "The server asks to wait " + x.retryAfter.String() + ", which is not waited for"
	}
	return trustNote(err)
}

// trustNote names the setting behind a failed TLS handshake. The errors of crypto/tls name none.
func trustNote(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
	)
	switch {
	case errors.As(err, &authority):
		return "The authority that the server's certificate is checked with is set by " +
			"cluster_ca_certificate, or certificate-authority-data of a kubeconfig"
	case errors.As(err, &name):
		return "The name to expect in the server's certificate, if not the one in the address, is " +
			"set by tls_server_name"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "The address starts with https, or has no scheme, and the server speaks http"
	}
	return ""
}

// refusedNote says what is known of a credential that the server answered with 401.
func (c *Cluster) refusedNote(g *grant) string {
	note := "The server does not accept " + c.identity
	switch {
	case g != nil && !g.expires.IsZero() && !time.Now().Before(g.expires):
		note += ": it expired at " + g.expires.Format(time.RFC3339)
	case c.usesExec:
		note += ", nor did it accept the one before: it has expired, or it is not for this cluster"
	default:
		note += ": it has expired, was withdrawn, or is not for this cluster"
	}
	return note
}
