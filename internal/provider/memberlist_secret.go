package provider

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	_ resource.ResourceWithConfigure      = (*memberlistSecret)(nil)
	_ resource.ResourceWithValidateConfig = (*memberlistSecret)(nil)
	_ resource.ResourceWithModifyPlan     = (*memberlistSecret)(nil)
	_ resource.ResourceWithImportState    = (*memberlistSecret)(nil)
)

const (
	policyRetain          = "retain"
	policyDelete          = "delete"
	policyDeletePublished = "delete_published"

	originCreated  = "created"
	originFilled   = "filled"
	originAdopted  = "adopted"
	originImported = "imported"

	defaultTimeout = 5 * time.Minute
)

func newMemberlistSecret() resource.Resource { return &memberlistSecret{} }

type memberlistSecret struct{ connectedResource }

type memberlistSecretModel struct {
	Namespace             types.String   `tfsdk:"namespace"`
	Name                  types.String   `tfsdk:"name"`
	Labels                types.Map      `tfsdk:"labels"`
	Annotations           types.Map      `tfsdk:"annotations"`
	DeletionPolicy        types.String   `tfsdk:"deletion_policy"`
	AllowReplacingKey     types.String   `tfsdk:"allow_replacing_key"`
	PrimaryKeyFingerprint types.String   `tfsdk:"primary_key_fingerprint"`
	KeysWO                types.List     `tfsdk:"keys_wo"`
	KeysWOVersion         types.Int64    `tfsdk:"keys_wo_version"`
	RotateWhenChanged     types.Map      `tfsdk:"rotate_when_changed"`
	HoldFor               types.String   `tfsdk:"hold_for"`
	Kubernetes            types.Object   `tfsdk:"kubernetes"`
	Timeouts              timeouts.Value `tfsdk:"timeouts"`
	ID                    types.String   `tfsdk:"id"`
	UID                   types.String   `tfsdk:"uid"`
	Origin                types.String   `tfsdk:"origin"`
	LiveKeyFingerprints   types.List     `tfsdk:"live_key_fingerprints"`
	PrimaryKeyBits        types.Int64    `tfsdk:"primary_key_bits"`
}

func (r *memberlistSecret) Metadata(
	_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_memberlist_secret"
}

