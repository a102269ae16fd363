package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// applied is a session in an example as it is; only its variables and the environment are the test's.
func (c *cloud) applied(name, dir string, variables ...string) *session {
	c.t.Helper()
	return example(c.t, name, "", append(variables,
		"TF_VAR_deployment="+wirecerttest.Deployment, "TF_VAR_state_dir="+dir, "AWS_ENDPOINT_URL="+c.proxy.URL,
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=x"))
}

func TestAccExample_active_and_passive_controllers_share_one_authority(t *testing.T) {
	c := newCloud(t)
	c.name = "billet/" + wirecerttest.Deployment + "/node-wire-authority"
	p := c.secret()
	one, two := c.host(), c.host()
	active := c.applied("active-passive", one, "TF_VAR_active=true")
	passive := c.applied("active-passive", two, "TF_VAR_active=false")
	wants(t, passive.plan(refused), "There is no authority to adopt")
	active.apply(0)
	passive.apply(0)
	if c.local(one) == "" || c.local(one) != c.local(two) || c.publishedPrint(p) != c.local(one) {
		t.Fatalf("%s, %s, published %s", c.local(one), c.local(two), c.publishedPrint(p))
	}
	wants(t, passive.run(0, "output"), c.local(one), "BEGIN CERTIFICATE")
	old, _ := c.rotate(one)
	active.apply(0)
	wants(t, passive.plan(refused), "Refusing to replace the local authority", old)
	active.plan(empty)
	if got := c.described().Tags; len(got) != 1 || *got[0].Value != "billet" {
		t.Errorf("%d tags", len(got))
	}
}

func TestAccExample_billet_and_Terraform_share_one_parameter(t *testing.T) {
	c := newCloud(t)
	p, dir, billet := c.parameter(), c.host(), c.host()
	s := c.applied("shared-parameter", dir, "TF_VAR_prefix="+c.prefix)
	wants(t, s.plan(refused), "There is no authority to adopt")
	want := c.mint(billet, wirecerttest.Options{})
	c.publishTo(p, billet)
	s.apply(0)
	s.plan(empty)
	if c.local(dir) != want || len(c.history()) != 1 {
		t.Errorf("the host holds %s, %d versions", c.local(dir), len(c.history()))
	}
}

// T10: each line of the import example is one that import understands, and each kind of store has one.
func TestExample_imports_from_each_kind_of_store(t *testing.T) {
	r := &wireAuthority{}
	var schema resource.SchemaResponse
	r.Schema(t.Context(), resource.SchemaRequest{}, &schema)
	seen := map[string]bool{}
	for line := range strings.Lines(exampleText(t, "resources/billet_wire_authority/import.sh")) {
		id, found := strings.CutPrefix(strings.TrimSpace(line), "terraform import billet_wire_authority.this ")
		if !found {
			continue
		}
		resp := resource.ImportStateResponse{State: tfsdk.State{Schema: schema.Schema,
			Raw: tftypes.NewValue(schema.Schema.Type().TerraformType(t.Context()), nil)}}
		r.ImportState(t.Context(), resource.ImportStateRequest{ID: id}, &resp)
		if resp.Diagnostics.HasError() {
			t.Errorf("%s: %v", id, resp.Diagnostics)
		}
		var model wireAuthorityModel
		resp.Diagnostics.Append(resp.State.Get(t.Context(), &model)...)
		s := storeOf(model.Store)
		seen[s.kind] = s.known && strings.HasSuffix(id, s.kind+"="+s.place)
	}
	if got := fmt.Sprint(seen); got != "map[file:true secrets_manager:true ssm_parameter:true]" {
		t.Errorf("lines for %s", got)
	}
}
