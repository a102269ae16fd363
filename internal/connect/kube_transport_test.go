package connect

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// connectProxy is an HTTP proxy that knows CONNECT alone and leads every tunnel to one address. The
// tunnels that it was asked for are in hosts.
type connectProxy struct {
	*httptest.Server
	to, password string

	mu    sync.Mutex
	hosts []string
}

func newProxy(t *testing.T, to, password string) *connectProxy {
	t.Helper()
	p := &connectProxy{to: to, password: password}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.CloseClientConnections)
	t.Cleanup(p.Close)
	return p
}

func (p *connectProxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.hosts = append(p.hosts, r.Method+" "+r.Host)
	p.mu.Unlock()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+p.password))
	if p.password != "" && r.Header.Get("Proxy-Authorization") != want {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = client.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	go pipe(server, buffered.Reader, client)
	go pipe(client, bufio.NewReader(server), server)
}

func pipe(to io.WriteCloser, from io.Reader, end io.Closer) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = end.Close()
}

func (p *connectProxy) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.hosts, ", ")
}

func TestTheProxyOfTheSettingsBeatsThatOfTheEnvironment(t *testing.T) {
	const password = "proxy-password"
	server := newServer(t, answerSecret, "api.test")
	address := server.Listener.Addr().String()
	ours := newProxy(t, address, password)
	around := newProxy(t, address, "")
	withPassword := strings.Replace(ours.URL, "http://", "http://u:"+password+"@", 1)
	k := server.settings()
	k.Host = "https://api.test:6443"

	env := variables{"HTTPS_PROXY": around.URL}
	k.ProxyURL = withPassword
	if _, err := get(t, mustOpen(t, k, env.opener())); err != nil {
		t.Fatal(err)
	}
	if ours.seen() != "CONNECT api.test:6443" || around.seen() != "" {
		t.Errorf("ours saw %q, the other %q", ours.seen(), around.seen())
	}
	if got := server.seen()[0]; got.protocol != "HTTP/2.0" || got.serverName != "api.test" {
		t.Errorf("through the tunnel: %s for %q", got.protocol, got.serverName)
	}

	k.ProxyURL = ""
	if _, err := get(t, mustOpen(t, k, env.opener())); err != nil {
		t.Fatal(err)
	}
	env["KUBE_PROXY_URL"] = withPassword
	if _, err := get(t, mustOpen(t, k, env.opener())); err != nil {
		t.Fatal(err)
	}
	if around.seen() != "CONNECT api.test:6443" ||
		ours.seen() != "CONNECT api.test:6443, CONNECT api.test:6443" {
		t.Errorf("ours saw %q, the other %q", ours.seen(), around.seen())
	}

	direct := mustOpen(t, server.settings(),
		variables{"https_proxy": around.URL, "NO_PROXY": "127.0.0.0/8"}.opener())
	_, _ = get(t, direct)
	if around.seen() != "CONNECT api.test:6443" {
		t.Errorf("NO_PROXY is not kept: %s", around.seen())
	}
}

// T6: the proxy's password is in the settings, and in no text.
func TestAProxyThatRefusesIsReportedWithoutItsPassword(t *testing.T) {
	server := newServer(t, answerSecret, "api.test")
	proxy := newProxy(t, server.Listener.Addr().String(), "right-password")
	k := server.settings()
	k.Host, k.ProxyURL = "https://api.test", strings.Replace(
		proxy.URL, "http://", "http://u:wrong-password@", 1)
	_, err := get(t, mustOpen(t, k, variables{}.opener()))
	if err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") ||
		strings.Contains(err.Error(), "password") || len(server.seen()) != 0 {
		t.Errorf("error: %v", err)
	}
}

// The certificate of another name, of another authority, and how each is put right.
func TestServerCertificatesAreCheckedBySettings(t *testing.T) {
	const inside = "inside.test"
	server := newServer(t, answerSecret, inside)
	other := newAuthority(t)
	yes := true
	unknown := func(err error) bool {
		var want x509.UnknownAuthorityError
		return errors.As(err, &want)
	}
	name := func(err error) bool {
		var want x509.HostnameError
		return errors.As(err, &want)
	}
	fine := func(err error) bool { return err == nil }
	for title, test := range map[string]struct {
		change func(*Kubernetes)
		right  func(error) bool
		says   string
	}{
		"another name":             {func(*Kubernetes) {}, name, "tls_server_name"},
		"tls_server_name":          {func(k *Kubernetes) { k.TLSServerName = inside }, fine, ""},
		"a wrong tls_server_name":  {func(k *Kubernetes) { k.TLSServerName = "x.test" }, name, "tls_server_name"},
		"another authority":        {func(k *Kubernetes) { k.ClusterCACertificate, k.TLSServerName = other.pem, inside }, unknown, "cluster_ca_certificate"},
		"the system's authorities": {func(k *Kubernetes) { k.ClusterCACertificate, k.TLSServerName = "", inside }, unknown, "cluster_ca_certificate"},
		"two authorities, CR LF": {func(k *Kubernetes) {
			k.ClusterCACertificate = crlf(other.pem + k.ClusterCACertificate)
			k.TLSServerName = inside
		}, fine, ""},
		"insecure": {func(k *Kubernetes) { k.ClusterCACertificate, k.Insecure = "", &yes }, fine, ""},
	} {
		t.Run(title, func(t *testing.T) {
			before := len(server.seen())
			k := server.settings()
			test.change(&k)
			started := time.Now()
			_, err := get(t, mustOpen(t, k, variables{}.opener()))
			if !test.right(err) || (err != nil && !strings.Contains(err.Error(), test.says)) {
				t.Errorf("error: %v", err)
			}
			var request *RequestError
			if errors.As(err, &request) && (request.Attempts != 1 || len(server.seen()) != before) {
				t.Errorf("%d attempts in %s", request.Attempts, time.Since(started))
			}
		})
	}
}

