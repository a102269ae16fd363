package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// ModifyPlan shows what apply would do, or refuses it. A new resource is planned from the Secret as
// it is now; an existing one from the refreshed state alone, so that a saved plan applies as it was
// reviewed. Terraform calls it again at apply.
func (r *memberlistSecret) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var config, plan, state memberlistSecretModel
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		resp.Diagnostics.Append(planDestroy(ctx, req.Private, state)...)
		return
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(r.planCreate(ctx, req.Private, config, &plan)...)
	} else {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		resp.Diagnostics.Append(noteDestroys(ctx, resp.Private, state.ID.ValueString(), deletes(state))...)
		if !plan.Namespace.Equal(state.Namespace) || !plan.Name.Equal(state.Name) {
			resp.Diagnostics.Append(planDestroy(ctx, req.Private, state)...)
			return // a replacement: Terraform asks for its create with a null state
		}
		resp.Diagnostics.Append(r.planExisting(ctx, req.Private, config, state, &plan)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// planDestroy says what a destroy leaves behind, or why it will fail.
func planDestroy(ctx context.Context, private privateReader, state memberlistSecretModel) diag.Diagnostics {
	hidden, diags := isNoted(ctx, private, credentialsNote)
	if hidden && deletes(state) {
		return append(diags, cannotDelete(state))
	}
	return append(diags, destroyWarning(state))
}

func (r *memberlistSecret) planCreate(
	ctx context.Context, private privateReader, config memberlistSecretModel, plan *memberlistSecretModel,
) diag.Diagnostics {
	if plan.Namespace.IsUnknown() || plan.Name.IsUnknown() {
		return nil // nothing can be looked at; apply checks everything
	}
	plan.ID = plan.id()
	same, diags := destroysSame(ctx, private, plan.ID.ValueString())
	if same {
		diags.Append(replacementDeletes("The Secret "+plan.ID.ValueString(), policyDelete))
	}
	if diags.HasError() {
		return diags
	}
	if unknown := r.connections.unknownCluster(ctx, config.Kubernetes); len(unknown) > 0 {
		return diag.Diagnostics{checksMoveToApply(unknown)}
	}
	live, err := r.look(ctx, *plan, config.Kubernetes)
	if err != nil {
		return memberlistDiagnostics(*plan, err)
	}
	offered, more := supplyOf(config)
	diags.Append(more...)
	terms := termsOf(config, *plan, memberlistSecretModel{})
	action, err := keys.Decide(live.Fingerprints, offered.orTrusted(terms), terms)
	if err != nil {
		return append(diags, memberlistDiagnostics(*plan, err)...)
	}
	if action.Writes() {
		return append(diags, plan.planWrite(ctx, config, offered)...)
	}
	if offered.unlike(live.Fingerprints) {
		diags.Append(keysNotUsed(plan.ID.ValueString(), live.Primary(), offered.fingerprints[0]))
	}
	if config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = types.StringValue(live.Primary())
	}
	plan.Origin = types.StringValue(originAdopted)
	return append(diags, plan.setLive(ctx, live)...)
}

// planExisting plans from the refreshed state, or from another look where Read could not see the
// Secret: it knows neither write-only credentials nor a connection that the configuration has just
// changed.
func (r *memberlistSecret) planExisting(
	ctx context.Context, private privateReader, config, state memberlistSecretModel,
	plan *memberlistSecretModel,
) diag.Diagnostics {
	unread, diags := isNoted(ctx, private, unreadNote)
	hidden, more := isNoted(ctx, private, credentialsNote)
	diags.Append(more...)
	unknown := r.connections.unknownCluster(ctx, config.Kubernetes)
	if unread || len(unknown) > 0 {
		if !unread {
			diags.Append(checksMoveToApply(unknown))
		}
		return append(diags, planUnseen(config, state, unread, plan)...)
	}
	hides := secretsIn(kubernetesField("").fields, config.Kubernetes)
	if hides || hidden || !plan.Kubernetes.Equal(state.Kubernetes) {
		live, err := r.look(ctx, *plan, config.Kubernetes)
		if err != nil {
			return append(diags, memberlistDiagnostics(*plan, err)...)
		}
		diags.Append(state.refresh(ctx, live, false)...)
	}
	diags.Append(planUpdate(ctx, config, state, plan)...)
	if hides != hidden {
		// Nothing that the state shows has changed. Without an update Read and Delete would go on
		// as if the credentials were where they used to be.
		plan.LiveKeyFingerprints = types.ListUnknown(types.StringType)
	}
	return diags
}

// look reads the Secret, after the guard against a wrong cluster. own is the resource's own way to
// the cluster.
func (r *memberlistSecret) look(
	ctx context.Context, model memberlistSecretModel, own types.Object,
) (keys.Live, error) {
	namespace, name := model.where()
	client, err := r.connections.secrets(ctx, own, namespace)
	if err != nil {
		return keys.Live{}, err
	}
	return keys.Read(ctx, client, namespace, name)
}

// planUpdate marks unknown exactly what the write can change. The framework has marked every
// computed attribute; all of them keep their values unless keys are written.
func planUpdate(
	ctx context.Context, config, state memberlistSecretModel, plan *memberlistSecretModel,
) diag.Diagnostics {
	plan.ID, plan.UID, plan.Origin = state.ID, state.UID, state.Origin
	plan.LiveKeyFingerprints, plan.PrimaryKeyBits = state.LiveKeyFingerprints, state.PrimaryKeyBits
	if config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = state.PrimaryKeyFingerprint
	}
	terms := termsOf(config, *plan, state)
	if config.AllowReplacingKey.IsUnknown() {
		terms.AllowReplacing = terms.Accepted // whether it consents shows at apply
	}
	offered, diags := supplyOf(config)
	live := knownStrings(state.LiveKeyFingerprints.Elements())
	action, err := keys.Decide(live, offered.orTrusted(terms), terms)
	if err != nil {
		return append(diags, memberlistDiagnostics(*plan, err)...)
	}
	if action.Writes() {
		return append(diags, planKeys(ctx, action, config, state, offered, plan)...)
	}
	if action != keys.Keep && config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = types.StringValue(state.livePrimary())
	}
	if action == keys.Accept {
		diags.Append(rotatedOutside(state, terms.Rotate))
	}
	if action == keys.Keep && terms.AllowReplacing == terms.Accepted && !config.AllowReplacingKey.IsUnknown() {
		diags.Append(standingConsent(state))
	}
	if !plan.KeysWOVersion.Equal(state.KeysWOVersion) && offered.unlike(live) {
		diags.Append(keysNotUsed(state.ID.ValueString(), state.livePrimary(), offered.fingerprints[0]))
	}
	if _, perhaps := rotation(*plan, state); perhaps && action == keys.Keep {
		diags.Append(plan.planWrite(ctx, config, supply{})...)
		diags.Append(rotationWarning(state, offered, true))
	}
	return diags
}

// planKeys plans a write of keys over, or in the place of, those that were accepted.
func planKeys(
	ctx context.Context, action keys.Action, config, state memberlistSecretModel, offered supply,
	plan *memberlistSecretModel,
) diag.Diagnostics {
	diags := plan.planWrite(ctx, config, offered)
	if state.UID.IsNull() {
		plan.UID = types.StringUnknown()
	}
	if action != keys.Rotate {
		plan.Origin = types.StringUnknown()
	}
	switch action {
	case keys.Replace:
		diags.Append(newKeyWarning(state))
	case keys.Rotate:
		diags.Append(rotationWarning(state, offered, false))
	}
	return diags
}

func termsOf(config, plan, state memberlistSecretModel) keys.Terms {
	asked, _ := rotation(plan, state)
	return keys.Terms{
		Accepted:       fingerprint(state.PrimaryKeyFingerprint),
		Pinned:         fingerprint(config.PrimaryKeyFingerprint),
		AllowReplacing: fingerprint(config.AllowReplacingKey),
		Rotate:         asked,
	}
}

// fingerprint is the value without the white space that comes with a file; "" for null and unknown.
func fingerprint(value types.String) string { return strings.TrimSpace(value.ValueString()) }
