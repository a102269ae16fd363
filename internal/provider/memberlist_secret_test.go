package provider

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fakeAPI answers GETs of the Secret as a test tells it to: what the real API server, or something
// in front of it, would not do on demand.
type fakeAPI struct {
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	requests []string
}

func newFakeAPI(t *testing.T) *fakeAPI {
	api := &fakeAPI{answer: healthy}
	api.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.mu.Lock()
		api.requests = append(api.requests, r.Method+" "+r.URL.Path)
		answer := api.answer
		api.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(api.Close)
	return api
}

func (f *fakeAPI) answers(answer http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *fakeAPI) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func healthy(w http.ResponseWriter, r *http.Request) {
	body(http.StatusOK, "application/json", fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1",
"metadata":{"namespace":"kube-system","name":"antrea-memberlist-keys","uid":"u1","resourceVersion":"1"},
"data":{"keys":%q}}`, base64.StdEncoding.EncodeToString([]byte(line("a")))))(w, r)
}

func body(code int, kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}
}

func status(code int, reason, details string) http.HandlerFunc {
	return body(code, "application/json", fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure",
"message":"as the server says","reason":%q,"details":{%s},"code":%d}`, reason, details, code))
}

func (f *fakeAPI) config() string {
	return fmt.Sprintf(`
provider "billet" {
  kubernetes = { host = %q, token = "t" }
}
resource "billet_memberlist_secret" "test" {}
`, f.URL)
}

// failures are answers to a GET that say nothing about the Secret.
func failures() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"401":                     status(401, "Unauthorized", ""),
		"403":                     status(403, "Forbidden", `"kind":"secrets","name":"antrea-memberlist-keys"`),
		"500":                     status(500, "InternalError", ""),
		"404 for the namespace":   status(404, "NotFound", `"kind":"namespaces","name":"kube-system"`),
		"404 of a load balancer":  body(404, "text/html", "<html>no such site</html>"),
		"404 JSON of a gateway":   body(404, "application/json", `{"message":"no route"}`),
		"200 HTML of a proxy":     body(200, "text/html", "<html>please log in</html>"),
		"200 with a Status":       body(200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`),
		"200 with another object": body(200, "application/json", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`),
		"200 with nothing":        body(200, "application/json", `{}`),
		"a closed connection":     func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// K1: no failure to read is an absence, and the state stays as it was.
func TestMemberlistSecret_takes_no_failure_to_read_for_an_absence(t *testing.T) {
	for name, answer := range failures() {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t)
			run(t, resource.TestStep{Config: api.config()},
				resource.TestStep{
					PreConfig: func() { api.answers(answer) }, Config: api.config(), PlanOnly: true,
					ExpectError: says("Secret kube-system/antrea-memberlist-keys"),
				},
				resource.TestStep{
					PreConfig: func() { api.answers(healthy) }, Config: api.config(),
					ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
					ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("a"))},
				})
			for _, request := range api.asked() {
				if !strings.HasPrefix(request, "GET ") {
					t.Errorf("sent %s", request)
				}
			}
		})
	}
}

// planHook runs between plan and apply.
type planHook func(plancheck.CheckPlanRequest) error

func (h planHook) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	resp.Error = h(req)
}

// K2, T5
func TestMemberlistSecret_dials_nothing_while_the_cluster_is_unknown(t *testing.T) {
	api := newFakeAPI(t)
	config := func(host string) string {
		return fmt.Sprintf(`
resource "terraform_data" "cluster" { input = %q }
provider "billet" {
  kubernetes = { host = terraform_data.cluster.output, token = "t" }
}
resource "billet_memberlist_secret" "test" {}
`, host)
	}
	asked := 0
	quiet := planHook(func(plancheck.CheckPlanRequest) error {
		if got := len(api.asked()); got != asked {
			return fmt.Errorf("%d requests while the host is unknown", got-asked)
		}
		return nil
	})
	run(t,
		resource.TestStep{
			Config: config(api.URL),
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate, quiet,
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("primary_key_fingerprint"))),
			ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("a"))},
		},
		resource.TestStep{
			PreConfig: func() { asked = len(api.asked()) },
			Config:    config(api.URL + "/"),
			// An update, or apply would have nothing to check.
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate, quiet,
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("live_key_fingerprints")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("primary_key_fingerprint"),
					knownvalue.StringExact(print("a")))),
			ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("a"))},
		})
}

