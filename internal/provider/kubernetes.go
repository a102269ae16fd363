package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

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

// kubernetesField is the object that says how to reach a cluster.
func kubernetesField(description string) field {
	text := func(description string) field { return field{description: description} }
	secret := func(description string) field {
		return field{sensitive: true, description: description}
	}
	flag := func(description string) field { return field{kind: kindFlag, description: description} }
	return field{kind: kindObject, description: description, fields: map[string]field{
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
		"config_paths": {kind: kindTexts,
			description: "Paths of kubeconfig files, merged as kubectl does (`KUBE_CONFIG_PATHS`)."},
		"config_context":           text("Context of the kubeconfig to use (`KUBE_CTX`)."),
		"config_context_auth_info": text("User of the kubeconfig to use (`KUBE_CTX_AUTH_INFO`)."),
		"config_context_cluster":   text("Cluster of the kubeconfig to use (`KUBE_CTX_CLUSTER`)."),
		"proxy_url": secret("Proxy to the API server (`KUBE_PROXY_URL`). It beats the proxy " +
			"variables of the environment."),
		"in_cluster": flag("Use the service account of the pod that Terraform runs in. It is never " +
			"used without this."),
		"allowed_cluster_uids": {kind: kindTextSet,
			description: "UIDs of the `kube-system` namespaces of the clusters that may be " +
				"written to. Any other cluster is refused before the first write: a guard against a " +
				"wrong context. It needs permission to get that namespace."},
		"request_timeout": text("How long one request may take, such as `10s`. Default `30s`."),
		"exec": {kind: kindObject, description: "A program that prints a credential, run again when it " +
			"expires. It gets no terminal.", fields: map[string]field{
			"api_version": {required: true, description: "`client.authentication.k8s.io/v1` or " +
				"`client.authentication.k8s.io/v1beta1`."},
			"command": {required: true, description: "The program."},
			"args":    {kind: kindTexts, description: "Its arguments."},
			"env": {kind: kindTextMap, sensitive: true,
				description: "Environment variables it gets beside Terraform's own."},
		}},
	}}
}

// kubernetesSettings translates the object for the package that connects. The object can be known
// while a leaf in it is not, as with a cluster made in the same run: such leaves are named in
// Unknown, and nothing takes them for unset.
func kubernetesSettings(ctx context.Context, object types.Object) (connect.Kubernetes, faults) {
	var settings connect.Kubernetes
	var model kubernetesModel
	var found faults
	if object.IsUnknown() {
		settings.Unknown = []string{"kubernetes"}
		return settings, nil
	}
	if object.IsNull() {
		return settings, nil
	}
	found.into(ctx, "", object, &model)
	settings = connect.Kubernetes{
		Host: model.Host.ValueString(), Username: model.Username.ValueString(),
		Password: secretOf(model.Password), Token: secretOf(model.Token),
		Insecure: model.Insecure.ValueBoolPointer(), TLSServerName: model.TLSServerName.ValueString(),
		ClientCertificate: model.ClientCertificate.ValueString(), ClientKey: secretOf(model.ClientKey),
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
	settings.RequestTimeout = found.duration("request_timeout", model.RequestTimeout)
	if !model.Exec.IsNull() && !model.Exec.IsUnknown() {
		var exec execModel
		found.into(ctx, "exec", model.Exec, &exec)
		settings.Exec = &connect.Exec{
			APIVersion: exec.APIVersion.ValueString(), Command: exec.Command.ValueString(),
			Args: knownStrings(exec.Args.Elements()), Env: map[string]connect.Secret{},
		}
		for name, value := range exec.Env.Elements() {
			if text, ok := value.(types.String); ok {
				settings.Exec.Env[name] = secretOf(text)
			}
		}
	}
	return settings, found
}

// settingsFor are the settings of one object: its own, or the provider's. Its own replace the
// provider's as a whole, but for the guard against a wrong cluster, which holds until the object has
// one of its own.
func (c *connections) settingsFor(ctx context.Context, own types.Object) (connect.Kubernetes, error) {
	if c == nil {
		return connect.Kubernetes{}, errNotConfigured
	}
	if own.IsNull() {
		return c.kubernetes, nil
	}
	settings, found := kubernetesSettings(ctx, own)
	if len(found) > 0 {
		return settings, connect.SettingErrors(found)
	}
	const guard = "allowed_cluster_uids"
	if settings.AllowedClusterUIDs == nil && !slices.Contains(settings.Unknown, guard) {
		settings.AllowedClusterUIDs = c.kubernetes.AllowedClusterUIDs
		for _, name := range c.kubernetes.Unknown {
			if name == guard || name == "kubernetes" {
				settings.Unknown = append(settings.Unknown, name)
			}
		}
	}
	return settings, nil
}

// cluster connects an object to its cluster.
func (c *connections) cluster(ctx context.Context, own types.Object) (*connect.Cluster, error) {
	settings, err := c.settingsFor(ctx, own)
	if err != nil {
		return nil, err
	}
	return c.clusters.Open(settings)
}

// secrets are the Secrets of a namespace, after the guard against a wrong cluster.
func (c *connections) secrets(
	ctx context.Context, own types.Object, namespace string,
) (*connect.Secrets, error) {
	cluster, err := c.cluster(ctx, own)
	if err != nil {
		return nil, err
	}
	if err := cluster.CheckAllowed(ctx); err != nil {
		return nil, err
	}
	return cluster.Secrets(namespace), nil
}

// unknownCluster names the attributes that keep the object's cluster from being dialled for now.
func (c *connections) unknownCluster(ctx context.Context, own types.Object) []string {
	settings, err := c.settingsFor(ctx, own)
	if err != nil {
		return nil // whoever dials gets the error
	}
	return settings.Unknown
}

// secretsIn says whether the object sets something that is kept out of plan and state.
func secretsIn(fields map[string]field, value types.Object) bool {
	for name, one := range value.Attributes() {
		f := fields[name]
		if nested, ok := one.(types.Object); ok && secretsIn(f.fields, nested) || f.sensitive && !one.IsNull() {
			return true
		}
	}
	return false
}

// withoutSecrets is the object with null in place of all that is kept out of plan and state.
func withoutSecrets(f field, value attr.Value) attr.Value {
	if f.sensitive {
		null, err := f.attrType().ValueFromTerraform(context.Background(),
			tftypes.NewValue(f.attrType().TerraformType(context.Background()), nil))
		if err != nil {
			panic("a type of this package has no null: " + err.Error())
		}
		return null
	}
	nested, ok := value.(types.Object)
	if !ok || nested.IsNull() {
		return value
	}
	kept := nested.Attributes()
	for name, one := range kept {
		kept[name] = withoutSecrets(f.fields[name], one)
	}
	return types.ObjectValueMust(nested.AttributeTypes(context.Background()), kept)
}
