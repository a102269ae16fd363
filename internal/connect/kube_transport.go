package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/transport"
)

// maxAnswer bounds the body of an answer, watches aside, in bytes. A Secret is at most about 1 MiB,
// and what is listed here is selected by name.
const maxAnswer = 32 << 20

// exchange is what the transport reports of one attempt to whoever decides about the next one.
// client-go keeps these things to itself.
type exchange struct {
	grant *grant
	watch bool

	connected   atomic.Bool // a connection was there, so bytes may have been sent
	status      int         // 0: no answer
	contentType string
	retryAfter  time.Duration
	wait        bool // retryAfter was in the answer
	timedOut    bool // request_timeout ended the attempt
	err         error
	body        io.Closer
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) },
	})
}

// sender is the http.RoundTripper of a Cluster. It adds the credential of the attempt. It is not
// one of client-go's, because those print headers and bodies when klog is told to.
type sender struct {
	build     func(*tls.Certificate) http.RoundTripper
	base      http.RoundTripper
	userAgent string
	acting    transport.ImpersonationConfig

	mu   sync.Mutex
	pair *tls.Certificate // that of of
	of   http.RoundTripper
}

func newSender(e *endpoint, c *credential, o opener) *sender {
	wrap := o.wrap
	if wrap == nil {
		wrap = func(rt http.RoundTripper) http.RoundTripper { return rt }
	}
	s := &sender{userAgent: o.userAgent, acting: c.acting}
	s.build = func(pair *tls.Certificate) http.RoundTripper {
		if s.acting.UserName == "" {
			return wrap(e.transport(pair))
		}
		return transport.NewImpersonatingRoundTripper(s.acting, wrap(e.transport(pair)))
	}
	s.base = s.build(c.pair)
	return s
}

// RoundTrip implements http.RoundTripper.
func (s *sender) RoundTrip(request *http.Request) (*http.Response, error) {
	x, _ := request.Context().Value(exchangeKey{}).(*exchange)
	if x == nil || x.grant == nil {
		return nil, errNoGrant
	}
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", s.userAgent)
	if x.grant.authorization.IsSet() {
		request.Header.Set("Authorization", x.grant.authorization.Reveal())
	}
	response, err := s.transport(x.grant.pair).RoundTrip(request)
	x.record(response, err)
	return response, err
}

var errNoGrant = errors.New("a request outside an operation")

// transport is the one for a client certificate of a credential program. A connection speaks for
// the certificate that it was made with, so a new certificate needs new connections.
func (s *sender) transport(pair *tls.Certificate) http.RoundTripper {
	if pair == nil {
		return s.base
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pair != pair {
		utilnet.CloseIdleConnectionsFor(s.of)
		s.pair, s.of = pair, s.build(pair)
	}
	return s.of
}

func (x *exchange) record(response *http.Response, err error) {
	if x.err = err; err != nil {
		return
	}
	x.status = response.StatusCode
	x.contentType = response.Header.Get("Content-Type")
	x.retryAfter, x.wait = retryAfter(response.Header.Get("Retry-After"), time.Now())
	if !x.watch {
		response.Body = &cappedBody{ReadCloser: response.Body, left: maxAnswer}
	}
	x.body = response.Body
}

// retryAfter reads seconds or a date.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// cappedBody fails a body that is longer than any real answer, instead of holding it in memory.
type cappedBody struct {
	io.ReadCloser
	left int
}

func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errAnswerTooLarge
	}
	return n, err
}

// transport makes connections like client-go's: HTTP/2 where the server speaks it, with pings.
func (e *endpoint) transport(pair *tls.Certificate) *http.Transport {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: e.serverName, InsecureSkipVerify: e.insecure,
	}
	if e.ca != nil {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(e.ca)
	}
	if pair != nil {
		config.Certificates = []tls.Certificate{*pair}
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return utilnet.SetTransportDefaults(&http.Transport{
		Proxy: http.ProxyURL(e.via), TLSClientConfig: config, DialContext: dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 32,
		DisableCompression: e.noCompression,
	})
}