// T15, K4: nothing configured is an error with the ways, and never a guessed cluster.
func TestMemberlistSecret_without_any_configuration_lists_the_ways(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	run(t, resource.TestStep{
		Config: `resource "billet_memberlist_secret" "test" {}`, ExpectError: says("No cluster is configured", "config_path"),
	})
	run(t, resource.TestStep{
		Config: `
provider "billet" {
  kubernetes = { config_path = "/nonexistent/kubeconfig" }
}
resource "billet_memberlist_secret" "test" {}`, ExpectError: says("config_path", "/nonexistent/kubeconfig"),
	})
	run(t, resource.TestStep{
		Config: `
provider "billet" {
  kubernetes = { host = "https://127.0.0.1:1", token = "t", exec = { api_version = "v1", command = "c" } }
}
resource "billet_memberlist_secret" "test" {}`, ExpectError: says("Invalid connection setting"),
	})
}

// What changes between plan and apply stops the apply, and nothing is written.
func TestAccMemberlistSecret_stops_when_the_key_changed_since_the_plan(t *testing.T) {
	for name, test := range map[string]struct {
		between func(*world) *corev1.Secret
		want    []string
	}{
		"rotated": {func(w *world) *corev1.Secret { return w.put(line("b")) }, []string{print("a"), print("b")}},
		"emptied": {func(w *world) *corev1.Secret { return w.put("") }, []string{"is gone", print("a")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(line("a"))
			var after *corev1.Secret
			hook := planHook(func(plancheck.CheckPlanRequest) error { after = test.between(w); return nil })
			run(t, resource.TestStep{Config: w.config("")}, resource.TestStep{
				Config:           w.config(`labels = { mine = "1" }`),
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate, hook),
				ExpectError:      says(test.want...),
			})
			w.unchanged(after)
		})
	}
	t.Run("adopted, then rotated", func(t *testing.T) {
		w := newWorld(t)
		w.put(line("a"))
		var after *corev1.Secret
		hook := planHook(func(plancheck.CheckPlanRequest) error { after = w.put(line("b")); return nil })
		run(t, resource.TestStep{
			Config:           w.config(""),
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate, hook),
			ExpectError:      says(print("a"), print("b")),
		})
		w.unchanged(after)
	})
	// G1: somebody else made the Secret between plan and apply. What is there counts.
	t.Run("absent, then made", func(t *testing.T) {
		w := newWorld(t)
		var after *corev1.Secret
		hook := planHook(func(plancheck.CheckPlanRequest) error { after = w.put(line("b")); return nil })
		run(t, resource.TestStep{
			Config:            w.config(""),
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate, hook),
			ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("b")), is("origin", "adopted")},
		})
		w.unchanged(after)
	})
}

// The guard against a wrong context, at plan and before any write.
func TestAccMemberlistSecret_refuses_a_cluster_that_is_not_allowed(t *testing.T) {
	w := newWorld(t)
	system, err := w.cluster.Admin.CoreV1().Namespaces().Get(context.Background(), "kube-system", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	allow := func(uid string) string {
		return strings.Replace(w.config(""), "config_path", fmt.Sprintf("allowed_cluster_uids = [%q]\n config_path", uid), 1)
	}
	run(t, resource.TestStep{
		Config: allow("00000000-0000-0000-0000-000000000000"),
		ExpectError: says("Refusing to write to this cluster", string(system.UID),
			"00000000-0000-0000-0000-000000000000"),
	})
	run(t, resource.TestStep{Config: allow(string(system.UID))})
}
