package provider

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// history are the values of the parameter, one version after another.
func (c *cloud) history() []string {
	c.t.Helper()
	name, decrypt := c.prefix+"/node-wire-authority", true
	output, err := c.parameters.GetParameterHistory(context.Background(), &ssm.GetParameterHistoryInput{
		Name: &name, WithDecryption: &decrypt,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var values []string
	for _, version := range output.Parameters {
		values = append(values, *version.Value)
	}
	return values
}

// putParameter is another writer: it makes the parameter.
func (c *cloud) putParameter(value string) {
	c.t.Helper()
	name := c.prefix + "/node-wire-authority"
	if _, err := c.parameters.PutParameter(context.Background(), &ssm.PutParameterInput{
		Name: &name, Value: &value, Type: types.ParameterTypeSecureString,
	}); err != nil {
		c.t.Fatal(err)
	}
}

// padded is an authority whose certificate is longer by about so many bytes.
func padded(bytes int) wirecerttest.Options {
	return wirecerttest.Options{Change: func(template *x509.Certificate) {
		template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{
			Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}, Value: make([]byte, bytes),
		})
	}}
}

// S8, S9: a document that outgrows the standard tier is written in place; there is no tier to set.
func TestAccWireAuthority_a_parameter_grows_into_the_next_tier_in_place(t *testing.T) {
	c := newCloud(t)
	p, dir := c.parameter(), c.host()
	var requests []string
	c.proxy.Inject(overhear(&requests, "PutParameter", "DeleteParameter"))
	c.proxy.Inject(moto.SizeLimits()...)
	c.mint(dir, wirecerttest.Options{})
	config := c.in(p, dir, "publish_rotations = true")
	consent := ""
	run(t, resource.TestStep{Config: config}, resource.TestStep{
		PreConfig: func() {
			old := c.local(dir)
			c.mint(dir, padded(2_000))
			consent = fmt.Sprintf("allow_replacing_published = %q", old)
		},
		Config: config, ExpectError: says("Refusing to choose between two authorities"),
	})
	run(t, resource.TestStep{
		Config: c.in(p, dir, consent), ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "published")},
	})
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, request := range requests {
		if !strings.Contains(request, `"Tier":"Intelligent-Tiering"`) {
			t.Error("a request names another tier")
		}
	}
	if grown := c.history(); len(grown) != 2 || len(grown[1]) <= 4096 || c.publishedPrint(p) != c.local(dir) {
		t.Errorf("%d versions", len(grown))
	}
}

// S8: what does not fit is refused by the plan, and what is published stays.
func TestAccWireAuthority_a_document_that_does_not_fit_is_refused_by_the_plan(t *testing.T) {
	for _, test := range []struct {
		kind  string
		bytes int
		says  []string
	}{
		{ssmParameter, 5_000, []string{"8192", "Secrets Manager"}},
		{secretsManager, 40_000, []string{"65536"}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			c := newCloud(t)
			p, dir, other := c.parameter(), c.host(), c.host()
			if test.kind == secretsManager {
				p = c.secret()
			}
			c.mint(dir, padded(test.bytes))
			summary := append([]string{"The authority does not fit the store"}, test.says...)
			c.refusesIn(p, dir, "", summary...)
			old := c.mint(other, wirecerttest.Options{})
			c.publishTo(p, other)
			before := c.holdsPublished(p)
			c.refusesIn(p, dir, fmt.Sprintf("allow_replacing_published = %q", old), summary...)
			if c.holdsPublished(p) != before {
				t.Error("another document is published")
			}
		})
	}
}

