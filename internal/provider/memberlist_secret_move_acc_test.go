package provider

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	corev1 "k8s.io/api/core/v1"
)

// moves runs the steps with the providers that resources are moved from beside this one.
func moves(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	all := factories()
	all["kubernetes"], all["aws"] = kubernetesProvider().factory(), awsProvider().factory()
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: all, Steps: steps,
		// Terraform hands a moved resource to another provider from 1.8 on.
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_8_0)},
	})
}

// kubernetesState is a Secret as the kubernetes provider has it in its state.
func (w *world) kubernetesState(kind, data string, secret *corev1.Secret) string {
	return fmt.Sprintf(`
resource %q "test" {
  id        = "%s/antrea-memberlist-keys"
  type      = "Opaque"
  immutable = false
  wait_for_service_account_token = true
  %s
  metadata {
    name             = "antrea-memberlist-keys"
    namespace        = %q
    uid              = %q
    generate_name    = ""
    generation       = 0
    resource_version = %q
    labels           = { app = "antrea" }
    annotations      = {}
  }
}`, kind, w.namespace, data, w.namespace, secret.UID, secret.ResourceVersion)
}

func (w *world) moved(kind, arguments string) string {
	return w.config(arguments) + fmt.Sprintf("\nmoved {\n  from = %s.test\n  to   = %s\n}\n", kind, address)
}

// secretFree fails the plan, and the state, if any text is in it.
type secretFree []string

func (s secretFree) plan() plancheck.PlanCheck {
	return planHook(func(req plancheck.CheckPlanRequest) error {
		text, err := json.Marshal(req.Plan)
		if err != nil {
			return err
		}
		return s.in("the plan", string(text))
	})
}

func (s secretFree) state(state *terraform.State) error { return s.in("the state", state.String()) }

func (s secretFree) in(where, text string) error {
	for _, secret := range s {
		if strings.Contains(text, secret) {
			return fmt.Errorf("there is key material in %s", where)
		}
	}
	return nil
}

// logged makes Terraform and the providers trace into files, which emptied clears and check searches.
func (s secretFree) logged(t *testing.T) (emptied func(), check func()) {
	directory := t.TempDir()
	t.Setenv("TF_LOG", "TRACE")
	t.Setenv("TF_ACC_LOG_PATH", filepath.Join(directory, "acc.log"))
	t.Setenv("TF_LOG_PATH_MASK", filepath.Join(directory, "%s.log"))
	each := func(do func(path string) error) {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(directory, "*.log"))
		if err != nil || len(paths) == 0 {
			t.Errorf("no logs: %v", err)
		}
		for _, path := range paths {
			if err := do(path); err != nil {
				t.Error(err)
			}
		}
	}
	emptied = func() { each(func(path string) error { return os.Truncate(path, 0) }) }
	check = func() {
		size := 0
		each(func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			size += len(text)
			return s.in(filepath.Base(path), string(text))
		})
		if size < 1000 {
			t.Errorf("the logs have %d bytes", size)
		}
	}
	return emptied, check
}

func TestAccMemberlistSecret_moved_from_the_kubernetes_provider_has_an_empty_plan(t *testing.T) {
	for _, kind := range kubernetesSecret.types {
		for spelling, data := range map[string]string{
			"data":        fmt.Sprintf("data = { keys = %q, other = \"x\" }", line("a")),
			"binary_data": fmt.Sprintf("binary_data = { keys = base64encode(%q) }", line("a")),
			"write-only":  "data_wo_revision = 1",
		} {
			t.Run(kind+"/"+spelling, func(t *testing.T) {
				w := newWorld(t)
				before := w.put(line("a"))
				free := secretFree{strings.TrimSpace(line("a"))}
				emptied, check := free.logged(t)
				moves(t, resource.TestStep{Config: w.kubernetesState(kind, data, before)}, resource.TestStep{
					PreConfig: emptied, Config: w.moved(kind, ""),
					ConfigPlanChecks: planned(plancheck.ResourceActionNoop, plancheck.ExpectEmptyPlan(), free.plan()),
					Check:            free.state,
					ConfigStateChecks: []statecheck.StateCheck{
						is("primary_key_fingerprint", print("a")), is("uid", string(before.UID)),
						is("id", w.namespace+"/antrea-memberlist-keys"), is("origin", "adopted"),
						is("deletion_policy", "retain"), live(print("a")),
					},
				}, resource.TestStep{Config: w.config(""), PlanOnly: true})
				check()
				w.unchanged(before)
			})
		}
	}
}

