package provider

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// described is what the service says of the secret.
func (c *cloud) described() *secretsmanager.DescribeSecretOutput {
	c.t.Helper()
	output, err := c.secrets.DescribeSecret(context.Background(),
		&secretsmanager.DescribeSecretInput{SecretId: &c.name})
	if err != nil {
		c.t.Fatal(err)
	}
	return output
}

// at is the version that carries the stage, "" if none does.
func (c *cloud) at(stage string) string {
	c.t.Helper()
	for version, stages := range c.described().VersionIdsToStages {
		if slices.Contains(stages, stage) {
			return version
		}
	}
	return ""
}

// empty makes the secret without a value.
func (c *cloud) empty() {
	c.t.Helper()
	_, err := c.secrets.CreateSecret(context.Background(), &secretsmanager.CreateSecretInput{Name: &c.name})
	if err != nil {
		c.t.Fatal(err)
	}
}

// put adds a version under the stage and returns it.
func (c *cloud) put(value, stage string) string {
	c.t.Helper()
	output, err := c.secrets.PutSecretValue(context.Background(), &secretsmanager.PutSecretValueInput{
		SecretId: &c.name, SecretString: &value, VersionStages: []string{stage},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return *output.VersionId
}

// move takes the stage from one version to another; "" is none.
func (c *cloud) move(stage, from, to string) {
	c.t.Helper()
	input := &secretsmanager.UpdateSecretVersionStageInput{SecretId: &c.name, VersionStage: &stage}
	if from != "" {
		input.RemoveFromVersionId = &from
	}
	if to != "" {
		input.MoveToVersionId = &to
	}
	if _, err := c.secrets.UpdateSecretVersionStage(context.Background(), input); err != nil {
		c.t.Fatal(err)
	}
}

// firstCurrent answers as the service does where moto fails: AWSCURRENT is moved without a version to
// take it from when no version carries it.
func (c *cloud) firstCurrent() moto.Fault {
	return moto.Fault{
		Operation: "UpdateSecretVersionStage",
		When: func(x *moto.Exchange) bool {
			return x.Input("VersionStage") == "AWSCURRENT" && x.Input("RemoveFromVersionId") == ""
		},
		Act: func(x *moto.Exchange) moto.Answer {
			scratch := c.put("scratch", "AWSCURRENT")
			c.move("AWSCURRENT", scratch, x.Input("MoveToVersionId"))
			return moto.Answer{Status: http.StatusOK, Body: []byte("{}")}
		},
	}
}

// S1
func TestAccWireAuthority_a_secret_in_its_recovery_window_is_left_alone(t *testing.T) {
	for _, text := range []string{moto.MarkedDeleted, moto.AlreadyScheduled} {
		for _, held := range []bool{false, true} {
			c := newCloud(t)
			p, dir := c.secret(), c.host()
			if held {
				c.mint(dir, wirecerttest.Options{})
			}
			c.empty()
			date := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
			c.proxy.Inject(moto.ScheduledForDeletion(date, text)...)
			c.refusesIn(p, dir, "", "The secret is scheduled for deletion", c.name, "2031-02-03T04:05:06Z",
				"aws secretsmanager restore-secret --secret-id '"+c.name+"'")
		}
	}
}

// S1: it is no lost copy either, which would be published again.
func TestAccWireAuthority_a_secret_that_somebody_deleted_is_not_taken_for_a_lost_copy(t *testing.T) {
	c := newCloud(t)
	p, dir := c.secret(), c.host()
	config := c.in(p, dir, "")
	run(t, resource.TestStep{Config: config}, resource.TestStep{
		PreConfig: func() {
			if _, err := c.secrets.DeleteSecret(context.Background(),
				&secretsmanager.DeleteSecretInput{SecretId: &c.name}); err != nil {
				t.Fatal(err)
			}
			c.proxy.Forget()
		},
		Config: config, PlanOnly: true, ExpectError: says("The secret is scheduled for deletion", "restore-secret"),
	})
	c.wroteNothing(p)
}

// S1: a name that a destroy put into its recovery window.
func TestAccWireAuthority_a_deleted_secret_is_not_created_again(t *testing.T) {
	c := newCloud(t)
	p, dir := c.secret(), c.host()
	run(t, resource.TestStep{Config: c.in(p, dir, `deletion_policy = "delete_published"`)})
	date := c.described().DeletedDate
	if date == nil {
		t.Fatal("the secret was not deleted")
	}
	c.refusesIn(p, dir, "", "The secret is scheduled for deletion", date.UTC().Format(time.RFC3339), "restore-secret")
}

// S3
func TestAccWireAuthority_an_empty_secret_is_nothing_published(t *testing.T) {
	for name, pending := range map[string]bool{"without a version": false, "with a pending version": true} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			p, dir := c.secret(), c.host()
			c.empty()
			var requests []string
			if pending {
				version := c.put("somebody's rotation", "AWSPENDING")
				c.move("AWSCURRENT", version, "")
				c.proxy.Inject(overhear(&requests), c.firstCurrent())
			}
			c.refusesIn(p, dir, "mint_if_absent = false", "There is no authority to adopt")
			want := c.mint(dir, wirecerttest.Options{})
			run(t, resource.TestStep{
				Config: c.in(p, dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
			}, resource.TestStep{Config: c.in(p, dir, ""), PlanOnly: true})
			if c.proxy.Count("CreateSecret") != 0 {
				t.Error("the secret was created again")
			}
			if c.publishedPrint(p) != want || c.at("BILLET_PENDING") != "" {
				t.Errorf("stages: %v", c.described().VersionIdsToStages)
			}
			if strings.Contains(strings.Join(requests, ""), "AWSPENDING") {
				t.Error("somebody's stage was touched")
			}
		})
	}
}

