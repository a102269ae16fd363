package connect

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	testNamespace = "kube-system"
	testName      = "antrea-memberlist-keys"
	testKeys      = "cGxlYXNlLWRvLW5vdC1wcmludC10aGVzZS1rZXlzISE=\n"
	testToken     = "token-which-no-text-may-show"
	testAgent     = "terraform-provider-billet/test Terraform/1.11.4"
)

// TestMain turns the test binary into a credential program when the environment asks for it.
func TestMain(m *testing.M) {
	if script := os.Getenv("BILLET_TEST_PROGRAM"); script != "" {
		os.Exit(playProgram(script))
	}
	os.Exit(m.Run())
}

// variables is an environment for Open.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	text, ok := v[name]
	return text, ok
}

func (v variables) opener() opener {
	return opener{
		env: v.lookup, userAgent: testAgent, podDirectory: "/nonexistent/pod",
		execTimeout: 20 * time.Second,
		pause:       func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// authority issues certificates for the tests.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pemText("CERTIFICATE", der)
	return a
}

// issue returns PEM texts of a certificate for the names, and of its key.
func (a *authority) issue(t testing.TB, until time.Time, names ...string) (cert, key string) {
	t.Helper()
	private := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: names[0]},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("CERTIFICATE", der), keyText(t, private)
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyText(t testing.TB, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("PRIVATE KEY", der)
}

func pemText(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// call is one request that arrived.
type call struct {
	method, path, query string
	header              http.Header
	body                string
	protocol            string
	peer                string // the common name of the client certificate
	serverName          string
}

// apiServer is an HTTPS server that records what arrives and lets answer write the answers.
type apiServer struct {
	*httptest.Server
	ca *authority

	mu     sync.Mutex
	calls  []call
	answer func(w http.ResponseWriter, r *http.Request, nth int)
}

func newServer(
	t testing.TB, answer func(w http.ResponseWriter, r *http.Request, nth int), names ...string,
) *apiServer {
	t.Helper()
	if len(names) == 0 {
		names = []string{"127.0.0.1"}
	}
	s := &apiServer{ca: newAuthority(t), answer: answer}
	cert, key := s.ca.issue(t, time.Now().Add(time.Hour), names...)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	got := call{
		method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, header: r.Header.Clone(),
		body: string(body), protocol: r.Proto,
	}
	if r.TLS != nil {
		got.serverName = r.TLS.ServerName
		if len(r.TLS.PeerCertificates) > 0 {
			got.peer = r.TLS.PeerCertificates[0].Subject.CommonName
		}
	}
	s.mu.Lock()
	s.calls = append(s.calls, got)
	nth := len(s.calls)
	s.mu.Unlock()
	s.answer(w, r, nth)
}

func (s *apiServer) seen() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

// settings reach the server with a token.
func (s *apiServer) settings() Kubernetes {
	return Kubernetes{
		Host: s.URL, Token: NewSecret(testToken), ClusterCACertificate: s.ca.pem,
	}
}

func mustOpen(t testing.TB, k Kubernetes, o opener) *Cluster {
	t.Helper()
	c, err := o.open(k)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func theSecret() *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: testName, UID: "uid-1", ResourceVersion: "7",
		},
		Data: map[string][]byte{"keys": []byte(testKeys)},
	}
}

// status is an answer of the API server that is no success.
func status(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), Message: message,
		Details: &metav1.StatusDetails{Name: testName, Kind: "secrets"},
	}
}

func answerSecret(w http.ResponseWriter, _ *http.Request, _ int) { writeJSON(w, 200, theSecret()) }

func get(t testing.TB, c *Cluster) (*corev1.Secret, error) {
	t.Helper()
	return c.Secrets(testNamespace).Get(t.Context(), testName, metav1.GetOptions{})
}

func writeFile(t testing.TB, directory, name, content string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kubeconfig is one with a cluster, a user and a context of one name.
func kubeconfig(name, server, ca, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %[1]s
clusters:
- name: %[1]s
  cluster: {server: %[2]q, certificate-authority-data: %[3]q}
users:
- name: %[1]s
  user: {token: %[4]q}
contexts:
- name: %[1]s
  context: {cluster: %[1]s, user: %[1]s}
`, name, server, base64Of(ca), token)
}

func authorizations(calls []call) string {
	var all []string
	for _, c := range calls {
		all = append(all, strings.TrimPrefix(c.header.Get("Authorization"), "Bearer "))
	}
	return strings.Join(all, " ")
}

func encode(body any) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}
