package connect

import (
	"crypto/tls"
	"strconv"
	"strings"

	"k8s.io/client-go/transport"
)

// place says where a value was set: the attribute, the environment variable if it came from one,
// and the entry of a kubeconfig if it came from one.
type place struct {
	attribute string
	variable  string
	entry     string // such as `cluster "prod" of /home/ada/.kube/config`
}

func (p place) err(found fault) *SettingError {
	problem := found.problem
	if p.entry != "" {
		problem = p.entry + ": " + problem
	}
	return &SettingError{
		Attribute: p.attribute, Variable: p.variable, Problem: problem, Cure: found.cure,
	}
}

// name is how a message calls the place.
func (p place) name() string {
	switch {
	case p.entry != "":
		return p.entry
	case p.variable != "":
		return p.variable
	}
	return p.attribute
}

// value is a text and where it was set. The empty text is "not set".
type value struct {
	text string
	at   place
}

// layer is one source of settings: the configuration, the environment, the entries selected in a
// kubeconfig, the pod. Layers are asked in order, and a value that an earlier one has counts.
type layer struct {
	server, serverName, proxy value
	insecure, ca              value // the first layer that has either of them decides on both
	noCompression             bool
	// credential gives nil when the layer has none. A credential is taken whole: never the token
	// of one layer beside the certificate of another, since the API server would then pick who
	// the user is.
	credential func() (*credential, *SettingError)
}

// credential is who the requests are made as. More than one of the fields may be set only when it
// comes from one user of a kubeconfig, with the meaning that kubectl gives to it.
type credential struct {
	describe  string
	token     Secret
	tokenFile string
	username  string
	password  Secret
	pair      *tls.Certificate
	exec      *plugin
	acting    transport.ImpersonationConfig
}

// settings is what the layers come to.
type settings struct {
	server, serverName, proxy value
	insecure                  bool
	ca                        value
	noCompression             bool
	credential                *credential
}

func resolve(layers []layer) (settings, *SettingError) {
	var s settings
	for _, l := range layers {
		first(&s.server, l.server)
		first(&s.serverName, l.serverName)
		first(&s.proxy, l.proxy)
		s.noCompression = s.noCompression || l.noCompression
	}
	if err := s.resolveTrust(layers); err != nil {
		return settings{}, err
	}
	for _, l := range layers {
		if l.credential == nil {
			continue
		}
		found, err := l.credential()
		if err != nil {
			return settings{}, err
		}
		if found != nil {
			s.credential = found
			return s, nil
		}
	}
	s.credential = &credential{describe: "no credential (anonymous)"}
	return s, nil
}

func first(into *value, from value) {
	if into.text == "" {
		*into = from
	}
}

// resolveTrust decides how the server's certificate is checked. A layer that turns the check off
// also puts aside the authorities of the layers below it; one that names authorities puts aside
// an "insecure" below it; insecure = false only puts aside an "insecure" below it.
func (s *settings) resolveTrust(layers []layer) *SettingError {
	checked := false
	for _, l := range layers {
		off := false
		if l.insecure.text != "" && !checked {
			var err error
			if off, err = strconv.ParseBool(strings.TrimSpace(l.insecure.text)); err != nil {
				return l.insecure.at.err(fault{"is not true or false", ""})
			}
			checked = !off
		}
		switch {
		case off && l.ca.text != "":
			return l.insecure.at.err(insecureWithCA)
		case off:
			s.insecure = true
			return nil
		case l.ca.text != "":
			s.ca = l.ca
			return nil
		}
	}
	return nil
}
