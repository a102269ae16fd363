package provider

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

const authority = "billet_wire_authority.test"

// fleet is one deployment: hosts with their state directories, and the file that they share.
type fleet struct {
	t     *testing.T
	store string
}

func newFleet(t *testing.T) *fleet {
	return &fleet{t, filepath.Join(t.TempDir(), "published.json")}
}

func (f *fleet) host() string { return filepath.Join(f.t.TempDir(), "state dir") }

func (f *fleet) config(dir, arguments string) string {
	return fmt.Sprintf(`
resource "billet_wire_authority" "test" {
  deployment = %q
  state_dir  = %q
  store      = { file = { path = %q } }
  %s
}`, wirecerttest.Deployment, dir, f.store, arguments)
}

// mint makes an authority on the host and returns its fingerprint.
func (f *fleet) mint(dir string, options wirecerttest.Options) string {
	f.t.Helper()
	pair, err := wirecerttest.Mint(dir, options)
	if err != nil {
		f.t.Fatal(err)
	}
	return pair.Fingerprint
}

// publish puts what the host holds into the store, behind Terraform's back.
func (f *fleet) publish(dir string) {
	f.t.Helper()
	err := wireshare.Publish(context.Background(), filestore.New(f.store), dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) rotate(dir string) (old, new string) {
	f.t.Helper()
	old, new, err := wirecerttest.Rotate(context.Background(), dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
	return old, new
}

func (f *fleet) retire(dir string) {
	f.t.Helper()
	if err := wirecerttest.Retire(context.Background(), dir); err != nil {
		f.t.Fatal(err)
	}
}

// local is what the host holds now, "" for nothing.
func (f *fleet) local(dir string) string {
	f.t.Helper()
	state, err := wirecert.Read(dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
	if state.Authority == nil {
		return ""
	}
	return state.Authority.Info().Fingerprint
}

// tree lists everything below the paths with its bytes and times.
func tree(t *testing.T, roots ...string) string {
	t.Helper()
	var text strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			var data []byte
			if info.Mode().IsRegular() {
				if data, err = os.ReadFile(path); err != nil {
					return err
				}
			}
			fmt.Fprintf(&text, "%s %s %s %x\n", path, info.Mode(), info.ModTime(), data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func expects(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply: append(more, plancheck.ExpectResourceAction(authority, action)),
	}
}

func holds(attribute, value string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(authority, tfjsonpath.New(attribute), knownvalue.StringExact(value))
}

// refuses plans the configuration, expects the refusal, and that nothing was touched.
func (f *fleet) refuses(dir, arguments string, parts ...string) {
	f.t.Helper()
	before := tree(f.t, dir, filepath.Dir(f.store))
	run(f.t, resource.TestStep{Config: f.config(dir, arguments), ExpectError: says(parts...)})
	if tree(f.t, dir, filepath.Dir(f.store)) != before {
		f.t.Error("the refusal touched the host or the store")
	}
}

func TestAccWireAuthority_row_nothing_anywhere_mints_and_the_next_host_adopts(t *testing.T) {
	f := newFleet(t)
	first, second := f.host(), f.host()
	run(t, resource.TestStep{
		Config: f.config(first, ""),
		ConfigPlanChecks: expects(plancheck.ResourceActionCreate,
			plancheck.ExpectUnknownValue(authority, tfjsonpath.New("fingerprint"))),
		ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "minted")},
	}, resource.TestStep{Config: f.config(first, ""), PlanOnly: true})
	minted := f.local(first)
	run(t, resource.TestStep{
		Config: f.config(second, "mint_if_absent = false"),
		ConfigPlanChecks: expects(plancheck.ResourceActionCreate, plancheck.ExpectKnownValue(
			authority, tfjsonpath.New("fingerprint"), knownvalue.StringExact(minted))),
		ConfigStateChecks: []statecheck.StateCheck{
			holds("outcome", "adopted"), holds("local_fingerprint", minted), holds("published_fingerprint", minted),
		},
	}, resource.TestStep{Config: f.config(second, "mint_if_absent = false"), PlanOnly: true})
	if f.local(second) != minted {
		t.Error("the second host holds another authority")
	}
}

func TestAccWireAuthority_row_nothing_anywhere_and_mint_not_allowed_is_refused(t *testing.T) {
	f := newFleet(t)
	f.refuses(f.host(), "mint_if_absent = false", "There is no authority to adopt")
}

func TestAccWireAuthority_row_nothing_left_with_prior_state_never_mints(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	run(t, resource.TestStep{Config: f.config(dir, "")}, resource.TestStep{
		PreConfig: func() {
			for _, path := range []string{dir, f.store} {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		},
		Config: f.config(dir, ""), ExpectError: says("Refusing to mint: the accepted authority is gone", "SHA256:"),
	})
}

func TestAccWireAuthority_row_marker_without_authority_is_a_lost_one(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	if err := os.RemoveAll(filepath.Join(dir, "ca")); err != nil {
		t.Fatal(err)
	}
	f.refuses(dir, "", "Refusing to mint: this host lost its authority")
}

func TestAccWireAuthority_row_marker_and_a_published_one_adopts(t *testing.T) {
	f := newFleet(t)
	dir, other := f.host(), f.host()
	want := f.mint(other, wirecerttest.Options{})
	f.publish(other)
	f.mint(dir, wirecerttest.Options{})
	if err := os.RemoveAll(filepath.Join(dir, "ca")); err != nil {
		t.Fatal(err)
	}
	run(t, resource.TestStep{
		Config: f.config(dir, ""), ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", want)},
	})
}

func TestAccWireAuthority_row_local_only_is_published_and_published_again_when_gone(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	run(t, resource.TestStep{
		Config: f.config(dir, ""),
		ConfigPlanChecks: expects(plancheck.ResourceActionCreate,
			plancheck.ExpectKnownValue(authority, tfjsonpath.New("published_fingerprint"), knownvalue.StringExact(want)),
			plancheck.ExpectUnknownValue(authority, tfjsonpath.New("published_at"))),
		ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
	}, resource.TestStep{
		PreConfig: func() {
			if err := os.Remove(f.store); err != nil {
				t.Fatal(err)
			}
		},
		Config: f.config(dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionUpdate,
			plancheck.ExpectKnownValue(authority, tfjsonpath.New("fingerprint"), knownvalue.StringExact(want)),
			plancheck.ExpectKnownValue(authority, tfjsonpath.New("certificate_pem"), knownvalue.NotNull())),
	}, resource.TestStep{Config: f.config(dir, ""), PlanOnly: true})
	if info, err := os.Stat(f.store); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the published file: %v, %v", info, err)
	}
}

// F1
func TestAccWireAuthority_row_a_rotation_needs_consent_or_publish_rotations(t *testing.T) {
	for name, consent := range map[string]func(old string) string{
		"consent":           func(old string) string { return fmt.Sprintf("allow_replacing_published = %q", old) },
		"publish_rotations": func(string) string { return "publish_rotations = true" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			dir := f.host()
			old := f.mint(dir, wirecerttest.Options{})
			f.publish(dir)
			_, new := f.rotate(dir)
			f.refuses(dir, "", "Refusing to replace the published authority", new, old, "allow_replacing_published", old, "publish_rotations = true")
			run(t, resource.TestStep{
				Config:            f.config(dir, consent(old)),
				ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", new), holds("published_previous_fingerprint", old)},
			}, resource.TestStep{Config: f.config(dir, consent(old)), PlanOnly: true})
			// The host retires the old one: that drops nothing in use, so it is published.
			f.retire(dir)
			run(t, resource.TestStep{
				Config: f.config(dir, ""),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(
					authority, tfjsonpath.New("published_previous_fingerprint"), knownvalue.Null())},
			})
		})
	}
}

