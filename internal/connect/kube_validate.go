package connect

import (
	"slices"
	"strings"
)

// Attribute names that more than one file speaks of.
const (
	attrHost       = "host"
	attrUsername   = "username"
	attrPassword   = "password"
	attrToken      = "token"
	attrInsecure   = "insecure"
	attrServerName = "tls_server_name"
	attrCert       = "client_certificate"
	attrKey        = "client_key"
	attrCA         = "cluster_ca_certificate"
	attrPath       = "config_path"
	attrPaths      = "config_paths"
	attrContext    = "config_context"
	attrAuthInfo   = "config_context_auth_info"
	attrCluster    = "config_context_cluster"
	attrProxy      = "proxy_url"
	attrExec       = "exec"
	attrVersion    = "exec.api_version"
	attrCommand    = "exec.command"
	attrInCluster  = "in_cluster"
	attrUIDs       = "allowed_cluster_uids"
	attrTimeout    = "request_timeout"
)

// Validate reports every fault that shows without environment, files and network: settings that
// contradict each other, half of a pair, texts that are not what the attribute takes.
func (k Kubernetes) Validate() []*SettingError {
	v := validation{k: k}
	v.sources()
	v.credentials()
	v.exec()
	v.trust()
	v.limits()
	return v.faults
}

type validation struct {
	k      Kubernetes
	faults []*SettingError
}

func (v *validation) add(attribute string, found fault) {
	if found.found() {
		v.faults = append(v.faults, &SettingError{
			Attribute: attribute, Problem: found.problem, Cure: found.cure,
		})
	}
}

func (v *validation) unknown(attribute string) bool {
	return slices.Contains(v.k.Unknown, attribute)
}

// maySet says whether the attribute is set or may turn out to be: a value that is not known yet can
// still become null, as one that depends on each.value is in every validation.
func (v *validation) maySet(attribute string) bool { return v.isSet(attribute) || v.unknown(attribute) }

// isSet says whether the configuration sets the attribute to a value that is known.
func (v *validation) isSet(attribute string) bool {
	k := v.k
	known := map[string]bool{
		attrHost: k.Host != "", attrUsername: k.Username != "", attrPassword: k.Password.IsSet(),
		attrToken: k.Token.IsSet(), attrInsecure: k.Insecure != nil,
		attrServerName: k.TLSServerName != "", attrCert: k.ClientCertificate != "",
		attrKey: k.ClientKey.IsSet(), attrCA: k.ClusterCACertificate != "",
		attrPath: k.ConfigPath != "", attrPaths: len(k.ConfigPaths) > 0,
		attrContext: k.ConfigContext != "", attrAuthInfo: k.ConfigContextAuthInfo != "",
		attrCluster: k.ConfigContextCluster != "", attrProxy: k.ProxyURL != "",
		attrExec: k.Exec != nil, attrInCluster: k.InCluster,
	}
	return known[attribute]
}

// conflict reports on other when both attributes are set. Open judges those that become known later.
func (v *validation) conflict(attribute, other, cure string) {
	if v.isSet(attribute) && v.isSet(other) {
		v.add(other, fault{"cannot be set together with " + attribute, cure})
	}
}

// sources: one attribute says where the cluster is. K9: with two of them it was undefined which
// one won, and people worked on another cluster than they meant.
func (v *validation) sources() {
	v.conflict(attrPath, attrPaths, "Put all the files into config_paths")
	if slices.Contains(v.k.ConfigPaths, "") {
		v.add(attrPaths, fault{"has an empty path", "Leave it out"})
	}
	for _, attribute := range []string{attrPath, attrPaths, attrContext, attrAuthInfo, attrCluster} {
		v.conflict(attrHost, attribute,
			"Give either the address of the cluster or a kubeconfig that has it")
	}
	for _, attribute := range []string{
		attrHost, attrPath, attrPaths, attrContext, attrAuthInfo, attrCluster, attrUsername,
		attrPassword, attrToken, attrCert, attrKey, attrExec, attrCA, attrInsecure, attrServerName,
	} {
		v.conflict(attrInCluster, attribute,
			"in_cluster takes the address and the credential from the pod")
	}
	if v.k.Host != "" {
		server, found := parseServer(v.k.Host)
		v.add(attrHost, found)
		if server != nil && server.Scheme == "http" {
			for _, attribute := range []string{attrCert, attrCA} {
				if v.isSet(attribute) {
					v.add(attribute, fault{"has no effect: host is a plain http address",
						"Use an https address"})
				}
			}
		}
	}
	if v.k.ProxyURL != "" {
		_, found := parseProxy(v.k.ProxyURL)
		v.add(attrProxy, found)
	}
}

