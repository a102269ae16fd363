package connect

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// K4: a path that was named is used or is an error.
func TestAFileThatCannotBeUsedIsAnErrorOnItsSetting(t *testing.T) {
	directory := t.TempDir()
	good := writeFile(t, directory, "good",
		kubeconfig("prod", "https://good", newAuthority(t).pem, "t"))
	loop := filepath.Join(directory, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(directory, "missing")
	const canary = "canary7canary7canary7"
	broken := writeFile(t, directory, "broken", "clusters:\n- name: x\n  cluster: ["+canary+"\n")
	wrongType := writeFile(t, directory, "type", "kind: Config\nusers: "+canary+"\n")
	otherKind := writeFile(t, directory, "kind", "kind: Secret\napiVersion: v1\ndata: {k: "+canary+"}\n")
	empty := writeFile(t, directory, "empty", "")
	for name, test := range map[string]struct {
		k                         Kubernetes
		env                       variables
		attribute, variable, says string
	}{
		"missing":                     {Kubernetes{ConfigPath: missing}, variables{"KUBECONFIG": good}, attrPath, "", missing},
		"directory":                   {Kubernetes{ConfigPath: directory}, nil, attrPath, "", "directory"},
		"not readable":                {Kubernetes{ConfigPath: loop}, nil, attrPath, "", "too many levels"},
		"missing in the list":         {Kubernetes{ConfigPaths: []string{missing, good}}, nil, attrPaths, "", missing},
		"missing in the variable":     {Kubernetes{}, variables{"KUBE_CONFIG_PATH": missing}, attrPath, "KUBE_CONFIG_PATH", missing},
		"missing in KUBE_.._PATHS":    {Kubernetes{}, variables{"KUBE_CONFIG_PATHS": missing + ":" + good}, attrPaths, "KUBE_CONFIG_PATHS", missing},
		"all of KUBECONFIG missing":   {Kubernetes{}, variables{"KUBECONFIG": missing + ":" + missing}, attrPaths, "KUBECONFIG", "exists"},
		"KUBECONFIG has a directory":  {Kubernetes{}, variables{"KUBECONFIG": directory + ":" + good}, attrPaths, "KUBECONFIG", "directory"},
		"no home":                     {Kubernetes{ConfigPath: "~/x"}, nil, attrPath, "", "HOME"},
		"not YAML":                    {Kubernetes{ConfigPath: broken}, nil, attrPath, "", "line "},
		"wrong types":                 {Kubernetes{ConfigPath: wrongType}, nil, attrPath, "", "not a kubeconfig"},
		"another kind":                {Kubernetes{ConfigPath: otherKind}, nil, attrPath, "", "not a kubeconfig"},
		"empty":                       {Kubernetes{ConfigPath: empty}, nil, attrPath, "", "no current context"},
		"unknown context":             {Kubernetes{ConfigPath: good, ConfigContext: "x"}, nil, attrContext, "", "prod"},
		"unknown context of variable": {Kubernetes{ConfigPath: good}, variables{"KUBE_CTX": "x"}, attrContext, "KUBE_CTX", "prod"},
		"unknown cluster":             {Kubernetes{ConfigPath: good, ConfigContextCluster: "x"}, nil, attrCluster, "", "prod"},
		"unknown user":                {Kubernetes{ConfigPath: good, ConfigContextAuthInfo: "x"}, nil, attrAuthInfo, "", "prod"},
		"a file of an endless length": {Kubernetes{ConfigPath: "/dev/zero"}, nil, attrPath, "", "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.env.opener().open(test.k)
			var setting *SettingError
			if !errors.As(err, &setting) || setting.Attribute != test.attribute ||
				setting.Variable != test.variable || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error: %v", err)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
	_, err := variables{}.opener().open(Kubernetes{ConfigPath: missing})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is not in the chain: %v", err)
	}
}

// K9 within a kubeconfig, and what client-go would paper over.
func TestEntriesThatContradictThemselvesAreErrors(t *testing.T) {
	const head = "kind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
	for name, body := range map[string]string{
		"no server":            "clusters: [{name: k, cluster: {}}]\nusers: [{name: u, user: {token: t}}]",
		"no cluster":           "users: [{name: u, user: {token: t}}]",
		"no user":              "clusters: [{name: k, cluster: {server: 'https://k'}}]",
		"auth-provider":        "clusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {auth-provider: {name: gcp}}}]",
		"token and username":   "clusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {token: t, username: a, password: b}}]",
		"username only":        "clusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {username: a}}]",
		"missing CA file":      "clusters: [{name: k, cluster: {server: 'https://k', certificate-authority: nope.crt}}]\nusers: [{name: u, user: {token: t}}]",
		"CA that is no PEM":    "clusters: [{name: k, cluster: {server: 'https://k', certificate-authority-data: YWJj}}]\nusers: [{name: u, user: {token: t}}]",
		"insecure beside a CA": "clusters: [{name: k, cluster: {server: 'https://k', insecure-skip-tls-verify: true, certificate-authority-data: YWJj}}]\nusers: [{name: u, user: {token: t}}]",
		"missing key":          "clusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {client-certificate-data: YWJj}}]",
		"groups without user":  "clusters: [{name: k, cluster: {server: 'https://k'}}]\nusers: [{name: u, user: {token: t, as-groups: [x]}}]",
		"server with password": "clusters: [{name: k, cluster: {server: 'https://u:p@k'}}]\nusers: [{name: u, user: {token: t}}]",
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, t.TempDir(), "config", head+body+"\n")
			_, err := variables{}.opener().open(Kubernetes{ConfigPath: path})
			var setting *SettingError
			if !errors.As(err, &setting) || setting.Attribute != attrPath {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// K5: the context in one file, the user in the other, paths relative to their file, duplicates.
func TestSeveralFilesAreMergedAsKubectlDoes(t *testing.T) {
	server := newServer(t, answerSecret)
	one, two := t.TempDir(), t.TempDir()
	a := writeFile(t, one, "a", "kind: Config\ncurrent-context: c\ncontexts: "+
		"[{name: c, context: {cluster: k, user: u}}]\nusers: [{name: v, user: {token: of-a}}]\n")
	writeFile(t, two, "ca.crt", server.ca.pem)
	writeFile(t, two, "token", "from-the-file\n")
	b := writeFile(t, two, "b", "kind: Config\ncurrent-context: d\n"+
		"clusters: [{name: k, cluster: {server: '"+server.URL+"', certificate-authority: ca.crt}}]\n"+
		"users: [{name: u, user: {tokenFile: token}}, {name: v, user: {token: of-b}}]\n"+
		"contexts: [{name: c, context: {cluster: none, user: none}}]\n")
	missing := filepath.Join(one, "missing")
	env := variables{"KUBECONFIG": strings.Join([]string{missing, a, b, a}, ":")}
	c := mustOpen(t, Kubernetes{}, env.opener())
	if _, err := get(t, c); err != nil {
		t.Fatal(err)
	}
	if got := authorizations(server.seen()); got != "from-the-file" {
		t.Errorf("token: %s", got)
	}
	if !strings.Contains(c.Target(), a) || !strings.Contains(c.Identity(), b) {
		t.Errorf("target %q, identity %q", c.Target(), c.Identity())
	}
	// What client-go makes of the same list.
	rules := clientcmd.ClientConfigLoadingRules{Precedence: []string{missing, a, b, a}}
	theirs, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	ours, wrong := (&files{paths: rules.Precedence, skipMissing: true}).load(env.lookup)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if ours.CurrentContext != theirs.CurrentContext ||
		ours.AuthInfos["v"].Token != theirs.AuthInfos["v"].Token ||
		ours.Contexts["c"].Cluster != theirs.Contexts["c"].Cluster ||
		ours.AuthInfos["u"].TokenFile != theirs.AuthInfos["u"].TokenFile {
		t.Error("merged in another way than client-go does")
	}
}

// A token file is renewed by somebody else while this program runs.
func TestATokenFileIsReadForEachRequest(t *testing.T) {
	server := newServer(t, answerSecret)
	directory := t.TempDir()
	writeFile(t, directory, "token", "first")
	path := writeFile(t, directory, "config", strings.Replace(
		kubeconfig("p", server.URL, server.ca.pem, ""), `token: ""`, "tokenFile: token", 1))
	c := mustOpen(t, Kubernetes{ConfigPath: path}, variables{}.opener())
	for _, token := range []string{"first", "second\n"} {
		writeFile(t, directory, "token", token)
		if _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := authorizations(server.seen()); got != "first second" {
		t.Errorf("tokens: %s", got)
	}
	if err := os.Remove(filepath.Join(directory, "token")); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, c); !errors.Is(err, fs.ErrNotExist) || len(server.seen()) != 2 {
		t.Errorf("error: %v", err)
	}
}

// The file may be written between the read and the answer.
func TestATokenFileIsReadOnceMoreAfterA401(t *testing.T) {
	directory := t.TempDir()
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if r.Header.Get("Authorization") != "Bearer second" {
			writeFile(t, directory, "token", "second")
			writeJSON(w, 401, status(401, metav1.StatusReasonUnauthorized, "Unauthorized"))
			return
		}
		answerSecret(w, r, nth)
	})
	writeFile(t, directory, "token", "first")
	path := writeFile(t, directory, "config", strings.Replace(
		kubeconfig("p", server.URL, server.ca.pem, ""), `token: ""`, "tokenFile: token", 1))
	c := mustOpen(t, Kubernetes{ConfigPath: path}, variables{}.opener())
	if _, err := get(t, c); err != nil || authorizations(server.seen()) != "first second" {
		t.Errorf("tokens %q: %v", authorizations(server.seen()), err)
	}
}

func TestImpersonationOfAKubeconfigIsKept(t *testing.T) {
	server := newServer(t, answerSecret)
	path := writeFile(t, t.TempDir(), "config", strings.Replace(
		kubeconfig("p", server.URL, server.ca.pem, "t"), `token: "t"`,
		`token: "t", as: ada, as-groups: [g, h]`, 1))
	if _, err := get(t, mustOpen(t, Kubernetes{ConfigPath: path}, variables{}.opener())); err != nil {
		t.Fatal(err)
	}
	h := server.seen()[0].header
	if h.Get("Impersonate-User") != "ada" || len(h.Values("Impersonate-Group")) != 2 ||
		h.Get("Authorization") != "Bearer t" || h.Get("User-Agent") != testAgent {
		t.Errorf("headers: %v", h)
	}
}

func FuzzKubeconfigs(f *testing.F) {
	f.Add([]byte(kubeconfig("c", "https://c", "x", "t")))
	f.Add([]byte("clusters: [{}]\ncontexts: [null]\nusers: [{user: {exec: null}}]\ncurrent-context: ''"))
	f.Add([]byte("current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: [{name: b}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := variables{}.opener().open(Kubernetes{ConfigPath: path})
		if (c == nil) == (err == nil) {
			t.Fatal("neither a cluster nor an error")
		}
	})
}
