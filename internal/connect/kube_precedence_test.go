package connect

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// K5, K9: the table of Open, row by row. Each file and variable has a token and an address of its
// own, so that what is sent says where it came from.
func TestPrecedenceOfTheSources(t *testing.T) {
	ca := newAuthority(t)
	directory := t.TempDir()
	file := func(name string) string {
		return writeFile(t, directory, name,
			kubeconfig(name, "https://"+name+":6443", ca.pem, "token-of-"+name)+
				"- name: other\n  context: {cluster: "+name+", user: "+name+"}\n")
	}
	a, b, c := file("a"), file("b"), file("c")
	missing := filepath.Join(directory, "missing")
	list := func(paths ...string) string {
		return strings.Join(paths, string(filepath.ListSeparator))
	}
	secret := NewSecret
	for name, test := range map[string]struct {
		k     Kubernetes
		env   variables
		host  string
		token string // "" for none
	}{
		"host": {Kubernetes{Host: "https://h", Token: secret("t")}, nil, "h", "t"},
		"host beats every path of the environment":  {Kubernetes{Host: "https://h"}, variables{"KUBE_CONFIG_PATH": a, "KUBE_CONFIG_PATHS": b, "KUBECONFIG": c, "KUBE_CTX": "none", "KUBE_HOST": "https://e"}, "h", ""},
		"host with the token of the environment":    {Kubernetes{Host: "https://h"}, variables{"KUBE_TOKEN": "e"}, "h", "e"},
		"token beats that of the environment":       {Kubernetes{Host: "https://h", Token: secret("t")}, variables{"KUBE_TOKEN": "e"}, "h", "t"},
		"user puts the token of the env aside":      {Kubernetes{Host: "https://h", Username: "u", Password: secret("p")}, variables{"KUBE_TOKEN": "e"}, "h", "basic"},
		"config_path":                               {Kubernetes{ConfigPath: a}, nil, "a:6443", "token-of-a"},
		"config_path beats the environment":         {Kubernetes{ConfigPath: a}, variables{"KUBE_CONFIG_PATH": b, "KUBECONFIG": c, "KUBE_HOST": "https://e", "KUBE_TOKEN": "e"}, "a:6443", "token-of-a"},
		"token beats config_path":                   {Kubernetes{ConfigPath: a, Token: secret("t")}, nil, "a:6443", "t"},
		"config_paths beats KUBE_CONFIG_PATH":       {Kubernetes{ConfigPaths: []string{b, a}}, variables{"KUBE_CONFIG_PATH": c}, "b:6443", "token-of-b"},
		"KUBE_CONFIG_PATH":                          {Kubernetes{}, variables{"KUBE_CONFIG_PATH": a, "KUBE_CONFIG_PATHS": b, "KUBECONFIG": c}, "a:6443", "token-of-a"},
		"KUBE_CONFIG_PATHS":                         {Kubernetes{}, variables{"KUBE_CONFIG_PATHS": list(b, a), "KUBECONFIG": c}, "b:6443", "token-of-b"},
		"KUBECONFIG":                                {Kubernetes{}, variables{"KUBECONFIG": list(missing, c, a)}, "c:6443", "token-of-c"},
		"environment beats the file it names":       {Kubernetes{}, variables{"KUBE_CONFIG_PATH": a, "KUBE_TOKEN": "e", "KUBE_HOST": "https://e"}, "e", "e"},
		"KUBE_HOST leaves KUBECONFIG alone":         {Kubernetes{}, variables{"KUBE_HOST": "https://e", "KUBECONFIG": c}, "e", ""},
		"KUBE_CTX chooses in config_path":           {Kubernetes{ConfigPaths: []string{a, b}}, variables{"KUBE_CTX": "b"}, "b:6443", "token-of-b"},
		"config_context beats KUBE_CTX":             {Kubernetes{ConfigPaths: []string{a, b}, ConfigContext: "b"}, variables{"KUBE_CTX": "a"}, "b:6443", "token-of-b"},
		"config_context_auth_info":                  {Kubernetes{ConfigPaths: []string{a, b}, ConfigContextAuthInfo: "b"}, nil, "a:6443", "token-of-b"},
		"KUBE_CTX_CLUSTER":                          {Kubernetes{ConfigPaths: []string{a, b}}, variables{"KUBE_CTX_CLUSTER": "b"}, "b:6443", "token-of-a"},
		"the first file has a context of two files": {Kubernetes{ConfigPaths: []string{b, a}, ConfigContext: "other"}, nil, "b:6443", "token-of-b"},
		"empty variables are unset":                 {Kubernetes{ConfigPath: a}, variables{"KUBE_CTX": "", "KUBE_TOKEN": ""}, "a:6443", "token-of-a"},
		"empty texts are unset":                     {Kubernetes{Host: "", ConfigPath: ""}, variables{"KUBE_CONFIG_PATH": b}, "b:6443", "token-of-b"},
		"the tilde is the home directory":           {Kubernetes{ConfigPath: "~/a"}, variables{"HOME": directory}, "a:6443", "token-of-a"},
		"the tilde in a variable too":               {Kubernetes{}, variables{"HOME": directory, "KUBE_CONFIG_PATH": "~/b"}, "b:6443", "token-of-b"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, err := test.env.opener().open(test.k)
			if err != nil {
				t.Fatal(err)
			}
			g, err := cluster.granter.grant(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			sent := strings.TrimPrefix(g.authorization.Reveal(), "Bearer ")
			if strings.HasPrefix(sent, "Basic ") {
				sent = "basic"
			}
			host := cluster.request("GET", "secrets").URL().Host
			if host != test.host || sent != test.token {
				t.Errorf("host %q with %q, want %q with %q", host, sent, test.host, test.token)
			}
			if !strings.Contains(cluster.Target(), host) {
				t.Errorf("target: %s", cluster.Target())
			}
		})
	}
}

