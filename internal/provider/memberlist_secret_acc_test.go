package provider

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

const address = "billet_memberlist_secret.test"

// run applies the steps with the real Terraform against the real API server.
func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: steps})
}

func planned(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply: append(more, plancheck.ExpectResourceAction(address, action)),
	}
}

func is(attribute, value string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), knownvalue.StringExact(value))
}

func live(values ...string) statecheck.StateCheck {
	list := make([]knownvalue.Check, len(values))
	for i, value := range values {
		list[i] = knownvalue.StringExact(value)
	}
	return statecheck.ExpectKnownValue(address, tfjsonpath.New("live_key_fingerprints"), knownvalue.ListExact(list))
}

// says matches an error that has the parts in this order, however Terraform wraps its lines.
func says(parts ...string) *regexp.Regexp {
	var pattern []string
	for _, part := range parts {
		words := strings.Fields(part)
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		pattern = append(pattern, strings.Join(words, `[\s│]+`))
	}
	return regexp.MustCompile(`(?s)` + strings.Join(pattern, ".*"))
}

func TestAccMemberlistSecret_creates_a_key_and_then_has_nothing_to_do(t *testing.T) {
	w := newWorld(t)
	run(t, resource.TestStep{
		Config: w.config(`labels = { team = "net" }`),
		ConfigPlanChecks: planned(plancheck.ResourceActionCreate,
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("primary_key_fingerprint"))),
		ConfigStateChecks: []statecheck.StateCheck{
			is("origin", "created"), is("id", w.namespace+"/antrea-memberlist-keys"),
		},
		Check: func(state *terraform.State) error {
			secret := w.secret()
			parsed, err := keys.ParseKeys(secret.Data["keys"])
			if err != nil || len(parsed) != 1 || len(parsed[0]) != 32 {
				return fmt.Errorf("%d keys: %v", len(parsed), err)
			}
			if !maps.Equal(secret.Labels, map[string]string{"app": "antrea", "team": "net"}) {
				return fmt.Errorf("labels %v", secret.Labels)
			}
			attributes := state.RootModule().Resources[address].Primary.Attributes
			if attributes["primary_key_fingerprint"] != keys.Fingerprint(parsed[0]) ||
				attributes["uid"] != string(secret.UID) || attributes["primary_key_bits"] != "256" {
				return fmt.Errorf("state %v is not of the Secret", attributes)
			}
			return nil
		},
	}, resource.TestStep{Config: w.config(`labels = { team = "net" }`), PlanOnly: true})
	w.secret() // destroy retains it: G8
}

func TestAccMemberlistSecret_adopts_what_is_there_without_a_write(t *testing.T) {
	w := newWorld(t)
	before := w.put("  " + line("a") + "\r\n" + line("b"))
	run(t, resource.TestStep{
		Config: w.config(""),
		ConfigPlanChecks: planned(plancheck.ResourceActionCreate, plancheck.ExpectKnownValue(
			address, tfjsonpath.New("primary_key_fingerprint"), knownvalue.StringExact(print("a")))),
		ConfigStateChecks: []statecheck.StateCheck{is("origin", "adopted"), live(print("a"), print("b"))},
	}, resource.TestStep{Config: w.config(""), PlanOnly: true})
	w.unchanged(before)
}

func TestAccMemberlistSecret_shows_a_rotation_and_writes_nothing(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	var rotated *corev1.Secret
	run(t, resource.TestStep{Config: w.config("")}, resource.TestStep{
		PreConfig: func() { rotated = w.put(line("b") + line("a")) }, // G6
		Config:    w.config(""),
		ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
			plancheck.ExpectKnownValue(address, tfjsonpath.New("primary_key_fingerprint"),
				knownvalue.StringExact(print("b"))),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("uid"), knownvalue.NotNull()),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("origin"), knownvalue.StringExact("adopted"))),
		ConfigStateChecks: []statecheck.StateCheck{
			is("primary_key_fingerprint", print("b")), live(print("b"), print("a")),
		},
	}, resource.TestStep{
		// Spelling, white space, order behind the primary, and others' metadata are no difference.
		PreConfig: func() { rotated = w.put("\n " + line("b") + line("b") + "\r\n") },
		Config:    w.config(""), PlanOnly: true,
	})
	w.unchanged(rotated)
}

func TestAccMemberlistSecret_refuses_another_key_than_the_pinned_one(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	pin := func(letter string) string {
		return w.config(fmt.Sprintf("primary_key_fingerprint = %q", print(letter)))
	}
	run(t,
		resource.TestStep{Config: pin("b"), ExpectError: says("Refusing another primary key", print("b"), print("a"))},
		resource.TestStep{Config: pin("a"), ConfigStateChecks: []statecheck.StateCheck{is("origin", "adopted")}},
		resource.TestStep{
			PreConfig: func() { before = w.put(line("c")) },
			Config:    pin("a"), ExpectError: says("Refusing another primary key", print("a"), print("c")),
		},
		resource.TestStep{Config: pin("c"), ConfigStateChecks: []statecheck.StateCheck{live(print("c"))}},
	)
	w.unchanged(before)
	empty := newWorld(t)
	run(t, resource.TestStep{
		Config:      empty.config(fmt.Sprintf("primary_key_fingerprint = %q", print("a"))),
		ExpectError: says("Refusing another primary key", print("a"), "holds no key"),
	})
}