// S4
func TestAccWireAuthority_a_read_that_lags_behind_the_write_is_waited_for(t *testing.T) {
	t.Run("not found yet", func(t *testing.T) {
		c := newCloud(t)
		p, dir := c.secret(), c.host()
		c.proxy.Inject(after("CreateSecret", moto.NotFound("GetSecretValue", 2))...)
		run(t, resource.TestStep{Config: c.in(p, dir, "")}, resource.TestStep{Config: c.in(p, dir, ""), PlanOnly: true})
		if got := len(c.described().VersionIdsToStages); got != 1 || c.proxy.Count("CreateSecret") != 1 {
			t.Errorf("%d versions", got)
		}
	})
	t.Run("the version before", func(t *testing.T) {
		c := newCloud(t)
		p, dir := c.secret(), c.host()
		config := c.in(p, dir, "publish_rotations = true")
		run(t, resource.TestStep{Config: config}, resource.TestStep{
			PreConfig: func() {
				c.rotate(dir)
				c.proxy.Inject(after("UpdateSecretVersionStage", moto.StaleRead("GetSecretValue", 1))...)
			},
			Config: config, ConfigPlanChecks: expects(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
		}, resource.TestStep{PreConfig: c.proxy.Heal, Config: config, PlanOnly: true})
		if c.publishedPrint(p) != c.local(dir) || len(c.described().VersionIdsToStages) != 2 {
			t.Errorf("stages: %v", c.described().VersionIdsToStages)
		}
	})
	t.Run("for longer than the bound", func(t *testing.T) {
		c := newCloud(t)
		p, dir := c.secret(), c.host()
		want := c.mint(dir, wirecerttest.Options{})
		c.proxy.Inject(after("CreateSecret", moto.NotFound("GetSecretValue", 0))...)
		run(t, resource.TestStep{
			Config:      c.in(p, dir, ""),
			ExpectError: says("The store does not show the authority yet", "accepted the authority", "was written"),
		}, resource.TestStep{
			PreConfig: func() {
				c.proxy.Heal()
				c.proxy.Forget()
			},
			Config: c.in(p, dir, ""),
			ConfigStateChecks: []statecheck.StateCheck{
				holds("outcome", "already_held"), holds("published_fingerprint", want),
			},
		})
		c.wroteNothing(p)
	})
}

// S6
func TestAccWireAuthority_follows_AWSCURRENT_and_leaves_every_other_stage_alone(t *testing.T) {
	c := newCloud(t)
	p, dir, other := c.secret(), c.host(), c.host()
	x := c.mint(dir, wirecerttest.Options{})
	config := c.in(p, dir, "")
	run(t, resource.TestStep{Config: config}, resource.TestStep{
		PreConfig: func() {
			y := c.mint(other, wirecerttest.Options{})
			ours := c.at("AWSCURRENT")
			theirs := c.put(c.documentOf(other), "SOMEBODYS")
			c.move("AWSCURRENT", ours, theirs)
			before := fmt.Sprint(c.described().VersionIdsToStages)
			c.refusesIn(p, dir, "", "Refusing to choose between two authorities", x, y)
			if got := fmt.Sprint(c.described().VersionIdsToStages); got != before {
				t.Errorf("stages: %s, before %s", got, before)
			}
			c.move("AWSCURRENT", theirs, ours)
			c.proxy.Forget()
		},
		Config: config, ConfigPlanChecks: expects(plancheck.ResourceActionNoop),
	}, resource.TestStep{Config: config, PlanOnly: true})
	c.wroteNothing(p)
}

// S7
func TestAccWireAuthority_a_binary_secret_is_refused_and_kept(t *testing.T) {
	for _, valid := range []bool{true, false} {
		for _, held := range []bool{false, true} {
			c := newCloud(t)
			p, dir, other := c.secret(), c.host(), c.host()
			c.mint(other, wirecerttest.Options{})
			body := []byte{0, 1, 2, 0xff}
			if valid {
				body = []byte(c.documentOf(other))
			}
			if held {
				c.mint(dir, wirecerttest.Options{})
			}
			if _, err := c.secrets.CreateSecret(context.Background(), &secretsmanager.CreateSecretInput{
				Name: &c.name, SecretBinary: body,
			}); err != nil {
				t.Fatal(err)
			}
			version := c.at("AWSCURRENT")
			c.refusesIn(p, dir, "", "The secret is stored as binary", c.name)
			if c.at("AWSCURRENT") != version {
				t.Error("another version is current")
			}
		}
	}
}

// S13
func TestAccWireAuthority_a_replica_is_adopted_from_and_not_published_to(t *testing.T) {
	c := newCloud(t)
	p, dir, other := c.secret(), c.host(), c.host()
	c.mint(other, wirecerttest.Options{})
	c.publishTo(p, other)
	c.proxy.Inject(moto.Replica("us-east-1")...)
	config := c.in(p, dir, "publish_rotations = true")
	run(t, resource.TestStep{
		Config: config, ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "adopted")},
	}, resource.TestStep{Config: config, PlanOnly: true}, resource.TestStep{
		PreConfig: func() { c.rotate(other); c.publishTo(p, other) },
		Config:    config, ExpectError: says("Refusing to replace the local authority"), // drift shows
	})
	c.rotate(dir)
	c = newCloud(t)
	p = c.secret()
	c.empty()
	c.proxy.Inject(moto.Replica("us-east-1")...)
	c.refusesIn(p, dir, "", "Refusing to publish to a replica", c.name, "us-east-1")
}

