package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// noteApplied is for a write that went through.
func noteApplied(ctx context.Context, private privateWriter, config memberlistSecretModel) diag.Diagnostics {
	diags := note(ctx, private, credentialsNote, secretsIn(kubernetesField("").fields, config.Kubernetes))
	diags.Append(note(ctx, private, unreadNote, false)...)
	diags.Append(noteDestroys(ctx, private, "", false)...)
	return diags
}

// planUnseen plans an update of a Secret whose cluster is not known before apply: without one, apply
// would not look at all, and a cluster that is replaced in the same run would come up without its
// Secret. Unknown is what that update can change. The accepted key is not, unless its replacement is
// consented to: apply stops at another one. Only where the resource's own way to the cluster changes,
// so that apply plans anew from what it finds, it has to be.
func planUnseen(
	config, state memberlistSecretModel, unread bool, plan *memberlistSecretModel,
) diag.Diagnostics {
	plan.ID = state.ID
	accepted := state.PrimaryKeyFingerprint
	asked, perhaps := rotation(*plan, state)
	consents := asked || perhaps || config.AllowReplacingKey.IsUnknown() ||
		!accepted.IsNull() && fingerprint(config.AllowReplacingKey) == fingerprint(accepted)
	if config.PrimaryKeyFingerprint.IsNull() {
		plan.PrimaryKeyFingerprint = accepted
		if consents || !unread || accepted.IsNull() {
			plan.PrimaryKeyFingerprint = types.StringUnknown()
		}
	}
	plan.UID, plan.Origin = types.StringUnknown(), types.StringUnknown()
	plan.LiveKeyFingerprints = types.ListUnknown(types.StringType)
	plan.PrimaryKeyBits = types.Int64Unknown()
	var diags diag.Diagnostics
	if asked || perhaps {
		diags.Append(rotationWarning(state, supply{}, perhaps))
	}
	if fingerprint(config.AllowReplacingKey) == fingerprint(accepted) && !accepted.IsNull() {
		diags.Append(standingConsent(state))
	}
	return diags
}