// The plan shows what differs from the state that the Secret was moved from, and never makes a key.
func TestAccMemberlistSecret_moved_shows_what_differs_from_the_source(t *testing.T) {
	data := fmt.Sprintf("data = { keys = %q }", line("a"))
	for name, test := range map[string]struct {
		data   string
		before func(*world)
		config string
		step   resource.TestStep
	}{
		"rotated": {data, func(w *world) { w.put(line("b")) }, "", resource.TestStep{
			ConfigPlanChecks:  planned(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("b"))},
		}},
		"pinned to another": {data, nil, fmt.Sprintf("primary_key_fingerprint = %q", print("b")),
			resource.TestStep{ExpectError: says("Refusing another primary key", print("b"), print("a"))}},
		"gone": {data, (*world).remove, "",
			resource.TestStep{ExpectError: says("Refusing to replace a key", print("a"), "allow_replacing_key")}},
		"emptied, with keys that were write-only": {"data_wo_revision = 1", func(w *world) { w.put("") }, "",
			resource.TestStep{ExpectError: says("Refusing to make a key for a moved Secret", "antrea-memberlist-keys")}},
		"gone, with keys that were write-only": {"data_wo_revision = 1", (*world).remove, "",
			resource.TestStep{ExpectError: says("Refusing to make a key for a moved Secret", "antrea-memberlist-keys")}},
		"the labels that are there": {data, nil, `labels = { app = "antrea" }`, resource.TestStep{
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			secret := w.put(line("a"))
			secret.Labels = map[string]string{"app": "antrea"}
			w.update(secret)
			source := w.kubernetesState("kubernetes_secret_v1", test.data, w.secret())
			if test.before != nil {
				test.before(w)
			}
			before := w.secrets()
			test.step.Config = w.moved("kubernetes_secret_v1", test.config)
			steps := []resource.TestStep{{Config: source}, test.step}
			if test.step.ExpectError == nil {
				steps = append(steps, resource.TestStep{Config: w.config(test.config), PlanOnly: true})
			}
			moves(t, steps...)
			if after := w.secrets(); after != before {
				t.Errorf("the Secrets were %s, and are %s", before, after)
			}
		})
	}
}

func TestAccMemberlistSecret_moved_from_terraform_data_has_an_empty_plan(t *testing.T) {
	for _, given := range []string{
		`input = { namespace = %q, name = "antrea-memberlist-keys" }`,
		`triggers_replace = "%s/antrea-memberlist-keys"`,
	} {
		w := newWorld(t)
		before := w.put(line("a"))
		source := fmt.Sprintf("resource \"terraform_data\" \"test\" {\n"+given+"\n}", w.namespace)
		moves(t, resource.TestStep{Config: source}, resource.TestStep{
			Config:            w.moved("terraform_data", ""),
			ConfigPlanChecks:  planned(plancheck.ResourceActionNoop, plancheck.ExpectEmptyPlan()),
			ConfigStateChecks: []statecheck.StateCheck{is("primary_key_fingerprint", print("a"))},
		}, resource.TestStep{Config: w.config(""), PlanOnly: true})
		w.unchanged(before)
	}
	w := newWorld(t)
	nameless := resource.TestStep{Config: "resource \"terraform_data\" \"test\" {\n input = 1\n}"}
	moves(t, nameless, resource.TestStep{
		Config:      w.moved("terraform_data", ""),
		ExpectError: says("The state of the moved resource names no Secret", "terraform_data"),
	}, nameless)
}

func TestAccExample_the_migration_from_the_kubernetes_provider_has_an_empty_plan(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	source := strings.Replace(w.kubernetesState("kubernetes_secret_v1",
		fmt.Sprintf("data = { keys = %q }", line("a")), before), `"test"`, `"memberlist"`, 1)
	moves(t, resource.TestStep{Config: source}, resource.TestStep{
		// The harness serves the provider under hashicorp.
		Config: strings.Replace(exampleText(t, "migration-from-kubernetes-secret/main.tf"), "billetdev/", "hashicorp/", 1),
		ConfigVariables: config.Variables{
			"kubeconfig": config.StringVariable(w.kubeconfig), "namespace": config.StringVariable(w.namespace),
		},
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction("billet_memberlist_secret.memberlist", plancheck.ResourceActionNoop),
		}},
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownOutputValue("primary_key_fingerprint", knownvalue.StringExact(print("a"))),
		},
	})
	w.unchanged(before)
}
