// Helmstub stands in for the provider hashicorp/helm in the tests of the examples. It is not that
// provider: it knows no chart, contacts no repository and installs nothing. It has the part of version
// 3's schema that the examples use, so that Terraform takes them as they are, and one thing to say: a
// release is made only if the gossip keys that Antrea would start with are in the cluster by then. So
// it shows the order in which Terraform does things, and nothing about Antrea or Helm.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// userAgent tells the stub's requests from others.
const userAgent = "helmstub"

func main() {
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return &helm{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/hashicorp/helm", ProtocolVersion: 6},
	); err != nil {
		log.Fatal(err)
	}
}

type helm struct{}

type helmModel struct {
	Kubernetes *kubernetesModel `tfsdk:"kubernetes"`
}

type kubernetesModel struct {
	ConfigPath    types.String `tfsdk:"config_path"`
	ConfigContext types.String `tfsdk:"config_context"`
}

func (*helm) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "helm"
}

func (*helm) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"kubernetes": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
			"config_path":    schema.StringAttribute{Optional: true},
			"config_context": schema.StringAttribute{Optional: true},
		}},
	}}
}

func (*helm) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model helmModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() || model.Kubernetes == nil {
		return
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: model.Kubernetes.ConfigPath.ValueString()},
		&clientcmd.ConfigOverrides{CurrentContext: model.Kubernetes.ConfigContext.ValueString()},
	).ClientConfig()
	if err != nil {
		resp.Diagnostics.AddError("The kubeconfig cannot be used", err.Error())
		return
	}
	config.UserAgent = userAgent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		resp.Diagnostics.AddError("The kubeconfig cannot be used", err.Error())
		return
	}
	resp.ResourceData = client
}

func (*helm) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &release{} }}
}

func (*helm) DataSources(context.Context) []func() datasource.DataSource { return nil }
