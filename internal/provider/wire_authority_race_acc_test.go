package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// meet holds the first two requests of the operation until both have arrived.
func meet(operation string) moto.Fault {
	var both sync.WaitGroup
	both.Add(2)
	return moto.Fault{Operation: operation, Times: 2, Act: func(x *moto.Exchange) moto.Answer {
		both.Done()
		both.Wait()
		return x.Forward()
	}}
}

// secondAfterMove holds two puts until both have arrived, and the answer of the second one until
// AWSCURRENT has moved to the first one's version.
func secondAfterMove() []moto.Fault {
	puts, moved := meet("PutSecretValue"), make(chan struct{})
	put, arrived := puts.Act, new(atomic.Int64)
	puts.Act = func(x *moto.Exchange) moto.Answer {
		second := arrived.Add(1) == 2
		answer := put(x)
		if second {
			<-moved
		}
		return answer
	}
	return []moto.Fault{puts, {
		Operation: "UpdateSecretVersionStage", Times: 1,
		When: func(x *moto.Exchange) bool { return x.Input("VersionStage") == "AWSCURRENT" },
		Act: func(x *moto.Exchange) moto.Answer {
			defer close(moved)
			return x.Forward()
		},
	}}
}

// together applies in both sessions at once, and returns what they printed and the exit codes.
func together(t *testing.T, sessions ...*session) (printed []string, codes []int) {
	t.Helper()
	printed, codes = make([]string, len(sessions)), make([]int, len(sessions))
	var running sync.WaitGroup
	for i, s := range sessions {
		running.Go(func() {
			run, err := s.terraform.Run(t.Context(), "apply", "-auto-approve", "-no-color")
			if err != nil {
				t.Error(err)
			}
			printed[i], codes[i] = string(run.Stdout)+string(run.Stderr), run.ExitCode
		})
	}
	running.Wait()
	return printed, codes
}

// Two first controllers converge on one authority: who is too late adopts the winner's.
func TestAccWireAuthority_two_first_controllers_converge_through_AWS(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		one, two := c.host(), c.host()
		sessions := []*session{newSession(t, c.in(p, one, "")), newSession(t, c.in(p, two, ""))}
		c.proxy.Inject(meet(map[string]string{secretsManager: "CreateSecret", ssmParameter: "PutParameter"}[p.kind]))
		printed, codes := together(t, sessions...)
		if codes[0] != 0 || codes[1] != 0 {
			t.Fatalf("exit codes %v: %s", codes, printed)
		}
		if c.local(one) == "" || c.local(one) != c.local(two) || c.publishedPrint(p) != c.local(one) {
			t.Errorf("%s, %s, published %s", c.local(one), c.local(two), c.publishedPrint(p))
		}
		minted := 0
		for _, s := range sessions {
			minted += strings.Count(s.state(), `"outcome": "minted"`)
			s.plan(empty)
		}
		if minted != 1 || c.versions(p) != 1 {
			t.Errorf("%d minted, %d versions", minted, c.versions(p))
		}
	})
}

// Two hosts rotate and publish at the same moment: Secrets Manager lets one of them, and the other is
// told both fingerprints.
func TestAccWireAuthority_of_two_publishes_at_once_one_is_refused(t *testing.T) {
	c := newCloud(t)
	p := c.secret()
	one, two := c.host(), c.host()
	const arguments = "publish_rotations = true"
	sessions := []*session{newSession(t, c.in(p, one, arguments)), newSession(t, c.in(p, two, arguments))}
	for _, s := range sessions {
		s.apply(0)
	}
	c.rotate(one)
	c.rotate(two)
	read := c.at("AWSCURRENT")
	var moves overheard
	c.proxy.Inject(overhear(&moves, "UpdateSecretVersionStage"))
	c.proxy.Inject(secondAfterMove()...)
	printed, codes := together(t, sessions...)
	slices.Sort(codes)
	if !slices.Equal(codes, []int{0, 1}) {
		t.Fatalf("exit codes %v: %s", codes, printed)
	}
	winner := c.publishedPrint(p)
	if winner != c.local(one) && winner != c.local(two) {
		t.Errorf("published is %s", winner)
	}
	loser, said := c.local(one), printed[0]
	if winner == loser {
		loser, said = c.local(two), printed[1]
	}
	wants(t, said, "Error:", loser, winner)
	// Both name the version that they read: that is what lets the service refuse one of them.
	for _, move := range moves.all() {
		if strings.Contains(move, `"AWSCURRENT"`) && !strings.Contains(move, `"RemoveFromVersionId":"`+read+`"`) {
			t.Errorf("a move is not from %s: %s", read, move)
		}
	}
	// The loser's version is left without a stage; no stage of ours stays.
	if c.at("BILLET_PENDING") != "" {
		t.Errorf("stages: %v", c.described().VersionIdsToStages)
	}
}

