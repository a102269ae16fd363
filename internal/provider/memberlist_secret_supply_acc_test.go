package provider

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// wo spells keys_wo with a key for each letter.
func wo(letters string) string {
	var keys []string
	for _, letter := range letters {
		keys = append(keys, strings.TrimSpace(line(string(letter))))
	}
	return fmt.Sprintf("keys_wo = [\"%s\"]\n", strings.Join(keys, `", "`))
}

// holdsKeys fails unless the Secret holds exactly the keys of the letters.
func (w *world) holdsKeys(letters string) func(*terraform.State) error {
	return func(*terraform.State) error {
		var want string
		for _, letter := range letters {
			want += line(string(letter))
		}
		if string(w.secret().Data["keys"]) != want {
			return fmt.Errorf("the Secret does not hold the keys %s", letters)
		}
		return nil
	}
}

func knows(attribute string, value knownvalue.Check) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(address, tfjsonpath.New(attribute), value)
}

func knowsNot(attribute string) plancheck.PlanCheck {
	return plancheck.ExpectUnknownValue(address, tfjsonpath.New(attribute))
}

func TestAccMemberlistSecret_creates_with_the_supplied_keys_and_names_them_in_the_plan(t *testing.T) {
	w := newWorld(t)
	run(t, resource.TestStep{
		Config: w.config(wo("ab")),
		ConfigPlanChecks: planned(plancheck.ResourceActionCreate,
			knows("primary_key_fingerprint", knownvalue.StringExact(print("a"))),
			knows("live_key_fingerprints", knownvalue.ListExact([]knownvalue.Check{
				knownvalue.StringExact(print("a")), knownvalue.StringExact(print("b")),
			})),
			knows("primary_key_bits", knownvalue.Int64Exact(256)), knowsNot("uid"), knowsNot("origin")),
		ConfigStateChecks: []statecheck.StateCheck{is("origin", "created"), live(print("a"), print("b"))},
		Check:             w.holdsKeys("ab"),
	}, resource.TestStep{Config: w.config(wo("ab")), PlanOnly: true},
		// A write-only value that changed is nothing that Terraform sees, and nothing that replaces a key.
		resource.TestStep{Config: w.config(wo("c")), PlanOnly: true})
	if err := w.holdsKeys("ab")(nil); err != nil {
		t.Error(err)
	}
}

func TestAccMemberlistSecret_supplied_keys_fill_an_empty_Secret(t *testing.T) {
	w := newWorld(t)
	before := w.put("")
	run(t, resource.TestStep{
		Config:            w.config(wo("a")),
		ConfigStateChecks: []statecheck.StateCheck{is("origin", "filled"), is("uid", string(before.UID))},
		Check:             w.holdsKeys("a"),
	})
}

// T12: a supplied key never replaces another, neither at first nor with another version.
func TestAccMemberlistSecret_supplied_keys_never_take_the_place_of_others(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	version := func(number string) string { return w.config(wo("b") + "keys_wo_version = " + number) }
	const exact = "9634892491081551"
	run(t, resource.TestStep{
		Config:            version("1"),
		ConfigPlanChecks:  planned(plancheck.ResourceActionCreate, knows("primary_key_fingerprint", knownvalue.StringExact(print("a")))),
		ConfigStateChecks: []statecheck.StateCheck{is("origin", "adopted"), live(print("a"))},
	}, resource.TestStep{
		Config: version(exact),
		ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
			knows("primary_key_fingerprint", knownvalue.StringExact(print("a"))), knows("uid", knownvalue.NotNull())),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, tfjsonpath.New("keys_wo_version"), knownvalue.Int64Exact(9634892491081551)),
		},
	}, resource.TestStep{Config: version(exact), PlanOnly: true})
	w.unchanged(before)
}

func TestAccMemberlistSecret_says_that_supplied_keys_were_not_used(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	s := newSession(t, w.config(wo("b")+"keys_wo_version = 1"))
	told := says("The supplied keys are not those in the Secret", print("a"), print("b"), "rotate_when_changed")
	if printed := s.apply(0); !told.MatchString(printed) {
		t.Errorf("adopting: %s", printed)
	}
	if printed := s.plan(empty); told.MatchString(printed) {
		t.Errorf("an unchanged plan warns: %s", printed)
	}
	s.configure(w.config(wo("b") + "keys_wo_version = 2"))
	if printed := s.apply(0); !told.MatchString(printed) {
		t.Errorf("another version: %s", printed)
	}
	s.configure(w.config(wo("a") + "keys_wo_version = 3"))
	if printed := s.apply(0); told.MatchString(printed) {
		t.Errorf("the keys in the Secret: %s", printed)
	}
}