// S10: somebody else makes the parameter after the plan, before or during the first publish.
func TestAccWireAuthority_the_first_publish_never_overwrites_a_parameter(t *testing.T) {
	for _, value := range []string{"the same", "another", "plain text"} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s late %t", value, late), func(t *testing.T) {
				c := newCloud(t)
				p, dir, other := c.parameter(), c.host(), c.host()
				x, y := c.mint(dir, wirecerttest.Options{}), c.mint(other, wirecerttest.Options{})
				theirs := map[string]string{
					"the same": c.documentOf(dir), "another": c.documentOf(other), "plain text": "hello",
				}[value]
				var requests []string
				c.proxy.Inject(overhear(&requests, "PutParameter"))
				hook := planHook(func(plancheck.CheckPlanRequest) error { c.putParameter(theirs); return nil })
				if late {
					hook = func(plancheck.CheckPlanRequest) error { return nil }
					c.proxy.Inject(moto.Fault{Operation: "PutParameter", Times: 1,
						Act: func(x *moto.Exchange) moto.Answer { c.putParameter(theirs); return x.Forward() }})
				}
				step := resource.TestStep{
					Config: c.in(p, dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionCreate, hook),
				}
				switch value {
				case "the same":
					step.ConfigStateChecks = []statecheck.StateCheck{holds("published_fingerprint", x)}
				case "another":
					step.ExpectError = says(x, y)
				default:
					step.ExpectError = says("The published authority cannot be read")
				}
				run(t, step)
				if got := c.history(); len(got) != 1 || got[0] != theirs {
					t.Errorf("%d versions", len(got))
				}
				if want := map[bool]int{false: 0, true: 1}[late]; len(requests) != want {
					t.Errorf("%d requests", len(requests))
				}
				for _, request := range requests {
					if !strings.Contains(request, `"Overwrite":false`) {
						t.Error("the first publish would overwrite")
					}
				}
			})
		}
	}
}

// S10: later publishes overwrite, after a fresh look at the version.
func TestAccWireAuthority_a_later_publish_compares_the_parameter_version(t *testing.T) {
	c := newCloud(t)
	p, dir, other := c.parameter(), c.host(), c.host()
	config := c.in(p, dir, "publish_rotations = true")
	var requests []string
	c.mint(dir, wirecerttest.Options{})
	y := c.mint(other, wirecerttest.Options{})
	run(t, resource.TestStep{Config: config}, resource.TestStep{
		PreConfig: func() { c.rotate(dir) }, Config: config,
		ConfigPlanChecks: expects(plancheck.ResourceActionUpdate, planHook(func(plancheck.CheckPlanRequest) error {
			// Between the look under the lock and the one just before the write.
			c.proxy.Inject(overhear(&requests, "PutParameter"), moto.Fault{Operation: "GetParameter", Skip: 1,
				Times: 1, Act: func(x *moto.Exchange) moto.Answer { c.publishTo(p, other); return x.Forward() }})
			return nil
		})),
		ExpectError: says("Refusing to choose between two authorities", y),
	})
	if len(requests) != 0 {
		t.Errorf("%d requests", len(requests))
	}
	if c.publishedPrint(p) != c.local(other) {
		t.Error("the other writer's document is gone")
	}
}

// S9: the parameter is deleted only where that is wanted, and only what was published here.
func TestAccWireAuthority_deletes_the_parameter_it_published(t *testing.T) {
	c := newCloud(t)
	p, dir := c.parameter(), c.host()
	run(t, resource.TestStep{Config: c.in(p, dir, `deletion_policy = "delete_published"`)})
	if c.holdsPublished(p) != "" || c.proxy.Count("DeleteParameter") != 1 || c.local(dir) == "" {
		t.Errorf("asked %v", c.proxy.Calls())
	}
}

// The key goes along with each publish: the service keeps none.
func TestAccWireAuthority_gives_the_key_with_each_publish_of_a_parameter(t *testing.T) {
	c := newCloud(t)
	p, dir := c.parameter(`kms_key_id = "alias/billet"`), c.host()
	var requests []string
	c.proxy.Inject(overhear(&requests, "PutParameter"))
	config := c.in(p, dir, "publish_rotations = true")
	run(t, resource.TestStep{Config: config}, resource.TestStep{
		PreConfig: func() { c.rotate(dir) }, Config: config,
	})
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, request := range requests {
		if !strings.Contains(request, `"KeyId":"alias/billet"`) || !strings.Contains(request, `"Type":"SecureString"`) {
			t.Error("a publish names another key or type")
		}
	}
}
