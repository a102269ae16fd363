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
	c := newCLI(t, config(""))
	c.apply()
	state := c.state()
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
			c.t = t
			c.configure(test.config)
			if test.config == "" {
				c.configure(config(""))
			}
			gate.Answers(nil)
			if test.answer != nil {
				gate.Answers(said(test.answer))
			}
			code, printed := c.run("plan", "-no-color", "-out=failed.tfplan")
			if code != 1 || !says(w.namespace, test.says).MatchString(printed) ||
				strings.Contains(printed, "will be created") {
				t.Errorf("plan ended with %d:\n%s", code, printed)
			}
			if code, printed := c.run("refresh", "-no-color"); code != 1 {
				t.Errorf("refresh ended with %d:\n%s", code, printed)
			}
			if string(c.state()) != string(state) {
				t.Error("the state changed")
			}
		})
	}
	c.t = t
	gate.Answers(nil)
	c.configure(config(""))
	if actions := c.plan(); actions[address] != "no-op" {
		t.Errorf("after all that: %v", actions)
	}
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
	c := newCLI(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+w.testResource(""))
	c.must("validate")
	if len(gate.Seen()) != 0 {
		t.Errorf("validate sent %v", gate.Seen())
	}
	c.plan()
	c.apply("plan.tfplan")
	c.must("refresh")
	c.plan("-refresh-only")
	c.must("state", "rm", address)
	c.must("import", address, w.namespace+"/"+keys.DefaultName)
	if code, printed := c.run("plan", "-detailed-exitcode", "-no-color"); code != 0 {
		t.Errorf("the plan after the import is not empty:\n%s", printed)
	}
	c.must("destroy", "-auto-approve")
	w.unchanged(before)

	// A write is the first request that is something else: the gate is no dead end.
	gate.Answers(nil)
	gate.Forget()
	c.configure(gated(gate, fmt.Sprintf("token = %q", account.Token)) + w.testResource(`labels = { a = "b" }`))
	c.apply()
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
	c := newCLI(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+w.testResource(""))
	for _, verb := range []string{"get", "create"} {
		faults := c.errors("apply", "-auto-approve")
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
	c.apply()
	if w.secret().Data["keys"] == nil {
		t.Error("no key")
	}
	c.apply()
}

// The guard needs to read kube-system, which is no Secret: the denial says so and its ClusterRole is
// what is missing.
func TestAccKubernetes_a_denied_guard_names_the_namespace_that_it_reads(t *testing.T) {
	w := newWorld(t)
	account := w.cluster.Account(t, w.namespace, "guarded", acctest.AnySecret)
	gate := w.cluster.Gate(t)
	c := newCLI(t, gated(gate, fmt.Sprintf("token = %q\nallowed_cluster_uids = [\"x\"]", account.Token))+
		w.testResource(""))
	faults := c.errors("plan")
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
	c := newCLI(t, gated(gate, fmt.Sprintf("token = %q", account.Token))+fmt.Sprintf(`
resource "billet_memberlist_secret" "test" {
  for_each  = toset(%s)
  namespace = each.key
}
`, list))
	gather := newBarrier(count)
	gate.Answers(gather.hold("GET"))
	c.must("plan", "-parallelism=30", "-out=plan.tfplan")
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
	c.apply("-parallelism=30", "plan.tfplan")
	gather.passed(t, "writes")
	asked.obeyed(t, count)
	if writes := wrote(gate); writes != count {
		t.Errorf("%d writes of %d Secrets", writes, count)
	}
}
