package provider

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.ResourceWithIdentity  = (*wireAuthority)(nil)
	_ resource.ResourceWithMoveState = (*wireAuthority)(nil)
)

// wireAuthorityIdentity is what an import has to know. The store may change in place, and the identity
// with it.
type wireAuthorityIdentity struct {
	Deployment     types.String `tfsdk:"deployment"`
	StateDir       types.String `tfsdk:"state_dir"`
	SecretsManager types.String `tfsdk:"secrets_manager"`
	SSMParameter   types.String `tfsdk:"ssm_parameter"`
	File           types.String `tfsdk:"file"`
}

// stores are the places of the identity by the kind of store.
func (i *wireAuthorityIdentity) stores() map[string]*types.String {
	return map[string]*types.String{
		secretsManager: &i.SecretsManager, ssmParameter: &i.SSMParameter, inFile: &i.File,
	}
}

func (m *wireAuthorityModel) identity() wireAuthorityIdentity {
	identity := wireAuthorityIdentity{Deployment: m.Deployment, StateDir: m.StateDir}
	for kind, place := range identity.stores() {
		if one, ok := m.Store.Attributes()[kind].(types.Object); ok && !one.IsNull() {
			*place, _ = one.Attributes()[storePlaces[kind]].(types.String)
		}
	}
	return identity
}

func (r *wireAuthority) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	optional := func(description string) identityschema.StringAttribute {
		return identityschema.StringAttribute{OptionalForImport: true, Description: description}
	}
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"deployment": identityschema.StringAttribute{
			RequiredForImport: true, Description: "Id of the billet deployment.",
		},
		"state_dir": identityschema.StringAttribute{
			RequiredForImport: true, Description: "State directory of billet on the host.",
		},
		secretsManager: optional("Name or full ARN of the secret. One store has to be given."),
		ssmParameter:   optional("Path above the parameter."),
		inFile:         optional("Path of the file."),
	}}
}

var importID = regexp.MustCompile(`^deployment=([^,]*),state_dir=(.*),(` +
	strings.Join(slices.Sorted(maps.Keys(storePlaces)), "|") + `)=(.*)$`)

// ImportState takes deployment=ID,state_dir=PATH and the place of the store; or the identity.
func (r *wireAuthority) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	var identity wireAuthorityIdentity
	refusal := badAuthorityImportID
	if req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsFullyNull() {
		refusal = badAuthorityIdentity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	} else if parts := importID.FindStringSubmatch(req.ID); parts != nil {
		identity.Deployment, identity.StateDir = types.StringValue(parts[1]), types.StringValue(parts[2])
		*identity.stores()[parts[3]] = types.StringValue(parts[4])
	}
	kind, problems := identity.check(ctx)
	for _, problem := range problems {
		resp.Diagnostics.Append(refusal(problem))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identify(ctx, resp.Identity, identity)...)
	resp.Diagnostics.Append(takeOver(ctx, &resp.State, map[string]any{
		"deployment": identity.Deployment, "state_dir": identity.StateDir,
		"store": storeAt(kind, identity.stores()[kind].ValueString()),
	})...)
}

// check returns the kind of the one store, and what is wrong.
func (i *wireAuthorityIdentity) check(ctx context.Context) (kind string, problems []string) {
	places := i.stores()
	for name, place := range places {
		if place.IsNull() {
			continue
		}
		if kind != "" {
			return "", []string{"It names more than one store."}
		}
		kind = name
	}
	if kind == "" {
		return "", []string{""}
	}
	for _, one := range []struct {
		name  string
		value types.String
		valid validator.String
	}{
		{"deployment", i.Deployment, isDeployment()}, {"state_dir", i.StateDir, isAbsolutePath()},
		{kind, *places[kind], isStorePlace(kind)},
	} {
		if one.value.IsNull() {
			problems = append(problems, one.name+" is missing.")
		}
		var found validator.StringResponse
		one.valid.ValidateString(ctx, validator.StringRequest{ConfigValue: one.value}, &found)
		for _, problem := range found.Diagnostics {
			problems = append(problems, one.name+": "+problem.Detail())
		}
	}
	return kind, problems
}

// isStorePlace is the check of the place of this kind of store.
func isStorePlace(kind string) validator.String {
	return storeField("").fields[kind].fields[storePlaces[kind]].checks[0]
}
