package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// sourceProvider stands in for a provider that resources are moved from: Terraform wants its program
// as long as its resources are in the state. It stores what it is told, under the schema that the
// real provider has, so that a test writes states as the real one does.
type sourceProvider struct {
	name  string
	types map[string]schema.Schema
}

func (p sourceProvider) factory() func() (tfprotov6.ProviderServer, error) {
	return providerserver.NewProtocol6WithError(p)
}

func (p sourceProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = p.name
}

func (sourceProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (sourceProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (sourceProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p sourceProvider) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for name, schema := range p.types {
		all = append(all, func() resource.Resource { return sourceResource{name, schema} })
	}
	return all
}

type sourceResource struct {
	name   string
	schema schema.Schema
}

func (r sourceResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

func (r sourceResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema
}

func (sourceResource) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = req.Plan.Raw
}

func (sourceResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (sourceResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

func (sourceResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// optional are attributes by their types: a name alone is a string; number, bool, list and map are
// written behind a colon, and a * marks what is sensitive.
func optional(names ...string) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for _, name := range names {
		name, sensitive := strings.CutSuffix(name, "*")
		name, kind, _ := strings.Cut(name, ":")
		switch kind {
		case "number":
			all[name] = schema.Int64Attribute{Optional: true}
		case "bool":
			all[name] = schema.BoolAttribute{Optional: true}
		case "list":
			all[name] = schema.ListAttribute{Optional: true, ElementType: types.StringType}
		case "map":
			all[name] = schema.MapAttribute{Optional: true, ElementType: types.StringType, Sensitive: sensitive}
		default:
			all[name] = schema.StringAttribute{Optional: true, Sensitive: sensitive}
		}
	}
	return all
}

func kubernetesProvider() sourceProvider {
	secret := schema.Schema{
		Attributes: optional("id", "data:map*", "binary_data:map*", "data_wo_revision:number", "type",
			"immutable:bool", "wait_for_service_account_token:bool"),
		Blocks: map[string]schema.Block{"metadata": schema.ListNestedBlock{
			NestedObject: schema.NestedBlockObject{Attributes: optional("name", "namespace", "uid",
				"generate_name", "generation:number", "resource_version", "labels:map", "annotations:map")},
		}},
	}
	return sourceProvider{"kubernetes", map[string]schema.Schema{
		"kubernetes_secret": secret, "kubernetes_secret_v1": secret,
	}}
}

func awsProvider() sourceProvider {
	return sourceProvider{"aws", map[string]schema.Schema{
		"aws_secretsmanager_secret_version": {Attributes: optional("id", "arn", "region", "secret_id",
			"secret_string*", "secret_binary*", "has_secret_string_wo:bool", "secret_string_wo_version:number",
			"version_id", "version_stages:list")},
		"aws_ssm_parameter": {Attributes: optional("id", "arn", "region", "name", "type", "value*",
			"insecure_value", "has_value_wo:bool", "value_wo_version:number", "data_type", "description",
			"key_id", "tier", "version:number", "allowed_pattern", "overwrite:bool", "tags:map", "tags_all:map")},
	}}
}
