package provider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

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
