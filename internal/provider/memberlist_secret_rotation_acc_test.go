package provider

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

func rotateAt(when string) string { return fmt.Sprintf("rotate_when_changed = { at = %q }\n", when) }

// T2: exactly what the write can change is unknown.
func TestAccMemberlistSecret_rotates_to_one_new_key_when_asked(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a") + line("b"))
	run(t,
		// A first value is nothing that changed: G10.
		resource.TestStep{Config: w.config("")},
		resource.TestStep{Config: w.config(rotateAt("2026")), Check: w.holdsKeys("ab")},
		resource.TestStep{
			Config: w.config(rotateAt("2027")),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate, knowsNot("primary_key_fingerprint"),
				knowsNot("live_key_fingerprints"), knowsNot("primary_key_bits"),
				knows("uid", knownvalue.StringExact(string(before.UID))),
				knows("origin", knownvalue.StringExact("adopted"))),
			Check: func(*terraform.State) error {
				secret := w.secret()
				found, err := keys.ParseKeys(secret.Data["keys"])
				if err != nil || len(found) != 1 || secret.UID != before.UID ||
					slices.Contains([]string{print("a"), print("b")}, keys.Fingerprint(found[0])) {
					return fmt.Errorf("%d keys, %v", len(found), err)
				}
				return nil
			},
		},
		resource.TestStep{Config: w.config(rotateAt("2027")), PlanOnly: true},
		resource.TestStep{Config: w.config(""), ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
			knows("primary_key_fingerprint", knownvalue.NotNull()))}, // taking it out rotates nothing
	)
}

func TestAccMemberlistSecret_rotates_to_the_supplied_keys(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	run(t, resource.TestStep{Config: w.config(rotateAt("1"))},
		resource.TestStep{ // staged: first behind the primary, and then in its place
			Config: w.config(wo("ab") + rotateAt("2")),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
				knows("primary_key_fingerprint", knownvalue.StringExact(print("a")))),
			Check: w.holdsKeys("ab"),
		},
		resource.TestStep{
			Config: w.config(wo("ba") + rotateAt("3")),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
				knows("primary_key_fingerprint", knownvalue.StringExact(print("b")))),
			ConfigStateChecks: []statecheck.StateCheck{live(print("b"), print("a")), is("origin", "adopted")},
			Check:             w.holdsKeys("ba"),
		},
		resource.TestStep{
			Config:      w.config(wo("ba") + rotateAt("4")),
			ExpectError: says("There is no other key to rotate to", print("b"), "Nothing was written"),
		},
		resource.TestStep{
			Config: w.config(fmt.Sprintf("primary_key_fingerprint = %q\n", print("b")) + rotateAt("4")),
			ExpectError: says("Refusing another primary key than the pinned one", print("b"),
				"rotate_when_changed asks for another one"),
		})
	if err := w.holdsKeys("ba")(nil); err != nil {
		t.Error(err)
	}
}

// A rotation replaces the accepted key and no other. Where somebody else rotated, or an earlier apply
// whose end Terraform did not see, that key is accepted: one rotation, and not two.
func TestAccMemberlistSecret_does_not_rotate_what_was_rotated_already(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	var rotated *corev1.Secret
	run(t, resource.TestStep{Config: w.config(rotateAt("1"))}, resource.TestStep{
		PreConfig: func() { rotated = w.put(line("b")) }, Config: w.config(rotateAt("2")),
		ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
			knows("primary_key_fingerprint", knownvalue.StringExact(print("b")))),
	}, resource.TestStep{Config: w.config(rotateAt("2")), PlanOnly: true})
	w.unchanged(rotated)
}

// The plan does not send people looking for a stranger: it may be their own apply that was cut off.
func TestAccMemberlistSecret_says_that_the_key_was_rotated_already(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	s := newSession(t, w.config(rotateAt("1")))
	s.apply(0)
	rotated := w.put(line("b"))
	s.configure(w.config(rotateAt("2")))
	said := s.plan(changes)
	wants(t, said, "The key was rotated already", print("b"), print("a"), "not rotated again")
	wantsNot(t, said, "The key will be rotated")
	s.applySaved(0)
	s.plan(empty)
	w.unchanged(rotated)
}

func TestAccMemberlistSecret_does_not_put_a_lost_key_back_by_a_rotation(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	run(t, resource.TestStep{Config: w.config(rotateAt("1"))}, resource.TestStep{
		PreConfig: w.remove, Config: w.config(rotateAt("2")),
		ExpectError: says("Refusing to replace a key that agents may be using", print("a")),
	})
}

