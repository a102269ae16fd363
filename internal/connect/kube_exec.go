package connect

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// execTimeout bounds one run of a credential program. It is not a part of request_timeout:
	// a program that asks an identity provider over the network may need longer than a request.
	execTimeout = time.Minute
	// execGrace is how long the descendants of a program that has ended may hold its output open.
	execGrace    = 2 * time.Second
	execGroup    = "client.authentication.k8s.io/"
	execExtKey   = "client.authentication.k8s.io/exec"
	execKind     = "ExecCredential"
	execInfoName = "KUBERNETES_EXEC_INFO"
)

// checkExecVersion knows the versions that a credential program can be asked in.
func checkExecVersion(version string) fault {
	supported := "Supported are " + execGroup + "v1 and " + execGroup + "v1beta1"
	switch version {
	case execGroup + "v1", execGroup + "v1beta1":
		return fault{}
	case "":
		return fault{"is not set", supported}
	case execGroup + "v1alpha1":
		return fault{"is " + execGroup + "v1alpha1, which Kubernetes has removed", supported +
			"; newer versions of the program speak them"}
	}
	return fault{fmt.Sprintf("is %q, which is not a version of ExecCredential", version), supported}
}

// plugin is a credential program: that of the exec object, or of a kubeconfig's user.
type plugin struct {
	apiVersion, command string
	args                []string
	env                 map[string]Secret
	installHint         string
	clusterInfo         bool           // tell the program which cluster it is for
	clusterConfig       runtime.Object // what the kubeconfig has for the program, with the former
}

// plugin reads the exec entry of a kubeconfig's user.
func (s *selection) plugin(at place) (*plugin, *SettingError) {
	entry := s.user.Exec
	at.entry += ", exec"
	if entry.Command == "" {
		return nil, at.err(fault{"command is not set", ""})
	}
	if wrong := checkExecVersion(entry.APIVersion); wrong.found() {
		return nil, at.err(fault{"apiVersion " + wrong.problem, wrong.cure})
	}
	if entry.InteractiveMode == clientcmdapi.AlwaysExecInteractiveMode {
		return nil, at.err(fault{"interactiveMode is Always, and no terminal can be given to " +
			"the program", "Use a way to log in that does not ask"})
	}
	p := &plugin{
		apiVersion: entry.APIVersion, command: entry.Command, args: entry.Args,
		env: map[string]Secret{}, installHint: printable(entry.InstallHint),
		clusterInfo: entry.ProvideClusterInfo, clusterConfig: s.cluster.Extensions[execExtKey],
	}
	for _, variable := range entry.Env {
		p.env[variable.Name] = NewSecret(variable.Value)
	}
	return p, nil
}

// ExecError is a credential program that gave no credential.
type ExecError struct {
	Command string
	Problem string
	Stderr  string // the end of it, without control characters; values of exec.env are taken out
	Hint    string // the installHint of the kubeconfig
	Err     error  // may be nil
}

// Error shows the program's standard error, never its standard output.
func (e *ExecError) Error() string {
	text := fmt.Sprintf("credential program %q: %s", e.Command, e.Problem)
	if e.Stderr != "" {
		text += "\nIts standard error: " + e.Stderr
	}
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return text
}

// Unwrap gives the error of os/exec or of the context.
func (e *ExecError) Unwrap() error { return e.Err }

// info is the text of KUBERNETES_EXEC_INFO.
func (p *plugin) info(e *endpoint) (string, error) {
	request := clientauthv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{Kind: execKind, APIVersion: p.apiVersion},
	}
	if p.clusterInfo {
		cluster := &clientauthv1.Cluster{
			Server: e.server.String(), TLSServerName: e.serverName,
			InsecureSkipTLSVerify: e.insecure, CertificateAuthorityData: e.ca,
			DisableCompression: e.noCompression,
		}
		if e.proxy != nil {
			cluster.ProxyURL = e.proxy.String()
		}
		if unknown, ok := p.clusterConfig.(*runtime.Unknown); ok {
			cluster.Config.Raw = unknown.Raw
		}
		request.Spec.Cluster = cluster
	}
	text, err := json.Marshal(request)
	return string(text), err
}
