package provider

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// tunnel is a proxy that knows CONNECT alone. Every name leads to one address.
type tunnel struct {
	*httptest.Server
	to string

	mu    sync.Mutex
	names []string
}

func newTunnel(t *testing.T, to string) *tunnel {
	t.Helper()
	p := &tunnel{to: to}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	return p
}

func (p *tunnel) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.names = append(p.names, r.Method+" "+r.Host)
	p.mu.Unlock()
	server, err := net.Dial("tcp", p.to)
	if err != nil || r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = client.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	go func() { _, _ = io.Copy(server, buffered); _ = server.Close() }()
	go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
}

func (p *tunnel) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.names)
}

// An API server whose certificate has another name, behind a proxy: the error names the setting that
// cures it, and the cure works.
func TestAccKubernetes_reaches_a_server_of_another_name_through_a_proxy(t *testing.T) {
	e := newEndpoint(t)
	before := e.put(line("a"))
	proxy := newTunnel(t, e.gate.Address())
	around := newTunnel(t, e.gate.Address())
	config := func(more string) string {
		return fmt.Sprintf(`
provider "billet" {
  kubernetes = {
    host = "https://api.example.test:6443"
    cluster_ca_certificate = %q
    token = %q
    proxy_url = %q
    %s
  }
}
`, e.gate.CA, e.account.Token, proxy.URL, more) + e.testResource("")
	}
	s := newSession(t, config(""), "HTTPS_PROXY="+around.URL)
	wants(t, s.plan(refused), "certificate is valid for", "api.example.test", "set by tls_server_name")
	if len(e.gate.Seen()) != 0 {
		t.Errorf("sent to a server that is not trusted: %v", e.gate.Seen())
	}
	s.configure(config(fmt.Sprintf("tls_server_name = %q", acctest.GateName)))
	s.apply(0)
	e.unchanged(before)
	if names := proxy.asked(); len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return name != "CONNECT api.example.test:6443"
	}) {
		t.Errorf("the proxy was asked for %v", names)
	}
	if names := around.asked(); len(names) != 0 {
		t.Errorf("the proxy of the environment was asked for %v", names)
	}
}

// K5: the context is in one file, its user in another, its CA in a file beside that one. KUBECONFIG
// and config_paths merge them as kubectl does; a file that is missing is skipped in KUBECONFIG alone.
func TestAccKubernetes_merges_several_kubeconfigs(t *testing.T) {
	e := newEndpoint(t)
	before := e.put(line("a"))
	first, second := t.TempDir(), t.TempDir()
	write := func(directory, name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "apiVersion: v1\nkind: Config\n"
	context := write(first, "a", head+"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"+
		"users: [{name: other, user: {token: first}}]\n")
	write(second, "ca.pem", e.gate.CA)
	rest := write(second, "b", head+fmt.Sprintf(
		"current-context: none\nclusters: [{name: k, cluster: {server: %q, certificate-authority: ca.pem}}]\n"+
			"users: [{name: u, user: {token: %q}}, {name: other, user: {token: neither}}]\n",
		e.gate.URL, e.account.Token))
	missing := filepath.Join(first, "missing")
	s := newSession(t, e.testResource(""), "KUBECONFIG="+strings.Join([]string{missing, context, rest}, ":"))
	s.apply(0)
	s.around() // no KUBECONFIG
	wants(t, s.plan(refused), "No cluster is configured")
	paths := func(all ...string) string {
		return fmt.Sprintf("provider \"billet\" {\n kubernetes = { config_paths = [\"%s\"] }\n}\n",
			strings.Join(all, `", "`))
	}
	s.configure(paths(context, rest) + e.testResource(""))
	s.apply(0)
	s.configure(paths(missing, context, rest) + e.testResource(""))
	wants(t, s.plan(refused), "config_paths", missing, "does not exist")
	e.unchanged(before)
	if n := len(e.gate.Seen()); n < 2 {
		t.Errorf("%d requests", n)
	}
}

// The table of the documentation, row by row: in each, everything below it in the table is set too and
// leads nowhere. internal/connect tries what else each row says.
func TestAccKubernetes_the_sources_count_as_the_documentation_says(t *testing.T) {
	documentation, err := os.ReadFile(filepath.Join(acctest.Root(), "templates", "index.md.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	_, table, _ := strings.Cut(string(documentation), "| what is set | where settings come from |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range regexp.MustCompile("(?m)^\\| `([^|]+) \\|").FindAllStringSubmatch(table, -1) {
		rows = append(rows, strings.ReplaceAll(row[1], "`", ""))
	}
	e := newEndpoint(t)
	before := e.put(line("a"))
	good, bad := e.context("x"), filepath.Join(t.TempDir(), "missing")
	current := strings.NewReplacer(`current-context: ""`, "current-context: x")
	content, err := os.ReadFile(good)
	if err == nil {
		err = os.WriteFile(good, []byte(current.Replace(string(content))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	host := fmt.Sprintf("host = %q\ncluster_ca_certificate = %q\ntoken = %q", e.gate.URL, e.gate.CA, e.account.Token)
	below := []struct{ row, arguments, variable string }{
		{"in_cluster", "", ""}, // below
		{"host", host, ""},
		{"config_path, config_paths", fmt.Sprintf("config_path = %q", good), ""},
		{"KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS", "", "KUBE_CONFIG_PATH=" + good},
		{"KUBE_HOST", "", "KUBE_HOST=" + e.gate.URL},
		{"KUBECONFIG", "", "KUBECONFIG=" + good},
	}
	wrong := []string{"", "", "", "KUBE_CONFIG_PATH=" + bad, "", "KUBECONFIG=" + bad}
	s := newSession(t, "")
	for i, test := range below {
		if i >= len(rows) || rows[i] != test.row {
			t.Fatalf("row %d of the documentation is not %q: %q", i, test.row, rows)
		}
		if i == 0 {
			continue // there is no pod: TestInClusterUsesThePodAndNothingElse
		}
		variables := append(slices.Clone(wrong[i+1:]), test.variable)
		if test.row == "KUBE_HOST" {
			variables = append(variables, "KUBE_TOKEN="+e.account.Token, "KUBE_CLUSTER_CA_CERT_DATA="+e.gate.CA)
		}
		s.around(slices.DeleteFunc(variables, func(v string) bool { return v == "" })...)
		e.gate.Forget()
		s.configure("provider \"billet\" {\n kubernetes = {\n" + test.arguments + "\n}\n}\n" + e.testResource(""))
		s.apply(0)
		if len(e.gate.Seen()) == 0 {
			t.Errorf("%s: another cluster was read", test.row)
		}
	}
	e.unchanged(before)
}
