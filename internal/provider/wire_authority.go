package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

var (
	_ resource.ResourceWithConfigure   = (*wireAuthority)(nil)
	_ resource.ResourceWithModifyPlan  = (*wireAuthority)(nil)
	_ resource.ResourceWithImportState = (*wireAuthority)(nil)
)

func newWireAuthority() resource.Resource { return &wireAuthority{} }

type wireAuthority struct{ connectedResource }

type wireAuthorityModel struct {
	Deployment                   types.String   `tfsdk:"deployment"`
	StateDir                     types.String   `tfsdk:"state_dir"`
	Store                        types.Object   `tfsdk:"store"`
	MintIfAbsent                 types.Bool     `tfsdk:"mint_if_absent"`
	AllowReplacingPublished      types.String   `tfsdk:"allow_replacing_published"`
	AllowReplacingLocal          types.String   `tfsdk:"allow_replacing_local"`
	PublishRotations             types.Bool     `tfsdk:"publish_rotations"`
	DeletionPolicy               types.String   `tfsdk:"deletion_policy"`
	Timeouts                     timeouts.Value `tfsdk:"timeouts"`
	ID                           types.String   `tfsdk:"id"`
	Fingerprint                  types.String   `tfsdk:"fingerprint"`
	LocalFingerprint             types.String   `tfsdk:"local_fingerprint"`
	LocalPreviousFingerprint     types.String   `tfsdk:"local_previous_fingerprint"`
	PublishedFingerprint         types.String   `tfsdk:"published_fingerprint"`
	PublishedPreviousFingerprint types.String   `tfsdk:"published_previous_fingerprint"`
	Outcome                      types.String   `tfsdk:"outcome"`
	CertificatePEM               types.String   `tfsdk:"certificate_pem"`
	TrustBundlePEM               types.String   `tfsdk:"trust_bundle_pem"`
	NotAfter                     types.String   `tfsdk:"not_after"`
	PublishedAt                  types.String   `tfsdk:"published_at"`
}

func (r *wireAuthority) Metadata(
	_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_wire_authority"
	resp.ResourceBehavior.MutableIdentity = true // its store may change in place
}

func (r *wireAuthority) Schema(
	ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse,
) {
	attributes := wireComputed()
	replace := []planmodifier.String{stringplanmodifier.RequiresReplaceIf(replacesUnlessMoved,
		"Changing it replaces the resource.", "Changing it replaces the resource.")}
	fingerprints := []validator.String{isFingerprint()}
	for name, attribute := range map[string]schema.Attribute{
		"deployment": schema.StringAttribute{
			Required: true, PlanModifiers: replace, Validators: []validator.String{isDeployment()},
			MarkdownDescription: "Id of the billet deployment: 32 lower-case hex characters.",
		},
		"state_dir": schema.StringAttribute{
			Required: true, PlanModifiers: replace, Validators: []validator.String{isAbsolutePath()},
			MarkdownDescription: "State directory of billet on this host: an absolute path, or one that " +
				"begins with `~/`. The authority is in `ca/` below it.",
		},
		"store": resourceAttribute(storeField("Where the authority is published: exactly one of the three. " +
			"Changing it publishes to the new store and leaves the old one as it is.")),
		"mint_if_absent": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(true),
			MarkdownDescription: "Make a new authority when this host has none, none is published and none " +
				"was ever accepted here. Default `true`.",
		},
		"allow_replacing_published": schema.StringAttribute{
			Optional: true, Validators: fingerprints,
			MarkdownDescription: "Consent to publish over the authority with this fingerprint.",
		},
		"allow_replacing_local": schema.StringAttribute{
			Optional: true, Validators: fingerprints,
			MarkdownDescription: "Consent to adopt the published authority in place of this host's with " +
				"this fingerprint. The old directory is moved aside, never deleted.",
		},
		"publish_rotations": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Publish a local authority that provably replaced the published one, " +
				"without further consent. Default `false`.",
		},
		"deletion_policy": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString(policyRetain),
			Validators: []validator.String{stringvalidator.OneOf(policyRetain, policyDeletePublished)},
			MarkdownDescription: "What destroy does: `retain` (the default) forgets the authority and " +
				"deletes nothing; `delete_published` deletes the published copy, but only if this resource " +
				"published it (`outcome` is `minted` or `published`) and it still is the accepted one. A " +
				"secret goes into its recovery window of 30 days; a parameter or a file is gone at once. " +
				"Nothing on the host is ever deleted.",
		},
		"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
			Create: true, Read: true, Update: true, Delete: true,
		}),
	} {
		attributes[name] = attribute
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The certificate authority by which a fleet of billet nodes recognises its " +
			"control plane. A host that has it publishes it; a host that has none adopts it. When the " +
			"two disagree the plan refuses and names both fingerprints: a wrong overwrite drops a whole " +
			"fleet. Private keys travel between the host and the store and never reach Terraform's state, " +
			"plan or logs.\n\nDestroying it forgets it and, by default, deletes nothing. Terraform makes a normal plan " +
			"before `terraform destroy`, and one that is refused stops it: then take the resource out of " +
			"the configuration and apply, or use `terraform destroy -refresh=false`.",
		Attributes: attributes,
	}
}

func wireComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":                             computedText("`deployment:state_dir`."),
		"fingerprint":                    computedText("Fingerprint of the accepted authority: `SHA256:` and the unpadded base64 of SHA-256 over its public key."),
		"local_fingerprint":              computedText("Fingerprint of this host's authority as last read; null when it has none."),
		"local_previous_fingerprint":     computedText("Fingerprint of the authority that this host is retiring; null outside a rotation."),
		"published_fingerprint":          computedText("Fingerprint of the published authority as last read; null when there is none."),
		"published_previous_fingerprint": computedText("Fingerprint of the authority that the published one is retiring."),
		"outcome":                        computedText("What the last apply that changed something did: `minted`, `published`, `adopted` or `already_held`."),
		"certificate_pem":                computedText("The authority's certificate (public)."),
		"trust_bundle_pem":               computedText("The certificates to trust: this one and, during a rotation, the previous one (public)."),
		"not_after":                      computedText("When the authority expires, RFC 3339 in UTC."),
		"published_at":                   computedText("When the published copy was written, RFC 3339 in UTC. Nothing is decided from it."),
	}
}

func (m *wireAuthorityModel) id() types.String {
	return types.StringValue(m.Deployment.ValueString() + ":" + m.StateDir.ValueString())
}

// published says that this resource put there what is in its store, as far as it knows.
func (m *wireAuthorityModel) published() bool {
	return m.Outcome.ValueString() == string(wireshare.OutcomeMinted) ||
		m.Outcome.ValueString() == string(wireshare.OutcomePublished)
}

// place names the store, for messages and to tell one from another.
func (m *wireAuthorityModel) place() string {
	s := storeOf(m.Store)
	return s.kind + " " + s.place
}

func (m *wireAuthorityModel) newStore(prior wireAuthorityModel) bool {
	return !prior.Store.IsNull() && !storeOf(m.Store).same(storeOf(prior.Store))
}

// where is the store to open; prior is the state before, if there is one.
func (m *wireAuthorityModel) where(prior wireAuthorityModel) store {
	s := storeOf(m.Store)
	s.published = prior.published() && !m.newStore(prior)
	return s
}

func (m *wireAuthorityModel) settings(prior wireAuthorityModel) wireshare.Settings {
	return wireshare.Settings{
		MintIfAbsent: m.MintIfAbsent.ValueBool() && !prior.moved(), PublishRotations: m.PublishRotations.ValueBool(),
		AllowReplacingPublished: fingerprint(m.AllowReplacingPublished),
		AllowReplacingLocal:     fingerprint(m.AllowReplacingLocal),
		NewStore:                m.newStore(prior),
	}
}

// observe records both sides as last read. A side that could not be read keeps its last values.
func (m *wireAuthorityModel) observe(seen wireshare.Observation) {
	if seen.Local.State != wireshare.Unreadable {
		m.LocalFingerprint = orNull(seen.Local.Info.Fingerprint)
		m.LocalPreviousFingerprint = orNull(seen.Local.Info.PreviousFingerprint)
	}
	if seen.Published.State != wireshare.Unreadable {
		m.PublishedFingerprint = orNull(seen.Published.Info.Fingerprint)
		m.PublishedPreviousFingerprint = orNull(seen.Published.Info.PreviousFingerprint)
		m.PublishedAt = types.StringNull()
		if !seen.Published.PublishedAt.IsZero() {
			m.PublishedAt = types.StringValue(timestamp(seen.Published.PublishedAt))
		}
	}
	switch {
	case seen.Local.State == wireshare.Whole:
		m.present(seen.Local)
	case seen.Published.State == wireshare.Whole:
		m.present(seen.Published)
	}
}

// present shows the public parts of an authority.
func (m *wireAuthorityModel) present(side wireshare.Side) {
	m.CertificatePEM = types.StringValue(side.Info.CertificatePEM)
	m.TrustBundlePEM = types.StringValue(side.Info.TrustBundlePEM)
	m.NotAfter = types.StringValue(timestamp(side.Info.NotAfter))
}

func orNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// observationKey is where private state keeps what was last seen. An update is planned from it, and
// not from another look, so that a saved plan applies as it was reviewed. It holds public facts only.
const observationKey = "observation"

func keep(ctx context.Context, private privateWriter, seen wireshare.Observation) diag.Diagnostics {
	text, err := json.Marshal(seen)
	if err != nil {
		return one(diag.NewErrorDiagnostic("The observation could not be kept", err.Error()))
	}
	return private.SetKey(ctx, observationKey, text)
}

// kept returns the observation, or nil in a state that has none.
func kept(ctx context.Context, private privateReader) (*wireshare.Observation, diag.Diagnostics) {
	text, diags := private.GetKey(ctx, observationKey)
	if len(text) == 0 || diags.HasError() {
		return nil, diags
	}
	seen := new(wireshare.Observation)
	if err := json.Unmarshal(text, seen); err != nil {
		return nil, one(diag.NewErrorDiagnostic("The kept observation could not be read", err.Error()))
	}
	return seen, nil
}
