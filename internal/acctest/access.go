package acctest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Kubeconfig writes a kubeconfig for the administrator and returns its path.
func (c *Cluster) Kubeconfig(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := WriteKubeconfig(path, c.Config); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteKubeconfig writes a kubeconfig with one context, "test", for the configuration.
func WriteKubeconfig(path string, config *rest.Config) error {
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {
			Server: config.Host, CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {
			Token: config.BearerToken, ClientCertificateData: config.CertData,
			ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	}, path)
}

// Limited makes a user who may do in the namespace what the rules say, and nothing else, and
// returns a kubeconfig for that user.
func (c *Cluster) Limited(t testing.TB, user, namespace string, rules ...rbacv1.PolicyRule) string {
	t.Helper()
	config, path := c.limited(t, user, namespace, rules)
	if err := WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *Cluster) limited(
	t testing.TB, user, namespace string, rules []rbacv1.PolicyRule,
) (*rest.Config, string) {
	t.Helper()
	ctx := context.Background()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	if _, err := c.Admin.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Admin.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	authenticated, err := c.environment.AddUser(envtest.User{Name: user}, c.Config)
	if err != nil {
		t.Fatal(err)
	}
	return authenticated.Config(), filepath.Join(t.TempDir(), "kubeconfig")
}

// Request is one request that the API server answered, from its audit log.
type Request struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	StageTimestamp time.Time `json:"stageTimestamp"`
}

// Requests returns what the user asked of the API server, in order.
func (c *Cluster) Requests(t testing.TB, user string) []Request {
	t.Helper()
	log, err := os.ReadFile(c.auditLog)
	if err != nil {
		t.Fatal(err)
	}
	var requests []Request
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var request Request
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			t.Fatal(err)
		}
		if request.User.Username == user {
			requests = append(requests, request)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return requests
}
