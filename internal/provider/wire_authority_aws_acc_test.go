package provider

import (
	"fmt"
	"net/http"
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

// answer has every request of the operation answered so.
func answer(operation string, status int, header, body string) moto.Fault {
	return moto.Fault{Operation: operation, Act: func(*moto.Exchange) moto.Answer {
		return moto.Answer{Status: status, Header: http.Header{"Content-Type": {header}}, Body: []byte(body)}
	}}
}

// failures are answers to a read that say nothing about whether the authority is there.
func failures(read string) map[string]moto.Fault {
	refuse := func(status int, code string) moto.Fault {
		refusal := moto.Refusal(status, code, "the last words")
		return moto.Fault{Operation: read, Act: func(*moto.Exchange) moto.Answer { return refusal }}
	}
	return map[string]moto.Fault{
		"denied":             moto.Deny(read),
		"denied by KMS":      moto.DenyKMS(read),
		"throttled":          moto.Throttle(read, 0),
		"status 429":         moto.ThrottleAfter(read, 0, "0"),
		"unavailable":        moto.Unavailable(read, 0),
		"an internal error":  refuse(http.StatusInternalServerError, "InternalServiceError"),
		"expired token":      refuse(http.StatusBadRequest, "ExpiredTokenException"),
		"unknown client":     refuse(http.StatusForbidden, "UnrecognizedClientException"),
		"another 404":        answer(read, http.StatusNotFound, "text/html", "<html>not found</html>"),
		"a page of a proxy":  answer(read, http.StatusOK, "text/html", "<html>welcome</html>"),
		"a cut connection":   moto.LoseRequest(read, 0),
		"a silent one":       {Operation: read, Act: func(x *moto.Exchange) moto.Answer { <-x.Context.Done(); x.Lose(); return moto.Answer{} }},
		"an unusable answer": answer(read, http.StatusOK, "application/x-amz-json-1.1", "{}"),
	}
}

// K1: only the service's own answer that there is none counts as absent.
func TestAccWireAuthority_takes_no_failure_of_AWS_for_an_absence(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		s := newSession(t, c.provider("skip_credentials_validation = true\n    max_retries = 0")+
			c.authority(p, dir, `timeouts = { read = "2s" }`))
		s.apply(0)
		c.proxy.Forget()
		state, published := s.state(), c.holdsPublished(p)
		for name, fault := range failures(p.read) {
			c.proxy.Inject(fault)
			printed := s.plan(refused)
			c.proxy.Heal()
			if !strings.Contains(printed, wirecerttest.Deployment) || strings.Contains(printed, "will be created") {
				t.Errorf("%s: %s", name, printed)
			}
		}
		s.plan(empty)
		c.wroteNothing(p)
		if s.state() != state || c.holdsPublished(p) != published {
			t.Error("the state or the published document changed")
		}
		c.proxy.Inject(moto.NotFound(p.read, 0), moto.NotFound("DescribeSecret", 0))
		wants(t, s.plan(changes), "The published copy is gone", c.local(dir), "is published again")
	})
}

// S11: what is denied is no absence, and the error says which call on what, and what it takes.
func TestAccWireAuthority_says_what_a_denied_call_takes(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		c.mint(c.host(), wirecerttest.Options{})
		dir := c.host()
		c.mint(dir, wirecerttest.Options{})
		for message, fault := range map[string]moto.Fault{
			"is not authorized to perform": moto.Deny(p.read), "Access to KMS is not allowed": moto.DenyKMS(p.read),
		} {
			c.proxy.Heal()
			c.proxy.Inject(fault)
			c.refusesIn(p, dir, "", "The published authority cannot be read", p.read+" on", "billet/acc-",
				"AccessDeniedException", message, ":"+p.read, "kms:Decrypt")
		}
		c.proxy.Heal()
		write := map[string]string{secretsManager: "CreateSecret", ssmParameter: "PutParameter"}[p.kind]
		c.proxy.Inject(moto.DenyKMS(write))
		run(t, resource.TestStep{Config: c.in(p, dir, ""), ExpectError: says(
			"The authority may not have been published", write+" on", "Access to KMS is not allowed", "kms:GenerateDataKey")})
		c.proxy.Heal()
		if c.holdsPublished(p) != "" {
			t.Error("something is published")
		}
	})
}

// S11: a key without its account would be looked for in the caller's.
func TestAccWireAuthority_a_bare_key_beside_a_secret_of_another_account_is_refused(t *testing.T) {
	c := newCloud(t)
	dir := c.host()
	c.mint(dir, wirecerttest.Options{})
	c.name = "arn:aws:secretsmanager:" + testRegion + ":210987654321:secret:billet-Ab12Cd"
	p := c.secret(`kms_key_id = "1234abcd-12ab-34cd-56ef-1234567890ab"`)
	run(t, resource.TestStep{Config: c.provider("") + c.authority(p, dir, ""),
		ExpectError: says("kms_key_id", "210987654321", "123456789012", "full ARN of the key")})
	c.asked("GetCallerIdentity")
}