// The key, the description and the tags are those of a secret that is created here, and only those.
func TestAccWireAuthority_describes_a_secret_that_it_creates(t *testing.T) {
	const own = `kms_key_id = "alias/billet", description = "the fleet", tags = { team = "net", tier = "own" }`
	c := newCloud(t)
	p, dir := c.secret(own), c.host()
	config := func(p place) string {
		return c.provider(`skip_credentials_validation = true
    default_tags = { tier = "default", stage = "prod" }`) + c.authority(p, dir, "")
	}
	changed := c.secret(strings.NewReplacer("the fleet", "other", "own", "other", "alias/billet", "alias/x").Replace(own))
	run(t, resource.TestStep{Config: config(p)}, resource.TestStep{Config: config(p), PlanOnly: true},
		resource.TestStep{PreConfig: c.proxy.Forget, Config: config(changed)})
	c.wroteNothing(p)
	got := c.described()
	tags := map[string]string{}
	for _, tag := range got.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if aws.ToString(got.KmsKeyId) != "alias/billet" || aws.ToString(got.Description) != "the fleet" ||
		fmt.Sprint(tags) != "map[stage:prod team:net tier:own]" {
		t.Errorf("key %s, description %q, tags %v", aws.ToString(got.KmsKeyId), aws.ToString(got.Description), tags)
	}
}

// deletion_policy: what this resource published goes into its recovery window, and nothing else.
func TestAccWireAuthority_deletes_a_secret_only_with_its_recovery_window(t *testing.T) {
	c := newCloud(t)
	p, dir := c.secret(), c.host()
	var requests []string
	c.proxy.Inject(overhear(&requests, "DeleteSecret"))
	const policy = `deletion_policy = "delete_published"`
	s := newSession(t, c.in(p, dir, policy))
	s.apply(0)
	printed := s.run(0, "plan", "-destroy", "-out=1.tfplan")
	wants(t, printed, "The published authority will be deleted", c.local(dir), dir, "stays as it is")
	local := tree(t, dir)
	s.applySaved(0)
	if len(requests) != 1 || !strings.Contains(requests[0], `"RecoveryWindowInDays":30`) ||
		strings.Contains(requests[0], "Force") {
		t.Errorf("requests %q", requests)
	}
	if c.described().DeletedDate == nil || tree(t, dir) != local {
		t.Error("the secret stays, or the host was touched")
	}
}
