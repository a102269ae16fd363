package provider

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

const authorityResource = "billet_wire_authority"

func (f *fleet) identity(dir string) string {
	return fmt.Sprintf(`{"deployment":%q,"state_dir":%q,"file":%q}`, wirecerttest.Deployment, dir, f.store)
}

// Terraform before 1.12 imports by id alone, so this speaks the protocol.
func TestAccWireAuthority_imported_by_identity_is_as_imported_by_id(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	before := tree(t, dir, filepath.Dir(f.store))
	p := newProtocol(t, "")
	schema, of := p.identityType(authorityResource)
	for _, attribute := range schema.IdentityAttributes {
		required := attribute.Name == "deployment" || attribute.Name == "state_dir"
		if attribute.RequiredForImport != required || attribute.OptionalForImport == required {
			t.Errorf("%s is required: %t", attribute.Name, attribute.RequiredForImport)
		}
	}
	imported, err := p.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: authorityResource, ID: "deployment=" + wirecerttest.Deployment + ",state_dir=" + dir + ",file=" + f.store,
	})
	if err != nil || len(imported.ImportedResources) != 1 {
		t.Fatalf("%v, %d resources", err, len(imported.ImportedResources))
	}
	one := imported.ImportedResources[0]
	byID := p.read(authorityResource, one.State, one.Identity, one.Private)
	one, diagnostics := p.importAs(authorityResource, f.identity(dir))
	p.well(diagnostics)
	read := p.read(authorityResource, one.State, one.Identity, one.Private)
	if !bytes.Equal(read.NewState.MsgPack, byID.NewState.MsgPack) {
		t.Error("the states differ")
	}
	identity := p.texts(of, read.NewIdentity.IdentityData)
	if len(identity) != 3 || identity["state_dir"] != dir || identity["file"] != f.store {
		t.Errorf("identity %v", identity)
	}
	if state := p.texts(p.stateType(authorityResource), read.NewState); state["fingerprint"] != want {
		t.Errorf("imported %v", state)
	}
	if tree(t, dir, filepath.Dir(f.store)) != before {
		t.Error("importing touched the host or the store")
	}
}

// The store may change in place, and is part of what an import has to know.
func TestAccWireAuthority_its_identity_follows_the_store(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	p := newProtocol(t, "")
	_, of := p.identityType(authorityResource)
	one, diagnostics := p.importAs(authorityResource, f.identity(dir))
	p.well(diagnostics)
	read := p.read(authorityResource, one.State, one.Identity, one.Private)
	old := strings.Replace(f.identity(dir), f.store, "/elsewhere", 1)
	elsewhere := &tfprotov6.ResourceIdentityData{IdentityData: p.value(of, old)}
	again := p.read(authorityResource, read.NewState, elsewhere, read.Private)
	if identity := p.texts(of, again.NewIdentity.IdentityData); identity["file"] != f.store {
		t.Errorf("identity %v", identity)
	}
}

func TestWireAuthority_refuses_an_identity_that_is_not_whole(t *testing.T) {
	p := newProtocol(t, "")
	whole := fmt.Sprintf(`"deployment":%q,"state_dir":"/d"`, wirecerttest.Deployment)
	for identity, want := range map[string]string{
		`{` + whole + `}`: "one of secrets_manager",
		`{` + whole + `,"file":"/f","ssm_parameter":"/p"}`:      "more than one store",
		`{` + whole + `,"file":"f"}`:                            "absolute",
		`{` + whole + `,"ssm_parameter":"p"}`:                   "ssm_parameter",
		`{"deployment":"x","state_dir":"/d","file":"/f"}`:       "deployment",
		`{"state_dir":"/d","file":"/f"}`:                        "deployment is missing",
		strings.Replace(`{`+whole+`,"file":"/f"}`, "/d", "", 1): "state_dir",
	} {
		_, diagnostics := p.importAs(authorityResource, identity)
		if len(diagnostics) != 1 || diagnostics[0].Summary != "Invalid import identity" ||
			!strings.Contains(diagnostics[0].Detail, want) {
			t.Errorf("%s: %d diagnostics", identity, len(diagnostics))
		}
	}
}

func TestAccWireAuthority_an_import_block_takes_its_identity(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	block := fmt.Sprintf("\nimport {\n  to = %s\n  identity = {\n deployment = %q\n state_dir = %q\n file = %q\n }\n}\n",
		authority, wirecerttest.Deployment, dir, f.store)
	moved := &fleet{t, filepath.Join(t.TempDir(), "elsewhere.json")}
	identities(t, resource.TestStep{
		Config: f.config(dir, "") + block, ConfigPlanChecks: expects(plancheck.ResourceActionNoop),
		ConfigStateChecks: []statecheck.StateCheck{holds("fingerprint", want)},
	}, resource.TestStep{Config: f.config(dir, ""), PlanOnly: true}, resource.TestStep{
		// The identity changes with the store, in place.
		Config: moved.config(dir, ""), ConfigPlanChecks: expects(plancheck.ResourceActionUpdate),
	}, resource.TestStep{Config: moved.config(dir, ""), PlanOnly: true})
}