func TestAClientCertificateIsTheCredential(t *testing.T) {
	server := newServer(t, answerSecret)
	cert, key := server.ca.issue(t, time.Now().Add(time.Hour), "ada")
	k := Kubernetes{
		Host: server.URL, ClusterCACertificate: server.ca.pem,
		ClientCertificate: cert, ClientKey: NewSecret(key),
	}
	if _, err := get(t, mustOpen(t, k, variables{"KUBE_TOKEN": "e"}.opener())); err != nil {
		t.Fatal(err)
	}
	if got := server.seen()[0]; got.peer != "ada" || got.header.Get("Authorization") != "" {
		t.Errorf("certificate of %q, authorization %q", got.peer, got.header.Get("Authorization"))
	}
}

func TestA401OfAnExpiredCredentialSaysSinceWhen(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeJSON(w, 401, status(401, "Unauthorized", "Unauthorized"))
	})
	expired := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1767323045}`))
	k := server.settings()
	k.Token = NewSecret("e30." + claims + ".c2ln")
	_, err := get(t, mustOpen(t, k, variables{}.opener()))
	if err == nil || !strings.Contains(err.Error(), "expired at "+expired.Format(time.RFC3339)) ||
		len(server.seen()) != 1 {
		t.Errorf("error: %v", err)
	}
}

// A redirect is not followed: the credential would go wherever the answer says.
func TestNoRedirectIsFollowed(t *testing.T) {
	thief := newServer(t, answerSecret)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := get(t, mustOpen(t, server.settings(), variables{}.opener()))
	if err == nil || len(thief.seen()) != 0 {
		t.Errorf("%d requests followed: %v", len(thief.seen()), err)
	}
}

func TestAPathInTheAddressIsKept(t *testing.T) {
	server := newServer(t, answerSecret)
	k := server.settings()
	k.Host += "/k8s/clusters/c-1/"
	if _, err := get(t, mustOpen(t, k, variables{}.opener())); err != nil {
		t.Fatal(err)
	}
	want := "/k8s/clusters/c-1/api/v1/namespaces/" + testNamespace + "/secrets/" + testName
	if got := server.seen()[0].path; got != want {
		t.Errorf("path %s", got)
	}
}

func TestAnHTTPServerBehindAnHTTPSAddressIsNamedSo(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	k := Kubernetes{Host: plain.Listener.Addr().String(), Token: NewSecret(testToken)}
	_, err := get(t, mustOpen(t, k, variables{}.opener()))
	var request *RequestError
	var record tls.RecordHeaderError
	if !errors.As(err, &request) || request.Attempts != 1 ||
		!(errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &record)) {
		t.Errorf("error: %v", err)
	}
}

func TestNoProxyKeepsItsNamesOffTheProxy(t *testing.T) {
	env := variables{"https_proxy": "http://p:1", "NO_PROXY": ".inside.test,10.0.0.0/8"}
	for host, proxied := range map[string]bool{
		"api.inside.test": false, "10.1.2.3": false, "api.test": true, "localhost": false,
	} {
		server, _ := parseServer(host)
		if got := environment(env.lookup).proxyFor(server); (got != nil) != proxied {
			t.Errorf("%s: by way of the proxy: %t", host, got != nil)
		}
	}
}

// The server's refusal of a handshake is the same the next time.
func TestARefusedHandshakeIsNotRepeated(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, time.Now().Add(time.Hour), "127.0.0.1")
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	strict := httptest.NewUnstartedServer(http.NotFoundHandler())
	strict.Config.ErrorLog = log.New(io.Discard, "", 0)
	strict.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: x509.NewCertPool(),
	}
	strict.StartTLS()
	t.Cleanup(strict.Close)
	k := Kubernetes{Host: strict.URL, ClusterCACertificate: ca.pem, Token: NewSecret(testToken)}
	_, err = get(t, mustOpen(t, k, variables{}.opener()))
	var request *RequestError
	if !errors.As(err, &request) || request.Attempts != 1 ||
		!strings.Contains(err.Error(), "certificate required") {
		t.Errorf("error: %v", err)
	}
}

func TestCompressionIsAskedForUnlessTheKubeconfigTurnsItOff(t *testing.T) {
	for field, want := range map[string]string{"": "gzip", ", disable-compression: true": ""} {
		server := newServer(t, answerSecret)
		text := kubeconfig("p", server.URL, server.ca.pem, "t")
		text = strings.Replace(text, "}\nusers", field+"}\nusers", 1)
		path := writeFile(t, t.TempDir(), "config", text)
		c := mustOpen(t, Kubernetes{ConfigPath: path}, variables{}.opener())
		if _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
		if got := server.seen()[0].header.Get("Accept-Encoding"); got != want {
			t.Errorf("%q: Accept-Encoding %q", field, got)
		}
	}
}