// F1
func TestAccWireAuthority_row_a_host_left_behind_adopts_by_consent_and_keeps_the_old_one(t *testing.T) {
	f := newFleet(t)
	dir, behind := f.host(), f.host()
	old := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	run(t, resource.TestStep{Config: f.config(behind, "")})
	_, new := f.rotate(dir)
	f.publish(dir)
	f.refuses(behind, "", "Refusing to replace the local authority", old, new, "allow_replacing_local", old)
	f.refuses(behind, fmt.Sprintf("allow_replacing_published = %q", new), "Refusing to replace the local authority")
	run(t, resource.TestStep{
		Config:            f.config(behind, fmt.Sprintf("allow_replacing_local = %q", old)),
		ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", new), holds("outcome", "adopted")},
	})
	aside, err := filepath.Glob(filepath.Join(behind, "ca.superseded-*", "ca.key"))
	if err != nil || len(aside) != 1 || f.local(behind) != new {
		t.Errorf("moved aside: %v (%v); the host holds %s", aside, err, f.local(behind))
	}
}

func TestAccWireAuthority_row_this_host_still_presents_a_retired_one_only_warns(t *testing.T) {
	f := newFleet(t)
	dir, other := f.host(), f.host()
	f.mint(dir, wirecerttest.Options{})
	f.rotate(dir)
	f.publish(dir)
	run(t, resource.TestStep{Config: f.config(other, "")}) // other has the previous pair, too
	f.retire(dir)
	f.publish(dir)
	before := tree(t, other)
	run(t, resource.TestStep{Config: f.config(other, ""), ConfigStateChecks: []statecheck.StateCheck{
		statecheck.ExpectKnownValue(authority, tfjsonpath.New("published_previous_fingerprint"), knownvalue.Null()),
		holds("outcome", "already_held"),
	}}, resource.TestStep{Config: f.config(other, ""), PlanOnly: true})
	if tree(t, other) != before {
		t.Error("the host was touched")
	}
}

