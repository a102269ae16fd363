package provider

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// site is a real cluster behind a gate, and an account in kube-system.
type site struct {
	t       *testing.T
	cluster *acctest.Cluster
	gate    *acctest.Gate
	account *acctest.Account
	name    string // of the Secret
}

func newSite(t *testing.T, cluster *acctest.Cluster, name string) *site {
	t.Helper()
	s := &site{t, cluster, cluster.Gate(t), cluster.Account(t, "kube-system", name, acctest.AnySecret), name}
	t.Cleanup(func() {
		_ = cluster.Admin.CoreV1().Secrets("kube-system").Delete(
			context.Background(), name, metav1.DeleteOptions{})
	})
	return s
}

// primary is the fingerprint of the key in the Secret, "" when there is none.
func (s *site) primary() string {
	secret, err := s.cluster.Admin.CoreV1().Secrets("kube-system").Get(
		context.Background(), s.name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	parsed, err := keys.ParseKeys(secret.Data["keys"])
	if err != nil {
		s.t.Fatal(err)
	}
	return keys.Fingerprint(parsed[0])
}

// uid is what stands for the cluster.
func (s *site) uid() string {
	s.t.Helper()
	system, err := s.cluster.Admin.CoreV1().Namespaces().Get(
		context.Background(), "kube-system", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(system.UID)
}

// wrote counts the requests to the gate that are no GET.
func wrote(gate *acctest.Gate) int {
	count := 0
	for _, request := range gate.Seen() {
		if request.Method != "GET" {
			count++
		}
	}
	return count
}

// variables tell a configuration where the cluster is: at the gate, or what comes after its address.
func (s *site) variables(after, consent string) []string {
	return []string{"TF_VAR_host=" + s.gate.URL + after, "TF_VAR_ca=" + s.gate.CA,
		"TF_VAR_token=" + s.account.Token, "TF_VAR_consent=" + consent}
}

const siteVariables = `
variable "host" {}
variable "ca" {}
variable "token" { ephemeral = true }
variable "consent" {}
resource "terraform_data" "cluster" {
  input            = var.host
  triggers_replace = var.host
}
`

const viaProvider = siteVariables + `
provider "billet" {
  kubernetes = {
    host = terraform_data.cluster.output
    cluster_ca_certificate = var.ca
    token = var.token
  }
}
resource "billet_memberlist_secret" "test" {
  name                = %q
  allow_replacing_key = var.consent == "" ? null : var.consent
}
`

const viaOverride = siteVariables + `
resource "billet_memberlist_secret" "test" {
  name                = %q
  allow_replacing_key = var.consent == "" ? null : var.consent
  kubernetes = {
    host = terraform_data.cluster.output
    cluster_ca_certificate = var.ca
    token = var.token
  }
}
`

// K2, T5: a cluster is made, and later replaced by another real one, in the run that also ensures its
// Secret. Nothing is dialled at plan; apply makes every check, and needs consent for a new key.
func TestAccKubernetes_a_cluster_is_replaced_in_one_run(t *testing.T) {
	other, err := acctest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Stop() })
	for name, config := range map[string]string{"provider": viaProvider, "override": viaOverride} {
		t.Run(name, func(t *testing.T) {
			a := newSite(t, acctest.SharedCluster(t), "replaced-"+name)
			b := newSite(t, other, "replaced-"+name)
			s := newSession(t, fmt.Sprintf(config, a.name))
			plan := func(to *site, consent string, want string) {
				t.Helper()
				s.around(to.variables("", consent)...)
				a.gate.Forget()
				b.gate.Forget()
				s.plan(changes)
				actions := s.actions()
				if actions[address] != want || to.gate.Connections() != 0 {
					t.Fatalf("plan %v, %d connections to what is not known yet", actions, to.gate.Connections())
				}
			}
			plan(a, "", "create")
			s.applySaved(0)
			first := a.primary()
			if first == "" || s.attributes(address)["primary_key_fingerprint"] != first {
				t.Fatalf("%s in the cluster, %v", first, s.attributes(address))
			}

			plan(b, "", "update")
			wants(t, s.applySaved(refused), "Refusing to replace a key that agents may be using", first)
			if wrote(b.gate) != 0 || len(b.gate.Seen()) == 0 || b.primary() != "" {
				t.Errorf("without consent: %v", b.gate.Seen())
			}

			plan(a, "", "update") // the old cluster after all
			s.applySaved(0)
			if a.primary() != first || wrote(a.gate) != 0 || len(a.gate.Seen()) == 0 {
				t.Errorf("back: %v", a.gate.Seen())
			}
			if got := s.attributes(address); got["origin"] != originCreated ||
				got["primary_key_fingerprint"] != first {
				t.Errorf("back: %v", got)
			}

			plan(b, first, "update")
			s.applySaved(0)
			second := b.primary()
			if got := s.attributes(address); second == "" || second == first || a.primary() != first ||
				got["primary_key_fingerprint"] != second || got["origin"] != originCreated {
				t.Errorf("with consent: %s, then %s; %v", first, second, got)
			}
			s.plan(empty)
			s.leaksNothing([]byte(a.account.Token), []byte(b.account.Token))
		})
	}
}

