package provider

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// What a user reads about keys that are supplied, rotated or held.

// badKeys is not put on its attribute: Terraform would quote the line of the configuration, and a key
// that is written there, along with it.
func badKeys(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid keys", fmt.Sprintf(
		"keys_wo takes one key per element, in base64 with padding, of 16, 24 or 32 bytes: %s.", err))
}

// keysNotUsed says that an offer was not taken up.
func keysNotUsed(where, live, offered string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("keys_wo_version"),
		"The supplied keys are not those in the Secret", fmt.Sprintf(
			"The primary key of the Secret %s is %s, and the first key of keys_wo is %s. Supplied keys "+
				"never take the place of others: the Secret stays as it is. Change rotate_when_changed to "+
				"rotate to them.", where, live, offered))
}

func sameKeysDiagnostic(where string, err *keys.SameKeysError) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("rotate_when_changed"),
		"There is no other key to rotate to", fmt.Sprintf(
			"rotate_when_changed changed, and keys_wo are the keys that the Secret %s has, with the primary "+
				"key %s. %s Put other keys into keys_wo, or take it out to have a key generated.",
			where, err.Live, unwritten))
}

// rotationWarning is for a rotation that will come, or that perhaps will.
func rotationWarning(state memberlistSecretModel, offered supply, perhaps bool) diag.Diagnostic {
	what := "rotate_when_changed changed: applying puts another key in the place of"
	if perhaps {
		what = "rotate_when_changed is not known before apply. If it changes, applying puts another key in " +
			"the place of"
	}
	if len(offered.fingerprints) > 0 && offered.fingerprints[0] == state.livePrimary() {
		return diag.NewAttributeWarningDiagnostic(path.Root("rotate_when_changed"),
			"The keys behind the primary will change", fmt.Sprintf(
				"Applying writes keys_wo to the Secret %s: %d keys. The primary key stays %s, so that agents "+
					"go on hearing each other.", state.ID.ValueString(), len(offered.fingerprints), state.livePrimary()))
	}
	if behind := len(state.LiveKeyFingerprints.Elements()) - 1; behind > 0 && len(offered.fingerprints) == 0 {
		what = fmt.Sprintf("%s all %d keys, with", what, behind+1)
	}
	return diag.NewAttributeWarningDiagnostic(path.Root("rotate_when_changed"),
		"The key will be rotated", fmt.Sprintf(
			"%s the primary key %s of the Secret %s. Agents take the new key as each of them sees the change. "+
				"Until the last one has it, agents with the new key and agents with the old one cannot hear "+
				"each other: nodes look failed, and an Egress IP can be on two nodes. Agents that do not "+
				"watch the Secret have to be restarted.",
			what, state.livePrimary(), state.ID.ValueString()))
}

// heldWarning is for what happened while apply held the Secret. The keys are in place, or were when
// apply ensured them, so that it is never an error.
func heldWarning(model memberlistSecretModel, err error) diag.Diagnostic {
	where := model.ID.ValueString()
	at := path.Root("hold_for")
	var restored *keys.RestoredError
	var request *connect.RequestError
	switch {
	case errors.As(err, &restored):
		who := "The Secret's managedFields do not tell who did it."
		if restored.By != "" {
			who = fmt.Sprintf("The last to change it was the field manager %q.", restored.By)
		}
		return diag.NewAttributeWarningDiagnostic(at, "The Secret was put back while apply held it", fmt.Sprintf(
			"%s. %s Whatever did it will do it again when apply holds the Secret no longer. Keep it from doing so, "+
				"as with an annotation that a GitOps tool takes for \"do not prune\".", restored, who))
	case errors.As(err, &request) && apierrors.IsForbidden(err):
		return diag.NewAttributeWarningDiagnostic(at, "The Secret could not be watched", fmt.Sprintf(
			"The keys of the Secret %s are ensured, but hold_for has no effect: %s was denied to %s. This "+
				"grants it:\n\n%s\nOriginal error: %s",
			where, request.Verb, request.Identity, request.Role(), request))
	}
	return diag.NewAttributeWarningDiagnostic(at, "Holding the Secret met an error", fmt.Sprintf(
		"The keys of the Secret %s were ensured before. Original error: %s", where, err))
}
