package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// summaries are the constant first lines of refusals.
var summaries = []struct {
	reason  error
	summary string
}{
	{wireshare.ErrLost, "Refusing to mint: this host lost its authority"},
	{wireshare.ErrGone, "Refusing to mint: the accepted authority is gone"},
	{wireshare.ErrNothingToAdopt, "There is no authority to adopt"},
	{wireshare.ErrLocalAhead, "Refusing to replace the published authority"},
	{wireshare.ErrLocalBehind, "Refusing to replace the local authority"},
	{wireshare.ErrDiffer, "Refusing to choose between two authorities"},
	{wireshare.ErrReissued, "Refusing to choose between two certificates of one key"},
	{wireshare.ErrPreviousDiffer, "Refusing to choose between two previous authorities"},
	{wireshare.ErrExpired, "Refusing to move an expired authority"},
	{wireshare.ErrContradiction, "The consents contradict each other"},
	{wireshare.ErrLocalUnreadable, "The authority of this host cannot be read"},
	{wireshare.ErrPublishedUnreadable, "The published authority cannot be read"},
	{wireshare.ErrPlanChanged, "The authority changed since the plan"},
	{wireshare.ErrChanged, "The published authority changed since the plan"},
	{wireshare.ErrPublishUnknown, "The authority may not have been published"},
	{wireshare.ErrNotConfirmed, "The store does not show the authority yet"},
	{wirecert.ErrLockBusy, "The state directory is locked"},
	{wirecert.ErrLock, "The state directory cannot be locked"},
}

// wireDiagnostics explains an error about the authority of the model.
func wireDiagnostics(model wireAuthorityModel, err error) diag.Diagnostics {
	summary := "The authority could not be shared"
	for _, known := range summaries {
		if errors.Is(err, known.reason) {
			summary = known.summary
			break
		}
	}
	var refusal *wireshare.Refusal
	if !errors.As(err, &refusal) {
		return one(diag.NewErrorDiagnostic(summary, fmt.Sprintf(
			"Deployment %s, state directory %s. What both sides held before is left untouched.\n\n"+
				"Original error: %s", model.Deployment.ValueString(), model.StateDir.ValueString(), err)))
	}
	detail := refusalDetail(model, refusal)
	if len(refusal.Consents) > 0 {
		return one(diag.NewAttributeErrorDiagnostic(path.Root(refusal.Consents[0].Attribute), summary, detail))
	}
	return one(diag.NewErrorDiagnostic(summary, detail))
}

func refusalDetail(model wireAuthorityModel, refusal *wireshare.Refusal) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Deployment %s, state directory %s.\n", model.Deployment.ValueString(), model.StateDir.ValueString())
	for _, side := range []struct{ name, current, previous string }{
		{"This host holds", refusal.Local, refusal.LocalPrevious},
		{"Published is", refusal.Published, refusal.PublishedPrevious},
	} {
		if side.current == "" {
			continue
		}
		fmt.Fprintf(&text, "%s %s", side.name, side.current)
		if side.previous != "" {
			fmt.Fprintf(&text, "\n  and retires %s", side.previous)
		}
		text.WriteString("\n")
	}
	text.WriteString("\nNothing was written.")
	for i, consent := range refusal.Consents {
		word := " To go on, set "
		if i > 0 {
			word = ", or "
		}
		value := fmt.Sprintf("%q", consent.Value)
		if consent.Attribute == wireshare.PublishRotations {
			value = consent.Value
		}
		fmt.Fprintf(&text, "%s%s = %s", word, consent.Attribute, value)
	}
	reason := refusal.Err.Error()
	if refusal.Detail != "" {
		reason += " (" + refusal.Detail + ")"
	}
	if refusal.Cause != nil {
		reason += ": " + refusal.Cause.Error()
	}
	fmt.Fprintf(&text, "\n\nOriginal error: %s", reason)
	return text.String()
}

// wireWarnings says aloud what a plan goes on with.
func wireWarnings(model wireAuthorityModel, warnings []wireshare.Warning) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, warning := range warnings {
		summary, detail := warningText(model, warning)
		diags.AddWarning(summary, detail)
	}
	return diags
}

func warningText(model wireAuthorityModel, w wireshare.Warning) (summary, detail string) {
	where := model.StateDir.ValueString()
	switch w.Kind {
	case wireshare.WarnMint:
		return "A new authority will be made", fmt.Sprintf(
			"%s holds no authority and none is published. Nodes that trust another one of deployment %s "+
				"would drop off: if it exists anywhere, stop and restore it.", where, model.Deployment.ValueString())
	case wireshare.WarnCopyGone:
		return "The published copy is gone", fmt.Sprintf("%s is published again.", w.Fingerprint)
	case wireshare.WarnPresentsPrevious:
		return "This host still presents a retired authority", fmt.Sprintf(
			"Published is %s without a previous authority, and %s still presents %s: run the retirement "+
				"on this host.", w.Fingerprint, where, w.Other)
	case wireshare.WarnAcceptedChanged:
		return "Another authority is accepted", fmt.Sprintf("%s was accepted before; now %s.", w.Other, w.Fingerprint)
	case wireshare.WarnExpired:
		return "The authority has expired", fmt.Sprintf("%s expired on %s.", w.Fingerprint, timestamp(w.Time))
	case wireshare.WarnExpiresSoon:
		return "The authority expires soon", fmt.Sprintf(
			"%s expires on %s; nothing renews it. Rotate it with billet.", w.Fingerprint, timestamp(w.Time))
	case wireshare.WarnNotYetValid:
		return "The authority is not valid yet", fmt.Sprintf("%s is valid from %s.", w.Fingerprint, timestamp(w.Time))
	case wireshare.WarnLeftovers:
		return "Leftovers beside the authority", fmt.Sprintf(
			"They never travel; look at them and remove them: %s", strings.Join(w.Names, ", "))
	case wireshare.WarnStandingConsent:
		return "A consent names the authority in use", fmt.Sprintf(
			"%s still names %s. Remove it, or the next change goes through without anybody being asked.",
			w.Other, w.Fingerprint)
	case wireshare.WarnStoreExposed:
		return "Others may read the published authority", "It holds private keys: chmod 600 " + strings.Join(w.Names, " ")
	}
	return "Look at the authority", string(w.Kind)
}

func notRefreshed(model wireAuthorityModel, seen wireshare.Observation) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, side := range []wireshare.Side{seen.Local, seen.Published} {
		if side.State == wireshare.Unreadable {
			diags.AddWarning("The authority was not refreshed", fmt.Sprintf(
				"Deployment %s, state directory %s. What the state says of this side stays.\n\nOriginal "+
					"error: %s", model.Deployment.ValueString(), model.StateDir.ValueString(), side.Reason))
		}
	}
	return diags
}

func authorityStays(state wireAuthorityModel) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The authority stays", fmt.Sprintf(
		"Terraform forgets the authority of deployment %s. %s and the published copy stay as they are.",
		state.Deployment.ValueString(), state.StateDir.ValueString()))
}

func badAuthorityImportID() diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid import ID",
		"The ID is deployment=ID,state_dir=PATH,file=PATH, with a deployment id of 32 lower-case hex "+
			"characters and absolute paths.")
}
