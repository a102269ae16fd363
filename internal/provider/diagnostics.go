package provider

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// Every text that a user reads stands in this file and in those that end in its name. Summaries are
// constant; details say what was found, what was left untouched and what to do. Nothing here ever
// sees key material.

const unwritten = "Nothing was written."

// settingDiagnostics puts each fault on its attribute, such as assume_role[0].role_arn.
func settingDiagnostics(object string, faults []*connect.SettingError) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, fault := range faults {
		at := path.Root(object)
		for step := range strings.SplitSeq(fault.Attribute, ".") {
			name, index, indexed := strings.Cut(strings.TrimSuffix(step, "]"), "[")
			if name != "" && name != object {
				at = at.AtName(name)
			}
			if number, err := strconv.Atoi(index); indexed && err == nil {
				at = at.AtListIndex(number)
			}
		}
		diags.AddAttributeError(at, invalidSetting, fault.Error())
	}
	return diags
}

// aboutSecret is a model that names a Secret, and its own way to the cluster if it has one.
type aboutSecret interface {
	where() (namespace, name string)
	own() types.Object
}

// memberlistDiagnostics explains an error about the Secret of the model.
func memberlistDiagnostics(model aboutSecret, err error) diag.Diagnostics {
	namespace, name := model.where()
	where := namespace + "/" + name
	var pinned *keys.PinnedError
	var gone *keys.GoneError
	var changed *keys.ChangedError
	var same *keys.SameKeysError
	var request *connect.RequestError
	if diags := connectionDiagnostics(model.own(), err); diags != nil {
		return diags
	}
	switch {
	case errors.As(err, &pinned):
		return one(pinnedDiagnostic(where, pinned))
	case errors.As(err, &gone):
		return one(goneDiagnostic(where, gone))
	case errors.As(err, &changed):
		return one(diag.NewErrorDiagnostic("The Secret changed since the plan", fmt.Sprintf(
			"Secret %s: %s. %s Make a new plan and review it.", where, changed, unwritten)))
	case errors.As(err, &same):
		return one(sameKeysDiagnostic(where, same))
	case errors.Is(err, keys.ErrInvalidSecret):
		return one(invalidDiagnostic(where, err))
	case errors.Is(err, keys.ErrNamespaceMissing), errors.Is(err, keys.ErrNamespaceTerminating):
		return one(namespaceDiagnostic(namespace, err))
	case errors.As(err, &request) && apierrors.IsForbidden(err):
		return one(deniedDiagnostic(request))
	case errors.As(err, &request):
		return one(diag.NewErrorDiagnostic("The request to the API server failed", requestDetail(where, request)))
	}
	return one(diag.NewErrorDiagnostic("The Secret could not be ensured",
		fmt.Sprintf("Secret %s. Original error: %s", where, err)))
}

// timeIsOver says that a failure came when the time of the resource's own timeouts was over.
func timeIsOver(ctx context.Context, timeout time.Duration) diag.Diagnostics {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return one(diag.NewAttributeWarningDiagnostic(path.Root("timeouts"), "The time was over", fmt.Sprintf(
		"`timeouts` gives this operation %s.", timeout)))
}

func one(diagnostic diag.Diagnostic) diag.Diagnostics { return diag.Diagnostics{diagnostic} }

// requestDetail says what a failed request leaves behind.
func requestDetail(where string, request *connect.RequestError) string {
	after := "A failure to read is not an absence: the state stays as it was, and nothing was written."
	if request.Verb != "get" {
		after = "Run the apply again: it reads the Secret first and never writes over a key."
	}
	return fmt.Sprintf("Secret %s. %s\n\nOriginal error: %s", where, after, request)
}

func pinnedDiagnostic(where string, err *keys.PinnedError) diag.Diagnostic {
	found := "its primary key is " + err.Live
	cure := "Set primary_key_fingerprint to " + err.Live + " to accept that key, or find out who changed it."
	switch err.Live {
	case err.Pinned:
		found = "rotate_when_changed asks for another one"
		cure = "Remove primary_key_fingerprint, or set it to the fingerprint of the first key of keys_wo."
	case "":
		found = "it holds no key, and a new key would have another fingerprint"
		cure = "Put the key with that fingerprint back, or remove primary_key_fingerprint."
	}
	return diag.NewAttributeErrorDiagnostic(path.Root("primary_key_fingerprint"),
		"Refusing another primary key than the pinned one", fmt.Sprintf(
			"The configuration pins the primary key of the Secret %s to %s, and %s. %s %s",
			where, err.Pinned, found, unwritten, cure))
}

func goneDiagnostic(where string, err *keys.GoneError) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("allow_replacing_key"),
		"Refusing to replace a key that agents may be using", fmt.Sprintf(
			"The Secret %s, or its keys entry, is gone. The last accepted primary key is %s. Agents that "+
				"run still use it, and a new key partitions the cluster: nodes with different primary keys "+
				"cannot hear each other. %s\n\nantrea-controller puts the Secret back with the same key as "+
				"long as it keeps running, so wait for that or restore the Secret from a backup. If no agent "+
				"uses that key any more, consent to a new one with allow_replacing_key = %q.\n\nTo forget the "+
				"Secret in place of that: terraform destroy -refresh=false, or terraform state rm.",
			where, err.Accepted, unwritten, err.Accepted))
}

