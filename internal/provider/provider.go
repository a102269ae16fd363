// Package provider is what Terraform users see: schemas, plan and apply, and diagnostics. What may
// happen to a secret is decided in the packages below it, which know nothing of Terraform.
package provider

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

var _ provider.ProviderWithValidateConfig = (*billetProvider)(nil)

// New returns the provider; version goes into its user agent.
func New(version string) func() provider.Provider {
	return newWith(version, os.LookupEnv)
}

func newWith(version string, lookup func(string) (string, bool)) func() provider.Provider {
	return func() provider.Provider { return &billetProvider{version: version, lookup: lookup} }
}

type billetProvider struct {
	version string
	lookup  func(string) (string, bool)
}

type providerModel struct {
	Kubernetes types.Object `tfsdk:"kubernetes"`
}

// connections is what resources get from the provider: settings, and clients made on first use, so
// that nothing is looked for that no resource needs.
type connections struct {
	kubernetes connect.Kubernetes
	clusters   *connect.Pool
}

func (p *billetProvider) Metadata(
	_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse,
) {
	resp.TypeName = "billet"
	resp.Version = p.version
}

func (p *billetProvider) Schema(
	_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Provisions shared secrets before the software that needs them is " +
			"installed, and shows every drift of them in a plan. No key material is in state, plan, " +
			"logs or diagnostics; plan never writes; nothing in use is replaced without consent by " +
			"fingerprint.",
		Attributes: map[string]schema.Attribute{"kubernetes": kubernetesAttribute()},
	}
}

// settingsOf translates the configuration for the package that connects.
func settingsOf(ctx context.Context, config tfsdk.Config) (connect.Kubernetes, diag.Diagnostics) {
	var model providerModel
	if diags := config.Get(ctx, &model); diags.HasError() {
		return connect.Kubernetes{}, diags
	}
	return kubernetesSettings(ctx, model.Kubernetes)
}

func (p *billetProvider) ValidateConfig(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	settings, diags := settingsOf(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	for _, fault := range settings.Validate() {
		resp.Diagnostics.Append(settingDiagnostic(path.Root("kubernetes"), fault))
	}
}

func (p *billetProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	settings, diags := settingsOf(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	userAgent := fmt.Sprintf("terraform-provider-billet/%s Terraform/%s", p.version, req.TerraformVersion)
	resp.ResourceData = &connections{
		kubernetes: settings, clusters: connect.NewPool(p.lookup, userAgent),
	}
}

func (p *billetProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newMemberlistSecret, newWireAuthority}
}

func (p *billetProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
