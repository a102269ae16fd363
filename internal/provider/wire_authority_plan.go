package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// ModifyPlan shows what apply would do, or refuses it with both fingerprints. It reads and never
// writes, takes no lock and creates nothing. A new resource, and one whose store changes, is planned
// from what is there now; any other from what the refresh saw.
func (r *wireAuthority) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var plan, state wireAuthorityModel
	existing := !req.State.Raw.IsNull()
	if existing {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		resp.Diagnostics.Append(noteDestroys(ctx, resp.Private, state.place(), state.withdraws())...)
	}
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(destroyed(state))
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	switch {
	case existing && (replaces(state.Deployment, plan.Deployment) || replaces(state.StateDir, plan.StateDir)):
		resp.Diagnostics.Append(destroyed(state))
		return // a replacement: Terraform asks for its create with a null state
	case existing:
		plan.carry(state)
	default:
		same, diags := destroysSame(ctx, req.Private, plan.place())
		if resp.Diagnostics.Append(diags...); same {
			resp.Diagnostics.Append(replacementDeletes("What is published at "+plan.place(), policyDeletePublished))
		}
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.decide(ctx, req.Private, resp.Private, existing, state, &plan)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

// decide fills in the plan from what the refresh saw, or from another look.
func (r *wireAuthority) decide(
	ctx context.Context, before privateReader, after privateWriter, existing bool,
	state wireAuthorityModel, plan *wireAuthorityModel,
) diag.Diagnostics {
	store := plan.where(state)
	unknown := r.connections.unknownFor(store)
	seen, unread, diags := seenBefore(ctx, before, existing && !plan.newStore(state))
	switch {
	case plan.Deployment.IsUnknown() || plan.StateDir.IsUnknown() || !store.known,
		unread, len(unknown) > 0:
		plan.unknown()
		if !unread {
			diags.Append(storeNotKnown(unknown)...)
		}
		return diags // nothing can be compared; apply makes every check
	case diags.HasError():
		return diags
	case seen == nil:
		now, err := wireshare.Observe(ctx, r.connections.open(ctx, store),
			expandHome(plan.StateDir.ValueString()), plan.Deployment.ValueString())
		if err != nil {
			return append(diags, wireDiagnostics(*plan, err)...)
		}
		seen = &now
	}
	plan.ID = plan.id()
	decision, err := wireshare.Decide(*seen, fingerprint(state.Fingerprint), plan.settings(state), time.Now())
	diags.Append(wireWarnings(*plan, decision.Warnings)...)
	if err == nil {
		err = r.checkPublish(ctx, store, *seen, decision)
	}
	if err != nil {
		return append(diags, wireDiagnostics(*plan, err)...)
	}
	plan.foresee(*seen, decision, plan.newStore(state))
	return append(diags, keep(ctx, after, *seen)...)
}

// seenBefore is what the refresh saw, if the plan is to be made from it. unread says that the refresh
// could not look, since settings were not known: apply does then, and plans as this plan did.
func seenBefore(
	ctx context.Context, private privateReader, refreshed bool,
) (seen *wireshare.Observation, unread bool, diags diag.Diagnostics) {
	if !refreshed {
		return nil, false, nil
	}
	unread, diags = isNoted(ctx, private, unreadNote)
	seen, more := kept(ctx, private)
	return seen, unread, append(diags, more...)
}

// checkPublish asks, when something would be published, whether the store would take it.
func (r *wireAuthority) checkPublish(
	ctx context.Context, s store, seen wireshare.Observation, decision wireshare.Decision,
) error {
	if decision.Action != wireshare.ActionPublish && decision.Action != wireshare.ActionMint {
		return nil
	}
	if checker, ok := r.connections.open(ctx, s).(publishChecker); ok {
		return checker.CheckPublish(ctx, seen.Local.DocumentSize)
	}
	return nil
}

// carry keeps every computed value; foresee then changes those that the write can change.
func (m *wireAuthorityModel) carry(state wireAuthorityModel) {
	m.ID, m.Fingerprint, m.Outcome = state.ID, state.Fingerprint, state.Outcome
	m.LocalFingerprint, m.LocalPreviousFingerprint = state.LocalFingerprint, state.LocalPreviousFingerprint
	m.PublishedFingerprint = state.PublishedFingerprint
	m.PublishedPreviousFingerprint = state.PublishedPreviousFingerprint
	m.CertificatePEM, m.TrustBundlePEM = state.CertificatePEM, state.TrustBundlePEM
	m.NotAfter, m.PublishedAt = state.NotAfter, state.PublishedAt
}

func (m *wireAuthorityModel) unknown() {
	for _, value := range []*types.String{
		&m.Fingerprint, &m.Outcome, &m.LocalFingerprint, &m.LocalPreviousFingerprint,
		&m.PublishedFingerprint, &m.PublishedPreviousFingerprint, &m.CertificatePEM,
		&m.TrustBundlePEM, &m.NotAfter, &m.PublishedAt,
	} {
		*value = types.StringUnknown()
	}
}

// foresee fills in what is known of the outcome: all but the outcome itself and the time, for what is
// published or adopted has been read. Of a minted authority nothing is known.
func (m *wireAuthorityModel) foresee(
	seen wireshare.Observation, decision wireshare.Decision, newStore bool,
) {
	if decision.Action == wireshare.ActionMint {
		m.unknown()
		return
	}
	m.observe(seen)
	accepted := types.StringValue(decision.Fingerprint)
	changed := newStore || !accepted.Equal(m.Fingerprint)
	m.Fingerprint = accepted
	switch decision.Action {
	case wireshare.ActionPublish:
		m.PublishedFingerprint, m.PublishedPreviousFingerprint = m.LocalFingerprint, m.LocalPreviousFingerprint
		m.PublishedAt = types.StringUnknown()
		changed = true
	case wireshare.ActionAdopt:
		m.LocalFingerprint, m.LocalPreviousFingerprint = m.PublishedFingerprint, m.PublishedPreviousFingerprint
		m.present(seen.Published)
		changed = true
	}
	if changed {
		m.Outcome = types.StringUnknown()
	}
}
