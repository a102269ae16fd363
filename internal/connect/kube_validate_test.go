package connect

import (
	"encoding/base64"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func attributes(faults []*SettingError) []string {
	var names []string
	for _, fault := range faults {
		names = append(names, fault.Attribute)
	}
	return names
}

// K6, K7, K9.
func TestValidateReportsEachFaultOnItsAttribute(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, time.Now().Add(time.Hour), "ada")
	otherCert, otherKey := ca.issue(t, time.Now().Add(time.Hour), "bob")
	_ = otherCert
	yes, no := true, false
	v1 := execGroup + "v1"
	exec := &Exec{APIVersion: v1, Command: "login"}
	secret := NewSecret
	encrypted := pemText("ENCRYPTED PRIVATE KEY", []byte("x"))
	for name, test := range map[string]struct {
		k    Kubernetes
		want string
	}{
		"nothing set":               {Kubernetes{}, ""},
		"host and token":            {Kubernetes{Host: "https://h:6443", Token: secret("t")}, ""},
		"a bare host":               {Kubernetes{Host: "10.0.0.1:6443"}, ""},
		"host with a path":          {Kubernetes{Host: "https://h/k8s/clusters/c-1"}, ""},
		"CA":                        {Kubernetes{ClusterCACertificate: ca.pem}, ""},
		"CA with CR LF":             {Kubernetes{ClusterCACertificate: crlf(ca.pem)}, ""},
		"two CAs and a remark":      {Kubernetes{ClusterCACertificate: "# x\n" + ca.pem + ca.pem}, ""},
		"pair":                      {Kubernetes{ClientCertificate: cert, ClientKey: secret(key)}, ""},
		"insecure false beside CA":  {Kubernetes{Insecure: &no, ClusterCACertificate: ca.pem}, ""},
		"exec":                      {Kubernetes{Exec: exec}, ""},
		"config_path and token":     {Kubernetes{ConfigPath: "f", Token: secret("t")}, ""},
		"token with a line end":     {Kubernetes{Token: secret("t\n")}, ""},
		"in_cluster and proxy":      {Kubernetes{InCluster: true, ProxyURL: "http://p:1"}, ""},
		"proxy with user":           {Kubernetes{ProxyURL: "socks5://u:p@h:1"}, ""},
		"token and exec":            {Kubernetes{Token: secret("t"), Exec: exec}, "exec"},
		"token and certificate":     {Kubernetes{Token: secret("t"), ClientCertificate: cert, ClientKey: secret(key)}, "client_certificate"},
		"token and user":            {Kubernetes{Token: secret("t"), Username: "u", Password: secret("p")}, "username"},
		"config_path and host":      {Kubernetes{Host: "https://h", ConfigPath: "f"}, "config_path"},
		"config_paths and host":     {Kubernetes{Host: "https://h", ConfigPaths: []string{"f"}}, "config_paths"},
		"context and host":          {Kubernetes{Host: "https://h", ConfigContext: "c"}, "config_context"},
		"config_path and paths":     {Kubernetes{ConfigPath: "f", ConfigPaths: []string{"g"}}, "config_paths"},
		"an empty path in the list": {Kubernetes{ConfigPaths: []string{"f", ""}}, "config_paths"},
		"username only":             {Kubernetes{Username: "u"}, "username"},
		"password only":             {Kubernetes{Password: secret("p")}, "password"},
		"certificate only":          {Kubernetes{ClientCertificate: cert}, "client_certificate"},
		"key only":                  {Kubernetes{ClientKey: secret(key)}, "client_key"},
		"key of another pair":       {Kubernetes{ClientCertificate: cert, ClientKey: secret(otherKey)}, "client_key"},
		"encrypted key":             {Kubernetes{ClientCertificate: cert, ClientKey: secret(encrypted)}, "client_key"},
		"certificate as key":        {Kubernetes{ClientCertificate: cert, ClientKey: secret(cert)}, "client_key"},
		"key as certificate":        {Kubernetes{ClientCertificate: key, ClientKey: secret(key)}, "client_certificate"},
		"CA in base64":              {Kubernetes{ClusterCACertificate: base64Of(ca.pem)}, "cluster_ca_certificate"},
		"CA with \\n":               {Kubernetes{ClusterCACertificate: strings.ReplaceAll(ca.pem, "\n", `\n`)}, "cluster_ca_certificate"},
		"CA as a path":              {Kubernetes{ClusterCACertificate: "/etc/ca.crt"}, "cluster_ca_certificate"},
		"CA cut short":              {Kubernetes{ClusterCACertificate: ca.pem + ca.pem[:90]}, "cluster_ca_certificate"},
		"CA with a broken first":    {Kubernetes{ClusterCACertificate: strings.Replace(ca.pem, "M", "*", 1) + ca.pem}, "cluster_ca_certificate"},
		"CA that is a key":          {Kubernetes{ClusterCACertificate: key}, "cluster_ca_certificate"},
		"CA of white space":         {Kubernetes{ClusterCACertificate: " \n"}, "cluster_ca_certificate"},
		"insecure and CA":           {Kubernetes{Insecure: &yes, ClusterCACertificate: ca.pem}, "insecure"},
		"certificate over http":     {Kubernetes{Host: "http://h", ClientCertificate: cert, ClientKey: secret(key)}, "client_certificate"},
		"exec v1alpha1":             {Kubernetes{Exec: &Exec{APIVersion: execGroup + "v1alpha1", Command: "c"}}, "exec.api_version"},
		"exec bare v1":              {Kubernetes{Exec: &Exec{APIVersion: "v1", Command: "c"}}, "exec.api_version"},
		"exec without version":      {Kubernetes{Exec: &Exec{Command: "c"}}, "exec.api_version"},
		"exec without command":      {Kubernetes{Exec: &Exec{APIVersion: v1}}, "exec.command"},
		"host with credentials":     {Kubernetes{Host: "https://u:p@h"}, "host"},
		"host of another scheme":    {Kubernetes{Host: "tcp://h"}, "host"},
		"host without a name":       {Kubernetes{Host: "https://"}, "host"},
		"host with a bad port":      {Kubernetes{Host: "https://h:99999"}, "host"},
		"host with a query":         {Kubernetes{Host: "https://h/?a=b"}, "host"},
		"proxy without scheme":      {Kubernetes{ProxyURL: "proxy:3128"}, "proxy_url"},
		"token with a line break":   {Kubernetes{Token: secret("a\nb")}, "token"},
		"token of white space":      {Kubernetes{Token: secret(" ")}, "token"},
		"in_cluster and host":       {Kubernetes{InCluster: true, Host: "https://h"}, "host"},
		"in_cluster and path":       {Kubernetes{InCluster: true, ConfigPath: "f"}, "config_path"},
		"in_cluster and token":      {Kubernetes{InCluster: true, Token: secret("t")}, "token"},
		"negative timeout":          {Kubernetes{RequestTimeout: -1}, "request_timeout"},
		"no allowed UID":            {Kubernetes{AllowedClusterUIDs: []string{}}, "allowed_cluster_uids"},
		"an empty UID":              {Kubernetes{AllowedClusterUIDs: []string{""}}, "allowed_cluster_uids"},
		"several at once":           {Kubernetes{Host: "tcp://h", Username: "u", RequestTimeout: -1}, "host username request_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := test.k.Validate()
			if got := strings.Join(attributes(faults), " "); got != test.want {
				t.Errorf("faults on %q, want %q: %v", got, test.want, SettingErrors(faults))
			}
		})
	}
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// K6: the cure has to be the one that helps.
func TestValidateSuggestsBase64decodeForBase64OfPEM(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, time.Now().Add(time.Hour), "ada")
	k := Kubernetes{
		ClusterCACertificate: base64Of(ca.pem), ClientCertificate: base64Of(cert),
		ClientKey: NewSecret(base64Of(key)),
	}
	faults := k.Validate()
	if len(faults) < 2 {
		t.Fatalf("faults: %v", attributes(faults))
	}
	for _, fault := range faults {
		if !strings.Contains(fault.Cure, "base64decode(") {
			t.Errorf("%s: the cure is %q", fault.Attribute, fault.Cure)
		}
	}
	k = Kubernetes{ClientCertificate: cert, ClientKey: NewSecret(base64Of(key))}
	if faults = k.Validate(); len(faults) != 1 || faults[0].Attribute != attrKey ||
		!strings.Contains(faults[0].Cure, "base64decode(") {
		t.Errorf("key: %v", SettingErrors(faults))
	}
}

