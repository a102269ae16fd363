package connect

import (
	"errors"
	"strconv"

	"k8s.io/client-go/transport"
)

// layer is what the selected cluster and user say.
func (s *selection) layer() (layer, *SettingError) {
	at := s.clusterEntry()
	if s.cluster.Server == "" {
		return layer{}, at.err(fault{"it has no server", "Correct the kubeconfig"})
	}
	ca, err := s.embedded(at, "certificate-authority", s.cluster.CertificateAuthorityData,
		s.cluster.CertificateAuthority)
	if err != nil {
		return layer{}, err
	}
	l := layer{
		server:        value{s.cluster.Server, at},
		serverName:    value{s.cluster.TLSServerName, at},
		proxy:         value{s.cluster.ProxyURL, at},
		ca:            ca,
		noCompression: s.cluster.DisableCompression,
		credential:    s.credential,
	}
	if s.cluster.InsecureSkipTLSVerify {
		l.insecure = value{strconv.FormatBool(true), at}
	}
	return l, nil
}

// embedded is the data, or else the content of the file, as client-go has it.
func (s *selection) embedded(at place, field string, data []byte, path string) (
	value, *SettingError,
) {
	if len(data) > 0 {
		at.entry += ", " + field + "-data"
		return value{string(data), at}, nil
	}
	if path == "" {
		return value{}, nil
	}
	at.entry += ", " + field + " " + path
	data, err := readCapped(path)
	if err != nil {
		return value{}, fileFault(at, err)
	}
	if len(data) == 0 {
		return value{}, at.err(fault{"the file is empty", ""})
	}
	return value{string(data), at}, nil
}

// fileFault reports a file that a setting names, with the file system's reason.
func fileFault(at place, err error) *SettingError {
	reason := err
	var pathError interface {
		error
		Unwrap() error
	}
	if errors.As(err, &pathError) && pathError.Unwrap() != nil {
		reason = pathError.Unwrap()
	}
	found := at.err(fault{"the file cannot be read: " + reason.Error(),
		"Correct the path or the permissions"})
	found.cause = err
	return found
}

// credential is that of the user entry; nil if the entry has none.
func (s *selection) credential() (*credential, *SettingError) {
	if s.user == nil {
		return nil, nil
	}
	user, at := s.user, s.userEntry()
	if wrong := s.userFault(); wrong.found() {
		return nil, at.err(wrong)
	}
	found := &credential{
		describe: at.entry, token: NewSecret(user.Token), tokenFile: user.TokenFile,
		username: user.Username, password: NewSecret(user.Password),
		acting: transport.ImpersonationConfig{
			UserName: user.Impersonate, UID: user.ImpersonateUID,
			Groups: user.ImpersonateGroups, Extra: user.ImpersonateUserExtra,
		},
	}
	if err := s.userPair(found, at); err != nil {
		return nil, err
	}
	if user.Exec != nil {
		var err *SettingError
		if found.exec, err = s.plugin(at); err != nil {
			return nil, err
		}
	}
	if user.Token == "" && user.TokenFile == "" && user.Username == "" && found.pair == nil &&
		found.exec == nil && found.acting.UserName == "" {
		return nil, nil
	}
	return found, nil
}

// userFault finds what contradicts itself in the user entry.
func (s *selection) userFault() fault {
	user := s.user
	hasToken := user.Token != "" || user.TokenFile != ""
	hasBasic := user.Username != "" || user.Password != ""
	switch {
	case user.AuthProvider != nil:
		return fault{"it uses an auth-provider, which Kubernetes has removed",
			"Make the kubeconfig anew with a tool that writes an exec entry"}
	case hasToken && hasBasic, user.Exec != nil && (hasToken || hasBasic):
		return fault{"it has more than one of token, username and exec", "Leave one of them"}
	case hasBasic && (user.Username == "" || user.Password == ""):
		return fault{"it has one of username and password without the other", ""}
	case user.Impersonate == "" && (user.ImpersonateUID != "" ||
		len(user.ImpersonateGroups) > 0 || len(user.ImpersonateUserExtra) > 0):
		return fault{"it has as-groups, as-uid or as-user-extra without as", ""}
	case user.Token != "" && user.TokenFile == "":
		if wrong := checkToken(user.Token); wrong.found() {
			return fault{"its token " + wrong.problem, wrong.cure}
		}
	}
	return fault{}
}

func (s *selection) userPair(found *credential, at place) *SettingError {
	cert, err := s.embedded(at, "client-certificate", s.user.ClientCertificateData,
		s.user.ClientCertificate)
	if err != nil {
		return err
	}
	key, err := s.embedded(at, "client-key", s.user.ClientKeyData, s.user.ClientKey)
	if err != nil {
		return err
	}
	switch {
	case cert.text == "" && key.text == "":
		return nil
	case cert.text == "":
		return at.err(fault{"it has a client-key without a client-certificate", ""})
	case key.text == "":
		return at.err(fault{"it has a client-certificate without a client-key", ""})
	}
	pair, err := certificateCredential(cert, key)
	if err == nil {
		found.pair = pair.pair
	}
	return err
}
