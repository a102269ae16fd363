package provider

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// What is asked of AWS, to the last request: one read for a refresh, and nothing else while there is
// nothing to do.
func TestAccWireAuthority_asks_AWS_no_more_than_it_has_to(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		c.mint(dir, wirecerttest.Options{})
		first := map[string][]string{
			secretsManager: {"DescribeSecret", "CreateSecret", "GetSecretValue"},
			ssmParameter:   {"PutParameter", "GetParameter"},
		}[p.kind]
		again := map[string][]string{
			secretsManager: {"PutSecretValue", "UpdateSecretVersionStage", "UpdateSecretVersionStage", "GetSecretValue"},
			ssmParameter:   {"GetParameter", "PutParameter", "GetParameter"},
		}[p.kind]
		planned := p.absent
		if p.kind == secretsManager {
			planned = append(planned, "DescribeSecret") // a replica, or one that is scheduled for deletion
		}
		s := newSession(t, c.provider("")+c.authority(p, dir, "publish_rotations = true"))
		who := []string{"GetCallerIdentity"}
		join := func(parts ...[]string) (all []string) {
			for _, part := range parts {
				all = append(all, part...)
			}
			return all
		}
		s.plan(changes)
		c.asked(join(who, planned)...)
		s.applySaved(0)
		c.asked(join(who, planned, p.absent, first)...)
		s.plan(empty)
		c.asked(join(who, []string{p.read})...)
		s.apply(0)
		c.asked(join(who, []string{p.read})...)
		s.run(0, "apply", "-refresh-only", "-auto-approve")
		c.asked(join(who, []string{p.read})...)
		c.rotate(dir)
		s.plan(changes)
		c.asked(join(who, []string{p.read})...)
		s.applySaved(0)
		c.asked(join(who, []string{p.read}, again)...)
		s.plan(empty)
	})
}

// B4: an answer that is lost is no failure, and no second version, whether the call is made again or not.
func TestAccWireAuthority_a_lost_answer_makes_no_second_version(t *testing.T) {
	for _, retries := range []int{0, 5} {
		inBoth(t, func(t *testing.T, c *cloud, p place) {
			dir := c.host()
			config := c.provider(fmt.Sprintf("skip_credentials_validation = true\nmax_retries = %d", retries)) +
				c.authority(p, dir, "publish_rotations = true")
			lose := func() {
				c.proxy.Heal()
				for _, write := range p.writes {
					c.proxy.Inject(moto.LoseResponse(write, 1))
				}
			}
			run(t, resource.TestStep{
				PreConfig: lose, Config: config, ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "minted")},
			}, resource.TestStep{Config: config, PlanOnly: true}, resource.TestStep{
				PreConfig: func() { c.rotate(dir); lose() }, Config: config,
				ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
			}, resource.TestStep{Config: config, PlanOnly: true})
			if c.publishedPrint(p) != c.local(dir) || c.versions(p) != 2 {
				t.Errorf("%d versions", c.versions(p))
			}
		})
	}
}

// versions counts what the service keeps.
func (c *cloud) versions(p place) int {
	c.t.Helper()
	if p.kind == ssmParameter {
		return len(c.history())
	}
	return len(c.described().VersionIdsToStages)
}

// B4: when nothing can be found out the apply claims nothing, and the next plan sees it published.
func TestAccWireAuthority_an_unknown_outcome_is_settled_by_the_next_plan(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		write := map[string]string{secretsManager: "CreateSecret", ssmParameter: "PutParameter"}[p.kind]
		look := map[string]string{secretsManager: "DescribeSecret", ssmParameter: "GetParameter"}[p.kind]
		dir := c.host()
		want := c.mint(dir, wirecerttest.Options{})
		config := c.provider("skip_credentials_validation = true\n    max_retries = 0") + c.authority(p, dir, "")
		// The first of two faults for one operation acts: what comes after the write is unavailable.
		faults := after(write, moto.Unavailable(look, 0))
		reached := faults[1].Act
		faults[1].Act = func(x *moto.Exchange) moto.Answer { reached(x); x.Lose(); return moto.Answer{} }
		run(t, resource.TestStep{
			PreConfig: func() { c.proxy.Inject(faults...) }, Config: config,
			ExpectError: says("The authority may not have been published", write, "could not be found out"),
		}, resource.TestStep{
			PreConfig: func() { c.proxy.Heal(); c.proxy.Forget() }, Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				holds("outcome", "already_held"), holds("published_fingerprint", want)},
		}, resource.TestStep{Config: config, PlanOnly: true})
		c.wroteNothing(p)
		if c.versions(p) != 1 {
			t.Errorf("%d versions", c.versions(p))
		}
	})
}

