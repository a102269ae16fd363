package connect

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// K2 and "nothing configured": whatever is broken, nothing that was not named is dialled. A listener
// plays the pod's API server; a kubeconfig in the home directory points at it too.
func TestNoConfigurationLeadsToAnythingThatWasNotNamed(t *testing.T) {
	var dialled atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			_ = connection.Close()
		}
	}()
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	home, pod := t.TempDir(), t.TempDir()
	ca := newAuthority(t)
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, home, ".kube/config",
		kubeconfig("home", "https://"+listener.Addr().String(), ca.pem, "t"))
	writeFile(t, pod, "token", "pod")
	writeFile(t, pod, "ca.crt", ca.pem)
	around := variables{
		"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "HOME": home,
		"KUBERNETES_MASTER": "https://" + listener.Addr().String(),
	}
	for name, value := range around { // clientcmd reads the real environment
		t.Setenv(name, value)
	}
	files := t.TempDir()
	for name, content := range map[string]string{
		"empty":     "",
		"only kind": "kind: Config\napiVersion: v1\n",
		"no server": "kind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {}}]\n",
		"no entry":  "kind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {}}]\n",
		"dangling":  "kind: Config\ncurrent-context: c\n",
	} {
		path := writeFile(t, files, name, content)
		for _, env := range []variables{{}, {"KUBECONFIG": path}, {"KUBE_CONFIG_PATH": path}} {
			k := Kubernetes{}
			if len(env) == 0 {
				k.ConfigPath = path
			}
			refuse(t, name, k, env, around, pod)
		}
	}
	for name, env := range map[string]variables{
		"nothing":            {},
		"token only":         {"KUBE_TOKEN": "t"},
		"context only":       {"KUBE_CTX": "home"},
		"empty variables":    {"KUBECONFIG": "", "KUBE_CONFIG_PATH": "", "KUBE_HOST": ""},
		"KUBECONFIG missing": {"KUBECONFIG": "/nonexistent/a:/nonexistent/b"},
		"KUBECONFIG of ::":   {"KUBECONFIG": "::"},
	} {
		err := refuse(t, name, Kubernetes{}, env, around, pod)
		if name != "KUBECONFIG missing" && !errors.Is(err, ErrNotConfigured) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuse(t, "token only", Kubernetes{Token: NewSecret("t")}, nil, around, pod)
	refuse(t, "context only", Kubernetes{ConfigContext: "home"}, nil, around, pod)
	if n := dialled.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func refuse(
	t *testing.T, name string, k Kubernetes, env, around variables, pod string,
) error {
	t.Helper()
	all := variables{}
	for _, part := range []variables{around, env} {
		for name, value := range part {
			all[name] = value
		}
	}
	o := all.opener()
	o.podDirectory = pod
	c, err := o.open(k)
	if err == nil {
		_, _ = c.Secrets("x").Get(t.Context(), "y", metav1.GetOptions{})
		t.Errorf("%s: opened %s", name, c.Target())
	}
	return err
}

func TestNothingConfiguredListsTheWays(t *testing.T) {
	_, err := variables{}.opener().open(Kubernetes{})
	if !errors.Is(err, ErrNotConfigured) {
		t.Fatal(err)
	}
	for _, way := range []string{
		"host", "config_path", "config_paths", "in_cluster", "KUBE_HOST", "KUBE_CONFIG_PATH",
		"KUBE_CONFIG_PATHS", "KUBECONFIG",
	} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("%s is not listed", way)
		}
	}
}

func TestInClusterUsesThePodAndNothingElse(t *testing.T) {
	server := newServer(t, answerSecret)
	host, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	pod := t.TempDir()
	env := variables{
		"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port,
		"KUBE_HOST": "https://elsewhere", "KUBE_TOKEN": "e", "KUBECONFIG": "/nonexistent",
		"KUBE_INSECURE": "true",
	}
	o := env.opener()
	o.podDirectory = pod
	k := Kubernetes{InCluster: true}
	for _, step := range []string{"token", "ca.crt"} {
		_, err := o.open(k)
		var setting *SettingError
		if !errors.As(err, &setting) || setting.Attribute != attrInCluster ||
			!strings.Contains(setting.Problem, step) {
			t.Errorf("without %s: %v", step, err)
		}
		writeFile(t, pod, step, map[string]string{"token": "pod-token\n", "ca.crt": server.ca.pem}[step])
	}
	c := mustOpen(t, k, o)
	if _, err := get(t, c); err != nil {
		t.Fatal(err)
	}
	if got := authorizations(server.seen()); got != "pod-token" {
		t.Errorf("token: %s", got)
	}
	delete(env, "KUBERNETES_SERVICE_PORT")
	var setting *SettingError
	if _, err := o.open(k); !errors.As(err, &setting) ||
		setting.Attribute != attrInCluster || !strings.Contains(setting.Problem, "in a pod") {
		t.Errorf("outside a pod: %v", err)
	}
}
