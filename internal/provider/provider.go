// Package provider is what Terraform users see: schemas, plan and apply, and diagnostics. What may
// happen to a secret is decided in the packages below it, which know nothing of Terraform.
package provider

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

var (
	_ provider.ProviderWithValidateConfig     = (*billetProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*billetProvider)(nil)
	_ provider.ProviderWithFunctions          = (*billetProvider)(nil)
)

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
	AWS        types.Object `tfsdk:"aws"`
}

// connections is what every object gets from the provider: settings, and clients made on first use, so
// that nothing is looked for that no object needs.
type connections struct {
	kubernetes connect.Kubernetes
	clusters   *connect.Pool
	aws        *connect.LazyAccount
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
		Attributes: build(map[string]field{
			"kubernetes": kubernetesField("How to reach the cluster. Attributes beat the environment " +
				"variables named with them, and those beat `KUBECONFIG`. Nothing configured is an error: " +
				"there is no default cluster. No cluster is dialled unless an object in it is used."),
			"aws": awsField(),
		}, providerAttribute),
	}
}

// settingsOf translates the configuration for the package that connects.
func settingsOf(ctx context.Context, config tfsdk.Config) (connect.Kubernetes, connect.AWS, diag.Diagnostics) {
	var model providerModel
	diags := config.Get(ctx, &model)
	if diags.HasError() {
		return connect.Kubernetes{}, connect.AWS{}, diags
	}
	kubernetes, found := kubernetesSettings(ctx, model.Kubernetes)
	diags.Append(settingDiagnostics("kubernetes", found)...)
	aws, found := awsSettings(ctx, model.AWS)
	diags.Append(settingDiagnostics("aws", found)...)
	return kubernetes, aws, diags
}

func (p *billetProvider) ValidateConfig(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	kubernetes, aws, diags := settingsOf(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(settingDiagnostics("kubernetes", kubernetes.Validate())...)
	resp.Diagnostics.Append(settingDiagnostics("aws", aws.Validate())...)
}

func (p *billetProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	kubernetes, aws, diags := settingsOf(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	userAgent := fmt.Sprintf("terraform-provider-billet/%s Terraform/%s", p.version, req.TerraformVersion)
	connections := &connections{
		kubernetes: kubernetes, clusters: connect.NewPool(p.lookup, userAgent),
		aws: connect.NewLazyAccount(aws, p.lookup, userAgent),
	}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = connections, connections, connections
	resp.ListResourceData = connections
}

func (p *billetProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newMemberlistSecret, newWireAuthority}
}

func (p *billetProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newMemberlistSecretData, newWireAuthorityData}
}

func (p *billetProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newMemberlistKeys, newWireAuthorityFiles}
}

func (p *billetProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		newMemberlistKeyFingerprints, newCAFingerprint, newSameFingerprint,
	}
}