// T3: destroy forgets without asking AWS anything.
func TestAccWireAuthority_destroy_works_while_AWS_cannot_be_reached(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		s := newSession(t, c.in(p, dir, ""))
		s.apply(0)
		before, published := tree(t, dir), c.holdsPublished(p)
		c.proxy.Inject(moto.LoseRequest("", 0))
		c.proxy.Forget()
		wants(t, s.run(0, "destroy", "-auto-approve", "-refresh=false"), "The authority stays", dir, "1 destroyed")
		c.asked()
		if tree(t, dir) != before || c.holdsPublished(p) != published {
			t.Error("destroy touched the host or the store")
		}
	})
}

// Changing the store publishes to the new one and leaves the old.
func TestAccWireAuthority_moves_from_a_file_through_both_stores_of_AWS(t *testing.T) {
	c := newCloud(t)
	dir := c.host()
	want := c.mint(dir, wirecerttest.Options{})
	s := newSession(t, c.provider("skip_credentials_validation = true")+c.config(dir, ""))
	s.apply(0)
	for _, p := range []place{c.secret(), c.parameter()} {
		s.configure(c.in(p, dir, ""))
		printed := s.plan(changes)
		wants(t, printed, "will be updated in-place", "0 to add, 1 to change, 0 to destroy")
		wantsNot(t, printed, "The published copy is gone")
		s.applySaved(0)
		s.plan(empty)
		if !strings.Contains(s.state(), `"outcome": "published"`) {
			t.Errorf("%s: not published", p.kind)
		}
	}
	if _, err := os.Stat(c.store); err != nil || c.publishedPrint(c.secret()) != want ||
		c.publishedPrint(c.parameter()) != want || c.described().DeletedDate != nil {
		t.Errorf("an old store was touched: %v", err)
	}
}

// T10
func TestAccWireAuthority_imports_from_AWS_with_an_empty_plan(t *testing.T) {
	c := newCloud(t)
	dir := c.host()
	want := c.mint(dir, wirecerttest.Options{})
	for _, p := range []place{c.secret(), c.parameter()} {
		c.publishTo(p, dir)
	}
	named := c.secret()
	arn := *c.described().ARN
	for name, test := range map[string]struct {
		p  place
		id string
	}{
		"by name": {named, "secrets_manager=" + c.name},
		"by ARN": {place{object: fmt.Sprintf(`{ secrets_manager = { secret_id = %q } }`, arn)},
			"secrets_manager=" + arn},
		"by prefix": {c.parameter(), "ssm_parameter=" + c.prefix},
	} {
		t.Run(name, func(t *testing.T) {
			id := "deployment=" + wirecerttest.Deployment + ",state_dir=" + dir + "," + test.id
			run(t, resource.TestStep{
				Config:           c.in(test.p, dir, "") + fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", authority, id),
				ConfigPlanChecks: expects(plancheck.ResourceActionNoop),
				ConfigStateChecks: []statecheck.StateCheck{
					holds("fingerprint", want), holds("published_fingerprint", want),
				},
			}, resource.TestStep{Config: c.in(test.p, dir, ""), PlanOnly: true})
		})
	}
	c.wroteNothing(named)
	c.wroteNothing(c.parameter())
}
