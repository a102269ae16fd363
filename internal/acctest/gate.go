package acctest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// GateName is a name in the certificate of every Gate, beside 127.0.0.1.
const GateName = "example.com"

// Gate is a reverse proxy in front of the real API server. It notes every request, and answers in the
// server's place what the server would not answer on demand.
type Gate struct {
	// URL is its https address.
	URL string
	// CA is the certificate to verify it against, PEM.
	CA string

	server  *httptest.Server
	mu      sync.Mutex
	answer  func(http.ResponseWriter, *http.Request) bool
	seen    []GateRequest
	dialled int
}

// GateRequest is what a Gate notes of one request: no body and no credential.
type GateRequest struct{ Method, Path, Query, UserAgent string }

// Gate opens a gate to the cluster. Credentials pass through it, client certificates do not: use the
// token of an Account.
func (c *Cluster) Gate(t testing.TB) *Gate {
	t.Helper()
	target, err := url.Parse(c.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(c.Config.CAData)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
	}
	quiet := log.New(io.Discard, "", 0)
	behind := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, ErrorLog: quiet,
	}
	g := &Gate{}
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := g.note(r); answer == nil || !answer(w, r) {
			behind.ServeHTTP(w, r)
		}
	}))
	g.server.EnableHTTP2 = true
	g.server.Config.ErrorLog = quiet
	g.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.dialled++
		}
	}
	g.server.StartTLS()
	t.Cleanup(transport.CloseIdleConnections)
	t.Cleanup(g.server.Close)
	t.Cleanup(g.server.CloseClientConnections)
	g.URL = g.server.URL
	g.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw}))
	return g
}

func (g *Gate) note(r *http.Request) func(http.ResponseWriter, *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, GateRequest{r.Method, r.URL.Path, r.URL.RawQuery, r.UserAgent()})
	return g.answer
}

// Answers sets what is asked of each request first. It returns whether it has answered; nil lets all
// requests through.
func (g *Gate) Answers(answer func(http.ResponseWriter, *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = answer
}

// Seen are the requests so far, in order of arrival.
func (g *Gate) Seen() []GateRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

// Forget starts the notes anew.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen, g.dialled = nil, 0
}

// Connections counts the connections that were made to the gate.
func (g *Gate) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dialled
}

// Address is host:port of the gate.
func (g *Gate) Address() string { return g.server.Listener.Addr().String() }
