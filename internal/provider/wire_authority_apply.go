package provider

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// Create mints, publishes or adopts. It looks again under the lock, and stops if the authority that
// the plan showed is no longer what would be accepted.
func (r *wireAuthority) Create(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) {
	var plan wireAuthorityModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var reviewed *wireshare.Reviewed
	if accepted := fingerprint(plan.Fingerprint); accepted != "" {
		reviewed = &wireshare.Reviewed{Fingerprint: accepted}
	}
	resp.Diagnostics.Append(r.apply(ctx, timeout, &plan, wireAuthorityModel{}, reviewed, resp.Private)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(identify(ctx, resp.Identity, plan.identity())...)
	}
}

// Update does what was planned from the observation that the plan kept, or stops.
func (r *wireAuthority) Update(
	ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse,
) {
	var plan, state wireAuthorityModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	seen, diags := kept(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var reviewed *wireshare.Reviewed
	if seen != nil && !plan.Fingerprint.IsUnknown() {
		decision, err := wireshare.Decide(*seen, fingerprint(state.Fingerprint), plan.settings(state), time.Now())
		if err != nil {
			resp.Diagnostics.Append(wireDiagnostics(plan, err)...)
			return
		}
		reviewed = &wireshare.Reviewed{
			Action: decision.Action, Fingerprint: fingerprint(plan.Fingerprint), Observation: seen,
		}
	}
	resp.Diagnostics.Append(r.apply(ctx, timeout, &plan, state, reviewed, resp.Private)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(identify(ctx, resp.Identity, plan.identity())...)
	}
}

func (r *wireAuthority) apply(
	ctx context.Context, timeout time.Duration, plan *wireAuthorityModel, state wireAuthorityModel,
	reviewed *wireshare.Reviewed, private privateWriter,
) diag.Diagnostics {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	engine := wireshare.NewEngine(r.connections.open(ctx, plan.where(state)),
		expandHome(plan.StateDir.ValueString()), plan.Deployment.ValueString())
	result, err := engine.Apply(ctx, wireshare.Request{
		Prior: fingerprint(state.Fingerprint), Settings: plan.settings(state), Reviewed: reviewed,
	})
	if err != nil {
		return append(wireDiagnostics(*plan, err), timeIsOver(ctx, timeout)...)
	}
	plan.settle(result)
	diags := note(ctx, private, unreadNote, false)
	diags.Append(noteDestroys(ctx, private, "", false)...)
	return append(diags, keep(ctx, private, result.Observation)...)
}

// settle gives every unknown attribute its value. What was known in the plan was reviewed, and is
// what the engine found.
func (m *wireAuthorityModel) settle(result wireshare.Result) {
	var actual wireAuthorityModel
	actual.observe(result.Observation)
	actual.ID, actual.Fingerprint = m.id(), types.StringValue(result.Fingerprint)
	actual.Outcome = types.StringValue(string(result.Outcome))
	for _, pair := range []struct {
		planned *types.String
		actual  types.String
	}{
		{&m.ID, actual.ID}, {&m.Fingerprint, actual.Fingerprint}, {&m.Outcome, actual.Outcome},
		{&m.LocalFingerprint, actual.LocalFingerprint},
		{&m.LocalPreviousFingerprint, actual.LocalPreviousFingerprint},
		{&m.PublishedFingerprint, actual.PublishedFingerprint},
		{&m.PublishedPreviousFingerprint, actual.PublishedPreviousFingerprint},
		{&m.CertificatePEM, actual.CertificatePEM}, {&m.TrustBundlePEM, actual.TrustBundlePEM},
		{&m.NotAfter, actual.NotAfter}, {&m.PublishedAt, actual.PublishedAt},
	} {
		if pair.planned.IsUnknown() {
			*pair.planned = pair.actual
		}
	}
}

// Read looks at both sides, takes no lock and creates nothing. A side that cannot be read is a
// warning here and an error in the plan of anything but a destroy, so that destroy always works.
func (r *wireAuthority) Read(
	ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse,
) {
	var state wireAuthorityModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identify(ctx, resp.Identity, state.identity())...)
	if state.moved() {
		return // the plan looks: only the configuration says on which host
	}
	store := storeOf(state.Store)
	if unknown := r.connections.unknownFor(store); len(unknown) > 0 {
		resp.Diagnostics.Append(authorityKept(unknown))
		resp.Diagnostics.Append(note(ctx, resp.Private, unreadNote, true)...)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seen, err := wireshare.Observe(ctx, r.connections.open(ctx, store),
		expandHome(state.StateDir.ValueString()), state.Deployment.ValueString())
	if err != nil {
		resp.Diagnostics.Append(wireDiagnostics(state, err)...)
		return
	}
	unreadable := seen.Local.State == wireshare.Unreadable || seen.Published.State == wireshare.Unreadable
	switch imported := state.ID.IsNull(); {
	case imported && unreadable:
		_, err := wireshare.Decide(seen, "", wireshare.Settings{}, time.Now())
		resp.Diagnostics.Append(wireDiagnostics(state, err)...)
		return
	case imported && seen.Local.State == wireshare.Absent && seen.Published.State == wireshare.Absent:
		resp.State.RemoveResource(ctx)
		return
	case imported:
		state.ID = state.id()
		if seen.Local.State == wireshare.Whole {
			state.Fingerprint = types.StringValue(seen.Local.Info.Fingerprint)
			state.Outcome = types.StringValue(string(wireshare.OutcomeAlreadyHeld))
		}
	case unreadable:
		resp.Diagnostics.Append(notRefreshed(state, seen)...)
	}
	state.observe(seen)
	resp.Diagnostics.Append(note(ctx, resp.Private, unreadNote, false)...)
	resp.Diagnostics.Append(keep(ctx, resp.Private, seen)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Delete forgets, and deletes the published copy if that is wanted and this resource published it.
// Nothing on the host is ever deleted by it.
func (r *wireAuthority) Delete(
	ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse,
) {
	var state wireAuthorityModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !state.withdraws() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := wireshare.Withdraw(ctx, r.connections.open(ctx, state.where(state)),
		state.Deployment.ValueString(), fingerprint(state.Fingerprint))
	switch {
	case errors.Is(err, wireshare.ErrChanged):
		resp.Diagnostics.Append(publishedStays(state, err))
	case err != nil:
		resp.Diagnostics.Append(wireDiagnostics(state, err)...)
	}
}

// withdraws says whether destroy deletes the published copy. What was adopted is never deleted.
func (m *wireAuthorityModel) withdraws() bool {
	return m.DeletionPolicy.ValueString() == policyDeletePublished && m.published()
}