func (r *memberlistSecret) Schema(
	ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse,
) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The Secret with the gossip keys of an Antrea cluster. It is made if it is " +
			"missing, adopted if it is there, and its keys are never changed while agents may be using " +
			"them: two nodes with different primary keys cannot hear each other, and the cluster " +
			"partitions.\n\nReading needs `get` on this one Secret and nothing else.",
		Attributes: map[string]schema.Attribute{
			"namespace": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(keys.DefaultNamespace),
				PlanModifiers: replace, Validators: []validator.String{isNamespace()},
				MarkdownDescription: "Namespace that Antrea runs in. Default `kube-system`. Changing it " +
					"makes another Secret and leaves this one.",
			},
			"name": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(keys.DefaultName),
				PlanModifiers: replace, Validators: []validator.String{isSecretName()},
				MarkdownDescription: "Name of the Secret. Default `antrea-memberlist-keys`, which is the " +
					"one that agents read.",
			},
			"labels": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				Validators: []validator.Map{metadataValidator{values: true}},
				MarkdownDescription: "Labels to keep on the Secret. Those not named here are left alone. A " +
					"Secret made here also gets `app = \"antrea\"`.",
			},
			"annotations": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				Validators: []validator.Map{metadataValidator{}},
				MarkdownDescription: "Annotations to keep on the Secret, such as one that keeps a GitOps " +
					"tool from pruning it. Those not named here are left alone.",
			},
			"keys_wo": schema.ListAttribute{
				Optional: true, WriteOnly: true, ElementType: types.StringType,
				MarkdownDescription: "Keys to write, primary key first: each in base64 with padding, of 16, " +
					"24 or 32 bytes. They are used when the Secret is created, filled, restored or rotated, and " +
					"never take the place of other keys by themselves. Without them one key is generated. " +
					"Terraform stores them nowhere; they have to be the same at plan and at apply.",
			},
			"keys_wo_version": schema.Int64Attribute{
				Optional: true, Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("keys_wo"))},
				MarkdownDescription: "A number to change along with `keys_wo`, for the record: Terraform cannot " +
					"see that a write-only value changed. Changing it writes nothing, and warns if `keys_wo` are " +
					"not the keys in the Secret.",
			},
			"rotate_when_changed": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Any values. A change of them rotates the accepted key: the next apply " +
					"writes `keys_wo`, or one new key, in its place. Setting them for the first time or taking " +
					"them out rotates nothing, nor does a change when somebody else rotated the key meanwhile: " +
					"then that one is accepted. While a rotation reaches the agents, those that have the new key " +
					"and those that do not cannot hear each other.",
			},
			"hold_for": schema.StringAttribute{
				Optional: true, Validators: []validator.String{isDuration()},
				MarkdownDescription: "How long apply watches the Secret after it has ensured the keys, such as " +
					"`30s`, and puts the same keys back, with a warning, if something prunes them. Default `0s`. " +
					"It needs `list` and `watch` on this one Secret.",
			},
			"deletion_policy": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(policyRetain),
				Validators: []validator.String{stringvalidator.OneOf(policyRetain, policyDelete)},
				MarkdownDescription: "What destroy does: `retain` (the default) forgets the Secret and " +
					"leaves it; `delete` deletes it, but only if this resource created it (`origin` is " +
					"`created`) and nobody made it anew since. A running antrea-controller puts a deleted " +
					"Secret back; one that restarts makes a new key.",
			},
			"allow_replacing_key": schema.StringAttribute{
				Optional: true, Validators: []validator.String{isFingerprint()},
				MarkdownDescription: "Consent to put a new key where the one with this fingerprint is gone. " +
					"It authorises that one step and does nothing else.",
			},
			"primary_key_fingerprint": schema.StringAttribute{
				Optional: true, Computed: true, Validators: []validator.String{isFingerprint()},
				MarkdownDescription: "Fingerprint of the accepted primary key: `SHA256:` and the unpadded " +
					"base64 of SHA-256 over the decoded key. Set it to refuse any other primary key.",
			},
			"kubernetes": resourceAttribute(kubernetesField("How to reach the cluster of this Secret, in " +
				"place of the provider's `kubernetes`, so that one `for_each` serves many clusters. It " +
				"replaces that object as a whole, but for `allowed_cluster_uids`. `token`, `password`, " +
				"`client_key`, `proxy_url` and `exec.env` are write-only here, so that no credential is in " +
				"the state: with one of them the plan reads the Secret, and `-refresh-only` does not.")),
			"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
				Create: true, Read: true, Update: true, Delete: true,
			}),
			"id": computedText("`namespace/name`."),
			"uid": computedText("UID of the Secret as last read; null when it does not exist. Another UID " +
				"means that somebody deleted it and made it anew."),
			"origin": computedText("How the Secret got its keys: `created` and `filled` by this resource, " +
				"`adopted` or `imported` as somebody else had made them."),
			"live_key_fingerprints": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Fingerprints of the keys in the Secret as last read, in file order: " +
					"the first is the primary key. Empty when there is none.",
			},
			"primary_key_bits": schema.Int64Attribute{
				Computed: true,
				MarkdownDescription: "Length of the primary key as last read, in bits: 128, 192 or 256; null " +
					"when there is none.",
			},
		},
	}
}

func computedText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ValidateConfig judges the keys and the connection that the resource brings along.
func (r *memberlistSecret) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var config memberlistSecretModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if _, _, err := supplied(config.KeysWO); err != nil {
		resp.Diagnostics.Append(badKeys(err))
	}
	settings, found := kubernetesSettings(ctx, config.Kubernetes)
	resp.Diagnostics.Append(settingDiagnostics("kubernetes", append(found, settings.Validate()...))...)
}

// errNotConfigured is for a resource that is used although Terraform configured no provider.
var errNotConfigured = errors.New("the provider is not configured")

func (m memberlistSecretModel) where() (namespace, name string) {
	return m.Namespace.ValueString(), m.Name.ValueString()
}

func (m memberlistSecretModel) own() types.Object { return m.Kubernetes }

func (m *memberlistSecretModel) id() types.String {
	return types.StringValue(m.Namespace.ValueString() + "/" + m.Name.ValueString())
}

// setLive records what was read, in every attribute that is only ever read.
func (m *memberlistSecretModel) setLive(ctx context.Context, live keys.Live) diag.Diagnostics {
	list, diags := types.ListValueFrom(ctx, types.StringType, live.Fingerprints)
	if live.Fingerprints == nil {
		list, diags = types.ListValueFrom(ctx, types.StringType, []string{})
	}
	m.LiveKeyFingerprints = list
	m.UID = types.StringNull()
	if live.Exists {
		m.UID = types.StringValue(string(live.UID))
	}
	m.PrimaryKeyBits = types.Int64Null()
	if live.PrimaryBits > 0 {
		m.PrimaryKeyBits = types.Int64Value(int64(live.PrimaryBits))
	}
	return diags
}

// livePrimary is the primary key as last read, "" when there was none.
func (m *memberlistSecretModel) livePrimary() string {
	if elements := knownStrings(m.LiveKeyFingerprints.Elements()); len(elements) > 0 {
		return elements[0]
	}
	return ""
}
