package provider

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

const (
	secretType = "billet_memberlist_secret"
	dataSecret = "data.billet_memberlist_secret.test"
)

func TestAccMemberlistSecretData_absent_empty_invalid_and_valid_are_answers(t *testing.T) {
	w := newWorld(t)
	config := w.kube() + w.object("data", secretType, "")
	nothing := map[string]any{
		"valid": false, "fingerprints": []string{}, "primary_key_fingerprint": nil, "key_count": 0, "primary_key_bits": nil,
	}
	with := func(more map[string]any) map[string]any {
		for name, value := range nothing {
			if _, ok := more[name]; !ok {
				more[name] = value
			}
		}
		return more
	}
	run(t,
		resource.TestStep{Config: config, ConfigStateChecks: has(dataSecret, with(map[string]any{
			"exists": false, "uid": nil, "problem": "the Secret does not exist",
			"id": w.namespace + "/" + keys.DefaultName,
		}))},
		resource.TestStep{PreConfig: func() { w.put("") }, Config: config, ConfigStateChecks: has(dataSecret, with(map[string]any{
			"exists": true, "uid": knownvalue.NotNull(), "problem": "the Secret holds no key",
		}))},
		resource.TestStep{PreConfig: func() { w.put(line("a") + "AAAA") }, Config: config, ConfigStateChecks: has(dataSecret, with(map[string]any{
			"exists": true, "uid": knownvalue.NotNull(), "problem": knownvalue.StringRegexp(says("index 1", "3 bytes")),
		}))},
		// G6: file order, and duplicates as they are.
		resource.TestStep{PreConfig: func() { w.put(" " + line("b") + "\r\n" + line("a") + line("b")) }, Config: config,
			ConfigStateChecks: has(dataSecret, map[string]any{
				"exists": true, "valid": true, "problem": nil, "key_count": 3, "primary_key_bits": 256,
				"fingerprints": []string{print("b"), print("a"), print("b")}, "primary_key_fingerprint": print("b"),
			})},
	)
}

// R1, K14: the real API server's RBAC and audit log. The plan reads once, and so does the apply.
func TestAccMemberlistSecretData_sends_one_GET_and_nothing_else(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	user := w.reader("get")
	s := newSession(t, w.kube()+w.object("data", secretType, `wait_for = "1m"`))
	s.plan(empty)
	if got, want := w.asked(user), []string{"get /secrets/" + keys.DefaultName}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	w.unchanged(before)
}

// K1: no failure to read is an absence.
func TestMemberlistSecretData_takes_no_failure_to_read_for_an_absence(t *testing.T) {
	for name, answer := range failures() {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t)
			api.answers(answer)
			for _, wait := range []string{"", `wait_for = "1m"`} {
				run(t, resource.TestStep{
					Config: fmt.Sprintf("provider \"billet\" {\n  kubernetes = { host = %q, token = \"t\" }\n}\n"+
						"data %q \"test\" {\n %s\n}", api.URL, secretType, wait),
					ExpectError: says("Secret kube-system/antrea-memberlist-keys"),
				})
			}
		})
	}
}