// K2: what the state knows is kept, and the warning names what is not known. Another key behind the
// new address stops the apply with both fingerprints.
func TestAccKubernetes_an_unknown_host_keeps_the_state_and_apply_compares(t *testing.T) {
	at := newSite(t, acctest.SharedCluster(t), "unknown-host")
	s := newSession(t, fmt.Sprintf(viaProvider, at.name))
	s.around(at.variables("", "")...)
	s.apply(0)
	first, before := at.primary(), s.state()
	s.around(at.variables("/", "")...)
	at.gate.Forget()
	printed := s.plan(changes)
	if !says("The Secret was not refreshed", "kubernetes.host").MatchString(printed) ||
		at.gate.Connections() != 0 || s.state() != before {
		t.Errorf("%d connections:\n%s", at.gate.Connections(), printed)
	}
	w := &world{t, at.cluster, "kube-system", ""}
	theirs := w.putNamed(at.name, line("z"))
	wants(t, s.applySaved(refused), "The Secret changed since the plan", first, print("z"))
	if wrote(at.gate) != 0 {
		t.Errorf("wrote: %v", at.gate.Seen())
	}
	if after := w.secretNamed(at.name); after.ResourceVersion != theirs.ResourceVersion {
		t.Error("the Secret was written")
	}
}

// An unknown guard is waited for, like an unknown address: the cluster is not dialled before it is
// known whether it may be, and nothing is written to a cluster that it refuses.
func TestAccKubernetes_an_unknown_guard_is_waited_for(t *testing.T) {
	at := newSite(t, acctest.SharedCluster(t), "unknown-guard")
	at.account.MayReadTheCluster(t)
	const wrong = "11111111-2222-3333-4444-555555555555"
	guard := `
resource "terraform_data" "uid" { input = %q }
`
	config := func(uid string) string {
		return fmt.Sprintf(guard, uid) + gated(at.gate, fmt.Sprintf(
			`token = %q, allowed_cluster_uids = [terraform_data.uid.output]`, at.account.Token)) +
			fmt.Sprintf("resource %q \"test\" { name = %q }\n", "billet_memberlist_secret", at.name)
	}
	s := newSession(t, config(wrong))
	printed := s.plan(changes)
	if at.gate.Connections() != 0 ||
		!says("The cluster is not known yet", "kubernetes.allowed_cluster_uids").MatchString(printed) {
		t.Errorf("%d connections:\n%s", at.gate.Connections(), printed)
	}
	wants(t, s.applySaved(refused), "Refusing to write to this cluster", at.gate.URL,
		"is the cluster with the UID", at.uid(), wrong)
	for _, request := range at.gate.Seen() {
		if request.Method != "GET" || request.Path != "/api/v1/namespaces/kube-system" {
			t.Errorf("%s %s before the guard", request.Method, request.Path)
		}
	}
	if at.primary() != "" {
		t.Error("the Secret was made")
	}
	s.configure(config(at.uid()))
	s.apply(0)
	if at.primary() == "" {
		t.Error("the Secret was not made")
	}
}
