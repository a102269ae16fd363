package provider

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// K4, K6, K7, K9: configurations that cannot work, each with the attribute that the error has to be
// on. None leads to a connection that was not asked for: not to localhost, not to the account of the
// pod that this pretends to be, not to the kubeconfig in the home directory.
func TestAccKubernetes_no_broken_configuration_leads_anywhere(t *testing.T) {
	trap := newTrap(t)
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	kubeconfig := func(text string) string {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const context = "kind: Config\napiVersion: v1\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
	good := kubeconfig(context + "clusters: [{name: k, cluster: {server: 'https://" + trap.address + "'}}]\n")
	copyTo(t, good, filepath.Join(home, ".kube", "config"))
	host, port, _ := net.SplitHostPort(trap.address)
	base := []string{"HOME=" + home, "KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port,
		"KUBERNETES_MASTER=https://" + trap.address}
	w := newWorld(t)
	s := newSession(t, "")
	s.write("ca.pem", w.cluster.Gate(t).CA)
	const exec = `exec = { api_version = %q, command = "login" }`
	for name, test := range map[string]struct {
		arguments, variable, on, says string
	}{
		"nothing":                  {"", "", "", "nothing says which cluster"},
		"a token alone":            {`token = "t"`, "", "", "nothing says which cluster"},
		"a token of the env alone": {"", "KUBE_TOKEN=t", "", "nothing says which cluster"},
		"a context alone":          {`config_context = "c"`, "", "", "nothing says which cluster"},
		"a CA alone":               {`insecure = true`, "", "", "nothing says which cluster"},
		"empty texts":              {`host = "", config_path = ""`, "KUBE_HOST=", "", "nothing says which cluster"},
		"empty KUBECONFIG":         {"", "KUBECONFIG=::", "", "nothing says which cluster"},
		"missing file": {
			`config_path = "/nonexistent/kc"`,
			"KUBECONFIG=" + good, "config_path", "/nonexistent/kc does not exist",
		},
		"missing at home": {`config_path = "~/kc"`, "", "config_path", home + "/kc does not exist"},
		"a directory":     {fmt.Sprintf("config_path = %q", home), "", "config_path", "is a directory"},
		"one of a list missing": {
			fmt.Sprintf("config_paths = [%q, %q]", "/nonexistent/kc", good),
			"", "config_paths", "/nonexistent/kc does not exist",
		},
		"all of KUBECONFIG":        {"", "KUBECONFIG=/nonexistent/a:/nonexistent/b", "config_paths", "KUBECONFIG"},
		"KUBE_CONFIG_PATH missing": {"", "KUBE_CONFIG_PATH=/nonexistent/kc", "config_path", "KUBE_CONFIG_PATH"},
		"no such context": {
			fmt.Sprintf("config_path = %q, config_context = \"d\"", good),
			"", "config_context", "The contexts are c",
		},
		"no server in the file": {
			fmt.Sprintf("config_path = %q", kubeconfig(context+"clusters: [{name: k, cluster: {}}]\n")),
			"", "config_path", "has no server",
		},
		"no cluster in the file": {
			fmt.Sprintf("config_path = %q", kubeconfig(context)),
			"", "config_path", `there is no cluster "k"`,
		},
		"an empty file": {
			fmt.Sprintf("config_path = %q", kubeconfig("")),
			"", "config_path", "has no current context",
		},
		"not a kubeconfig": {
			fmt.Sprintf("config_path = %q", kubeconfig("[")),
			"", "config_path", "is not a kubeconfig",
		},
		"both paths": {
			fmt.Sprintf("config_path = %q, config_paths = [%q]", good, good),
			"", "config_paths", "together with config_path",
		},
		"host and path": {
			fmt.Sprintf("host = \"https://h\", config_path = %q", good),
			"", "config_path", "together with host",
		},
		"token and exec": {
			`host = "https://h", token = "t", ` + fmt.Sprintf(exec, "client.authentication.k8s.io/v1"),
			"", "exec", "second credential",
		},
		"username only": {`host = "https://h", username = "u"`, "", "username", "without password"},
		"exec v1alpha1": {
			`host = "https://h", ` + fmt.Sprintf(exec, "client.authentication.k8s.io/v1alpha1"),
			"", "exec.api_version", "Supported are",
		},
		"exec of a bare v1": {
			`host = "https://h", ` + fmt.Sprintf(exec, "v1"),
			"", "exec.api_version", "Supported are",
		},
		"a CA in base64": {
			fmt.Sprintf("host = \"https://h\", cluster_ca_certificate = %q", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIK"),
			"", "cluster_ca_certificate", "base64decode",
		},
		"a key without its pair": {
			`host = "https://h", client_certificate = file("ca.pem")`,
			"", "client_certificate", "without client_key",
		},
		"in_cluster and a host": {`in_cluster = true, host = "https://h"`, "", "host", "together with in_cluster"},
		"in_cluster outside a pod": {
			`in_cluster = true`,
			"", "in_cluster", "/var/run/secrets/kubernetes.io/serviceaccount/token",
		},
		"an empty guard": {
			fmt.Sprintf("config_path = %q, allowed_cluster_uids = []", good),
			"", "allowed_cluster_uids", "allows no cluster",
		},
		"a bad timeout": {
			`host = "https://h", request_timeout = "10"`,
			"", "request_timeout", "not a positive duration",
		},
		"an unknown scheme": {`host = "tcp://h"`, "", "host", "neither https nor http"},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.around(append(slices.Clone(base), test.variable)...)
			object := "kubernetes = { " + test.arguments + " }\n"
			s.configure("provider \"billet\" {\n" + object + "}\n" + w.testResource(""))
			faults := s.errors("plan")
			if len(faults) != 1 || !strings.Contains(faults[0].Detail, test.says) ||
				!strings.HasPrefix(strings.TrimPrefix(faults[0].Detail, "Provider attribute kubernetes."), test.on) {
				t.Fatalf("%+v", faults)
			}
			// What is broken is broken in the resource's own object too, and belongs to the resource.
			// Terraform points at the block: it finds no place for an attribute within an object.
			s.configure(w.testResource(object))
			faults = s.errors("plan")
			if len(faults) != 1 || !strings.Contains(faults[0].Detail, test.says) ||
				!strings.HasPrefix(faults[0].Detail, test.on) ||
				!strings.HasPrefix(faults[0].Snippet.Context, `resource "billet_memberlist_secret"`) {
				t.Errorf("in the resource: %+v", faults)
			}
		})
	}
	trap.untouched(t)
}

// trap is what a guess would reach: an API server of the pod, and the ports of localhost that programs
// fall back to, as far as they are free.
type trap struct {
	address string
	reached atomic.Int32
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	trap := &trap{}
	for _, port := range []string{"0", "80", "443", "6443", "8080"} {
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			if port == "0" {
				t.Fatal(err)
			}
			continue
		}
		if port == "0" {
			trap.address = listener.Addr().String()
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				trap.reached.Add(1)
				_ = connection.Close()
			}
		}()
	}
	return trap
}

func (trap *trap) untouched(t *testing.T) {
	t.Helper()
	if n := trap.reached.Load(); n != 0 {
		t.Errorf("%d connections that no configuration asks for", n)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