// K6, K9: how the server is checked comes from one layer.
func TestPrecedenceOfTrust(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	directory := t.TempDir()
	file := writeFile(t, directory, "secure", kubeconfig("a", "https://a", ca.pem, "t"))
	open := writeFile(t, directory, "open", strings.Replace(
		kubeconfig("a", "https://a", "", "t"), `certificate-authority-data: ""`,
		"insecure-skip-tls-verify: true", 1))
	yes, no := true, false
	for name, test := range map[string]struct {
		k        Kubernetes
		env      variables
		insecure bool
		ca       string
	}{
		"the file's CA":                     {Kubernetes{ConfigPath: file}, nil, false, ca.pem},
		"the file's insecure":               {Kubernetes{ConfigPath: open}, nil, true, ""},
		"insecure puts the file's CA aside": {Kubernetes{ConfigPath: file, Insecure: &yes}, nil, true, ""},
		"CA puts the file's insecure aside": {Kubernetes{ConfigPath: open, ClusterCACertificate: other.pem}, nil, false, other.pem},
		"insecure = false does too":         {Kubernetes{ConfigPath: open, Insecure: &no}, nil, false, ""},
		"KUBE_INSECURE below config_path":   {Kubernetes{ConfigPath: file}, variables{"KUBE_INSECURE": "true"}, false, ca.pem},
		"KUBE_INSECURE above its file":      {Kubernetes{}, variables{"KUBE_CONFIG_PATH": file, "KUBE_INSECURE": "true"}, true, ""},
		"KUBE_INSECURE below CA":            {Kubernetes{Host: "https://h", ClusterCACertificate: ca.pem}, variables{"KUBE_INSECURE": "1"}, false, ca.pem},
		"KUBE_CLUSTER_CA_CERT_DATA":         {Kubernetes{Host: "https://h"}, variables{"KUBE_CLUSTER_CA_CERT_DATA": ca.pem}, false, ca.pem},
		"nothing: the system's roots":       {Kubernetes{Host: "https://h"}, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.env.opener()
			layers, _, wrong := o.layers(test.k)
			if wrong != nil {
				t.Fatal(wrong)
			}
			s, wrong := resolve(layers)
			if wrong != nil {
				t.Fatal(wrong)
			}
			if s.insecure != test.insecure || s.ca.text != test.ca {
				t.Errorf("insecure %t, a CA of %d bytes", s.insecure, len(s.ca.text))
			}
		})
	}
}

// Faults of variables name the variable and the attribute that it stands for.
func TestFaultsOfTheEnvironmentNameTheVariable(t *testing.T) {
	ca := newAuthority(t)
	for name, test := range map[string]struct {
		env                 variables
		attribute, variable string
	}{
		"insecure":    {variables{"KUBE_INSECURE": "maybe"}, attrInsecure, "KUBE_INSECURE"},
		"both trusts": {variables{"KUBE_INSECURE": "true", "KUBE_CLUSTER_CA_CERT_DATA": ca.pem}, attrInsecure, "KUBE_INSECURE"},
		"CA":          {variables{"KUBE_CLUSTER_CA_CERT_DATA": base64Of(ca.pem)}, attrCA, "KUBE_CLUSTER_CA_CERT_DATA"},
		"user only":   {variables{"KUBE_USER": "u"}, attrUsername, "KUBE_USER"},
		"key only":    {variables{"KUBE_CLIENT_KEY_DATA": "k"}, attrKey, "KUBE_CLIENT_KEY_DATA"},
		"two":         {variables{"KUBE_TOKEN": "t", "KUBE_USER": "u", "KUBE_PASSWORD": "p"}, attrUsername, "KUBE_USER"},
		"token":       {variables{"KUBE_TOKEN": "a b"}, attrToken, "KUBE_TOKEN"},
		"proxy":       {variables{"KUBE_PROXY_URL": "p:1"}, attrProxy, "KUBE_PROXY_URL"},
		"host":        {variables{"KUBE_HOST": "tcp://x"}, attrHost, "KUBE_HOST"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.env["KUBE_HOST"] == "" {
				test.env["KUBE_HOST"] = "https://h"
			}
			_, err := test.env.opener().open(Kubernetes{})
			var setting *SettingError
			if !errors.As(err, &setting) || setting.Attribute != test.attribute ||
				setting.Variable != test.variable {
				t.Errorf("error: %v", err)
			}
		})
	}
}
