package provider

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// awsState is a published authority as the aws provider has it in its state; "" for a document that
// was write-only.
func (c *cloud) awsState(p place, document string) string {
	if p.kind == ssmParameter {
		value := "has_value_wo = true\n  value_wo_version = 1"
		if document != "" {
			value = fmt.Sprintf("value = %q", document)
		}
		return fmt.Sprintf(`
resource "aws_ssm_parameter" "test" {
  id        = "%[1]s/node-wire-authority"
  name      = "%[1]s/node-wire-authority"
  arn       = "arn:aws:ssm:eu-west-1:123456789012:parameter%[1]s/node-wire-authority"
  type      = "SecureString"
  data_type = "text"
  key_id    = "alias/aws/ssm"
  tier      = "Intelligent-Tiering"
  version   = 1
  tags_all  = {}
  %[2]s
}`, c.prefix, value)
	}
	value := "has_secret_string_wo = true\n  secret_string_wo_version = 1"
	if document != "" {
		value = fmt.Sprintf("secret_string = %q", document)
	}
	return fmt.Sprintf(`
resource "aws_secretsmanager_secret_version" "test" {
  id             = "%[1]s|11111111-2222-3333-4444-555555555555"
  arn            = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:%[1]s-AbCdEf"
  secret_id      = %[1]q
  version_id     = "11111111-2222-3333-4444-555555555555"
  version_stages = ["AWSCURRENT"]
  %[2]s
}`, c.name, value)
}

func movedAuthorityBlock(p place) string {
	kind := awsSecretVersion.types[0]
	if p.kind == ssmParameter {
		kind = awsParameter.types[0]
	}
	return fmt.Sprintf("\nmoved {\n  from = %s.test\n  to   = %s\n}\n", kind, authority)
}

// A source knows no state directory, so the first plan shows the one of the configuration. Applying it
// changes the state alone.
func TestAccWireAuthority_moved_from_the_aws_provider_writes_nothing(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		want := c.mint(dir, wirecerttest.Options{})
		c.publishTo(p, dir)
		document := c.holdsPublished(p)
		for name, held := range map[string]string{"read back": document, "write-only": ""} {
			t.Run(name, func(t *testing.T) {
				// All but the lock, which every apply takes.
				host := func() string { return tree(t, filepath.Join(dir, "ca"), filepath.Join(dir, "authority-created")) }
				before := host()
				var free secretFree
				for _, canary := range canaries(t, document)[2:] { // the credentials stand in the configuration
					free = append(free, string(canary))
				}
				emptied, check := free.logged(t)
				c.proxy.Forget()
				moves(t, resource.TestStep{Config: c.awsState(p, held)}, resource.TestStep{
					PreConfig: emptied, Config: c.in(p, dir, "") + movedAuthorityBlock(p),
					ConfigPlanChecks: expects(plancheck.ResourceActionUpdate, free.plan(),
						plancheck.ExpectKnownValue(authority, tfjsonpath.New("fingerprint"), knownvalue.StringExact(want))),
					Check: free.state,
					ConfigStateChecks: []statecheck.StateCheck{
						holds("state_dir", dir), holds("fingerprint", want), holds("local_fingerprint", want),
						holds("published_fingerprint", want), holds("outcome", "already_held"),
					},
				}, resource.TestStep{Config: c.in(p, dir, ""), PlanOnly: true})
				check()
				c.wroteNothing(p)
				if host() != before || c.holdsPublished(p) != document {
					t.Error("the move touched the host or the store")
				}
			})
		}
	})
}

// The plan after a move is held to the same table as any other, and never mints.
func TestAccWireAuthority_moved_is_held_to_the_same_table(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir, other, nowhere := c.host(), c.host(), c.host()
		x := c.mint(dir, wirecerttest.Options{})
		y := c.mint(other, wirecerttest.Options{})
		c.publishTo(p, dir)
		document := c.holdsPublished(p)
		refuses := func(dir, held, source string, parts ...string) {
			t.Helper()
			before := tree(t, dir, other)
			c.proxy.Forget()
			start := resource.TestStep{Config: c.awsState(p, held)}
			moves(t, start, resource.TestStep{
				Config: source + c.authority(p, dir, "") + movedAuthorityBlock(p), ExpectError: says(parts...),
			}, start)
			c.wroteNothing(p)
			if tree(t, dir, other) != before {
				t.Error("the refusal touched a host")
			}
		}
		provider := c.provider("skip_credentials_validation = true")
		refuses(other, document, provider, "Refusing to choose between two authorities", y, x)
		refuses(dir, strings.Replace(document, `"files"`, `"more"`, 1), provider,
			"The moved resource holds no published authority")
		empty := *c
		empty.name, empty.prefix = c.name+"-empty", c.prefix+"-empty"
		nothing := map[string]func(...string) place{secretsManager: empty.secret, ssmParameter: empty.parameter}[p.kind]()
		for held, summary := range map[string]string{
			document: "Refusing to mint: the accepted authority is gone", "": "There is no authority to adopt",
		} {
			moves(t, resource.TestStep{Config: empty.awsState(nothing, held)}, resource.TestStep{
				Config: empty.in(nothing, nowhere, "") + movedAuthorityBlock(nothing), ExpectError: says(summary),
			}, resource.TestStep{Config: empty.awsState(nothing, held)})
		}
		c.wroteNothing(p)
		// A host that has none adopts, as the plan shows.
		moves(t, resource.TestStep{Config: c.awsState(p, document)}, resource.TestStep{
			Config: c.in(p, nowhere, "") + movedAuthorityBlock(p), ConfigPlanChecks: expects(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "adopted"), holds("local_fingerprint", x)},
		})
		if c.local(nowhere) != x {
			t.Error("the host adopted nothing")
		}
	})
}
