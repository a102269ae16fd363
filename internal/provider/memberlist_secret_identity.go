package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	_ resource.ResourceWithIdentity  = (*memberlistSecret)(nil)
	_ resource.ResourceWithMoveState = (*memberlistSecret)(nil)
)

// memberlistSecretIdentity tells one Secret from the others of a cluster.
type memberlistSecretIdentity struct {
	Namespace types.String `tfsdk:"namespace"`
	Name      types.String `tfsdk:"name"`
}

func secretIdentity(namespace, name string) memberlistSecretIdentity {
	return memberlistSecretIdentity{types.StringValue(namespace), types.StringValue(name)}
}

func (m *memberlistSecretModel) identity() memberlistSecretIdentity {
	return memberlistSecretIdentity{m.Namespace, m.Name}
}

func (r *memberlistSecret) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"namespace": identityschema.StringAttribute{
			RequiredForImport: true, Description: "Namespace of the Secret.",
		},
		"name": identityschema.StringAttribute{
			OptionalForImport: true, Description: "Name of the Secret. Default " + keys.DefaultName + ".",
		},
	}}
}

// ImportState takes namespace/name, or a namespace alone for Antrea's own Secret; or its identity.
func (r *memberlistSecret) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	namespace, name, diags := importedSecret(ctx, req)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identify(ctx, resp.Identity, secretIdentity(namespace, name))...)
	resp.Diagnostics.Append(takeOver(ctx, &resp.State, map[string]any{
		"namespace": namespace, "name": name, "origin": originImported,
	})...)
}

func importedSecret(
	ctx context.Context, req resource.ImportStateRequest,
) (namespace, name string, diags diag.Diagnostics) {
	refusal := badImportID
	if req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsFullyNull() {
		var identity memberlistSecretIdentity
		diags = req.Identity.Get(ctx, &identity)
		namespace, name = identity.Namespace.ValueString(), identity.Name.ValueString()
		if identity.Name.IsNull() {
			name = keys.DefaultName
		}
		refusal = badImportIdentity
	} else {
		var named bool
		if namespace, name, named = strings.Cut(req.ID, "/"); !named {
			name = keys.DefaultName
		}
	}
	if problems := secretProblems(namespace, name); len(problems) > 0 {
		diags.Append(refusal(problems))
	}
	return namespace, name, diags
}
