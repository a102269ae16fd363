package provider

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

type kubernetesModel struct {
	Host                  types.String `tfsdk:"host"`
	Username              types.String `tfsdk:"username"`
	Password              types.String `tfsdk:"password"`
	Token                 types.String `tfsdk:"token"`
	Insecure              types.Bool   `tfsdk:"insecure"`
	TLSServerName         types.String `tfsdk:"tls_server_name"`
	ClientCertificate     types.String `tfsdk:"client_certificate"`
	ClientKey             types.String `tfsdk:"client_key"`
	ClusterCACertificate  types.String `tfsdk:"cluster_ca_certificate"`
	ConfigPath            types.String `tfsdk:"config_path"`
	ConfigPaths           types.List   `tfsdk:"config_paths"`
	ConfigContext         types.String `tfsdk:"config_context"`
	ConfigContextAuthInfo types.String `tfsdk:"config_context_auth_info"`
	ConfigContextCluster  types.String `tfsdk:"config_context_cluster"`
	ProxyURL              types.String `tfsdk:"proxy_url"`
	InCluster             types.Bool   `tfsdk:"in_cluster"`
	AllowedClusterUIDs    types.Set    `tfsdk:"allowed_cluster_uids"`
	RequestTimeout        types.String `tfsdk:"request_timeout"`
	Exec                  types.Object `tfsdk:"exec"`
}

type execModel struct {
	APIVersion types.String `tfsdk:"api_version"`
	Command    types.String `tfsdk:"command"`
	Args       types.List   `tfsdk:"args"`
	Env        types.Map    `tfsdk:"env"`
}

func kubernetesAttribute() schema.SingleNestedAttribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	secret := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
	}
	flag := func(description string) schema.BoolAttribute {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "How to reach the cluster. Attributes beat the environment variables " +
			"named with them, and those beat `KUBECONFIG`. Nothing configured is an error: there is " +
			"no default cluster. No cluster is dialled unless an object in it is used.",
		Attributes: map[string]schema.Attribute{
			"host": text("URL of the API server (`KUBE_HOST`). With it, the path and context " +
				"variables of the environment are ignored."),
			"username": text("User name for basic authentication (`KUBE_USER`)."),
			"password": secret("Password for basic authentication (`KUBE_PASSWORD`)."),
			"token":    secret("Bearer token (`KUBE_TOKEN`)."),
			"insecure": flag("Do not verify the API server's certificate (`KUBE_INSECURE`)."),
			"tls_server_name": text("Name to verify the API server's certificate against, in place of " +
				"that in the URL (`KUBE_TLS_SERVER_NAME`)."),
			"client_certificate":     text("Client certificate, PEM (`KUBE_CLIENT_CERT_DATA`)."),
			"client_key":             secret("Key of the client certificate, PEM (`KUBE_CLIENT_KEY_DATA`)."),
			"cluster_ca_certificate": text("CA of the API server, PEM (`KUBE_CLUSTER_CA_CERT_DATA`)."),
			"config_path": text("Path of a kubeconfig file; `~` is expanded (`KUBE_CONFIG_PATH`). A file " +
				"that cannot be read is an error."),
			"config_paths": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Paths of kubeconfig files, merged as kubectl does (`KUBE_CONFIG_PATHS`).",
			},
			"config_context":           text("Context of the kubeconfig to use (`KUBE_CTX`)."),
			"config_context_auth_info": text("User of the kubeconfig to use (`KUBE_CTX_AUTH_INFO`)."),
			"config_context_cluster":   text("Cluster of the kubeconfig to use (`KUBE_CTX_CLUSTER`)."),
			"proxy_url": secret("Proxy to the API server (`KUBE_PROXY_URL`). It beats the proxy " +
				"variables of the environment."),
			"in_cluster": flag("Use the service account of the pod that Terraform runs in. It is never " +
				"used without this."),
			"allowed_cluster_uids": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "UIDs of the `kube-system` namespaces of the clusters that may be " +
					"written to. Any other cluster is refused before the first write: a guard against a " +
					"wrong context. It needs permission to get that namespace.",
			},
			"request_timeout": text("How long one request may take, such as `10s`. Default `30s`."),
			"exec":            execAttribute(),
		},
	}
}

func execAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "A program that prints a credential, run again when it expires. It gets no " +
			"terminal.",
		Attributes: map[string]schema.Attribute{
			"api_version": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "`client.authentication.k8s.io/v1` or " +
					"`client.authentication.k8s.io/v1beta1`.",
			},
			"command": schema.StringAttribute{Required: true, MarkdownDescription: "The program."},
			"args": schema.ListAttribute{
				Optional: true, ElementType: types.StringType, MarkdownDescription: "Its arguments.",
			},
			"env": schema.MapAttribute{
				Optional: true, Sensitive: true, ElementType: types.StringType,
				MarkdownDescription: "Environment variables it gets beside Terraform's own.",
			},
		},
	}
}

// kubernetesSettings translates the object for the package that connects. The object can be known
// while a leaf in it is not, as with a cluster made in the same run: such leaves are named in
// Unknown, and nothing takes them for unset.
func kubernetesSettings(ctx context.Context, object types.Object) (connect.Kubernetes, diag.Diagnostics) {
	var settings connect.Kubernetes
	var model kubernetesModel
	if object.IsUnknown() {
		settings.Unknown = []string{"kubernetes"}
		return settings, nil
	}
	if object.IsNull() {
		return settings, nil
	}
	diags := object.As(ctx, &model, basetypes.ObjectAsOptions{})
	settings = connect.Kubernetes{
		Host: model.Host.ValueString(), Username: model.Username.ValueString(),
		Password: connect.NewSecret(model.Password.ValueString()),
		Token:    connect.NewSecret(model.Token.ValueString()),
		Insecure: model.Insecure.ValueBoolPointer(), TLSServerName: model.TLSServerName.ValueString(),
		ClientCertificate:     model.ClientCertificate.ValueString(),
		ClientKey:             connect.NewSecret(model.ClientKey.ValueString()),
		ClusterCACertificate:  model.ClusterCACertificate.ValueString(),
		ConfigPath:            model.ConfigPath.ValueString(),
		ConfigPaths:           knownStrings(model.ConfigPaths.Elements()),
		ConfigContext:         model.ConfigContext.ValueString(),
		ConfigContextAuthInfo: model.ConfigContextAuthInfo.ValueString(),
		ConfigContextCluster:  model.ConfigContextCluster.ValueString(),
		ProxyURL:              model.ProxyURL.ValueString(), InCluster: model.InCluster.ValueBool(),
		Unknown: unknownLeaves("", object),
	}
	if !model.AllowedClusterUIDs.IsNull() {
		settings.AllowedClusterUIDs = append([]string{}, knownStrings(model.AllowedClusterUIDs.Elements())...)
	}
	if text := model.RequestTimeout.ValueString(); text != "" {
		timeout, err := time.ParseDuration(text)
		if err != nil || timeout <= 0 {
			diags.AddAttributeError(path.Root("kubernetes").AtName("request_timeout"), "Invalid duration",
				"It has to be a positive duration such as 10s or 1m30s.")
		}
		settings.RequestTimeout = timeout
	}
	if !model.Exec.IsNull() && !model.Exec.IsUnknown() {
		var exec execModel
		diags.Append(model.Exec.As(ctx, &exec, basetypes.ObjectAsOptions{})...)
		settings.Exec = &connect.Exec{
			APIVersion: exec.APIVersion.ValueString(), Command: exec.Command.ValueString(),
			Args: knownStrings(exec.Args.Elements()), Env: map[string]connect.Secret{},
		}
		for name, value := range exec.Env.Elements() {
			if text, ok := value.(types.String); ok {
				settings.Exec.Env[name] = connect.NewSecret(text.ValueString())
			}
		}
	}
	return settings, diags
}

// knownStrings are the elements that have a value; the others are among the unknown leaves.
func knownStrings(elements []attr.Value) []string {
	var known []string
	for _, element := range elements {
		if text, ok := element.(types.String); ok && !text.IsUnknown() && !text.IsNull() {
			known = append(known, text.ValueString())
		}
	}
	return known
}

// unknownLeaves names the attributes that are unknown or hold something unknown.
func unknownLeaves(prefix string, object types.Object) []string {
	var unknown []string
	attributes := object.Attributes()
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		if nested, ok := value.(types.Object); ok && !nested.IsUnknown() {
			unknown = append(unknown, unknownLeaves(prefix+name+".", nested)...)
		} else if terraform, err := value.ToTerraformValue(context.Background()); err != nil ||
			!terraform.IsFullyKnown() {
			unknown = append(unknown, prefix+name)
		}
	}
	return unknown
}
