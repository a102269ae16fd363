package provider

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// TestMain runs the acceptance tests always: whoever has Terraform has all they need. Nothing of
// the user's own configuration may reach them.
func TestMain(m *testing.M) {
	directory, err := os.MkdirTemp("", "billet-acc-")
	if err != nil {
		panic(err)
	}
	empty := filepath.Join(directory, "terraformrc")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		panic(err)
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "KUBE") && name != "KUBEBUILDER_ASSETS" || strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("TF_CLI_CONFIG_FILE", empty)
	_ = os.Setenv("TF_ACC", "1")
	code := acctest.Main(m)
	_ = os.RemoveAll(directory)
	os.Exit(code)
}

func factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"billet": providerserver.NewProtocol6WithError(New("test")()),
	}
}

// world is a namespace of the real control plane, and what a test does there behind Terraform's back.
type world struct {
	t          *testing.T
	cluster    *acctest.Cluster
	namespace  string
	kubeconfig string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := acctest.SharedCluster(t)
	return &world{t, cluster, cluster.Namespace(t), cluster.Kubeconfig(t)}
}

// config is a whole configuration with the arguments in the resource.
func (w *world) config(arguments string) string {
	return fmt.Sprintf(`
provider "billet" {
  kubernetes = { config_path = %q }
}
resource "billet_memberlist_secret" "test" {
  namespace = %q
  %s
}`, w.kubeconfig, w.namespace, arguments)
}

func (w *world) secret() *corev1.Secret {
	w.t.Helper()
	return w.secretNamed(keys.DefaultName)
}

func (w *world) secretNamed(name string) *corev1.Secret {
	w.t.Helper()
	secret, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Get(
		context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// put makes the Secret hold the text, or no entry for "", whatever was there before.
func (w *world) put(text string) *corev1.Secret {
	w.t.Helper()
	return w.putNamed(keys.DefaultName, text)
}

func (w *world) putNamed(name, text string) *corev1.Secret {
	w.t.Helper()
	stored, err := w.tryPut(name, text)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

func (w *world) tryPut(name, text string) (*corev1.Secret, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	if text != "" {
		secret.Data = map[string][]byte{"keys": []byte(text)}
	}
	secrets := w.cluster.Admin.CoreV1().Secrets(w.namespace)
	stored, err := secrets.Update(context.Background(), secret, metav1.UpdateOptions{})
	if err != nil {
		stored, err = secrets.Create(context.Background(), secret, metav1.CreateOptions{})
	}
	return stored, err
}

// update stores the object as it is.
func (w *world) update(secret *corev1.Secret) {
	w.t.Helper()
	if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Update(
		context.Background(), secret, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// secrets names every Secret of the namespace with its UID and version.
func (w *world) secrets() string {
	w.t.Helper()
	list, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, secret := range list.Items {
		fmt.Fprintf(&all, "%s %s %s\n", secret.Name, secret.UID, secret.ResourceVersion)
	}
	return all.String()
}

func (w *world) remove() {
	w.t.Helper()
	if err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Delete(
		context.Background(), keys.DefaultName, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// unchanged fails unless the Secret is still the very object, not written once since.
func (w *world) unchanged(before *corev1.Secret) {
	w.t.Helper()
	after := w.secret()
	if after.UID != before.UID || after.ResourceVersion != before.ResourceVersion {
		w.t.Errorf("the Secret was written: version %s, then %s", before.ResourceVersion, after.ResourceVersion)
	}
}

// line spells a key made of one letter.
func line(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))) + "\n"
}

func print(letter string) string { return keys.Fingerprint([]byte(strings.Repeat(letter, 32))) }
