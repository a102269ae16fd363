package provider

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Private state keeps what the state does not show and the next call has to know. A note is there
// or is not: anyone can read it, so that nothing else goes there.
const (
	// credentialsNote: the resource's own connection has write-only credentials, which no refresh
	// and no destroy can know.
	credentialsNote = "credentials_write_only"
	// unreadNote: the last refresh did not see the Secret, since its cluster was not known. It lives
	// as long as the plan, so that apply plans as that plan did.
	unreadNote = "unread"
	// destroysNote names what a destroy of the present state would delete. Terraform plans a replacement
	// in two calls, first for the object that is there and then for a new one, and passes private state
	// from the first to the second: only so does the second know what the first would delete.
	destroysNote = "destroys"
)

func note(ctx context.Context, private privateWriter, name string, value bool) diag.Diagnostics {
	if value {
		return private.SetKey(ctx, name, []byte("true"))
	}
	return private.SetKey(ctx, name, nil) // takes it away
}

func isNoted(ctx context.Context, private privateReader, name string) (bool, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, name)
	return string(value) == "true", diags
}

// noteDestroys notes the id of what a destroy would delete, or that it would delete nothing.
func noteDestroys(ctx context.Context, private privateWriter, id string, deletes bool) diag.Diagnostics {
	if !deletes {
		return private.SetKey(ctx, destroysNote, nil)
	}
	return private.SetKey(ctx, destroysNote, []byte(strconv.Quote(id)))
}

// destroysSame says that this create belongs to a replacement that would delete the very object which
// it is about to adopt.
func destroysSame(ctx context.Context, private privateReader, id string) (bool, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, destroysNote)
	return string(value) == strconv.Quote(id), diags
}

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
