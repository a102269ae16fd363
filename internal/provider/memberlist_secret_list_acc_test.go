package provider

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// names are the listed Secrets by their identities.
func (p *protocol) names(config string, limit int64) (names []string) {
	p.t.Helper()
	_, of := p.identityType(secretResource)
	for _, result := range p.list(secretResource, config, limit, false) {
		p.well(result.Diagnostics)
		identity := p.texts(of, result.Identity.IdentityData)
		if result.DisplayName != identity["namespace"]+"/"+identity["name"] {
			p.t.Errorf("%s is %v", result.DisplayName, identity)
		}
		names = append(names, result.DisplayName)
	}
	slices.Sort(names)
	return names
}

// Terraform before 1.14 lists nothing, so this speaks the protocol. R1: a LIST by the name alone.
func TestAccMemberlistSecret_lists_the_Secrets_of_its_name_without_their_keys(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	before, others := w.put(line("a")), other.put(line("b"))
	if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "another"}, Data: map[string][]byte{"keys": []byte(line("c"))},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := w.protocol()
	here, there := w.namespace+"/"+keys.DefaultName, other.namespace+"/"+keys.DefaultName
	if all := p.names("", 0); !slices.Contains(all, here) || !slices.Contains(all, there) {
		t.Errorf("listed %v", all)
	}
	if got := p.names("", 1); len(got) != 1 {
		t.Errorf("listed %v, limit 1", got)
	}
	in := fmt.Sprintf(`{"namespace":%q}`, w.namespace)
	if got := p.names(in, 0); !slices.Equal(got, []string{here}) {
		t.Errorf("listed %v in %s", got, w.namespace)
	}
	named := fmt.Sprintf(`{"namespace":%q,"name":"another"}`, w.namespace)
	if got := p.names(named, 0); !slices.Equal(got, []string{w.namespace + "/another"}) {
		t.Errorf("listed %v", got)
	}
	results := p.list(secretResource, in, 0, true)
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	p.well(results[0].Diagnostics)
	state := p.texts(p.stateType(secretResource), results[0].Resource)
	if state["id"] != here || state["uid"] != string(before.UID) || state["deletion_policy"] != "retain" ||
		state["primary_key_fingerprint"] != "" {
		t.Errorf("listed %v", state)
	}
	// What is listed can be imported by the identity that the list gives.
	one := p.read(secretResource, results[0].Resource, results[0].Identity, nil)
	if state := p.texts(p.stateType(secretResource), one.NewState); state["uid"] != string(before.UID) {
		t.Errorf("read %v", state)
	}
	w.unchanged(before)
	other.unchanged(others)
}

// R1: the role is limited by resourceNames, and the audit log shows the only request.
func TestAccMemberlistSecret_listing_needs_list_on_this_one_name_only(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	user := "lister-" + w.namespace
	w.kubeconfig = w.cluster.Limited(t, user, w.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"},
		ResourceNames: []string{keys.DefaultName}, Verbs: []string{"list"},
	})
	p := w.protocol()
	if got := p.names(fmt.Sprintf(`{"namespace":%q}`, w.namespace), 0); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
	for _, request := range w.cluster.Requests(t, user) {
		if request.Verb != "list" ||
			!strings.Contains(request.RequestURI, "fieldSelector=metadata.name%3Dantrea-memberlist-keys") {
			t.Errorf("%s %s", request.Verb, request.RequestURI)
		}
	}
	refused := p.list(secretResource, "", 0, false)
	if len(refused) != 1 || len(refused[0].Diagnostics) != 1 {
		t.Fatalf("%d results", len(refused))
	}
	one := refused[0].Diagnostics[0]
	if one.Summary != "The Secrets could not be listed" || !says("all namespaces", "set namespace", "kind: ClusterRole",
		`resourceNames: ["antrea-memberlist-keys"]`, "list", "forbidden").MatchString(one.Detail) {
		t.Errorf("%s: %s", one.Summary, one.Detail)
	}
}

// A server that answers with whole Secrets, or a page of a proxy, is not listened to.
func TestMemberlistSecret_lists_nothing_from_an_answer_that_is_not_metadata(t *testing.T) {
	for name, test := range map[string]struct{ kind, answer, want string }{
		"whole Secrets": {"application/json", `{"kind":"SecretList","apiVersion":"v1",
"items":[{"metadata":{"namespace":"a","name":"b"},"data":{"keys":"x"}}]}`, "another kind of object"},
		"a page": {"text/html", `<html>please log in</html>`, "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t)
			var accepted string
			api.answers(func(w http.ResponseWriter, r *http.Request) {
				accepted = r.Header.Get("Accept")
				body(http.StatusOK, test.kind, test.answer)(w, r)
			})
			p := newProtocol(t, fmt.Sprintf(`{"kubernetes":{"host":%q,"token":"t"}}`, api.URL))
			results := p.list(secretResource, "", 0, false)
			if len(results) != 1 || len(results[0].Diagnostics) != 1 ||
				!strings.Contains(results[0].Diagnostics[0].Detail, test.want) {
				t.Fatalf("%d results", len(results))
			}
			if !strings.Contains(accepted, "as=PartialObjectMetadataList") {
				t.Errorf("asked for %s", accepted)
			}
		})
	}
}

// A list in pages is followed to its end, and no further than the limit.
func TestMemberlistSecret_follows_the_pages_of_a_list(t *testing.T) {
	api := newFakeAPI(t)
	api.answers(func(w http.ResponseWriter, r *http.Request) {
		page, next := "1", "more"
		if r.URL.Query().Get("continue") == "more" {
			page, next = "2", ""
		}
		body(http.StatusOK, "application/json", fmt.Sprintf(`{
"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":%q},"items":[{"metadata":{"namespace":"n%s","name":"s"}}]}`, next, page))(w, r)
	})
	p := newProtocol(t, fmt.Sprintf(`{"kubernetes":{"host":%q,"token":"t"}}`, api.URL))
	if got := p.names("", 0); !slices.Equal(got, []string{"n1/s", "n2/s"}) {
		t.Errorf("listed %v", got)
	}
	if got := p.names("", 1); !slices.Equal(got, []string{"n1/s"}) || len(api.asked()) != 3 {
		t.Errorf("listed %v with %d requests in all", got, len(api.asked()))
	}
}
