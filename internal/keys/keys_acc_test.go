package keys_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestAccEnsureSecret_50_at_once_end_with_one_key_that_all_report(t *testing.T) {
	cluster := acctest.SharedCluster(t)
	namespace := cluster.Namespace(t)
	client := cluster.Admin.CoreV1().Secrets(namespace)
	reported := make([]string, 50)
	made := make([]keys.Made, 50)
	var all sync.WaitGroup
	for i := range reported {
		all.Go(func() {
			result, err := keys.NewProvisioner(client, namespace).Apply(t.Context(), keys.Terms{})
			if err != nil {
				t.Error(err)
			}
			reported[i], made[i] = result.Live.Primary(), result.Made
		})
	}
	all.Wait()
	secret, err := client.Get(t.Context(), keys.DefaultName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := keys.ParseKeys(secret.Data["keys"])
	if err != nil || len(stored) != 1 {
		t.Fatalf("%d keys: %v", len(stored), err)
	}
	for _, fingerprint := range reported {
		if fingerprint != keys.Fingerprint(stored[0]) {
			t.Errorf("reported %s, stored is %s", fingerprint, keys.Fingerprint(stored[0]))
		}
	}
	if n := len(slices.DeleteFunc(made, func(m keys.Made) bool { return m == keys.MadeNothing })); n != 1 {
		t.Errorf("%d callers report that they made the Secret, want one", n)
	}
}

func TestAccRun_puts_a_deleted_Secret_back_on_a_real_API_server(t *testing.T) {
	cluster := acctest.SharedCluster(t)
	namespace := cluster.Namespace(t)
	client := cluster.Admin.CoreV1().Secrets(namespace)
	reports := make(chan error, 10)
	provisioner := keys.NewProvisionerWith(client, namespace, keys.Options{Report: func(err error) { reports <- err }})
	delivered := make(chan [][]byte, 10)
	keys.NewSecretWatcher(client, namespace).Watch(t.Context().Done(), func(found [][]byte) { delivered <- found })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go provisioner.Run(ctx)
	first := receive(t, delivered)
	if err := client.Delete(t.Context(), keys.DefaultName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	restored, ok := receive(t, reports).(*keys.RestoredError)
	if !ok || !restored.Deleted || restored.Fingerprint != keys.Fingerprint(first[0]) {
		t.Errorf("reported %v", restored)
	}
	secret, err := client.Get(t.Context(), keys.DefaultName, metav1.GetOptions{})
	if err != nil || string(secret.Data["keys"]) != string(keys.FormatKeys(first)) {
		t.Errorf("other keys than before: %v", err)
	}
}

func TestAccRun_says_who_emptied_the_Secret(t *testing.T) {
	cluster := acctest.SharedCluster(t)
	namespace := cluster.Namespace(t)
	client := cluster.Admin.CoreV1().Secrets(namespace)
	reports := make(chan error, 10)
	provisioner := keys.NewProvisionerWith(client, namespace, keys.Options{Report: func(err error) { reports <- err }})
	if err := provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go provisioner.Run(ctx)
	before, err := client.Get(t.Context(), keys.DefaultName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	emptied := before.DeepCopy()
	emptied.Data, emptied.Labels = nil, map[string]string{"pruned": "yes"}
	if _, err := client.Update(t.Context(), emptied, metav1.UpdateOptions{FieldManager: "janitor"}); err != nil {
		t.Fatal(err)
	}
	restored, ok := receive(t, reports).(*keys.RestoredError)
	if !ok || restored.Deleted || restored.By != "janitor" || restored.UID != before.UID {
		t.Errorf("reported %+v", restored)
	}
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 seconds")
		panic("unreachable")
	}
}

func TestAccEnsureSecret_makes_a_key_that_memberlist_nodes_form_a_cluster_with(t *testing.T) {
	cluster := acctest.SharedCluster(t)
	namespace := cluster.Namespace(t)
	client := cluster.Admin.CoreV1().Secrets(namespace)
	if err := keys.NewProvisioner(client, namespace).EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	secret, err := client.Get(t.Context(), keys.DefaultName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := keys.ParseKeys(secret.Data["keys"])
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	first := node(t, "first", shared[0])
	seed := []string{net.JoinHostPort("127.0.0.1", fmt.Sprint(first.LocalNode().Port))}
	for _, name := range []string{"second", "third"} {
		if _, err := node(t, name, shared[0]).Join(seed); err != nil {
			t.Errorf("%s has the key and cannot join: %v", name, err)
		}
	}
	if n, err := node(t, "stranger", other).Join(seed); err == nil || n != 0 {
		t.Errorf("a node with another key joined %d nodes", n)
	}
	// Join returns when the joining node has its answer, which may be before the other node has merged.
	for end := time.Now().Add(20 * time.Second); first.NumMembers() < 3 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if first.NumMembers() != 3 {
		t.Errorf("%d members, want the three with the key", first.NumMembers())
	}
}

func node(t *testing.T, name string, key []byte) *memberlist.Memberlist {
	t.Helper()
	config := memberlist.DefaultLocalConfig()
	config.Name, config.BindAddr, config.BindPort, config.AdvertisePort = name, "127.0.0.1", 0, 0
	config.SecretKey, config.LogOutput = key, t.Output()
	list, err := memberlist.Create(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = list.Shutdown() })
	return list
}
