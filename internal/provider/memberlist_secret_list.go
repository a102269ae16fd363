package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	_ list.ListResourceWithConfigure     = (*memberlistSecrets)(nil)
	_ provider.ProviderWithListResources = (*billetProvider)(nil)
)

// ListResources are what terraform query finds. An authority is not among them: a store does not say
// in which directories of which hosts it is held, and without that there is nothing to import.
func (p *billetProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return &memberlistSecrets{} }}
}

// memberlistSecrets lists the Secrets that may be imported. It shares type name and connections with
// the resource.
type memberlistSecrets struct{ memberlistSecret }

type memberlistSecretsModel struct {
	Namespace types.String `tfsdk:"namespace"`
	Name      types.String `tfsdk:"name"`
}

func (l *memberlistSecrets) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Finds the Secrets with the gossip keys of Antrea clusters, for an import. " +
			"Only metadata is asked for: no key leaves the cluster. It needs `list` on Secrets of this " +
			"name, which a role limited by `resourceNames` can grant.",
		Attributes: map[string]schema.Attribute{
			"namespace": schema.StringAttribute{
				Optional: true, Validators: []validator.String{isNamespace()},
				MarkdownDescription: "Namespace to look in. Without it all are looked in, which takes a " +
					"ClusterRole.",
			},
			"name": schema.StringAttribute{
				Optional: true, Validators: []validator.String{isSecretName()},
				MarkdownDescription: "Name of the Secrets. Default `" + keys.DefaultName + "`.",
			},
		},
	}
}

// List sends a LIST of metadata and reads no key.
func (l *memberlistSecrets) List(
	ctx context.Context, req list.ListRequest, stream *list.ListResultsStream,
) {
	var config memberlistSecretsModel
	if diags := req.Config.Get(ctx, &config); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	if config.Name.IsNull() {
		config.Name = types.StringValue(keys.DefaultName)
	}
	found, err := l.find(ctx, config, req.Limit)
	if err != nil {
		model := memberlistSecretModel{Namespace: config.Namespace, Name: config.Name}
		stream.Results = list.ListResultsStreamDiagnostics(listDiagnostics(model, err))
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		for _, secret := range found {
			if !push(listed(ctx, req, secret)) {
				return
			}
		}
	}
}

func (l *memberlistSecrets) find(
	ctx context.Context, config memberlistSecretsModel, limit int64,
) ([]connect.SecretName, error) {
	cluster, err := l.connections.cluster(ctx, types.ObjectNull(nil))
	if err != nil {
		return nil, err
	}
	return cluster.SecretsNamed(ctx, config.Namespace.ValueString(), config.Name.ValueString(), limit)
}

// listed is one Secret as an import would name it. Its keys, and so their fingerprints, are not read.
func listed(ctx context.Context, req list.ListRequest, secret connect.SecretName) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = secret.Namespace + "/" + secret.Name
	result.Diagnostics.Append(identify(ctx, result.Identity, secretIdentity(secret.Namespace, secret.Name))...)
	if req.IncludeResource {
		result.Diagnostics.Append(includeSecret(ctx, result.Resource, secret)...)
	}
	return result
}

func includeSecret(ctx context.Context, into *tfsdk.Resource, secret connect.SecretName) diag.Diagnostics {
	state := tfsdk.State{Raw: into.Raw, Schema: into.Schema}
	diags := takeOver(ctx, &state, map[string]any{
		"namespace": secret.Namespace, "name": secret.Name, "uid": secret.UID,
		"id": secret.Namespace + "/" + secret.Name, "origin": originImported,
	})
	into.Raw = state.Raw
	return diags
}
