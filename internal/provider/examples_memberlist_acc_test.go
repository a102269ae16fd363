package provider

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// builtNeighbours adds to the mirror what the examples use beside the provider, once.
var builtNeighbours = sync.OnceValue(func() error {
	mirror, err := builtProvider()
	if err != nil {
		return err
	}
	return acctest.BuildNeighbours(context.Background(), mirror)
})

// asPrinted is a session in a copy of the example in which nothing was changed, with its providers.
func asPrinted(t *testing.T, name string, variables ...string) *session {
	t.Helper()
	if err := builtNeighbours(); err != nil {
		t.Fatal(err)
	}
	s := example(t, name, "", variables)
	s.run(0, "init")
	return s
}

// here says in the variables of an example where the cluster is.
func (e *endpoint) here() []string {
	e.t.Helper()
	return []string{
		"TF_VAR_kubeconfig=" + e.context("here"), "TF_VAR_context=here", "TF_VAR_namespace=" + e.namespace,
	}
}

// onlyKey is the one key in the Secret.
func onlyKey(t *testing.T, secret *corev1.Secret) []byte {
	t.Helper()
	found, err := keys.ParseKeys(secret.Data["keys"])
	if err != nil || len(found) != 1 {
		t.Fatalf("%d keys, %v", len(found), err)
	}
	return found[0]
}

// The helm provider is a stub that looks for the keys before it says that it has released the chart. The
// API server takes a second for the Secret: whoever does not wait for it comes too early.
func TestAccExample_pre_provision_has_the_keys_in_the_cluster_before_the_chart_is_released(t *testing.T) {
	e := newEndpoint(t)
	e.gate.Answers(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			time.Sleep(time.Second)
		}
		return false
	})
	s := asPrinted(t, "pre-provision", append(e.here(), "TF_VAR_hold_for=2s")...)
	s.plan(changes)
	if n := wrote(e.gate); n != 0 {
		t.Errorf("the plan sent %d writes", n)
	}
	e.gate.Forget()
	began := time.Now()
	s.applySaved(0)
	if took := time.Since(began); took < 3*time.Second {
		t.Errorf("it took %s: the Secret was not held", took)
	}
	var asked []string
	for _, request := range e.gate.Seen() {
		who := "billet"
		if request.UserAgent == "helmstub" {
			who = "helm"
		}
		asked = append(asked, who+" "+request.Method)
	}
	if asked[len(asked)-1] != "helm GET" || slices.Index(asked, "billet POST") < 0 || wrote(e.gate) != 1 {
		t.Errorf("the requests are %v", asked)
	}
	made := e.secret()
	if made.Annotations["argocd.argoproj.io/sync-options"] != "Prune=false" ||
		made.Annotations["kustomize.toolkit.fluxcd.io/prune"] != "disabled" || len(made.OwnerReferences) != 0 {
		t.Errorf("the Secret has %v, %v", made.Annotations, made.OwnerReferences)
	}
	key := onlyKey(t, made)
	wants(t, s.run(0, "output", "-raw", "primary_key"), keys.Fingerprint(key))
	s.plan(empty)
	// The release goes and the key stays.
	s.run(0, "destroy", "-auto-approve")
	e.unchanged(made)
	s.leaksNothing(key, []byte(e.account.Token))
}

// The stub would let a chart go ahead of its keys if it did not look.
func TestAccExample_pre_provision_the_stub_releases_nothing_without_valid_keys(t *testing.T) {
	if err := builtNeighbours(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	s := newSession(t, fmt.Sprintf(`
terraform {
  required_providers {
    helm = { source = "hashicorp/helm" }
  }
}
provider "helm" {
  kubernetes = { config_path = %q }
}
resource "helm_release" "antrea" {
  name      = "antrea"
  chart     = "antrea"
  namespace = %q
}`, w.kubeconfig, w.namespace))
	wants(t, s.apply(refused), "Antrea would start without gossip keys")
	w.put("AAAA")
	wants(t, s.apply(refused), "Antrea would start with bad gossip keys")
	w.put(line("a"))
	s.apply(0)
}

func TestAccExample_adopt_takes_the_agreed_key_and_writes_nothing(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	user := w.reader("get")
	s := asPrinted(t, "adopt", "TF_VAR_kubeconfig="+w.kubeconfig, "TF_VAR_namespace="+w.namespace)
	agreed := func(letter string) string { return "-var=primary_key=" + print(letter) }

	const refusal = "Refusing another primary key than the pinned one"
	wants(t, s.plan(refused, agreed("b")), refusal, print("b"), print("a"), "Nothing was written")
	bare := strings.TrimPrefix(print("a"), "SHA256:")
	wants(t, s.plan(refused, "-var=primary_key="+bare), "primary_key_fingerprint")

	wants(t, s.plan(changes, agreed("a")), "1 to import, 0 to add, 0 to change, 0 to destroy")
	wantsNot(t, s.applySaved(0), "Warning")
	wants(t, s.run(0, "output", "-raw", "origin"), originImported)
	wantsNot(t, s.plan(empty, agreed("a")), "Warning")
	w.unchanged(before)
	for _, request := range w.asked(user) {
		if request != "get /secrets/"+keys.DefaultName {
			t.Errorf("it asked %s", request)
		}
	}

	// What the pin does not see, the check does.
	both := w.put(line("a") + line("b"))
	wants(t, s.run(0, "plan", agreed("a")), "Check block assertion failed", "other keys beside "+print("a"))
	w.unchanged(both)
	wants(t, s.apply(refused, agreed("b")), refusal, print("b"), print("a"))
	w.unchanged(both)
	s.leaksNothing([]byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32)))
}

