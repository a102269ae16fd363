package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	ktypes "k8s.io/apimachinery/pkg/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// Create makes or adopts the Secret. It repeats every check of the plan.
func (r *memberlistSecret) Create(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) {
	var config, plan memberlistSecretModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.apply(ctx, timeout, config, memberlistSecretModel{}, &plan)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(noteApplied(ctx, resp.Private, config)...)
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(identify(ctx, resp.Identity, plan.identity())...)
	}
}

// Update does what was reviewed, or stops with what it found instead.
func (r *memberlistSecret) Update(
	ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse,
) {
	var config, plan, state memberlistSecretModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.apply(ctx, timeout, config, state, &plan)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(noteApplied(ctx, resp.Private, config)...)
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(identify(ctx, resp.Identity, plan.identity())...)
	}
}

// apply ensures the keys and the metadata, fills in what the plan left unknown, and holds the Secret.
func (r *memberlistSecret) apply(
	ctx context.Context, timeout time.Duration, config, state memberlistSecretModel,
	plan *memberlistSecretModel,
) diag.Diagnostics {
	offered, _, err := supplied(config.KeysWO)
	if err != nil {
		return one(badKeys(err))
	}
	cluster, err := r.connections.cluster(ctx, config.Kubernetes)
	if err != nil {
		return memberlistDiagnostics(*plan, err)
	}
	terms := termsOf(config, *plan, state)
	terms.Planned = fingerprint(plan.PrimaryKeyFingerprint)
	terms.PlannedWrite = plan.PrimaryKeyFingerprint.IsUnknown() &&
		(terms.Rotate || terms.AllowReplacing == terms.Accepted)
	var reports holdReports
	namespace := plan.Namespace.ValueString()
	provisioner := keys.NewProvisionerWith(cluster.Secrets(namespace), namespace, keys.Options{
		Name: plan.Name.ValueString(), Metadata: metadata(*plan, state), SuppliedKeys: offered,
		Report: reports.add,
	})
	ensuring, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := provisioner.Apply(ensuring, terms)
	if err != nil {
		return append(memberlistDiagnostics(*plan, err), timeIsOver(ensuring, timeout)...)
	}
	uidKnown := !plan.UID.IsUnknown()
	diags := plan.settle(ctx, result, state)
	if result.Action == keys.Accept && terms.Planned == "" { // no plan has shown it
		seen := state
		seen.LiveKeyFingerprints = plan.LiveKeyFingerprints
		diags.Append(rotatedOutside(seen, terms.Rotate))
	}
	uid := hold(ctx, provisioner, plan.HoldFor, &reports)
	if uid != "" && !uidKnown {
		plan.UID = types.StringValue(uid)
	}
	return append(diags, reports.warnings(*plan)...)
}

// settle gives every unknown attribute its value. What was known in the plan stays: the next refresh
// tells what changed meanwhile.
func (m *memberlistSecretModel) settle(
	ctx context.Context, result keys.Result, state memberlistSecretModel,
) diag.Diagnostics {
	var actual memberlistSecretModel
	diags := actual.setLive(ctx, result.Live)
	if m.PrimaryKeyFingerprint.IsUnknown() {
		m.PrimaryKeyFingerprint = types.StringValue(result.Live.Primary())
	}
	if m.ID.IsUnknown() {
		m.ID = m.id()
	}
	if m.Origin.IsUnknown() && result.Made == keys.MadeNothing && actual.UID.Equal(state.UID) {
		m.Origin = state.Origin // the very Secret that the state tells of
	}
	if m.UID.IsUnknown() {
		m.UID = actual.UID
	}
	if m.LiveKeyFingerprints.IsUnknown() {
		m.LiveKeyFingerprints = actual.LiveKeyFingerprints
	}
	if m.PrimaryKeyBits.IsUnknown() {
		m.PrimaryKeyBits = actual.PrimaryKeyBits
	}
	if m.Origin.IsUnknown() {
		m.Origin = types.StringValue(map[keys.Made]string{
			keys.MadeNothing: originAdopted, keys.MadeSecret: originCreated, keys.MadeEntry: originFilled,
		}[result.Made])
	}
	return diags
}

