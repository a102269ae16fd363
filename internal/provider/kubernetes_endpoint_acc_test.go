package provider

import (
	"fmt"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// endpoint is one way to the API server: a gate, and an account that may work in one namespace only.
type endpoint struct {
	*world
	gate    *acctest.Gate
	account *acctest.Account
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	w := newWorld(t)
	return &endpoint{w, w.cluster.Gate(t), w.cluster.Account(t, w.namespace, "owner", acctest.AnySecret)}
}

// own is the resource's own object; token says where its token comes from.
func (e *endpoint) own(token string) string {
	return fmt.Sprintf("kubernetes = {\n host = %q\n cluster_ca_certificate = %q\n token = %s\n}\n",
		e.gate.URL, e.gate.CA, token)
}

// context writes a kubeconfig whose only context reaches the endpoint.
func (e *endpoint) context(name string) string {
	e.t.Helper()
	path := e.t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{name: {Server: e.gate.URL, CertificateAuthorityData: []byte(e.gate.CA)}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: e.account.Token}},
		Contexts:  map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
	}, path); err != nil {
		e.t.Fatal(err)
	}
	return path
}
