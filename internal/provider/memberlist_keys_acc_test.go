package provider

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

const keysType = "billet_memberlist_keys"

func TestAccMemberlistKeys_opens_the_keys_in_file_order(t *testing.T) {
	w := newWorld(t)
	before := w.put(" " + line("b") + "\r\n" + line("a"))
	a, b := strings.TrimSpace(line("a")), strings.TrimSpace(line("b"))
	echoed(t, keysType, resource.TestStep{
		Config: w.kube() + w.object("ephemeral", keysType, ""),
		ConfigStateChecks: has("echo.test", map[string]any{
			"data.keys": []string{b, a}, "data.primary_key": b, "data.text": line("b") + line("a"),
			"data.fingerprints": []string{print("b"), print("a")}, "data.primary_key_fingerprint": print("b"),
		}),
	})
	w.unchanged(before)
}

// T14: it never makes or fills the Secret, and no error shows what is in it.
func TestAccMemberlistKeys_without_valid_keys_is_an_error_and_writes_nothing(t *testing.T) {
	w := newWorld(t)
	config := w.kube() + w.object("ephemeral", keysType, "")
	secret := base64.StdEncoding.EncodeToString([]byte("no key, and yet a secret"))
	echoed(t, keysType,
		resource.TestStep{Config: config, ExpectError: says("There are no keys to read", w.namespace, "does not exist")},
		resource.TestStep{PreConfig: func() { w.put("") }, Config: config, ExpectError: says("There are no keys to read", "holds no key")},
		resource.TestStep{PreConfig: func() { w.put(secret + "\nAAAA") }, Config: config, ExpectError: says("needs a person to fix it", "index 1")},
	)
	echoed(t, keysType, resource.TestStep{
		Config:      w.kube() + w.object("ephemeral", keysType, `wait_for = "1s"`),
		ExpectError: says("needs a person to fix it"),
	})
	if data := string(w.secret().Data["keys"]); data != secret+"\nAAAA" {
		t.Error("the Secret was written")
	}
}

// T14: one GET for the plan, and one each for the plan and the apply of an apply.
func TestAccMemberlistKeys_needs_get_and_says_when_it_is_denied(t *testing.T) {
	w := newWorld(t)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	before := w.put(base64.StdEncoding.EncodeToString(key))
	config := func() string { return w.kube() + w.object("ephemeral", keysType, "") }
	user := w.reader("get")
	s := newSession(t, config())
	s.plan(empty)
	if got, want := w.asked(user), []string{"get /secrets/" + keys.DefaultName}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	w.kubeconfig = w.cluster.Limited(t, "nobody-"+w.namespace, w.namespace)
	denied := traced(t, config())
	wants(t, denied.plan(refused), "denies access", "get of "+w.namespace, "kind: Role")
	denied.leaksNothing(key)
	w.unchanged(before)
}

// T14, T5: with an unknown argument Terraform itself puts the opening off; with an unknown setting of
// the provider it does not, and the values are unknown in the plan. In both cases nothing is dialled.
func TestMemberlistKeys_dials_nothing_at_plan_while_something_is_unknown(t *testing.T) {
	for name, config := range map[string]string{
		"argument": `
provider "billet" {
  kubernetes = { host = local.host, token = "t" }
}
ephemeral "billet_memberlist_keys" "test" { name = terraform_data.later.output }
`,
		"provider": `
provider "billet" {
  kubernetes = { host = terraform_data.later.id == "" ? "" : local.host, token = "t" }
}
ephemeral "billet_memberlist_keys" "test" {}
`,
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t)
			s := newSession(t, config+fmt.Sprintf(`
locals {
  host = %q
}
resource "terraform_data" "later" { input = "antrea-memberlist-keys" }
resource "terraform_data" "use" {
  provisioner "local-exec" {
    command     = "printf %%s \"$KEY\" > opened"
    environment = { KEY = ephemeral.billet_memberlist_keys.test.primary_key }
  }
}
`, api.URL))
			if name == "provider" && acctest.UnderOpenTofu() {
				// It takes no unknown values from an ephemeral resource.
				wants(t, s.plan(refused), "This is not read before apply", "kubernetes.host", "not wholly known")
				if asked := api.asked(); len(asked) > 0 {
					t.Errorf("asked %v in the plan", asked)
				}
				return
			}
			said := s.plan(changes)
			if asked := api.asked(); len(asked) > 0 {
				t.Errorf("asked %v in the plan", asked)
			}
			if name == "provider" {
				wants(t, said, "Warning: This is not read before apply", "kubernetes.host")
			}
			s.applySaved(empty)
			opened, err := os.ReadFile(s.path("opened"))
			if err != nil || string(opened)+"\n" != line("a") {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// T6: the keys go through Terraform, to a provider and to a provisioner, and stay nowhere.
func TestAccMemberlistKeys_leave_nothing_behind_on_their_way(t *testing.T) {
	w := newWorld(t)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	w.put(base64.StdEncoding.EncodeToString(key))
	target := t.TempDir()
	api := newFakeAPI(t)
	s := traced(t, w.kube()+w.object("ephemeral", keysType, "")+fmt.Sprintf(`
resource "terraform_data" "use" {
  input = provider::billet::same_fingerprint(%[1]q, %[1]q)
  provisioner "local-exec" {
    command = "printf '%%s' \"$KEY\" > '%[2]s/key'; printf '%%s' \"$PRINT\" > '%[2]s/print'"
    environment = {
      KEY   = ephemeral.billet_memberlist_keys.test.text
      PRINT = provider::billet::memberlist_key_fingerprints(ephemeral.billet_memberlist_keys.test.text)[0]
    }
  }
}
provider "billet" {
  alias      = "handed"
  kubernetes = { host = %[3]q, token = ephemeral.billet_memberlist_keys.test.primary_key }
}
data "billet_memberlist_secret" "handed" { provider = billet.handed }
`, keys.Fingerprint(key), target, api.URL))
	s.plan(changes)
	s.shown()
	s.applySaved(empty)
	for name, want := range map[string]string{
		"key": base64.StdEncoding.EncodeToString(key) + "\n", "print": keys.Fingerprint(key),
	} {
		if got, err := os.ReadFile(target + "/" + name); err != nil || string(got) != want {
			t.Errorf("%s did not arrive: %v", name, err)
		}
	}
	if len(api.asked()) == 0 {
		t.Error("the provider that got the key was not used")
	}
	s.leaksNothing(key)
}