func invalidDiagnostic(where string, err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The Secret needs a person to fix it", fmt.Sprintf(
		"The Secret %s does not hold what Antrea's agents can read, and was left byte for byte as it is. "+
			"Its data entry `keys` takes one key per line, in base64 with padding, of 16, 24 or 32 bytes. "+
			"An immutable Secret has to be deleted and made anew by whoever knows the key that agents use. To "+
			"forget the Secret as it is: terraform destroy -refresh=false, or terraform state rm."+
			"\n\nOriginal error: %s", where, err))
}

func namespaceDiagnostic(namespace string, err error) diag.Diagnostic {
	state, cure := "does not exist", "Create it first, and let this resource depend on it."
	if errors.Is(err, keys.ErrNamespaceTerminating) {
		state, cure = "is being terminated", "Wait until it is gone, and create it anew."
	}
	return diag.NewAttributeErrorDiagnostic(path.Root("namespace"), "The namespace cannot hold the Secret",
		fmt.Sprintf("The namespace %s %s. %s %s\n\nOriginal error: %s",
			namespace, state, unwritten, cure, err))
}

// rotatedOutside is for a key that no apply of this state accepted. asked says that the configuration
// asks for a rotation, too: then it may be the one of an apply that was cut off.
func rotatedOutside(state memberlistSecretModel, asked bool) diag.Diagnostic {
	if asked {
		return diag.NewAttributeWarningDiagnostic(path.Root("rotate_when_changed"),
			"The key was rotated already", fmt.Sprintf(
				"rotate_when_changed changed, and the primary key of the Secret %s is %s already; the last "+
					"accepted one is %s. An apply that was cut off has written it, or somebody else. Applying "+
					"accepts it and writes nothing: it is not rotated again.",
				state.ID.ValueString(), state.livePrimary(), fingerprint(state.PrimaryKeyFingerprint)))
	}
	return diag.NewAttributeWarningDiagnostic(path.Root("primary_key_fingerprint"),
		"The key was rotated outside Terraform", fmt.Sprintf(
			"The primary key of the Secret %s is %s; the last accepted one is %s. Applying accepts the new "+
				"one and writes nothing to the cluster. Pin primary_key_fingerprint to refuse such changes.",
			state.ID.ValueString(), state.livePrimary(), fingerprint(state.PrimaryKeyFingerprint)))
}

func standingConsent(state memberlistSecretModel) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("allow_replacing_key"),
		"A consent names the key in use", fmt.Sprintf(
			"allow_replacing_key names %s, the accepted key of the Secret %s. Remove it, or the next loss of "+
				"the Secret is answered with a new key without anybody being asked.",
			fingerprint(state.PrimaryKeyFingerprint), state.ID.ValueString()))
}

// replacementDeletes refuses a replacement whose first half deletes what its second half is to adopt.
func replacementDeletes(what, policy string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("deletion_policy"),
		"Refusing a replacement that deletes what it keeps", fmt.Sprintf(
			"%s is what the resource has now and what its replacement is to adopt, and deletion_policy = %q "+
				"would delete it in between: a new key or authority would take its place. %s Set deletion_policy "+
				"= %q, apply that without the replacement, and replace then.", what, policy, unwritten, policyRetain))
}

func newKeyWarning(state memberlistSecretModel) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("allow_replacing_key"),
		"A new key will be written", fmt.Sprintf(
			"The key %s of the Secret %s is gone and allow_replacing_key consents to a new one. Agents that "+
				"still run with the old key cannot hear those that read the new one: the cluster is "+
				"partitioned until all of them have it.",
			fingerprint(state.PrimaryKeyFingerprint), state.ID.ValueString()))
}

func destroyWarning(state memberlistSecretModel) diag.Diagnostic {
	where := state.ID.ValueString()
	if deletes(state) {
		return diag.NewWarningDiagnostic("The Secret will be deleted", fmt.Sprintf(
			"deletion_policy = %q deletes the Secret %s. A running antrea-controller puts it back, and one "+
				"that restarts makes a new key, which partitions the cluster.", policyDelete, where))
	}
	why := ""
	if state.DeletionPolicy.ValueString() == policyDelete {
		why = fmt.Sprintf(" deletion_policy = %q does not apply: its origin is %s.",
			policyDelete, state.Origin.ValueString())
	}
	return diag.NewWarningDiagnostic("The Secret stays in the cluster", fmt.Sprintf(
		"Terraform forgets the Secret %s and deletes nothing.%s", where, why))
}

func badImportID(problems []string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid import ID", fmt.Sprintf(
		"The ID is namespace/name, such as kube-system/%s, or a namespace alone: %s",
		keys.DefaultName, strings.Join(problems, "; ")))
}