func TestAccMemberlistSecret_restores_the_accepted_key_from_the_supplied_ones(t *testing.T) {
	w := newWorld(t)
	run(t, resource.TestStep{Config: w.config(wo("ab"))},
		resource.TestStep{
			PreConfig: w.remove, Config: w.config(wo("b")), // not the accepted one
			ExpectError: says("Refusing to replace a key that agents may be using", print("a")),
		},
		resource.TestStep{
			Config: w.config(wo("ac")),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate,
				knows("primary_key_fingerprint", knownvalue.StringExact(print("a"))), knowsNot("uid")),
			ConfigStateChecks: []statecheck.StateCheck{is("origin", "created"), live(print("a"), print("c"))},
			Check:             w.holdsKeys("ac"),
		}, resource.TestStep{Config: w.config(wo("ac")), PlanOnly: true})
}

// G3, G11: the place and the length, never the content, and no line of the configuration with it.
func TestAccMemberlistSecret_refuses_supplied_keys_without_an_echo(t *testing.T) {
	w := newWorld(t)
	canary := strings.Repeat("canary", 6)
	good := strings.TrimSpace(line("a"))
	for name, test := range map[string]struct{ list, says string }{
		"no key":        {`[]`, "there is no key"},
		"raw bytes":     {`["` + good + `", "` + canary + `!"]`, "index 1 (counting from 0) is not standard base64"},
		"encoded twice": {`["` + base64.StdEncoding.EncodeToString([]byte(good)) + `"]`, "index 0 (counting from 0) decodes to 44 bytes"},
		"two in one":    {`["` + good + `\n` + good + `"]`, "index 0 (counting from 0) is not standard base64"},
		"empty":         {`["` + good + `", ""]`, "index 1 (counting from 0) decodes to 0 bytes"},
		"null":          {`["` + good + `", null]`, "index 1 (counting from 0) decodes to 0 bytes"},
	} {
		s := newSession(t, w.config("keys_wo = "+test.list+"\n"))
		for _, command := range []string{"validate", "plan"} {
			printed := s.run(refused, command)
			wants(t, printed, "Invalid keys", "keys_wo", test.says)
			if strings.Contains(printed, canary) || strings.Contains(printed, good) {
				t.Errorf("%s, %s: the diagnostic quotes a key", name, command)
			}
		}
	}
	// A version of nothing.
	s := newSession(t, w.config("keys_wo_version = 1"))
	wants(t, s.run(refused, "validate"), "Invalid Attribute Combination", "keys_wo")
}

// Supplied keys come from a variable or an ephemeral resource, and are in nothing that Terraform writes.
func TestAccMemberlistSecret_keeps_supplied_keys_nowhere(t *testing.T) {
	w := newWorld(t)
	config := `variable "keys" {
  type      = list(string)
  ephemeral = true
}
` + w.config(`keys_wo = var.keys
  keys_wo_version = 1
  rotate_when_changed = { at = "%s" }`)
	s := newSession(t, fmt.Sprintf(config, "1"))
	for _, step := range []struct{ at, key string }{{"1", "a"}, {"2", "b"}} {
		s.configure(fmt.Sprintf(config, step.at))
		// No argument: Terraform writes its own to the log.
		keys := fmt.Sprintf("TF_VAR_keys=[%q]", strings.TrimSpace(line(step.key)))
		s.around(append([]string{keys}, logged...)...)
		s.plan(changes)
		s.applySaved(0)
	}
	if err := w.holdsKeys("b")(nil); err != nil {
		t.Error(err)
	}
	s.leaksNothing([]byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32)))
}

// Keys that only apply knows are taken for those that are wanted, and apply sees whether they are.
func TestAccMemberlistSecret_supplied_keys_that_are_not_known_are_compared_at_apply(t *testing.T) {
	w := newWorld(t)
	config := func(letter, generation string) string {
		return w.config(fmt.Sprintf("primary_key_fingerprint = %q\nkeys_wo = [terraform_data.key.output]", print("a"))) +
			fmt.Sprintf(`
resource "terraform_data" "key" {
  input            = %q
  triggers_replace = %q
}`, strings.TrimSpace(line(letter)), generation)
	}
	s := newSession(t, config("b", "1"))
	s.plan(changes)
	wants(t, s.applySaved(refused), "Refusing another primary key than the pinned one", print("a"))
	s.configure(config("a", "2"))
	s.apply(0)
	if err := w.holdsKeys("a")(nil); err != nil {
		t.Error(err)
	}
	// The same where the accepted keys are gone.
	w.remove()
	s.configure(config("c", "3"))
	s.plan(changes)
	wants(t, s.applySaved(refused), "Refusing to replace a key that agents may be using", print("a"))
	s.configure(config("a", "4"))
	s.plan(changes)
	s.applySaved(0)
	if err := w.holdsKeys("a")(nil); err != nil {
		t.Error(err)
	}
	s.plan(empty)
}
