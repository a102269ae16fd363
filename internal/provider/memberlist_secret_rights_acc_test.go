package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// R1, K14: the real API server's RBAC and audit log.
func TestAccMemberlistSecret_needs_get_on_this_one_Secret_only(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	user := "limited-" + w.namespace
	w.kubeconfig = w.cluster.Limited(t, user, w.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"},
		ResourceNames: []string{keys.DefaultName}, Verbs: []string{"get", "update"},
	})
	run(t, resource.TestStep{Config: w.config("")}, resource.TestStep{RefreshState: true},
		resource.TestStep{Config: w.config(""), PlanOnly: true},
		resource.TestStep{Config: w.config(""), ResourceName: address, ImportState: true, ImportStateId: w.namespace})
	w.unchanged(before)
	requests := w.cluster.Requests(t, user)
	for _, request := range requests {
		if want := "/api/v1/namespaces/" + w.namespace + "/secrets/" + keys.DefaultName; request.Verb != "get" ||
			request.RequestURI != want || request.ResponseStatus.Code != 200 {
			t.Errorf("%+v, want only GET of %s", request, want)
		}
	}
	if len(requests) < 5 {
		t.Errorf("only %d requests in the audit log", len(requests))
	}
}

func TestAccMemberlistSecret_says_which_right_is_missing(t *testing.T) {
	w := newWorld(t)
	w.kubeconfig = w.cluster.Limited(t, "reader-"+w.namespace, w.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"},
	})
	run(t, resource.TestStep{
		Config: w.config(""),
		ExpectError: says("denies access", "create of "+w.namespace, "kind: Role",
			`resourceNames: ["antrea-memberlist-keys"]`, "cannot create resource"),
	})
}

// K11
func TestAccMemberlistSecret_names_the_missing_namespace(t *testing.T) {
	w := newWorld(t)
	w.namespace = "missing-" + w.namespace
	run(t, resource.TestStep{Config: w.config(""), ExpectError: says("The namespace cannot hold the Secret", w.namespace, "does not exist")})
}

func TestAccMemberlistSecret_says_that_its_own_time_was_over(t *testing.T) {
	w := newWorld(t)
	s := newSession(t, w.config(`timeouts = { create = "1ns" }`))
	wants(t, s.apply(refused), "The time was over", "1ns")
	s.configure(w.config(""))
	s.apply(0)
}