// K7.
func TestARemovedExecVersionIsToldFromAMistypedOne(t *testing.T) {
	for version, says := range map[string]string{
		execGroup + "v1alpha1": "removed", "v1": "not a version", "": "not set",
	} {
		found := checkExecVersion(version)
		if !strings.Contains(found.problem, says) ||
			!strings.Contains(found.cure, execGroup+"v1 and "+execGroup+"v1beta1") {
			t.Errorf("%q: %s. %s", version, found.problem, found.cure)
		}
	}
}

// T5: what is not known yet is neither missing nor in the way of something else. With each.value it may
// become null for this cluster, and set for the next one.
func TestValidateJudgesNoUnknownAttribute(t *testing.T) {
	cert, _ := newAuthority(t).issue(t, time.Now().Add(time.Hour), "ada")
	yes := true
	for name, k := range map[string]Kubernetes{
		"half of a pair":      {Host: "https://h", ClientCertificate: cert, Unknown: []string{attrKey}},
		"a second credential": {Host: "https://h", Token: NewSecret("t"), Unknown: []string{attrCert, attrKey, attrExec}},
		"a second address":    {Host: "https://h", Unknown: []string{attrPath, attrContext, attrInCluster}},
		"all of them":         {Unknown: []string{attrHost, attrPath, attrPaths, attrToken, attrExec, attrInCluster}},
		"another CA":          {Insecure: &yes, Unknown: []string{attrCA}},
	} {
		if faults := k.Validate(); len(faults) != 0 {
			t.Errorf("%s: %v", name, SettingErrors(faults))
		}
		if _, err := (variables{}).opener().open(k); err == nil {
			t.Errorf("%s: Open went on without a value that is not known", name)
		}
	}
	k := Kubernetes{ClientCertificate: cert, Token: NewSecret("t"), Unknown: []string{attrKey}}
	if got := attributes(k.Validate()); !slices.Equal(got, []string{attrCert}) {
		t.Errorf("a token beside a certificate: faults on %v", got)
	}
}

