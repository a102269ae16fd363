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
		resp.Diagnostics.Append(destroyWarning(state))
		return
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(r.planCreate(ctx, config, &plan)...)
	} else {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		if !plan.Namespace.Equal(state.Namespace) || !plan.Name.Equal(state.Name) {
			resp.Diagnostics.Append(destroyWarning(state))
			return // a replacement: Terraform asks for its create with a null state
		}
		resp.Diagnostics.Append(r.lookAgain(ctx, config, plan, &state)...)
		if resp.Diagnostics.HasError() {
			return
		}
		resp.Diagnostics.Append(planUpdate(config, state, &plan)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *memberlistSecret) planCreate(
	ctx context.Context, config memberlistSecretModel, plan *memberlistSecretModel,
) diag.Diagnostics {
	if plan.Namespace.IsUnknown() || plan.Name.IsUnknown() {
		return nil // nothing can be looked at; apply checks everything
	}
	plan.ID = plan.id()
	if unknown := r.connections.unknownCluster(ctx, config.Kubernetes); len(unknown) > 0 {
		return diag.Diagnostics{checksMoveToApply(unknown)}
	}
	live, err := r.look(ctx, *plan, config.Kubernetes)
	if err != nil {
		return memberlistDiagnostics(*plan, err)
	}
	action, err := keys.Decide(live.Primary(), "", keys.Terms{Pinned: fingerprint(config.PrimaryKeyFingerprint)})
	if err != nil {
		return memberlistDiagnostics(*plan, err)
	}
	if action != keys.Adopt {
		return nil
	}
	if config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = types.StringValue(live.Primary())
	}
	plan.Origin = types.StringValue(originAdopted)
	return plan.setLive(ctx, live)
}

// lookAgain refreshes the state where Read could not: Read knows neither write-only credentials nor
// a connection that the configuration has just changed.
func (r *memberlistSecret) lookAgain(
	ctx context.Context, config, plan memberlistSecretModel, state *memberlistSecretModel,
) diag.Diagnostics {
	if plan.Kubernetes.Equal(state.Kubernetes) && !secretsIn(kubernetesField("").fields, config.Kubernetes) {
		return nil
	}
	if unknown := r.connections.unknownCluster(ctx, config.Kubernetes); len(unknown) > 0 {
		return diag.Diagnostics{checksMoveToApply(unknown)}
	}
	live, err := r.look(ctx, plan, config.Kubernetes)
	if err != nil {
		return memberlistDiagnostics(plan, err)
	}
	return state.refresh(ctx, live, false)
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
func planUpdate(config, state memberlistSecretModel, plan *memberlistSecretModel) diag.Diagnostics {
	plan.ID, plan.UID, plan.Origin = state.ID, state.UID, state.Origin
	plan.LiveKeyFingerprints, plan.PrimaryKeyBits = state.LiveKeyFingerprints, state.PrimaryKeyBits
	if config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = state.PrimaryKeyFingerprint
	}
	terms := termsOf(config, state)
	if config.AllowReplacingKey.IsUnknown() {
		terms.AllowReplacing = terms.Accepted // whether it consents shows at apply
	}
	action, err := keys.Decide(state.livePrimary(), "", terms)
	if err != nil {
		return memberlistDiagnostics(*plan, err)
	}
	switch {
	case action == keys.Accept || action == keys.Adopt:
		if config.PrimaryKeyFingerprint.IsNull() {
			plan.PrimaryKeyFingerprint = types.StringValue(state.livePrimary())
		}
		if action == keys.Accept {
			return diag.Diagnostics{rotatedOutside(state)}
		}
	case action.Writes():
		if config.PrimaryKeyFingerprint.IsNull() {
			plan.PrimaryKeyFingerprint = types.StringUnknown()
		}
		if state.UID.IsNull() {
			plan.UID = types.StringUnknown()
		}
		plan.Origin = types.StringUnknown()
		plan.LiveKeyFingerprints = types.ListUnknown(types.StringType)
		plan.PrimaryKeyBits = types.Int64Unknown()
		if action == keys.Replace {
			return diag.Diagnostics{newKeyWarning(state)}
		}
	}
	return nil
}

func termsOf(config, state memberlistSecretModel) keys.Terms {
	return keys.Terms{
		Accepted:       fingerprint(state.PrimaryKeyFingerprint),
		Pinned:         fingerprint(config.PrimaryKeyFingerprint),
		AllowReplacing: fingerprint(config.AllowReplacingKey),
	}
}

// fingerprint is the value without the white space that comes with a file; "" for null and unknown.
func fingerprint(value types.String) string { return strings.TrimSpace(value.ValueString()) }
