package provider

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// tokens declares ephemeral variables of the names, and gives the session their values.
func tokens(s *session, of map[string]string) string {
	s.t.Helper()
	var declared strings.Builder
	var values []string
	for name, token := range of {
		fmt.Fprintf(&declared, "variable %q { ephemeral = true }\n", name)
		values = append(values, "TF_VAR_"+name+"="+token)
	}
	s.around(values...)
	return declared.String()
}

// One provider block without a cluster serves three of them with one for_each: two by ephemeral tokens,
// one by a context. Each account may work in one namespace only, so that no credential can pass for
// another. Two resources of one cluster share its connection.
func TestAccKubernetes_one_for_each_serves_three_clusters(t *testing.T) {
	a, b, d := newEndpoint(t), newEndpoint(t), newEndpoint(t)
	s := newSession(t, "")
	config := tokens(s, map[string]string{"a": a.account.Token, "b": b.account.Token}) + fmt.Sprintf(`
locals {
  clusters = {
    a     = { namespace = %[1]q, name = null, host = %[2]q, ca = %[3]q, path = null, context = null }
    again = { namespace = %[1]q, name = "second-keys", host = %[2]q, ca = %[3]q, path = null, context = null }
    b     = { namespace = %[4]q, name = null, host = %[5]q, ca = %[6]q, path = null, context = null }
    d     = { namespace = %[7]q, name = null, host = null, ca = null, path = %[8]q, context = "d" }
  }
  tokens = { a = var.a, again = var.a, b = var.b, d = null }
}
resource "billet_memberlist_secret" "test" {
  for_each  = local.clusters
  namespace = each.value.namespace
  name      = each.value.name
  kubernetes = {
    host                   = each.value.host
    cluster_ca_certificate = each.value.ca
    config_path            = each.value.path
    config_context         = each.value.context
    token                  = local.tokens[each.key]
  }
}
`, a.namespace, a.gate.URL, a.gate.CA, b.namespace, b.gate.URL, b.gate.CA, d.namespace, d.context("d"))
	s.configure(config)
	s.plan(changes)
	for _, e := range []*endpoint{a, b, d} {
		e.gate.Forget()
	}
	s.applySaved(0, "-parallelism=1") // two at once might both dial first
	for name, e := range map[string]*endpoint{"a": a, "b": b, "d": d} {
		secret := e.secret()
		parsed, err := keys.ParseKeys(secret.Data["keys"])
		if err != nil {
			t.Fatal(err)
		}
		state := s.attributes(fmt.Sprintf("billet_memberlist_secret.test[%q]", name))
		if state["uid"] != string(secret.UID) || state["primary_key_fingerprint"] != keys.Fingerprint(parsed[0]) {
			t.Errorf("%s: the state is of another Secret: %v", name, state)
		}
		if n := e.gate.Connections(); n != 1 {
			t.Errorf("%s: %d connections for %d requests of one configuration", name, n, len(e.gate.Seen()))
		}
	}
	a.secretNamed("second-keys")
	s.plan(empty)
	s.leaksNothing([]byte(a.account.Token), []byte(b.account.Token), []byte(d.account.Token))
}

