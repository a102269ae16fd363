package provider

import (
	"context"
	"encoding/base64"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure      = (*memberlistKeys)(nil)
	_ ephemeral.EphemeralResourceWithValidateConfig = (*memberlistKeys)(nil)
)

func newMemberlistKeys() ephemeral.EphemeralResource { return &memberlistKeys{} }

type memberlistKeys struct{ connectedEphemeral }

type memberlistKeysModel struct {
	memberlistSource
	Keys                  types.List   `tfsdk:"keys"`
	PrimaryKey            types.String `tfsdk:"primary_key"`
	Text                  types.String `tfsdk:"text"`
	Fingerprints          types.List   `tfsdk:"fingerprints"`
	PrimaryKeyFingerprint types.String `tfsdk:"primary_key_fingerprint"`
}

func (e *memberlistKeys) Metadata(
	_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_memberlist_keys"
}

func (e *memberlistKeys) Schema(
	_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse,
) {
	attributes := build(memberlistSourceFields("No keys by then is an error.", ""), ephemeralAttribute)
	for name, attribute := range map[string]schema.Attribute{
		"keys": schema.ListAttribute{Computed: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "The keys in file order, each in base64 with padding."},
		"primary_key": schema.StringAttribute{Computed: true, Sensitive: true,
			MarkdownDescription: "The first of them, with which agents encrypt."},
		"text": schema.StringAttribute{Computed: true, Sensitive: true,
			MarkdownDescription: "The keys as Antrea writes them: each on a line of its own."},
		"fingerprints": schema.ListAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Fingerprints of the keys in file order."},
		"primary_key_fingerprint": schema.StringAttribute{Computed: true,
			MarkdownDescription: "Fingerprint of the primary key: `SHA256:` and the unpadded base64 of SHA-256 " +
				"over the decoded key."},
	} {
		attributes[name] = attribute
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The gossip keys of an Antrea cluster, for handing them to a write-only argument " +
			"or a provider. They are in no state and no plan. Terraform opens it in the plan and again in the " +
			"apply, and each time it reads the Secret and never makes, fills or changes one: no valid key is " +
			"an error. It needs Terraform 1.10 or OpenTofu 1.11, and `get` on this one Secret.",
		Attributes: attributes,
	}
}

// ValidateConfig judges the connection that the resource brings along.
func (e *memberlistKeys) ValidateConfig(
	ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse,
) {
	var config memberlistKeysModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(config.validate(ctx)...)
}

// Open only reads. Terraform does not call it while one of the arguments is unknown, but it does
// while a setting of the provider is; Terraform takes unknown values then, and opens it at apply.
func (e *memberlistKeys) Open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse,
) {
	var model memberlistKeysModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if unknown := e.connections.unknownCluster(ctx, model.Kubernetes); len(unknown) > 0 {
		model.unknown()
		resp.Diagnostics.Append(openedAtApply("kubernetes", unknown))
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
		return
	}
	live, found, err := e.connections.reveal(ctx, model.memberlistSource)
	switch {
	case err != nil:
		resp.Diagnostics.Append(memberlistDiagnostics(model, err)...)
	case len(found) == 0:
		resp.Diagnostics.Append(noKeys(model, live))
	default:
		resp.Diagnostics.Append(model.reveal(ctx, live, found)...)
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
	}
}

func (m *memberlistKeysModel) unknown() {
	m.Keys, m.Fingerprints = types.ListUnknown(types.StringType), types.ListUnknown(types.StringType)
	m.PrimaryKey, m.Text = types.StringUnknown(), types.StringUnknown()
	m.PrimaryKeyFingerprint = types.StringUnknown()
}

func (m *memberlistKeysModel) reveal(ctx context.Context, live keys.Live, found [][]byte) diag.Diagnostics {
	encoded := make([]string, len(found))
	for i, key := range found {
		encoded[i] = base64.StdEncoding.EncodeToString(key)
	}
	m.PrimaryKey = types.StringValue(encoded[0])
	m.Text = types.StringValue(string(keys.FormatKeys(found)))
	m.PrimaryKeyFingerprint = types.StringValue(live.Primary())
	var diags, more diag.Diagnostics
	m.Keys, diags = types.ListValueFrom(ctx, types.StringType, encoded)
	m.Fingerprints, more = types.ListValueFrom(ctx, types.StringType, live.Fingerprints)
	return append(diags, more...)
}
