package moto

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Proxy stands in front of the server. It counts the requests by operation and applies faults.
// All its methods may be called while requests are under way.
type Proxy struct {
	// URL is what the test gives as the endpoint of every service.
	URL string

	upstream string
	client   *http.Client

	mu     sync.Mutex
	calls  []string
	faults []*Fault
	last   map[string]Answer
}

// Proxy returns a new proxy that ends with the test.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	proxy := s.newProxy()
	listener := httptest.NewServer(proxy)
	t.Cleanup(listener.Close)
	proxy.URL = listener.URL
	return proxy
}

// ProxyTLS is Proxy behind TLS, with the certificate authority to trust as PEM.
func (s *Server) ProxyTLS(t testing.TB) (proxy *Proxy, authority []byte) {
	t.Helper()
	proxy = s.newProxy()
	listener := httptest.NewUnstartedServer(proxy)
	// A client that refuses the certificate is what some tests are about, not news.
	listener.Config.ErrorLog = silent()
	listener.StartTLS()
	t.Cleanup(listener.Close)
	proxy.URL = listener.URL
	return proxy, encodeCertificate(listener.Certificate())
}

func (s *Server) newProxy() *Proxy {
	return &Proxy{
		upstream: strings.TrimSuffix(s.URL, "/"),
		client:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		last:     map[string]Answer{},
	}
}

// Inject adds faults. Of the faults that match a request the first added one acts.
func (p *Proxy) Inject(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range faults {
		p.faults = append(p.faults, &fault)
	}
}

// Heal removes every fault.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// Calls returns the operations requested since the last Forget, in order of arrival, each attempt
// of the client counted.
func (p *Proxy) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.calls...)
}

// Count returns how often operation was requested since the last Forget.
func (p *Proxy) Count(operation string) int {
	count := 0
	for _, call := range p.Calls() {
		if call == operation {
			count++
		}
	}
	return count
}

// Forget starts the counts from zero.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	exchange := &Exchange{
		Operation: operation(r, body),
		Request:   body,
		Path:      r.URL.Path,
		Context:   r.Context(),
		Header:    r.Header,
		proxy:     p,
		incoming:  r,
	}
	act := p.admit(exchange)
	answer := exchange.respond(act)
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

// admit counts the request and chooses the fault that acts on it, if any.
func (p *Proxy) admit(x *Exchange) Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, x.Operation)
	for _, fault := range p.faults {
		if act := fault.take(x); act != nil {
			return act
		}
	}
	return nil
}

// operation names the call: the last part of X-Amz-Target or, for the query protocol that STS
// speaks, the Action field. Anything else is named by its path.
func operation(r *http.Request, body []byte) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndex(target, ".")+1:]
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") != "" {
		return form.Get("Action")
	}
	return r.Method + " " + r.URL.Path
}

// forward sends the request to the server, and remembers good answers for stale reads. It goes on
// when the client has gone: that is how the service behaves.
func (p *Proxy) forward(x *Exchange) Answer {
	// The services know one path; a prefix of the test's endpoint URL ends here.
	target := p.upstream + "/"
	if x.incoming.Method != http.MethodPost {
		target = p.upstream + x.incoming.URL.RequestURI()
	}
	request, err := http.NewRequest(x.incoming.Method, target, bytes.NewReader(x.Request))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request.Header = x.incoming.Header.Clone()
	response, err := p.client.Do(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answer := Answer{Status: response.StatusCode, Body: body, Header: http.Header{
		"Content-Type": response.Header["Content-Type"],
	}}
	if answer.Status == http.StatusOK {
		p.mu.Lock()
		p.last[x.key()] = answer
		p.mu.Unlock()
	}
	return answer
}
