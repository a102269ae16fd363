package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// answer has every request of the operation answered so.
func answer(operation string, status int, header, body string) moto.Fault {
	return moto.Fault{Operation: operation, Act: func(*moto.Exchange) moto.Answer {
		return moto.Answer{Status: status, Header: http.Header{"Content-Type": {header}}, Body: []byte(body)}
	}}
}

// silence never answers.
func silence(operation string) moto.Fault {
	return moto.Fault{Operation: operation, Act: func(x *moto.Exchange) moto.Answer {
		<-x.Context.Done()
		x.Lose()
		return moto.Answer{}
	}}
}

// readFaults are answers to a read that say nothing about whether the authority is there.
func readFaults(read string) map[string]moto.Fault {
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
		"a silent one":       silence(read),
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
		for name, fault := range readFaults(p.read) {
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
			"The authority may not have been published", write+" on", "Access to KMS is not allowed",
			"kms:GenerateDataKey")})
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
			one := strings.NewReplacer(`"test"`, fmt.Sprintf(`"test%d"`, i),
				c.name+`"`, fmt.Sprintf(`%s-%d"`, c.name, i),
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
