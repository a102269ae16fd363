package provider

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// protocol speaks to the provider as Terraform does: for what Terraform here is too old to ask, and for
// states that no Terraform here writes.
type protocol struct {
	t      *testing.T
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
}

// newProtocol configures the provider with the objects as JSON, "" for none.
func newProtocol(t *testing.T, config string) *protocol {
	t.Helper()
	p := &protocol{t: t, server: providerserver.NewProtocol6(New("test")())()}
	var err error
	if p.schema, err = p.server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	p.well(p.schema.Diagnostics)
	configured, err := p.server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0", Config: p.value(p.schema.Provider.ValueType(), config),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.well(configured.Diagnostics)
	return p
}

// well fails the test at an error.
func (p *protocol) well(diagnostics []*tfprotov6.Diagnostic) {
	p.t.Helper()
	for _, one := range diagnostics {
		if one.Severity == tfprotov6.DiagnosticSeverityError {
			p.t.Fatalf("%s: %s", one.Summary, one.Detail)
		}
	}
}

// value is the JSON object as a value of the type; what it does not name is null.
func (p *protocol) value(of tftypes.Type, text string) *tfprotov6.DynamicValue {
	p.t.Helper()
	if text == "" {
		text = "{}"
	}
	value, err := tftypes.ValueFromJSONWithOpts([]byte(complete(of, text)), of, tftypes.ValueFromJSONOpts{})
	if err != nil {
		p.t.Fatal(err)
	}
	encoded, err := tfprotov6.NewDynamicValue(of, value)
	if err != nil {
		p.t.Fatal(err)
	}
	return &encoded
}

// complete adds the attributes that are missing in an object, at every depth, as null.
func complete(of tftypes.Type, text string) string {
	object, ok := of.(tftypes.Object)
	var given map[string]json.RawMessage
	if !ok || json.Unmarshal([]byte(text), &given) != nil || given == nil {
		return text
	}
	for name, attribute := range object.AttributeTypes {
		if raw, set := given[name]; set {
			given[name] = json.RawMessage(complete(attribute, string(raw)))
		} else {
			given[name] = json.RawMessage("null")
		}
	}
	all, err := json.Marshal(given)
	if err != nil {
		return text
	}
	return string(all)
}

// texts are the strings among the attributes of an object, by name.
func (p *protocol) texts(of tftypes.Type, value *tfprotov6.DynamicValue) map[string]string {
	p.t.Helper()
	decoded, err := value.Unmarshal(of)
	if err != nil {
		p.t.Fatal(err)
	}
	var attributes map[string]tftypes.Value
	if err := decoded.As(&attributes); err != nil {
		p.t.Fatal(err)
	}
	all := map[string]string{}
	for name, attribute := range attributes {
		var text *string
		if attribute.Type().Is(tftypes.String) && attribute.As(&text) == nil && text != nil {
			all[name] = *text
		}
	}
	return all
}

func (p *protocol) stateType(resource string) tftypes.Type {
	return p.schema.ResourceSchemas[resource].ValueType()
}

// move moves a state, which is JSON, and returns what answers it.
func (p *protocol) move(
	provider, source, target, state string,
) (*tfprotov6.MoveResourceStateResponse, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	resp, err := p.server.MoveResourceState(p.t.Context(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: provider, SourceTypeName: source, TargetTypeName: target,
		SourceState: &tfprotov6.RawState{JSON: []byte(state)},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return resp, resp.Diagnostics
}

func (p *protocol) identityType(resource string) (*tfprotov6.ResourceIdentitySchema, tftypes.Type) {
	p.t.Helper()
	all, err := p.server.GetResourceIdentitySchemas(p.t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	p.well(all.Diagnostics)
	schema := all.IdentitySchemas[resource]
	if schema == nil {
		p.t.Fatalf("%s has no identity", resource)
	}
	return schema, schema.ValueType()
}

// importAs imports by the identity, which is JSON.
func (p *protocol) importAs(resource, identity string) (*tfprotov6.ImportedResource, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	_, of := p.identityType(resource)
	resp, err := p.server.ImportResourceState(p.t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: resource, Identity: &tfprotov6.ResourceIdentityData{IdentityData: p.value(of, identity)},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if len(resp.ImportedResources) != 1 {
		return nil, resp.Diagnostics
	}
	return resp.ImportedResources[0], resp.Diagnostics
}

// read refreshes a state as Terraform does after an import, a move or an upgrade.
func (p *protocol) read(
	resource string, state *tfprotov6.DynamicValue, identity *tfprotov6.ResourceIdentityData, private []byte,
) *tfprotov6.ReadResourceResponse {
	p.t.Helper()
	resp, err := p.server.ReadResource(p.t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: resource, CurrentState: state, CurrentIdentity: identity, Private: private,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.well(resp.Diagnostics)
	return resp
}

// list lists resources by the configuration, which is JSON, and returns what is streamed.
func (p *protocol) list(resource, config string, limit int64, include bool) []tfprotov6.ListResourceResult {
	p.t.Helper()
	server, ok := p.server.(tfprotov6.ListResourceServer)
	if !ok {
		p.t.Fatal("the server lists nothing")
	}
	schema := p.schema.ListResourceSchemas[resource]
	if schema == nil {
		p.t.Fatalf("%s cannot be listed", resource)
	}
	stream, err := server.ListResource(p.t.Context(), &tfprotov6.ListResourceRequest{
		TypeName: resource, Config: p.value(schema.ValueType(), config), Limit: limit, IncludeResource: include,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return slices.Collect(stream.Results)
}