// T6: no text of a fault quotes what may be a credential.
func TestFaultsQuoteNoValue(t *testing.T) {
	const canary = "canary7canary7"
	k := Kubernetes{
		Host: "https://u:" + canary + "@h:x", ProxyURL: "http://u:" + canary + "/@h:1",
		Token:     NewSecret("a " + canary),
		ClientKey: NewSecret("-----BEGIN PRIVATE KEY-----\n" + canary), ClientCertificate: canary,
		ClusterCACertificate: base64Of("-----BEGIN " + canary),
	}
	text := SettingErrors(k.Validate()).Error()
	if strings.Contains(text, canary) || strings.Contains(text, base64Of(canary)) {
		t.Errorf("a fault quotes the value:\n%s", text)
	}
}

func FuzzCertificateTexts(f *testing.F) {
	ca := newAuthority(f)
	for _, seed := range []string{
		"", ca.pem, crlf(ca.pem), base64Of(ca.pem), ca.pem[1:], ca.pem + "x", "/a/b.pem",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, wrong := parseCertificates(text)
		if wrong.found() == (len(found) > 0) {
			t.Fatalf("%d certificates and the fault %q", len(found), wrong.problem)
		}
		if block, _ := pem.Decode([]byte(text)); block == nil && !wrong.found() {
			t.Fatal("a text without a block was accepted")
		}
	})
}

func FuzzServerAddresses(f *testing.F) {
	for _, seed := range []string{
		"https://h:1/p", "h", "[::1]:6443", "https://u:p@h", "http://", "https://h:0", "://", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		server, wrong := parseServer(text)
		if wrong.found() {
			return
		}
		if server.User != nil || server.Hostname() == "" ||
			(server.Scheme != "https" && server.Scheme != "http") {
			t.Fatalf("accepted as %q", server)
		}
	})
}
