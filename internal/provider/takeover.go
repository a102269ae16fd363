package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
)

// takeOver makes the state of what was there before this resource: imported, moved or listed. Every
// attribute without a value gets its default, so that the plan of a configuration that does not name
// it is empty.
func takeOver(ctx context.Context, state *tfsdk.State, values map[string]any) diag.Diagnostics {
	var diags diag.Diagnostics
	for name, attribute := range state.Schema.GetAttributes() {
		value, ok := values[name]
		if !ok {
			value = defaultOf(ctx, attribute)
		}
		if value != nil {
			diags.Append(state.SetAttribute(ctx, path.Root(name), value)...)
		}
	}
	return diags
}

// defaultOf is the default of the attribute; nil for one that has none.
func defaultOf(ctx context.Context, attribute any) any {
	switch one := attribute.(type) {
	case rschema.StringAttribute:
		if one.Default != nil {
			var resp defaults.StringResponse
			one.Default.DefaultString(ctx, defaults.StringRequest{}, &resp)
			return resp.PlanValue
		}
	case rschema.BoolAttribute:
		if one.Default != nil {
			var resp defaults.BoolResponse
			one.Default.DefaultBool(ctx, defaults.BoolRequest{}, &resp)
			return resp.PlanValue
		}
	}
	return nil
}

// identify sets the identity. There is none to set where a caller asks for none.
func identify(ctx context.Context, identity *tfsdk.ResourceIdentity, value any) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.Set(ctx, value)
}
