package connect

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Open resolves the settings and the environment (lookup is os.LookupEnv in production) and builds
// the client. It reads the files that the settings name and dials nothing.
//
// Which setting counts, for each setting by itself and for the credential as a whole:
//
//	in_cluster           the pod; of the configuration only proxy_url; no environment
//	host                 configuration, environment without paths and contexts
//	config_path(s)       configuration, that kubeconfig, environment
//	KUBE_CONFIG_PATH(S)  configuration, environment, that kubeconfig
//	KUBE_HOST            configuration, environment; KUBECONFIG is not read
//	KUBECONFIG           configuration, environment, that kubeconfig
//
// A kubeconfig always has the address, so a KUBE_HOST below one never counts.
//
// The first row that applies is the one in force. If none does the error is ErrNotConfigured. All
// other faults are *SettingError as well; errors.As finds the first one.
func (k Kubernetes) Open(
	lookup func(string) (string, bool), userAgent string,
) (*Cluster, error) {
	return opener{
		env: lookup, userAgent: userAgent, podDirectory: podDirectory, execTimeout: execTimeout,
		pause: pause,
	}.open(k)
}

// opener is Open with what tests replace.
type opener struct {
	env          environment
	userAgent    string
	podDirectory string
	execTimeout  time.Duration
	pause        func(context.Context, time.Duration) error
	// wrap, if not nil, stands around each transport, inside the part that adds the credential.
	wrap func(http.RoundTripper) http.RoundTripper
}

func (o opener) open(k Kubernetes) (*Cluster, error) {
	if faults := k.Validate(); len(faults) > 0 {
		return nil, SettingErrors(faults)
	}
	if len(k.Unknown) > 0 {
		var faults SettingErrors
		for _, attribute := range k.Unknown {
			faults = append(faults, &SettingError{Attribute: attribute,
				Problem: "its value is not known yet",
				Cure:    "It becomes known when the resource that it comes from is applied"})
		}
		return nil, faults
	}
	layers, chosen, err := o.layers(k)
	if err != nil {
		return nil, err
	}
	s, err := resolve(layers)
	if err != nil {
		return nil, err
	}
	e, err := s.endpoint(o)
	if err != nil {
		return nil, err
	}
	e.target = e.server.String()
	if chosen != nil {
		e.target = chosen.context() + " (" + e.server.String() + ")"
	}
	return newCluster(k, e, s.credential, o)
}

// layers is the table of Open.
func (o opener) layers(k Kubernetes) ([]layer, *selection, *SettingError) {
	own, env := k.own(), o.env.layer()
	if k.InCluster {
		pod, err := podLayer(o.env, o.podDirectory)
		return []layer{own, pod}, nil, err
	}
	if k.Host != "" {
		return []layer{own, env}, nil, nil
	}
	named := k.kubeconfigs(o.env)
	if named == nil {
		if env.server.text != "" {
			return []layer{own, env}, nil, nil
		}
		return nil, nil, notConfigured()
	}
	config, err := named.load(o.env)
	if err != nil {
		return nil, nil, err
	}
	chosen, file, err := o.selected(k, named, config)
	if err != nil {
		return nil, nil, err
	}
	if named.inConfig {
		return []layer{own, file, env}, chosen, nil
	}
	return []layer{own, env, file}, chosen, nil
}

func (o opener) selected(k Kubernetes, named *files, config *clientcmdapi.Config) (
	*selection, layer, *SettingError,
) {
	chosen, err := k.choose(o.env, named, config)
	if err != nil {
		return nil, layer{}, err
	}
	file, err := chosen.layer()
	return chosen, file, err
}

func notConfigured() *SettingError {
	return &SettingError{
		Problem: "nothing says which cluster to use",
		Cure: "Set one of host, config_path, config_paths or in_cluster = true, or one of the " +
			"environment variables KUBE_HOST, KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS or KUBECONFIG. " +
			"Neither ~/.kube/config nor localhost nor the account of a pod is used by itself",
		cause: ErrNotConfigured,
	}
}

// endpoint is where the requests go, parsed and checked.
type endpoint struct {
	target        string
	server        *url.URL
	serverName    string
	insecure      bool
	ca            []byte   // nil: the system's
	proxy         *url.URL // that of the settings; nil: none
	via           *url.URL // the one that is used: that of the settings, or of HTTPS_PROXY
	noCompression bool
}

func (s settings) endpoint(o opener) (*endpoint, *SettingError) {
	server, wrong := parseServer(s.server.text)
	if wrong.found() {
		return nil, s.server.at.err(wrong)
	}
	e := &endpoint{
		server: server, serverName: s.serverName.text, insecure: s.insecure,
		via: o.env.proxyFor(server), noCompression: s.noCompression,
	}
	if s.proxy.text != "" {
		if e.proxy, wrong = parseProxy(s.proxy.text); wrong.found() {
			return nil, s.proxy.at.err(wrong)
		}
		e.via = e.proxy
	}
	if s.ca.text != "" {
		if _, wrong := parseCertificates(s.ca.text); wrong.found() {
			return nil, s.ca.at.err(wrong)
		}
		e.ca = []byte(s.ca.text)
	}
	e.server.Path = strings.TrimSuffix(e.server.Path, "/")
	return e, nil
}