func TestAccMemberlistSecretData_waits_until_the_keys_are_there(t *testing.T) {
	w := newWorld(t)
	w.put("")
	user := w.reader("get", "list", "watch")
	timer := time.AfterFunc(3*time.Second, func() {
		secrets := w.cluster.Admin.CoreV1().Secrets(w.namespace)
		secret, err := secrets.Get(context.Background(), keys.DefaultName, metav1.GetOptions{})
		if err == nil {
			secret.Data = map[string][]byte{"keys": []byte(line("a"))}
			_, err = secrets.Update(context.Background(), secret, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	})
	defer timer.Stop()
	s := newSession(t, w.kube()+w.object("data", secretType, `wait_for = "1m"`)+
		"output \"print\" {\n  value = data.billet_memberlist_secret.test.primary_key_fingerprint\n}\n")
	wants(t, s.plan(changes), print("a"))
	const selector = "fieldSelector=metadata.name%3D" + keys.DefaultName
	for _, asked := range w.asked(user) {
		if !strings.HasPrefix(asked, "get ") && !strings.Contains(asked, selector) {
			t.Errorf("%s has no %s", asked, selector)
		}
	}
	if got := w.asked(user); !slices.ContainsFunc(got, func(asked string) bool { return strings.HasPrefix(asked, "list ") }) {
		t.Errorf("it never listed: %v", got)
	}
}

func TestAccMemberlistSecretData_shows_what_is_there_when_the_wait_is_over(t *testing.T) {
	w := newWorld(t)
	w.reader("get", "list", "watch")
	config := w.kube() + w.object("data", secretType, `wait_for = "1s"`) + `
output "seen" {
  value = "exists=${data.billet_memberlist_secret.test.exists}"
}
`
	s := newSession(t, config)
	wants(t, s.plan(changes), "exists=false", "Warning: The Secret holds no valid keys yet", "after 1s", "does not exist")
}

// Without the rights to wait there is no answer: to go on would report as missing what nobody saw.
func TestAccMemberlistSecretData_says_at_once_which_right_the_wait_needs(t *testing.T) {
	w := newWorld(t)
	w.reader("get")
	began := time.Now()
	run(t, resource.TestStep{
		Config:      w.kube() + w.object("data", secretType, `wait_for = "5m"`),
		ExpectError: says("denies access", "list of "+w.namespace, "verbs: [get, list, watch]"),
	})
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	run(t, resource.TestStep{
		Config:      w.kube() + w.object("data", secretType, `wait_for = "soon"`),
		ExpectError: says("Invalid value", "a duration"),
	})
}

// K2: Terraform takes no unknown answer of a data source, so it is an error without a dial, and
// depends_on puts the read off.
func TestMemberlistSecretData_dials_nothing_while_the_cluster_is_unknown(t *testing.T) {
	api := newFakeAPI(t)
	config := func(more string) string {
		return fmt.Sprintf(`
resource "terraform_data" "cluster" { input = %q }
provider "billet" {
  kubernetes = { host = terraform_data.cluster.output, token = "t" }
}
data "billet_memberlist_secret" "test" { %s }
`, api.URL, more)
	}
	run(t, resource.TestStep{Config: config(""), ExpectError: says("This cannot be read yet", "kubernetes.host", "depends_on")})
	if asked := api.asked(); len(asked) > 0 {
		t.Errorf("asked %v", asked)
	}
	run(t, resource.TestStep{
		Config:            config("depends_on = [terraform_data.cluster]"),
		ConfigStateChecks: has(dataSecret, map[string]any{"primary_key_fingerprint": print("a")}),
	})
}

// T6: the credentials that a data source brings along are not in the state, nor is a key anywhere.
func TestAccMemberlistSecretData_keeps_keys_and_credentials_out_of_the_state(t *testing.T) {
	w := newWorld(t)
	key, token := make([]byte, 32), []byte("canary-of-a-bearer-token-0123456789")
	_, _ = rand.Read(key)
	w.put(base64.StdEncoding.EncodeToString(key))
	api := newFakeAPI(t) // it takes any token
	s := traced(t, w.kube()+w.object("data", secretType, "")+fmt.Sprintf(`
variable "token" {
  sensitive = true
}
data "billet_memberlist_secret" "own" {
  kubernetes = {
    host = %q
    token = var.token
    exec  = null
  }
}
data "billet_memberlist_secret" "program" {
  kubernetes = {
    host = %q
    exec = {
      api_version = "client.authentication.k8s.io/v1", command = "sh", env = { TOKEN = var.token }
      args = ["-c", "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%%s\"}}' $TOKEN"]
    }
  }
}
`, api.URL, api.URL), "TF_VAR_token="+string(token))
	s.apply(empty)
	wants(t, s.state(), keys.Fingerprint(key))
	if asked := api.asked(); len(asked) < 2 {
		t.Errorf("asked %v", asked)
	}
	s.leaksNothing(key, token)
	s.plan(empty) // Terraform itself puts the variable into a saved plan
	s.shown()
	s.leaksNothing(key)
	w.put("not a key, " + base64.StdEncoding.EncodeToString(key)) // invalid data is not shown either
	s.apply(empty)
	wants(t, s.state(), "index 0")
	s.leaksNothing(key)
}
