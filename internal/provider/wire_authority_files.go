package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure      = (*wireAuthorityFiles)(nil)
	_ ephemeral.EphemeralResourceWithValidateConfig = (*wireAuthorityFiles)(nil)
)

func newWireAuthorityFiles() ephemeral.EphemeralResource { return &wireAuthorityFiles{} }

type wireAuthorityFiles struct{ connectedEphemeral }

type wireAuthorityFilesModel struct {
	wireSource
	Files               types.Map    `tfsdk:"files"`
	Fingerprint         types.String `tfsdk:"fingerprint"`
	PreviousFingerprint types.String `tfsdk:"previous_fingerprint"`
}

func (e *wireAuthorityFiles) Metadata(
	_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_wire_authority"
}

func (e *wireAuthorityFiles) Schema(
	_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse,
) {
	attributes := build(wireSourceFields(), ephemeralAttribute)
	for name, attribute := range map[string]schema.Attribute{
		"files": schema.MapAttribute{Computed: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "The text of the files by name: `ca.key`, `ca.crt` and, during a rotation, " +
				"`ca-previous.key` and `ca-previous.crt`, which belong into `ca/` of a state directory, and " +
				"`authority-created`, which belongs beside it."},
		"fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "Fingerprint of the " +
			"authority: `SHA256:` and the unpadded base64 of SHA-256 over its public key."},
		"previous_fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "Fingerprint of " +
			"the authority that it is retiring; null outside a rotation."},
	} {
		attributes[name] = attribute
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The files of the authority of a billet deployment, private keys included, for " +
			"handing them to a host that is being provisioned. They are in no state and no plan. Terraform " +
			"opens it in the plan and again in the apply, and each time it reads, takes no lock and never " +
			"mints: no authority is an error, and so is one that has expired, which does not travel. It needs " +
			"Terraform 1.10 or OpenTofu 1.11.",
		Attributes: attributes,
	}
}

func (e *wireAuthorityFiles) ValidateConfig(
	ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse,
) {
	var config wireAuthorityFilesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(config.validate()...)
}

// Open only reads. While a setting of the provider is unknown it answers as billet_memberlist_keys.
func (e *wireAuthorityFiles) Open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse,
) {
	var model wireAuthorityFilesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if unknown := e.connections.unknownSource(model.wireSource); len(unknown) > 0 {
		model.Files = types.MapUnknown(types.StringType)
		model.Fingerprint, model.PreviousFingerprint = types.StringUnknown(), types.StringUnknown()
		resp.Diagnostics.Append(openedAtApply("aws", unknown))
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
		return
	}
	authority, err := e.connections.authority(ctx, model.wireSource)
	switch {
	case err != nil:
		resp.Diagnostics.Append(authorityUnread(model.wireSource, err))
	case authority == nil:
		resp.Diagnostics.Append(noAuthority(model.wireSource))
	case time.Now().After(authority.Info().NotAfter):
		resp.Diagnostics.Append(authorityUnread(model.wireSource, wireshare.ErrExpired))
	default:
		resp.Diagnostics.Append(model.reveal(ctx, authority)...)
		resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
	}
}

func (m *wireAuthorityFilesModel) reveal(
	ctx context.Context, authority *wirecert.Authority,
) diag.Diagnostics {
	text := map[string]string{}
	for name, data := range authority.Files() {
		text[name] = string(data)
	}
	info := authority.Info()
	m.Fingerprint, m.PreviousFingerprint = orNull(info.Fingerprint), orNull(info.PreviousFingerprint)
	var diags diag.Diagnostics
	m.Files, diags = types.MapValueFrom(ctx, types.StringType, text)
	return diags
}