// credentials: at most one kind, and whole. The environment does not complete half a pair.
func (v *validation) credentials() {
	kinds := []struct {
		name string
		set  bool
	}{
		{attrToken, v.isSet(attrToken)},
		{attrUsername, v.isSet(attrUsername) || v.isSet(attrPassword)},
		{attrCert, v.isSet(attrCert) || v.isSet(attrKey)},
		{attrExec, v.isSet(attrExec)},
	}
	first := ""
	for _, kind := range kinds {
		switch {
		case kind.set && first == "":
			first = kind.name
		case kind.set:
			v.add(kind.name, fault{"is a second credential beside " + first,
				"Keep one of token, username with password, client_certificate with client_key, exec"})
		}
	}
	v.pair(attrUsername, attrPassword)
	v.pair(attrCert, attrKey)
	if token := v.k.Token.Reveal(); token != "" {
		v.add(attrToken, checkToken(token))
	}
	v.clientCertificate()
}

func (v *validation) pair(first, second string) {
	if v.isSet(first) && !v.maySet(second) {
		v.add(first, fault{"is set without " + second, "Set both"})
	}
	if v.isSet(second) && !v.maySet(first) {
		v.add(second, fault{"is set without " + first, "Set both"})
	}
}

func (v *validation) clientCertificate() {
	cert, key := v.k.ClientCertificate, v.k.ClientKey.Reveal()
	switch {
	case cert != "" && key != "":
		_, ofCert, ofKey := clientPair(cert, key)
		v.add(attrCert, ofCert)
		v.add(attrKey, ofKey)
	case cert != "":
		_, found := parseCertificates(cert)
		v.add(attrCert, found)
	case key != "":
		v.add(attrKey, checkPrivateKey(key))
	}
}

// checkToken refuses what net/http would refuse at the first request without saying which setting
// it is. White space around a token, such as the line end of a file, is not a part of it.
func checkToken(token string) fault {
	token = strings.TrimSpace(token)
	if token == "" {
		return fault{"has nothing but white space", "Set the token, or leave the attribute out"}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fault{"has a character that cannot stand in a bearer token", ""}
	}
	return fault{}
}

func (v *validation) exec() {
	if v.k.Exec == nil {
		return
	}
	if v.k.Exec.Command == "" && !v.unknown(attrCommand) {
		v.add(attrCommand, fault{"is not set", "Name the program that prints the credential"})
	}
	if !v.unknown(attrVersion) {
		v.add(attrVersion, checkExecVersion(v.k.Exec.APIVersion))
	}
}

func (v *validation) trust() {
	if v.k.ClusterCACertificate != "" {
		_, found := parseCertificates(v.k.ClusterCACertificate)
		v.add(attrCA, found)
	}
	if v.k.Insecure != nil && *v.k.Insecure && v.isSet(attrCA) {
		v.add(attrInsecure, insecureWithCA)
	}
}

var insecureWithCA = fault{"turns off the check of the server's certificate, beside a " +
	"certificate authority to check it with", "Keep one of the two"}

func (v *validation) limits() {
	if v.k.RequestTimeout < 0 {
		v.add(attrTimeout, fault{"is negative", `Set a duration such as "30s"`})
	}
	if v.k.AllowedClusterUIDs != nil && len(v.k.AllowedClusterUIDs) == 0 && !v.unknown(attrUIDs) {
		v.add(attrUIDs, fault{"is an empty set, which allows no cluster",
			"Name the UIDs, or leave the attribute out to allow every cluster"})
	}
	for _, uid := range v.k.AllowedClusterUIDs {
		if uid == "" || uid != strings.TrimSpace(uid) {
			v.add(attrUIDs, fault{"has an element that is empty or has white space around it",
				"kubectl get namespace kube-system -o jsonpath={.metadata.uid} prints the UID"})
		}
	}
}
