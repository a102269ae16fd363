package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	_ datasource.DataSourceWithConfigure      = (*memberlistSecretData)(nil)
	_ datasource.DataSourceWithValidateConfig = (*memberlistSecretData)(nil)
)

func newMemberlistSecretData() datasource.DataSource { return &memberlistSecretData{} }

type memberlistSecretData struct{ connectedDataSource }

type memberlistSecretDataModel struct {
	memberlistSource
	ID                    types.String `tfsdk:"id"`
	Exists                types.Bool   `tfsdk:"exists"`
	Valid                 types.Bool   `tfsdk:"valid"`
	Problem               types.String `tfsdk:"problem"`
	UID                   types.String `tfsdk:"uid"`
	Fingerprints          types.List   `tfsdk:"fingerprints"`
	PrimaryKeyFingerprint types.String `tfsdk:"primary_key_fingerprint"`
	KeyCount              types.Int64  `tfsdk:"key_count"`
	PrimaryKeyBits        types.Int64  `tfsdk:"primary_key_bits"`
}

func (d *memberlistSecretData) Metadata(
	_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_memberlist_secret"
}

func (d *memberlistSecretData) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	attributes := build(memberlistSourceFields(
		"When the time is over the Secret is shown as it is, with a warning.",
		"`token`, `password`, `client_key`, `proxy_url` and `exec.env` are null in the state. Terraform "+
			"itself keeps them in a plan that puts the read off to apply, and in the variables of any plan: "+
			"`config_path` and `exec` need no credential there.",
	), dataSourceAttribute)
	for name, attribute := range map[string]schema.Attribute{
		"id": readText("`namespace/name`."),
		"exists": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the Secret exists. It is " +
			"`false` only when the API server says so; a failure to read is an error."},
		"valid": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it holds keys that " +
			"Antrea's agents read."},
		"problem": readText("Why it is not valid, without any content; null when it is."),
		"uid":     readText("UID of the Secret; null when it does not exist."),
		"fingerprints": schema.ListAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Fingerprints of the keys in file order: the first is the primary key. Empty " +
				"when it is not valid."},
		"primary_key_fingerprint": readText("Fingerprint of the primary key: `SHA256:` and the unpadded " +
			"base64 of SHA-256 over the decoded key; null when it is not valid."),
		"key_count": schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of keys; 0 when it " +
			"is not valid."},
		"primary_key_bits": schema.Int64Attribute{Computed: true, MarkdownDescription: "Length of the primary " +
			"key in bits: 128, 192 or 256; null when it is not valid."},
	} {
		attributes[name] = attribute
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "What is in the Secret with the gossip keys of an Antrea cluster, by fingerprint " +
			"and without the keys. It reads and never writes: `get` on this one Secret is all it needs. " +
			"Absent and invalid are answers, for `check` blocks to judge.",
		Attributes: attributes,
	}
}

func readText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ValidateConfig judges the connection that the data source brings along.
func (d *memberlistSecretData) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	var config memberlistSecretDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(config.validate(ctx)...)
}

func (d *memberlistSecretData) Read(
	ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	var model memberlistSecretDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if unknown := d.connections.unknownCluster(ctx, model.Kubernetes); len(unknown) > 0 {
		resp.Diagnostics.Append(cannotReadYet("kubernetes", unknown))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	live, _, err := d.connections.reveal(ctx, model.memberlistSource)
	if err != nil && !errors.Is(err, keys.ErrInvalidSecret) {
		resp.Diagnostics.Append(memberlistDiagnostics(model, err)...)
		return
	}
	resp.Diagnostics.Append(model.show(ctx, live, err)...)
	if !model.Valid.ValueBool() && model.wait() > 0 {
		resp.Diagnostics.Append(waitedInVain(model))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// show fills in what was found, and takes out of the model what must not reach the state.
func (m *memberlistSecretDataModel) show(
	ctx context.Context, live keys.Live, invalid error,
) diag.Diagnostics {
	namespace, name := m.where()
	m.ID = types.StringValue(namespace + "/" + name)
	m.Exists = types.BoolValue(live.Exists)
	m.Valid = types.BoolValue(live.Primary() != "")
	m.Problem = orNull(problemOf(live, invalid))
	m.UID = orNull(string(live.UID))
	m.PrimaryKeyFingerprint = orNull(live.Primary())
	m.KeyCount = types.Int64Value(int64(len(live.Fingerprints)))
	m.PrimaryKeyBits = types.Int64Null()
	if live.PrimaryBits > 0 {
		m.PrimaryKeyBits = types.Int64Value(int64(live.PrimaryBits))
	}
	m.Kubernetes = withoutSecrets(kubernetesField(""), m.Kubernetes).(types.Object)
	var diags diag.Diagnostics
	m.Fingerprints, diags = types.ListValueFrom(ctx, types.StringType, append([]string{}, live.Fingerprints...))
	return diags
}
