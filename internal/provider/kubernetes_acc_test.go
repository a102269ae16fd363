package provider

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// testResource is the resource of the world's namespace with the arguments.
func (w *world) testResource(arguments string) string {
	return fmt.Sprintf("resource \"billet_memberlist_secret\" \"test\" {\n  namespace = %q\n  %s\n}\n",
		w.namespace, arguments)
}

// gated is a provider block that reaches the cluster through the gate, with more arguments.
func gated(gate *acctest.Gate, more string) string {
	return fmt.Sprintf(`
provider "billet" {
  kubernetes = {
    host = %q
    cluster_ca_certificate = %q
    %s
  }
}
`, gate.URL, gate.CA, more)
}

func said(answer http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool { answer(w, r); return true }
}

// throttled asks for a wait that nobody takes: the run ends at once.
func throttled(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "3600")
	status(http.StatusTooManyRequests, "TooManyRequests", "")(w, r)
}

// K1: after each failure to read there is an error, the state is the same byte for byte, and nothing
// is planned: a Secret that is alive behind a firewall is not made anew.
func TestAccKubernetes_no_failure_to_read_changes_the_state_or_plans_a_new_Secret(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	gate := w.cluster.Gate(t)
	account := w.cluster.Account(t, w.namespace, "reader", acctest.AnySecret)
	config := func(more string) string {
		return gated(gate, fmt.Sprintf("token = %q\n%s", account.Token, more)) + w.testResource("")
	}
	s := newSession(t, config(""))
	s.apply(0)
	state := s.state()
	stranger := w.cluster.Account(t, w.namespace, "stranger")
	gone := w.cluster.Account(t, w.namespace, "gone", acctest.AnySecret)
	gone.Delete(t)
	as := func(token string) string { return strings.Replace(config(""), account.Token, token, 1) }
	for name, test := range map[string]struct {
		config string
		answer http.HandlerFunc
		says   string
	}{
		"401 of the API server": {as(gone.Token), nil, "Unauthorized"},
		"403 of the API server": {as(stranger.Token), nil, "denied"},
		"429":                   {"", throttled, "asks to wait 1h0m0s"},
		"500":                   {"", status(500, "InternalError", ""), "as the server says"},
		"503":                   {"", status(503, "ServiceUnavailable", ""), "as the server says"},
		"connection refused": {strings.Replace(config(""), gate.URL, "https://"+closedAddress(t), 1), nil,
			"connection refused"},
		"TLS unknown authority": {strings.Replace(config(""), strings.ReplaceAll(gate.CA, "\n", `\n`),
			strings.ReplaceAll(string(w.cluster.Config.CAData), "\n", `\n`), 1), nil, "cluster_ca_certificate"},
		"deadline": {config(`request_timeout = "200ms"`), func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "request_timeout"},
		"200 HTML of a proxy":       {"", body(200, "text/html", "<html>log in</html>"), "not one of the Kubernetes API"},
		"404 for the namespace":     {"", status(404, "NotFound", `"kind":"namespaces","name":"x"`), "as the server says"},
		"404 of a load balancer":    {"", body(404, "text/html", "<html>no site</html>"), "not a Status"},
		"404 of a gateway, as JSON": {"", body(404, "application/json", `{"message":"no route"}`), "not a Status"},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.configure(test.config)
			if test.config == "" {
				s.configure(config(""))
			}
			gate.Answers(nil)
			if test.answer != nil {
				gate.Answers(said(test.answer))
			}
			printed := s.plan(refused)
			wants(t, printed, w.namespace, test.says)
			wantsNot(t, printed, "will be created")
			s.run(refused, "refresh")
			if s.state() != state {
				t.Error("the state changed")
			}
		})
	}
	s.t = t
	gate.Answers(nil)
	s.configure(config(""))
	s.plan(empty)
	w.unchanged(before)
	if wrote(gate) != 0 {
		t.Errorf("wrote: %v", gate.Seen())
	}
}

// closedAddress is one that nothing listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return listener.Addr().String()
}