// A saved plan rotates the key that it was made for.
func TestAccMemberlistSecret_a_saved_rotation_stops_at_another_key(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	s := newSession(t, w.config(rotateAt("1")))
	s.apply(0)
	s.configure(w.config(rotateAt("2")))
	wants(t, s.plan(changes), "The key will be rotated", print("a"), "cannot hear each other")
	stranger := w.put(line("b"))
	wants(t, s.applySaved(refused), "The Secret changed since the plan", "write a new key", print("b"),
		"Nothing was written")
	w.unchanged(stranger)
}

// As with time_rotating, whose id is not known in the plan that makes it anew.
func TestAccMemberlistSecret_plans_a_rotation_that_only_apply_can_tell(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	config := func(input, pin string) string {
		return w.config(pin+"rotate_when_changed = { at = terraform_data.year.output }") + fmt.Sprintf(`
resource "terraform_data" "year" {
  input = %q
}`, input)
	}
	s := newSession(t, config("1", ""))
	s.apply(0)
	s.configure(config("2", ""))
	// The output is unknown in the plan; apply finds another value and rotates.
	wants(t, s.plan(changes), "The key will be rotated", "If it changes")
	w.unchanged(before)
	s.applySaved(0)
	if w.holdsKeys("a")(nil) == nil {
		t.Error("the key was not rotated")
	}
	rotated := w.secret()
	// Unknown, and the same in the end: nothing is rotated.
	s.configure(w.config(`rotate_when_changed = { at = substr(terraform_data.year.output, 0, 1) }`) + `
resource "terraform_data" "year" {
  input = "2 again"
}`)
	s.apply(0)
	w.unchanged(rotated)
	s.plan(empty)
}

// A cluster that is not known yet hides no warning.
func TestAccMemberlistSecret_warns_of_a_rotation_in_a_cluster_that_is_not_known(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	config := func(generation, at string) string {
		return fmt.Sprintf(`
resource "terraform_data" "made" {
  input            = %q
  triggers_replace = %q
}
provider "billet" {
  kubernetes = { config_path = terraform_data.made.output }
}
`, w.kubeconfig, generation) + w.testResource(rotateAt(at))
	}
	s := newSession(t, config("1", "1"))
	s.apply(0)
	s.configure(config("2", "2"))
	wants(t, s.plan(changes), "The key will be rotated", print("a"))
	w.unchanged(before)
	s.applySaved(0)
	if w.holdsKeys("a")(nil) == nil {
		t.Error("the key was not rotated")
	}
	s.plan(empty)
}

func TestAccMemberlistSecret_says_what_happens_to_the_keys_behind_the_primary(t *testing.T) {
	w := newWorld(t)
	w.put(line("a") + line("b"))
	s := newSession(t, w.config(rotateAt("1")))
	s.apply(0)
	s.configure(w.config(rotateAt("2")))
	wants(t, s.plan(changes), "The key will be rotated", "all 2 keys", print("a"))
	s.configure(w.config(wo("abc") + rotateAt("2")))
	wants(t, s.plan(changes), "The keys behind the primary will change", "3 keys", "stays "+print("a"))
	s.applySaved(0)
	if err := w.holdsKeys("abc")(nil); err != nil {
		t.Error(err)
	}
}

func TestAccMemberlistSecret_an_immutable_Secret_is_not_rotated(t *testing.T) {
	w := newWorld(t)
	secret := w.put(line("a"))
	secret.Immutable = new(true)
	before, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Update(t.Context(), secret, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, w.config(rotateAt("1")))
	s.apply(0)
	s.configure(w.config(rotateAt("2")))
	wants(t, s.apply(refused), "The Secret needs a person to fix it", "cannot be rotated")
	w.unchanged(before)
}

// A consent that was not taken out consents to the next loss.
func TestAccMemberlistSecret_warns_of_a_standing_consent(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	s := newSession(t, w.config(fmt.Sprintf("allow_replacing_key = %q", print("a"))))
	s.apply(0)
	wants(t, s.plan(empty), "A consent names the key in use", print("a"))
	s.configure(w.config(fmt.Sprintf("allow_replacing_key = %q", print("b"))))
	wantsNot(t, s.plan(changes), "A consent names the key in use")
}