// T8: an interrupt while the service holds the write: Terraform ends soon, and whatever the service
// did then is found by the next run.
func TestAccWireAuthority_an_interrupted_publish_is_finished_by_the_next_run(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		s := newSession(t, c.in(p, dir, ""))
		reached, release := make(chan struct{}), make(chan struct{})
		done := make(chan struct{})
		hold := moto.HoldThenCommit(
			map[string]string{secretsManager: "CreateSecret", ssmParameter: "PutParameter"}[p.kind], reached, release)
		commit := hold.Act
		hold.Act = func(x *moto.Exchange) moto.Answer { defer close(done); return commit(x) }
		c.proxy.Inject(hold)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-reached; cancel() }()
		began := time.Now()
		if _, err := s.terraform.Run(ctx, "apply", "-auto-approve", "-no-color"); !errors.Is(err, context.Canceled) {
			t.Fatalf("the apply was not interrupted: %v", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it ended after %s", took)
		}
		if c.local(dir) != "" {
			t.Error("an authority is installed that may not be published")
		}
		close(release)
		<-done
		s.apply(0)
		s.plan(empty)
		if c.versions(p) != 1 || c.local(dir) != c.publishedPrint(p) {
			t.Errorf("%d versions, local %s", c.versions(p), c.local(dir))
		}
	})
}

// T5: the same checks at apply when the place was not known at plan, and no call before.
func TestAccWireAuthority_asks_AWS_nothing_while_the_store_is_unknown(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir, other := c.host(), c.host()
		x, y := c.mint(dir, wirecerttest.Options{}), c.mint(other, wirecerttest.Options{})
		c.publishTo(p, other)
		place := map[string]string{secretsManager: c.name, ssmParameter: c.prefix}[p.kind]
		config := strings.Replace(c.in(p, dir, ""), `"`+place+`"`, "terraform_data.place.output", 1) +
			"\nresource \"terraform_data\" \"place\" { input = \"" + place + "\" }\n"
		before, published := tree(t, dir), c.holdsPublished(p)
		s := newSession(t, config)
		s.plan(changes)
		c.asked()
		wants(t, s.applySaved(1), "Refusing to choose between two authorities", x, y)
		c.wroteNothing(p)
		if tree(t, dir) != before || c.holdsPublished(p) != published {
			t.Error("the refused apply touched the host or the store")
		}
	})
}

// T5: credentials, or a role, that are made in the same run.
func TestAccWireAuthority_asks_AWS_nothing_while_its_configuration_is_unknown(t *testing.T) {
	const output = "terraform_data.made.output"
	for leaf, test := range map[string]struct{ old, new, value string }{
		"access_key": {`"AKIDPROVIDER"`, output, "AKIDMADE"},
		"assume_role[0].role_arn": {"region ", "assume_role = [{ role_arn = " + output + " }]\n    region ",
			"arn:aws:iam::123456789012:role/made"},
		"allowed_account_ids": {"region ", "allowed_account_ids = [" + output + "]\n    region ", "123456789012"},
		"region":              {`"` + testRegion + `"`, output, testRegion},
	} {
		t.Run(leaf, func(t *testing.T) {
			c := newCloud(t)
			p, dir, other := c.secret(), c.host(), c.host()
			x := c.mint(dir, wirecerttest.Options{})
			config := func(generation string) string {
				return strings.Replace(c.provider(""), test.old, test.new, 1) + c.authority(p, dir, "") + `
resource "terraform_data" "made" {
  input            = "` + test.value + `"
  triggers_replace = "` + generation + `"
}
`
			}
			s := newSession(t, config("1"))
			wants(t, s.plan(changes), "The store is not known yet", "aws."+leaf)
			c.asked()
			s.applySaved(0)
			if c.publishedPrint(p) != x {
				t.Fatal("nothing was published")
			}
			// Refresh keeps the state while the value is made anew.
			c.proxy.Forget()
			s.configure(config("2"))
			wants(t, s.plan(changes), "The authority was not refreshed", "aws."+leaf)
			c.asked()
			if got := s.actions()[authority]; got != "update" {
				t.Errorf("planned %q, so that apply checks nothing", got)
			}
			state := s.state()
			s.applySaved(0)
			if !strings.Contains(state, x) || !strings.Contains(s.state(), x) || c.versions(p) != 1 {
				t.Error("the state lost the authority, or it was published again")
			}
			s.plan(empty)
			// What apply finds then is compared, too.
			s.configure(config("3"))
			s.plan(changes)
			y := c.mint(other, wirecerttest.Options{})
			c.publishTo(p, other)
			wants(t, s.applySaved(refused), "Refusing to choose between two authorities", x, y)
			if c.local(dir) != x || c.publishedPrint(p) != y {
				t.Error("the refusal replaced something")
			}
			wants(t, s.plan(refused), "Refusing to choose between two authorities", x, y)
		})
	}
}