// S18
func TestAccWireAuthority_30_throttled_publishes_go_through_without_a_second_write(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		const hosts = 30
		var config strings.Builder
		config.WriteString(c.provider("skip_credentials_validation = true"))
		for i := range hosts {
			dir := c.host()
			c.mint(dir, wirecerttest.Options{})
			one := strings.NewReplacer(`"test"`, fmt.Sprintf(`"test%d"`, i), c.name+`"`, fmt.Sprintf(`%s-%d"`, c.name, i),
				c.prefix+`"`, fmt.Sprintf(`%s/%d"`, c.prefix, i))
			config.WriteString(one.Replace(c.authority(p, dir, "")))
		}
		s := newSession(t, config.String())
		write := map[string]string{secretsManager: "CreateSecret", ssmParameter: "PutParameter"}[p.kind]
		for _, call := range []string{p.read, write} {
			// What the first fault lets pass is the third attempt.
			c.proxy.Inject(eachTimes(2, moto.Throttle(call, 0)), eachTimes(1, moto.ThrottleAfter(call, 0, "1")))
		}
		wants(t, s.apply(0, "-parallelism=30"), "30 added")
		if got := c.proxy.Count(write); got != hosts*4 {
			t.Errorf("%d times %s, want each refused three times and carried out once", got, write)
		}
		c.proxy.Heal()
		s.plan(empty, "-parallelism=30")
	})
}

// eachTimes has the fault act on the first requests about each name.
func eachTimes(times int, fault moto.Fault) moto.Fault {
	count := map[string]int{}
	fault.When = func(x *moto.Exchange) bool {
		name := x.Input("SecretId") + x.Input("Name")
		count[name]++
		return count[name] <= times
	}
	return fault
}

// S18
func TestAccWireAuthority_throttled_for_ever_tells_the_attempts_and_the_last_words(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		c.mint(dir, wirecerttest.Options{})
		config := c.provider("skip_credentials_validation = true\n    max_retries = 2") + c.authority(p, dir, "")
		c.proxy.Inject(moto.Throttle(p.read, 0))
		run(t, resource.TestStep{Config: config, ExpectError: says(
			p.read+" on", "ThrottlingException: Rate exceeded", "the last of 3 attempts")})
		if got := c.proxy.Count(p.read); got != 3 {
			t.Errorf("%d attempts", got)
		}
	})
}

// B4: an answer that is lost is no failure, and no second version.
func TestAccWireAuthority_a_lost_answer_makes_no_second_version(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		for _, write := range p.writes {
			if strings.HasPrefix(write, "Delete") {
				continue
			}
			c.proxy.Inject(moto.LoseResponse(write, 1))
		}
		dir := c.host()
		config := c.in(p, dir, "publish_rotations = true")
		run(t, resource.TestStep{Config: config}, resource.TestStep{Config: config, PlanOnly: true},
			resource.TestStep{PreConfig: func() {
				c.rotate(dir)
				c.proxy.Inject(moto.LoseResponse("PutParameter", 1))
			}, Config: config}, resource.TestStep{Config: config, PlanOnly: true})
		if c.publishedPrint(p) != c.local(dir) || c.versions(p) != 2 {
			t.Errorf("%d versions", c.versions(p))
		}
	})
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
			ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "already_held"), holds("published_fingerprint", want)},
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

// deletion_policy: what another host published since the plan stays, and so does what was adopted.
func TestAccWireAuthority_deletes_nothing_that_another_host_published(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		const policy = `deletion_policy = "delete_published"`
		dir, other := c.host(), c.host()
		s := newSession(t, c.in(p, dir, policy))
		s.apply(0)
		s.run(0, "plan", "-destroy", "-out=1.tfplan")
		y := c.mint(other, wirecerttest.Options{})
		c.publishTo(p, other)
		wants(t, s.applySaved(0), "The published authority was not deleted", y)
		if c.publishedPrint(p) != y {
			t.Error("the other host's authority is gone")
		}
		adopting := newSession(t, c.in(p, c.host(), policy))
		adopting.apply(0)
		wants(t, adopting.run(0, "destroy", "-auto-approve"), "The authority stays", "does not apply", "adopted")
		if c.publishedPrint(p) != y || c.proxy.Count("DeleteSecret")+c.proxy.Count("DeleteParameter") != 0 {
			t.Error("what was adopted was deleted")
		}
	})
}

// Changing the store publishes to the new one and leaves the old.
func TestAccWireAuthority_moves_from_a_file_through_both_stores_of_AWS(t *testing.T) {
	c := newCloud(t)
	dir := c.host()
	want := c.mint(dir, wirecerttest.Options{})
	file := c.provider("skip_credentials_validation = true") + c.config(dir, "")
	steps := []resource.TestStep{{Config: file}}
	for _, p := range []place{c.secret(), c.parameter()} {
		steps = append(steps, resource.TestStep{
			Config: c.in(p, dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published"), holds("fingerprint", want)},
		}, resource.TestStep{Config: c.in(p, dir, ""), PlanOnly: true})
	}
	run(t, steps...)
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
		"by name":   {named, "secrets_manager=" + c.name},
		"by ARN":    {place{object: fmt.Sprintf(`{ secrets_manager = { secret_id = %q } }`, arn)}, "secrets_manager=" + arn},
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