// R1, K14: a role with GET and UPDATE on this one Secret, behind a gate that lets nothing else
// through. Validate, plan, refresh, import and apply of an existing key send GETs of it alone.
func TestAccKubernetes_everything_but_a_write_is_a_GET_of_the_one_Secret(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	gate := w.cluster.Gate(t)
	account := w.cluster.Account(t, w.namespace, "limited", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"},
		ResourceNames: []string{keys.DefaultName}, Verbs: []string{"get", "update"},
	})
	path := "/api/v1/namespaces/" + w.namespace + "/secrets/" + keys.DefaultName
	gate.Answers(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Path == path && r.URL.RawQuery == "" {
			return false
		}
		t.Errorf("sent %s %s", r.Method, r.URL)
		status(http.StatusForbidden, "Forbidden", "")(rw, r)
		return true
	})
	s := newSession(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+w.testResource(""))
	s.run(0, "validate")
	if len(gate.Seen()) != 0 {
		t.Errorf("validate sent %v", gate.Seen())
	}
	s.plan(changes)
	s.applySaved(0)
	s.run(0, "refresh")
	wants(t, s.run(0, "plan", "-refresh-only"), "No changes.")
	s.run(0, "state", "rm", address)
	s.run(0, "import", address, w.namespace+"/"+keys.DefaultName)
	s.plan(empty)
	s.run(0, "destroy", "-auto-approve")
	w.unchanged(before)

	// A write is the first request that is something else: the gate is no dead end.
	gate.Answers(nil)
	gate.Forget()
	s.configure(gated(gate, fmt.Sprintf("token = %q", account.Token)) + w.testResource(`labels = { a = "b" }`))
	s.apply(0)
	if got := w.secret(); got.Labels["a"] != "b" || string(got.Data["keys"]) != line("a") || wrote(gate) != 1 {
		t.Errorf("labels %v, %d writes", got.Labels, wrote(gate))
	}
	for _, request := range gate.Seen() {
		if !strings.HasPrefix(request.UserAgent, "terraform-provider-billet/") ||
			!strings.Contains(request.UserAgent, " Terraform/1.") {
			t.Errorf("user agent %q", request.UserAgent)
		}
	}
}

// 403: the error names verb, Secret and user, and its Role, applied as it is printed, is what the next
// run needs.
func TestAccKubernetes_the_Role_in_a_denial_is_the_cure(t *testing.T) {
	w := newWorld(t)
	account := w.cluster.Account(t, w.namespace, "poor")
	gate := w.cluster.Gate(t)
	s := newSession(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+w.testResource(""))
	for _, verb := range []string{"get", "create"} {
		faults := s.errors("apply", "-auto-approve")
		if len(faults) != 1 {
			t.Fatalf("%s: %+v", verb, faults)
		}
		detail := faults[0].Detail
		for _, part := range []string{verb + " of", w.namespace + "/" + keys.DefaultName, account.User} {
			if !strings.Contains(detail, part) {
				t.Errorf("%s: no %q in\n%s", verb, part, detail)
			}
		}
		role := w.cluster.PasteRole(t, detail)
		for _, rule := range role.Rules {
			named := slices.Equal(rule.ResourceNames, []string{keys.DefaultName})
			if named == slices.Contains(rule.Verbs, "create") || slices.Contains(rule.Verbs, "*") {
				t.Errorf("%s: rule %+v", verb, rule)
			}
		}
		if verb == "get" {
			account.Bind(t, role.Name)
		}
	}
	s.apply(0)
	if w.secret().Data["keys"] == nil {
		t.Error("no key")
	}
	s.apply(0)
}

// The guard needs to read kube-system, which is no Secret: the denial says so and its ClusterRole is
// what is missing.
func TestAccKubernetes_a_denied_guard_names_the_namespace_that_it_reads(t *testing.T) {
	w := newWorld(t)
	account := w.cluster.Account(t, w.namespace, "guarded", acctest.AnySecret)
	gate := w.cluster.Gate(t)
	s := newSession(t, gated(gate, fmt.Sprintf("token = %q\nallowed_cluster_uids = [\"x\"]", account.Token))+
		w.testResource(""))
	faults := s.errors("plan")
	if len(faults) != 1 || faults[0].Summary != "The API server denies access" ||
		!strings.Contains(faults[0].Detail, "get of the namespace kube-system (for allowed_cluster_uids) was denied") ||
		!strings.Contains(faults[0].Detail, "kind: ClusterRole") {
		t.Errorf("%+v", faults)
	}
}

// 30 Secrets at -parallelism=30 wait for the server and for nothing else: the gate holds back every
// answer until all 30 have asked. Then it throttles each once, which is obeyed and repeats no write.
func TestAccKubernetes_thirty_at_once_wait_for_the_server_alone(t *testing.T) {
	const count = 30
	cluster := acctest.SharedCluster(t)
	var namespaces []string
	for range count {
		namespaces = append(namespaces, cluster.Namespace(t))
	}
	list, _ := json.Marshal(namespaces)
	gate := cluster.Gate(t)
	account := cluster.Account(t, namespaces[0], "fleet")
	account.Everywhere(t, acctest.AnySecret)
	s := newSession(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+fmt.Sprintf(`
resource "billet_memberlist_secret" "test" {
  for_each  = toset(%s)
  namespace = each.key
}
`, list))
	gather := newBarrier(count)
	gate.Answers(gather.hold("GET"))
	s.plan(changes, "-parallelism=30")
	gather.passed(t, "reads")

	gather = newBarrier(count)
	asked := newThrottle()
	gate.Answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "POST" {
			return gather.hold("POST")(w, r)
		}
		return asked.once(w, r)
	})
	gate.Forget()
	s.applySaved(0, "-parallelism=30")
	gather.passed(t, "writes")
	asked.obeyed(t, count)
	if writes := wrote(gate); writes != count {
		t.Errorf("%d writes of %d Secrets", writes, count)
	}
}
