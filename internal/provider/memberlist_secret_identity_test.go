package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
)

const secretResource = "billet_memberlist_secret"

func (w *world) protocol() *protocol {
	return newProtocol(w.t, fmt.Sprintf(`{"kubernetes":{"config_path":%q}}`, w.kubeconfig))
}

// Terraform before 1.12 imports by id alone, so this speaks the protocol.
func TestAccMemberlistSecret_imported_by_identity_is_as_imported_by_id(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	p := w.protocol()
	schema, of := p.identityType(secretResource)
	needed := map[string]bool{}
	for _, attribute := range schema.IdentityAttributes {
		needed[attribute.Name] = attribute.RequiredForImport
	}
	if len(needed) != 2 || !needed["namespace"] || needed["name"] {
		t.Errorf("required for import: %v", needed)
	}
	imported, err := p.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: secretResource, ID: w.namespace,
	})
	if err != nil || len(imported.ImportedResources) != 1 {
		t.Fatalf("%v, %d resources", err, len(imported.ImportedResources))
	}
	one := imported.ImportedResources[0]
	byID := p.read(secretResource, one.State, one.Identity, one.Private)
	for _, name := range []string{`,"name":"antrea-memberlist-keys"`, ""} {
		one, diagnostics := p.importAs(secretResource, fmt.Sprintf(`{"namespace":%q%s}`, w.namespace, name))
		p.well(diagnostics)
		read := p.read(secretResource, one.State, one.Identity, one.Private)
		if !bytes.Equal(read.NewState.MsgPack, byID.NewState.MsgPack) {
			t.Error("the states differ")
		}
		identity := p.texts(of, read.NewIdentity.IdentityData)
		if identity["namespace"] != w.namespace || identity["name"] != "antrea-memberlist-keys" {
			t.Errorf("identity %v", identity)
		}
	}
	if state := p.texts(p.stateType(secretResource), byID.NewState); state["primary_key_fingerprint"] != print("a") {
		t.Errorf("imported %v", state)
	}
	w.unchanged(before)
}

// identities skips what runs under a Terraform or OpenTofu before 1.12, which imports by id alone.
func identities(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(), Steps: steps,
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
	})
}

func TestAccMemberlistSecret_an_import_block_takes_its_identity(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	block := func(identity string) string {
		return w.config("") + fmt.Sprintf("\nimport {\n  to = %s\n  identity = { %s }\n}\n", address, identity)
	}
	identities(t, resource.TestStep{
		Config: block(`namespace = "Not Valid"`), ExpectError: says("Invalid import identity"),
	}, resource.TestStep{
		Config:            block(fmt.Sprintf("namespace = %q", w.namespace)),
		ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
		ConfigStateChecks: []statecheck.StateCheck{is("origin", "imported"), is("primary_key_fingerprint", print("a"))},
	}, resource.TestStep{Config: w.config(""), PlanOnly: true})
	w.unchanged(before)
}

// A state of an earlier version has no identity, and one with write-only credentials is not refreshed:
// Terraform wants an identity after every Read.
func TestAccMemberlistSecret_a_state_without_identity_gets_one(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	p := w.protocol()
	_, of := p.identityType(secretResource)
	state := p.value(p.stateType(secretResource), fmt.Sprintf(
		`{"id":"%s/s","namespace":%q,"name":"s","origin":"created"}`, w.namespace, w.namespace))
	writeOnly, err := json.Marshal(map[string][]byte{credentialsNote: []byte("true")})
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range [][]byte{nil, writeOnly} {
		read := p.read(secretResource, state, nil, private)
		identity := p.texts(of, read.NewIdentity.IdentityData)
		if identity["namespace"] != w.namespace || identity["name"] != "s" {
			t.Errorf("identity %v", identity)
		}
	}
}

func TestMemberlistSecret_refuses_an_identity_that_names_no_Secret(t *testing.T) {
	p := newProtocol(t, "")
	for _, bad := range []string{
		`{"namespace":"a/b"}`, `{"namespace":""}`, `{"name":"n"}`,
		`{"namespace":"ns","name":"Not Valid"}`, `{"namespace":"ns","name":""}`,
	} {
		_, diagnostics := p.importAs(secretResource, bad)
		if len(diagnostics) != 1 || diagnostics[0].Summary != "Invalid import identity" ||
			!strings.Contains(diagnostics[0].Detail, "namespace and a name") {
			t.Errorf("%s: %d diagnostics", bad, len(diagnostics))
		}
	}
}
