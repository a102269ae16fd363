package connect

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// environment reads variables. An empty variable is an unset one: `KUBE_TOKEN= terraform plan` is
// how a shell takes a variable away for one command.
type environment func(name string) (string, bool)

func (e environment) get(name string) string {
	text, _ := e(name)
	return text
}

func (e environment) value(attribute, variable string) value {
	return value{e.get(variable), place{attribute: attribute, variable: variable}}
}

// own is the layer of the configuration itself. Validate has found it whole.
func (k Kubernetes) own() layer {
	at := func(attribute, text string) value { return value{text, place{attribute: attribute}} }
	insecure := ""
	if k.Insecure != nil {
		insecure = map[bool]string{true: "true", false: "false"}[*k.Insecure]
	}
	return layer{
		server:     at(attrHost, k.Host),
		serverName: at(attrServerName, k.TLSServerName),
		proxy:      at(attrProxy, k.ProxyURL),
		insecure:   at(attrInsecure, insecure),
		ca:         at(attrCA, k.ClusterCACertificate),
		credential: k.ownCredential,
	}
}

func (k Kubernetes) ownCredential() (*credential, *SettingError) {
	switch {
	case k.Token.IsSet():
		return &credential{describe: "the token in token", token: k.Token}, nil
	case k.Username != "":
		return &credential{
			describe: "the user in username", username: k.Username, password: k.Password,
		}, nil
	case k.ClientCertificate != "":
		return certificateCredential(
			value{k.ClientCertificate, place{attribute: attrCert}},
			value{k.ClientKey.Reveal(), place{attribute: attrKey}})
	case k.Exec != nil:
		return &credential{
			describe: "the credential of the exec program " + k.Exec.Command,
			exec: &plugin{
				apiVersion: k.Exec.APIVersion, command: k.Exec.Command,
				args: k.Exec.Args, env: k.Exec.Env,
			},
		}, nil
	}
	return nil, nil
}

func certificateCredential(cert, key value) (*credential, *SettingError) {
	pair, ofCert, ofKey := clientPair(cert.text, key.text)
	switch {
	case ofCert.found():
		return nil, cert.at.err(ofCert)
	case ofKey.found():
		return nil, key.at.err(ofKey)
	}
	return &credential{describe: "the client certificate in " + cert.at.name(), pair: pair}, nil
}

// layer is what the environment says, apart from paths and contexts.
func (e environment) layer() layer {
	return layer{
		server:     e.value(attrHost, "KUBE_HOST"),
		serverName: e.value(attrServerName, "KUBE_TLS_SERVER_NAME"),
		proxy:      e.value(attrProxy, "KUBE_PROXY_URL"),
		insecure:   e.value(attrInsecure, "KUBE_INSECURE"),
		ca:         e.value(attrCA, "KUBE_CLUSTER_CA_CERT_DATA"),
		credential: e.credential,
	}
}

func (e environment) credential() (*credential, *SettingError) {
	token := e.value(attrToken, "KUBE_TOKEN")
	user, password := e.value(attrUsername, "KUBE_USER"), e.value(attrPassword, "KUBE_PASSWORD")
	cert := e.value(attrCert, "KUBE_CLIENT_CERT_DATA")
	key := e.value(attrKey, "KUBE_CLIENT_KEY_DATA")
	if err := onlyOne(token, user, cert); err != nil {
		return nil, err
	}
	if err := whole(user, password); err != nil {
		return nil, err
	}
	if err := whole(cert, key); err != nil {
		return nil, err
	}
	switch {
	case token.text != "":
		if found := checkToken(token.text); found.found() {
			return nil, token.at.err(found)
		}
		return &credential{describe: "the token in KUBE_TOKEN", token: NewSecret(token.text)}, nil
	case user.text != "":
		return &credential{
			describe: "the user in KUBE_USER", username: user.text,
			password: NewSecret(password.text),
		}, nil
	case cert.text != "":
		return certificateCredential(cert, key)
	}
	return nil, nil
}

func onlyOne(kinds ...value) *SettingError {
	var set []value
	for _, kind := range kinds {
		if kind.text != "" {
			set = append(set, kind)
		}
	}
	if len(set) < 2 {
		return nil
	}
	return set[1].at.err(fault{"is a second credential beside " + set[0].at.name(),
		"Unset one of the two"})
}

func whole(first, second value) *SettingError {
	switch {
	case first.text != "" && second.text == "":
		return first.at.err(fault{"is set without " + second.at.name(), "Set both"})
	case first.text == "" && second.text != "":
		return second.at.err(fault{"is set without " + first.at.name(), "Set both"})
	}
	return nil
}

// proxyFor is the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either case, give for the
// server: nil for none. As usual they are not used for localhost.
func (e environment) proxyFor(server *url.URL) *url.URL {
	either := func(name string) string {
		if text := e.get(name); text != "" {
			return text
		}
		return e.get(strings.ToLower(name))
	}
	proxy, err := (&httpproxy.Config{
		HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"),
		NoProxy: either("NO_PROXY"),
	}).ProxyFunc()(server)
	if err != nil {
		return nil
	}
	return proxy
}