func TestAccExample_adopt_makes_no_Secret_where_there_is_none(t *testing.T) {
	e := newEndpoint(t)
	s := asPrinted(t, "adopt", append(e.here(), "TF_VAR_primary_key="+print("a"))...)
	wants(t, s.apply(refused), "Cannot import non-existent remote object")
	if n := wrote(e.gate); n != 0 {
		t.Errorf("it sent %d writes", n)
	}
}

// began makes the state one that was written when the year began, and puts the end of the year into it.
func (s *session) began(ends string) {
	s.t.Helper()
	text := s.state()
	began := regexp.MustCompile(`"rfc3339": ("[^"]+")`).FindStringSubmatch(text)
	end := regexp.MustCompile(`"rotation_rfc3339": ("[^"]+")`).FindStringSubmatch(text)
	// The beginning is the id, too, and what the Secret's resource remembers; the end is an output.
	if began == nil || end == nil || strings.Count(text, began[1]) != 3 || strings.Count(text, end[1]) != 2 {
		s.t.Fatalf("the state is\n%s", text)
	}
	text = strings.NewReplacer(began[1], `"2001-01-01T00:00:00Z"`, end[1], `"`+ends+`"`).Replace(text)
	s.write("terraform.tfstate", text)
}

const (
	over    = "2002-01-01T00:00:00Z"
	notOver = "2999-01-01T00:00:00Z"
)

// The time provider is the real one.
func TestAccExample_rotate_yearly_rotates_once_when_the_year_is_over(t *testing.T) {
	e := newEndpoint(t)
	s := asPrinted(t, "rotate-yearly", e.here()...)
	s.apply(0)
	seen := [][]byte{onlyKey(t, e.secret())}
	rotates := func(more ...string) {
		t.Helper()
		before, old := e.secret(), keys.Fingerprint(seen[len(seen)-1])
		e.gate.Forget()
		wants(t, s.plan(changes, more...), "The key will be rotated", old, "cannot hear each other")
		e.unchanged(before)
		s.applySaved(0)
		after := e.secret()
		key := onlyKey(t, after)
		if n := wrote(e.gate); n != 1 || after.UID != before.UID {
			t.Errorf("%d writes, the UID is %s and was %s", n, after.UID, before.UID)
		}
		if slices.ContainsFunc(seen, func(former []byte) bool { return slices.Equal(former, key) }) {
			t.Error("it is no new key")
		}
		seen = append(seen, key)
		wants(t, s.run(0, "output", "-raw", "primary_key"), keys.Fingerprint(key))
		wantsNot(t, s.plan(empty), "Warning")
		e.unchanged(after)
	}
	s.began(over)
	rotates()
	s.began(notOver)
	s.plan(empty)
	rotates("-replace=time_rotating.yearly")
	s.leaksNothing(append(seen, []byte(e.account.Token))...)
}

// On a cluster with keys in use the example takes them over. A rotation that somebody else made before
// the year was over counts: there is no second one.
func TestAccExample_rotate_yearly_leaves_keys_alone_that_are_new_enough(t *testing.T) {
	e := newEndpoint(t)
	before := e.put(line("a"))
	s := asPrinted(t, "rotate-yearly", e.here()...)
	s.apply(0)
	e.unchanged(before)
	rotated := e.put(line("b"))
	s.began(over)
	s.apply(0)
	e.unchanged(rotated)
	s.plan(empty)
	if n := wrote(e.gate); n != 0 {
		t.Errorf("it sent %d writes", n)
	}
}
