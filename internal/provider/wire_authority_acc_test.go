package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// C7
func TestAccWireAuthority_an_expired_one_does_not_travel(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	expired := f.mint(dir, wirecerttest.Options{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	f.refuses(dir, "", "Refusing to move an expired authority", expired)
}

// T3: destroy works whatever the two sides are like, and plans of anything else are refused.
func TestAccWireAuthority_destroy_forgets_whatever_the_two_sides_are_like(t *testing.T) {
	for name, spoil := range map[string]func(f *fleet, dir string) error{
		"the directory is gone": func(_ *fleet, dir string) error { return os.RemoveAll(dir) },
		"the published copy is gone": func(f *fleet, _ string) error {
			return os.Rename(f.store, f.store+".away")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			dir := f.host()
			var after string
			run(t, resource.TestStep{Config: f.config(dir, "")}, resource.TestStep{
				PreConfig: func() {
					if err := spoil(f, dir); err != nil {
						t.Fatal(err)
					}
					after = tree(t, dir, filepath.Dir(f.store))
				},
				Config: f.config(dir, ""), Destroy: true,
			})
			if tree(t, dir, filepath.Dir(f.store)) != after {
				t.Error("destroy touched the host or the store")
			}
		})
	}
}

// Changing the store publishes to the new one and leaves the old.
func TestAccWireAuthority_changing_the_store_is_an_update_in_place(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	moved := &fleet{t, filepath.Join(t.TempDir(), "elsewhere.json")}
	run(t, resource.TestStep{Config: f.config(dir, "")}, resource.TestStep{
		Config: moved.config(dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionUpdate),
		ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
	}, resource.TestStep{Config: moved.config(dir, ""), PlanOnly: true})
	for _, path := range []string{f.store, moved.store} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// T5: the same checks at apply when the place was not known at plan.
func TestAccWireAuthority_an_unknown_store_moves_the_checks_to_apply(t *testing.T) {
	f := newFleet(t)
	dir, other := f.host(), f.host()
	x := f.mint(dir, wirecerttest.Options{})
	y := f.mint(other, wirecerttest.Options{})
	f.publish(other)
	before := tree(t, dir, f.store)
	config := strings.ReplaceAll(f.config(dir, ""), fmt.Sprintf("%q } }", f.store), "terraform_data.path.output } }") +
		fmt.Sprintf("\nresource \"terraform_data\" \"path\" { input = %q }\n", f.store)
	run(t, resource.TestStep{Config: config, ExpectError: says("Refusing to choose between two authorities", x, y)})
	if got := tree(t, dir, f.store); got != before {
		t.Error("the refused apply touched the host or the store")
	}
}

// What changes between plan and apply stops the apply.
func TestAccWireAuthority_stops_when_the_published_one_changed_since_the_plan(t *testing.T) {
	f := newFleet(t)
	dir, other := f.host(), f.host()
	x := f.mint(dir, wirecerttest.Options{})
	y := f.mint(other, wirecerttest.Options{})
	run(t, resource.TestStep{Config: f.config(dir, "")}, resource.TestStep{
		Config: f.config(dir, "publish_rotations = true"),
		ConfigPlanChecks: expects(plancheck.ResourceActionUpdate, planHook(func(plancheck.CheckPlanRequest) error {
			f.publish(other)
			return nil
		})),
		ExpectError: says(x, y),
	})
	if f.local(dir) != x {
		t.Error("the host lost its authority")
	}
}

// T10
func TestAccWireAuthority_imports_with_an_empty_plan(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	before := tree(t, dir, filepath.Dir(f.store))
	imported := func(id string) string {
		return f.config(dir, "") + fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", authority, id)
	}
	id := "deployment=" + wirecerttest.Deployment + ",state_dir=" + dir + ",file=" + f.store
	for _, bad := range []string{dir, "deployment=x,state_dir=" + dir + ",file=" + f.store, strings.Replace(id, "file=/", "file=", 1)} {
		run(t, resource.TestStep{Config: imported(bad), ExpectError: says("Invalid import ID", "deployment=ID,state_dir=PATH", "file=PATH")})
	}
	run(t, resource.TestStep{
		Config: imported(id), ConfigPlanChecks: expects(plancheck.ResourceActionNoop),
		ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", want)},
	}, resource.TestStep{Config: f.config(dir, ""), PlanOnly: true})
	if tree(t, dir, filepath.Dir(f.store)) != before {
		t.Error("importing touched the host or the store")
	}
}

// T3: Terraform plans normally before it destroys, so a refusal stops `terraform destroy`. Taking the
// resource out of the configuration does not, and touches nothing.
func TestAccWireAuthority_removing_it_works_while_its_plan_is_refused(t *testing.T) {
	for name, spoil := range map[string]func(f *fleet, dir string) error{
		"the store is unreadable": func(f *fleet, _ string) error { return os.WriteFile(f.store, []byte("x"), 0o600) },
		"the two sides disagree": func(f *fleet, dir string) error {
			f.mint(dir, wirecerttest.Options{})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			dir := f.host()
			var after string
			run(t, resource.TestStep{Config: f.config(dir, "")}, resource.TestStep{
				PreConfig: func() {
					if err := spoil(f, dir); err != nil {
						t.Fatal(err)
					}
					after = tree(t, dir, filepath.Dir(f.store))
				},
				Config:           `resource "terraform_data" "other" {}`,
				ConfigPlanChecks: expects(plancheck.ResourceActionDestroy),
			})
			if tree(t, dir, filepath.Dir(f.store)) != after {
				t.Error("removing it touched the host or the store")
			}
		})
	}
}