func TestAccMemberlistSecret_refuses_to_replace_a_lost_key_without_consent(t *testing.T) {
	for name, lose := range map[string]func(*world){
		"deleted": (*world).remove, "emptied": func(w *world) { w.put("") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(line("a"))
			consent := func(letter string) string {
				return w.config(fmt.Sprintf("allow_replacing_key = %q", " "+print(letter)+"\n"))
			}
			refusal := says("Refusing to replace a key", print("a"), "allow_replacing_key")
			run(t, resource.TestStep{Config: w.config("")},
				resource.TestStep{
					PreConfig: func() { lose(w) }, Config: w.config(""), ExpectError: refusal,
				},
				resource.TestStep{Config: consent("b"), ExpectError: refusal},
				resource.TestStep{
					Config: consent("a"),
					ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
						plancheck.ExpectUnknownValue(address, tfjsonpath.New("primary_key_fingerprint")),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.NotNull())),
					ConfigStateChecks: []statecheck.StateCheck{
						is("origin", map[string]string{"deleted": "created", "emptied": "filled"}[name]),
					},
				},
				resource.TestStep{Config: consent("a"), PlanOnly: true},
			)
			if got, err := keys.ParseKeys(w.secret().Data["keys"]); err != nil || keys.Fingerprint(got[0]) == print("a") {
				t.Errorf("no new key: %v", err)
			}
		})
	}
}

func TestAccMemberlistSecret_leaves_what_a_person_has_to_fix(t *testing.T) {
	w := newWorld(t)
	before := w.put("AAAA")
	unfit := says("The Secret needs a person to fix it", "index 0", "3 bytes")
	run(t, resource.TestStep{Config: w.config(""), ExpectError: unfit},
		resource.TestStep{ // T10
			Config: w.config(""), ResourceName: address, ImportState: true,
			ImportStateId: w.namespace, ExpectError: unfit,
		})
	w.unchanged(before)
}

// G9, K13
func TestAccMemberlistSecret_manages_the_labels_it_names_and_no_others(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	before.Labels = map[string]string{"foreign": "x"}
	if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Update(
		context.Background(), before, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := func(want map[string]string) func(*terraform.State) error {
		return func(*terraform.State) error {
			if secret := w.secret(); !maps.Equal(secret.Labels, want) || string(secret.Data["keys"]) != line("a") {
				return fmt.Errorf("labels %v, want %v", secret.Labels, want)
			}
			return nil
		}
	}
	run(t,
		resource.TestStep{
			Config: w.config(`labels = { mine = "1", also = "2" }`),
			Check:  labels(map[string]string{"foreign": "x", "mine": "1", "also": "2"}),
		},
		resource.TestStep{
			PreConfig: func() {
				secret := w.secret()
				secret.Labels["mine"] = "changed"
				if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Update(
					context.Background(), secret, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			Config: w.config(`labels = { mine = "1" }`),
			Check:  labels(map[string]string{"foreign": "x", "mine": "1"}),
		},
	)
	run(t, resource.TestStep{Config: w.config(`labels = { "not ok" = "1" }`), ExpectError: says("Invalid value")})
}

func TestAccMemberlistSecret_imports_with_an_empty_plan(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	imported := func(id string) string {
		return w.config("") + fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", address, id)
	}
	for _, bad := range []string{"/", "a/b/c", "/name", "ns/", "Not Valid"} {
		run(t, resource.TestStep{Config: imported(bad), ExpectError: says("Invalid import ID", "namespace/name")})
	}
	run(t, resource.TestStep{Config: imported(w.namespace + "/nothing-here"), ExpectError: says("Cannot import non-existent")})
	run(t, resource.TestStep{
		Config: imported(w.namespace), ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		ConfigStateChecks: []statecheck.StateCheck{
			is("origin", "imported"), is("primary_key_fingerprint", print("a")), live(print("a")),
		},
	}, resource.TestStep{Config: w.config(""), PlanOnly: true})
	w.unchanged(before)
}

// G8
func TestAccMemberlistSecret_deletes_only_what_it_created_itself(t *testing.T) {
	created, adopted, remade := newWorld(t), newWorld(t), newWorld(t)
	const policy = `deletion_policy = "delete"`
	run(t, resource.TestStep{Config: created.config(policy)})
	_, err := created.cluster.Admin.CoreV1().Secrets(created.namespace).Get(
		context.Background(), keys.DefaultName, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the created Secret is still there: %v", err)
	}
	before := adopted.put(line("a"))
	run(t, resource.TestStep{Config: adopted.config(policy)})
	adopted.unchanged(before)

	var theirs *corev1.Secret
	run(t, resource.TestStep{Config: remade.config(policy)}, resource.TestStep{
		PreConfig: func() { remade.remove(); theirs = remade.put(line("b")) },
		Config:    remade.config(policy), ConfigStateChecks: []statecheck.StateCheck{is("origin", "adopted")},
	})
	remade.unchanged(theirs)
}

// G10
func TestAccMemberlistSecret_20_applies_from_fresh_state_write_once(t *testing.T) {
	w := newWorld(t)
	var first *corev1.Secret
	for range 20 {
		run(t, resource.TestStep{Config: w.config("")})
		if first == nil {
			first = w.secret()
		}
	}
	w.unchanged(first)
}