// metadata is what the configuration names, and what it named before and names no longer.
func metadata(plan, state memberlistSecretModel) keys.Metadata {
	labels, noLabels := managed(plan.Labels, state.Labels)
	annotations, noAnnotations := managed(plan.Annotations, state.Annotations)
	return keys.Metadata{
		Labels: labels, RemoveLabels: noLabels,
		Annotations: annotations, RemoveAnnotations: noAnnotations,
	}
}

func managed(plan, state types.Map) (map[string]string, []string) {
	want := texts(plan)
	var remove []string
	for name := range state.Elements() {
		if _, ok := want[name]; !ok {
			remove = append(remove, name)
		}
	}
	return want, remove
}

// Read looks at this one Secret. One that is gone stays in the state with no live key: taking it out
// would plan a new key, and a new key partitions a running cluster.
func (r *memberlistSecret) Read(
	ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse,
) {
	var state memberlistSecretModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identify(ctx, resp.Identity, state.identity())...)
	writeOnly, diags := isNoted(ctx, req.Private, credentialsNote)
	resp.Diagnostics.Append(diags...)
	if writeOnly {
		return // the plan looks: only it has the credentials
	}
	if unknown := r.connections.unknownCluster(ctx, state.Kubernetes); len(unknown) > 0 {
		resp.Diagnostics.Append(stateKept(unknown))
		resp.Diagnostics.Append(note(ctx, resp.Private, unreadNote, true)...)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	live, err := r.look(ctx, state, state.Kubernetes)
	if err != nil {
		resp.Diagnostics.Append(memberlistDiagnostics(state, err)...)
		return
	}
	fresh := state.ID.IsNull() // an import, or a move from a state without keys: nothing was ever read
	switch imported := state.Origin.ValueString() == originImported; {
	case fresh && !imported && live.Primary() == "":
		resp.Diagnostics.Append(movedSecretGone(state))
		return
	case fresh && !live.Exists:
		resp.State.RemoveResource(ctx)
		return
	}
	resp.Diagnostics.Append(state.refresh(ctx, live, fresh)...)
	resp.Diagnostics.Append(note(ctx, resp.Private, unreadNote, false)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (m *memberlistSecretModel) refresh(ctx context.Context, live keys.Live, fresh bool) diag.Diagnostics {
	// Another UID, or one after none, is a Secret that somebody else made.
	if live.Exists && m.Origin.ValueString() != originImported &&
		m.UID.ValueString() != string(live.UID) {
		m.Origin = types.StringValue(originAdopted)
	}
	if fresh {
		m.ID = m.id()
		if live.Primary() != "" {
			m.PrimaryKeyFingerprint = types.StringValue(live.Primary())
		}
	}
	m.Labels = refreshed(m.Labels, live.Labels)
	m.Annotations = refreshed(m.Annotations, live.Annotations)
	return m.setLive(ctx, live)
}

// refreshed are the live values of the managed names; all others belong to somebody else.
func refreshed(managed types.Map, live map[string]string) types.Map {
	if managed.IsNull() {
		return managed
	}
	values := map[string]attr.Value{}
	for name := range managed.Elements() {
		if value, ok := live[name]; ok {
			values[name] = types.StringValue(value)
		}
	}
	return types.MapValueMust(types.StringType, values)
}

// Delete forgets the Secret, or deletes the very one that this resource created.
func (r *memberlistSecret) Delete(
	ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse,
) {
	var state memberlistSecretModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !deletes(state) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if writeOnly, _ := isNoted(ctx, req.Private, credentialsNote); writeOnly {
		resp.Diagnostics.Append(cannotDelete(state))
		return
	}
	cluster, err := r.connections.cluster(ctx, state.Kubernetes)
	if err == nil {
		namespace := state.Namespace.ValueString()
		err = keys.Delete(ctx, cluster.Secrets(namespace), namespace, state.Name.ValueString(),
			ktypes.UID(state.UID.ValueString()))
	}
	if err != nil {
		resp.Diagnostics.Append(memberlistDiagnostics(state, err)...)
	}
}

// deletes says whether destroy deletes the Secret. What was adopted is never deleted.
func deletes(state memberlistSecretModel) bool {
	return state.DeletionPolicy.ValueString() == policyDelete &&
		state.Origin.ValueString() == originCreated && state.UID.ValueString() != ""
}