// With write-only credentials the refresh does not see the Secret, and the plan does: drift of the key
// shows, that of a label does not.
func TestAccKubernetes_with_a_write_only_token_the_plan_sees_the_key_and_refresh_only_nothing(t *testing.T) {
	e := newEndpoint(t)
	e.put(line("a"))
	s := newSession(t, "")
	head := tokens(s, map[string]string{"token": e.account.Token})
	s.configure(head + e.testResource(`labels = { mine = "1" }`+"\n"+e.own("var.token")))
	s.apply(0)
	secret := e.secret()
	secret.Labels["mine"] = "changed"
	if _, err := e.cluster.Admin.CoreV1().Secrets(e.namespace).Update(
		context.Background(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.plan(empty) // as the documentation says
	e.put(line("b"))
	e.gate.Forget()
	wants(t, s.run(0, "plan", "-refresh-only"), "No changes.")
	if n := len(e.gate.Seen()); n != 0 {
		t.Errorf("-refresh-only sent %d requests", n)
	}
	wants(t, s.plan(changes), "The key was rotated outside Terraform", print("b"), print("a"))
	before := e.secret()
	s.applySaved(0)
	if got := s.attributes(address)["primary_key_fingerprint"]; got != print("b") {
		t.Errorf("accepted %v", got)
	}
	if after := e.secret(); string(after.Data["keys"]) != string(before.Data["keys"]) {
		t.Error("the keys were written")
	}
	s.leaksNothing([]byte(e.account.Token))
}

// A destroy does not know write-only credentials. With deletion_policy = "delete" it refuses, and each
// of the two ways out that it names works.
func TestAccKubernetes_a_deletion_with_a_write_only_token_is_refused_with_ways_out(t *testing.T) {
	for name, wayOut := range map[string]func(*endpoint) (string, bool){
		"retain": func(e *endpoint) (string, bool) { return e.own("var.token"), true },
		"config_path": func(e *endpoint) (string, bool) {
			return fmt.Sprintf("deletion_policy = \"delete\"\nkubernetes = { config_path = %q, config_context = \"x\" }",
				e.context("x")), false
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			s := newSession(t, "")
			head := tokens(s, map[string]string{"token": e.account.Token})
			s.configure(head + e.testResource("deletion_policy = \"delete\"\n"+e.own("var.token")))
			s.apply(0)
			e.gate.Forget()
			wants(t, s.plan(refused, "-destroy"), "The Secret cannot be deleted", "write-only")
			wants(t, s.run(refused, "destroy", "-auto-approve"), "The Secret cannot be deleted", "write-only",
				"deletion_policy", "config_path or by exec")
			if wrote(e.gate) != 0 || s.attributes(address)["uid"] != string(e.secret().UID) {
				t.Errorf("after the refusal: %v", e.gate.Seen())
			}
			arguments, stays := wayOut(e)
			s.configure(head + e.testResource(arguments))
			s.apply(0)
			s.run(0, "destroy", "-auto-approve")
			list, err := e.cluster.Admin.CoreV1().Secrets(e.namespace).List(context.Background(), metav1.ListOptions{})
			if err != nil || slices.ContainsFunc(list.Items, isTheSecret) != stays {
				t.Errorf("after the destroy: %d Secrets, %v", len(list.Items), err)
			}
		})
	}
}

func isTheSecret(secret corev1.Secret) bool { return secret.Name == keys.DefaultName }

// A token that is taken out of the object, or put into it, leaves nothing in the state that differs.
// It is an update all the same: Read and Delete go by where the credentials are.
func TestAccKubernetes_where_the_credential_is_can_change_alone(t *testing.T) {
	e := newEndpoint(t)
	e.put(line("a"))
	s := newSession(t, "")
	head := tokens(s, map[string]string{"token": e.account.Token})
	path := e.context("x")
	config := func(more string) string {
		return head + e.testResource(fmt.Sprintf(
			"kubernetes = {\n config_path = %q\n config_context = \"x\"\n%s\n}", path, more))
	}
	s.configure(config("token = var.token"))
	s.apply(0)
	before := e.secret()
	s.configure(config(""))
	s.plan(changes)
	if actions := s.actions(); actions[address] != "update" {
		t.Errorf("the token is gone: %v", actions)
	}
	s.applySaved(0)
	e.unchanged(before)
	e.put(line("b"))
	s.run(0, "refresh")
	if got := fmt.Sprint(s.attributes(address)["live_key_fingerprints"]); got != "["+print("b")+"]" {
		t.Errorf("refreshed: %s", got)
	}
	// The kubeconfig loses its token, so that the refresh, which knows nothing else, fails.
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(content), e.account.Token, `""`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.configure(config("token = var.token"))
	wants(t, s.plan(refused), "denies access")
	s.apply(0, "-refresh=false")
	s.plan(empty)
}

// An object that moves to another cluster, which holds another key, is a visible change. It writes
// nothing to the keys of either.
func TestAccKubernetes_moving_to_another_cluster_shows_its_key(t *testing.T) {
	here := newEndpoint(t)
	other, err := acctest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Stop() })
	if _, err := other.Admin.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: here.namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	there := &endpoint{
		&world{t, other, here.namespace, ""}, other.Gate(t),
		other.Account(t, here.namespace, "owner", acctest.AnySecret),
	}
	old, elsewhere := here.put(line("a")), there.put(line("b"))
	s := newSession(t, "")
	head := tokens(s, map[string]string{"here": here.account.Token, "there": there.account.Token})
	s.configure(head + here.testResource(here.own("var.here")))
	s.apply(0)
	s.configure(head + there.testResource(there.own("var.there")))
	wants(t, s.plan(changes), "The key was rotated outside Terraform", print("b"), print("a"))
	s.applySaved(0)
	here.unchanged(old)
	there.unchanged(elsewhere)
	if got := s.attributes(address); got["primary_key_fingerprint"] != print("b") ||
		got["uid"] != string(elsewhere.UID) {
		t.Errorf("after the move: %v", got)
	}
	s.leaksNothing([]byte(here.account.Token), []byte(there.account.Token))
}

// The provider's guard holds for an object of the resource's own, until that has one. An import uses
// the provider's cluster.
func TestAccKubernetes_the_guard_is_inherited_and_an_import_uses_the_provider(t *testing.T) {
	e := newEndpoint(t)
	e.account.MayReadTheCluster(t)
	before := e.put(line("a"))
	uid := (&site{t: t, cluster: e.cluster}).uid()
	const wrong = "11111111-2222-3333-4444-555555555555"
	s := newSession(t, "")
	head := tokens(s, map[string]string{"token": e.account.Token})
	provider := func(uid string) string {
		return head + gated(e.gate, fmt.Sprintf("token = var.token\nallowed_cluster_uids = [%q]", uid))
	}
	own := func(guard string) string {
		return e.testResource(strings.Replace(e.own("var.token"), "token =", guard+"\ntoken =", 1))
	}
	s.configure(provider(wrong) + own(""))
	wants(t, s.plan(refused), "Refusing to write to this cluster", e.gate.URL, uid, wrong,
		"allowed_cluster_uids of the provider")
	s.configure(provider(uid) + own(fmt.Sprintf("allowed_cluster_uids = [%q]", wrong)))
	wants(t, s.plan(refused), "Refusing to write to this cluster", e.gate.URL, uid, wrong,
		"allowed_cluster_uids of this resource")
	for _, request := range e.gate.Seen() {
		if request.Path != "/api/v1/namespaces/kube-system" {
			t.Errorf("%s before the guard", request.Path)
		}
	}
	s.configure(provider(wrong) + own(fmt.Sprintf("allowed_cluster_uids = [%q]", uid)))
	s.apply(0)

	s.run(0, "state", "rm", address)
	wants(t, s.run(refused, "import", address, e.namespace), "Refusing to write to this cluster", wrong)
	s.configure(provider(uid) + own(""))
	s.run(0, "import", address, e.namespace)
	if got := s.attributes(address); got["primary_key_fingerprint"] != print("a") || got["kubernetes"] != nil {
		t.Errorf("imported %v", got)
	}
	s.apply(0)
	e.unchanged(before)
	s.leaksNothing([]byte(e.account.Token))
}
