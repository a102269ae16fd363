package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

var (
	_ datasource.DataSourceWithConfigure      = (*wireAuthorityData)(nil)
	_ datasource.DataSourceWithValidateConfig = (*wireAuthorityData)(nil)
)

func newWireAuthorityData() datasource.DataSource { return &wireAuthorityData{} }

type wireAuthorityData struct{ connectedDataSource }

type wireAuthorityDataModel struct {
	wireSource
	Exists              types.Bool   `tfsdk:"exists"`
	Fingerprint         types.String `tfsdk:"fingerprint"`
	PreviousFingerprint types.String `tfsdk:"previous_fingerprint"`
	Replaces            types.String `tfsdk:"replaces"`
	CertificatePEM      types.String `tfsdk:"certificate_pem"`
	TrustBundlePEM      types.String `tfsdk:"trust_bundle_pem"`
	NotAfter            types.String `tfsdk:"not_after"`
	PublishedAt         types.String `tfsdk:"published_at"`
	Leftovers           types.List   `tfsdk:"leftovers"`
}

func (d *wireAuthorityData) Metadata(
	_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_wire_authority"
}

func (d *wireAuthorityData) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	attributes := build(wireSourceFields(), dataSourceAttribute)
	for name, attribute := range map[string]schema.Attribute{
		"exists": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether there is an authority. " +
			"It is `false` only when the place was read and holds none; a failure to read is an error. All " +
			"the following are null then."},
		"fingerprint": readText("Fingerprint of the authority: `SHA256:` and the unpadded base64 of SHA-256 " +
			"over its public key."),
		"previous_fingerprint": readText("Fingerprint of the authority that it is retiring; null outside a " +
			"rotation."),
		"replaces": readText("Fingerprint of the authority that its certificate claims to have replaced; null " +
			"if it was the first."),
		"certificate_pem": readText("The authority's certificate (public)."),
		"trust_bundle_pem": readText("The certificates to trust: this one and, during a rotation, the " +
			"previous one (public)."),
		"not_after": readText("When the authority expires, RFC 3339 in UTC. One that has expired is shown all " +
			"the same: compare with `plantimestamp()`."),
		"published_at": readText("When the published copy was written, RFC 3339 in UTC; null with `local`."),
		"leftovers": schema.ListAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Names beside the authority that never travel, such as `ca.crt.new`; empty with " +
				"`published`."},
	} {
		attributes[name] = attribute
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "What a host or a store holds of the authority of a billet deployment, in public " +
			"facts. It reads, takes no lock and creates nothing. Absent is an answer, for `check` blocks to " +
			"judge; an authority that cannot be read, or is only half there, is an error.",
		Attributes: attributes,
	}
}

func (d *wireAuthorityData) ValidateConfig(
	ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse,
) {
	var config wireAuthorityDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(config.validate()...)
}

func (d *wireAuthorityData) Read(
	ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	var model wireAuthorityDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if unknown := d.connections.unknownSource(model.wireSource); len(unknown) > 0 {
		resp.Diagnostics.Append(cannotReadYet("aws", unknown))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	side, err := d.connections.side(ctx, model.wireSource)
	if err != nil {
		resp.Diagnostics.Append(authorityUnread(model.wireSource, err))
		return
	}
	resp.Diagnostics.Append(model.show(ctx, side)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (m *wireAuthorityDataModel) show(ctx context.Context, side wireshare.Side) diag.Diagnostics {
	info := side.Info
	m.Exists = types.BoolValue(side.State == wireshare.Whole)
	m.Fingerprint, m.PreviousFingerprint = orNull(info.Fingerprint), orNull(info.PreviousFingerprint)
	m.Replaces = orNull(info.Replaces)
	m.CertificatePEM, m.TrustBundlePEM = orNull(info.CertificatePEM), orNull(info.TrustBundlePEM)
	m.NotAfter, m.PublishedAt = types.StringNull(), types.StringNull()
	if !info.NotAfter.IsZero() {
		m.NotAfter = types.StringValue(timestamp(info.NotAfter))
	}
	if !side.PublishedAt.IsZero() {
		m.PublishedAt = types.StringValue(timestamp(side.PublishedAt))
	}
	var diags diag.Diagnostics
	m.Leftovers, diags = types.ListValueFrom(ctx, types.StringType, append([]string{}, side.Leftovers...))
	return diags
}