func TestAccWireAuthority_row_two_unrelated_ones_are_refused_and_consent_works_either_way(t *testing.T) {
	for _, attribute := range []string{"allow_replacing_published", "allow_replacing_local"} {
		t.Run(attribute, func(t *testing.T) {
			f := newFleet(t)
			dir, other := f.host(), f.host()
			x := f.mint(dir, wirecerttest.Options{})
			y := f.mint(other, wirecerttest.Options{})
			f.publish(other)
			goes, stays := y, x
			if attribute == "allow_replacing_local" {
				goes, stays = x, y
			}
			f.refuses(dir, "", "Refusing to choose between two authorities", x, y)
			f.refuses(dir, fmt.Sprintf("%s = %q", attribute, stays), "Refusing to choose between two authorities", x, y)
			run(t, resource.TestStep{
				Config:            f.config(dir, fmt.Sprintf("%s = %q", attribute, goes)),
				ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", stays), holds("published_fingerprint", stays)},
			}, resource.TestStep{Config: f.config(dir, fmt.Sprintf("%s = %q", attribute, goes)), PlanOnly: true})
			if f.local(dir) != stays {
				t.Errorf("the host holds %s", f.local(dir))
			}
		})
	}
}

// C11, C1
func TestAccWireAuthority_row_what_cannot_be_read_is_never_written_over(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	if err := os.Chmod(filepath.Join(dir, "ca", "ca.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.refuses(dir, "", "The authority of this host cannot be read", "chmod 600")
	if err := os.Remove(filepath.Join(dir, "ca", "ca.key")); err != nil {
		t.Fatal(err)
	}
	f.refuses(dir, "", "The authority of this host cannot be read", "ca.key")

	g := newFleet(t)
	host := g.host()
	g.mint(host, wirecerttest.Options{})
	if err := os.WriteFile(g.store, []byte(`{"deployment":"x"} trailing`), 0o600); err != nil {
		t.Fatal(err)
	}
	g.refuses(host, "", "The published authority cannot be read")
}

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

func TestAccWireAuthority_row_two_previous_ones_are_refused_naming_both(t *testing.T) {
	f := newFleet(t)
	dir, other := f.host(), f.host()
	current, err := wirecerttest.NewPair(wirecerttest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	previous := make([]string, 2)
	for i, host := range []string{dir, other} {
		old, err := wirecerttest.NewPair(wirecerttest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		previous[i] = old.Fingerprint
		if err := wirecerttest.Write(host, wirecerttest.Files(wirecerttest.Deployment, current, &old)); err != nil {
			t.Fatal(err)
		}
	}
	f.publish(other)
	f.refuses(dir, "", "Refusing to choose between two previous authorities", previous[0], previous[1])
}

// C6
func TestAccWireAuthority_row_a_reissued_certificate_is_refused_and_consent_names_its_key(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	if err := wirecerttest.Reissue(context.Background(), dir, wirecerttest.Options{}); err != nil {
		t.Fatal(err)
	}
	f.refuses(dir, "", "Refusing to choose between two certificates of one key", want)
	consent := f.config(dir, fmt.Sprintf("allow_replacing_published = %q", want))
	run(t, resource.TestStep{Config: consent, ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")}},
		resource.TestStep{Config: consent, PlanOnly: true})
}
