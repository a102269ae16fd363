package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/secretsmanagerstore"
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

// summaryOf is the constant first line. What the store itself says is nearer to the cure than the
// decision that was made from it.
func summaryOf(err error) string {
	var (
		setting   *connect.SettingError
		account   *connect.AccountError
		who       *connect.CredentialsError
		address   *connect.EndpointError
		scheduled *secretsmanagerstore.ScheduledError
		binary    *secretsmanagerstore.BinaryError
		replica   *secretsmanagerstore.ReplicaError
		tooLong   *secretsmanagerstore.SizeError
		tooLarge  *parameterstore.SizeError
	)
	switch {
	case errors.As(err, &setting):
		return "Invalid connection setting"
	case errors.As(err, &account):
		return "Refusing this AWS account"
	case errors.As(err, &who):
		return "No usable AWS credentials"
	case errors.As(err, &address):
		return "No address is set for this service of AWS"
	case errors.As(err, &scheduled):
		return "The secret is scheduled for deletion"
	case errors.As(err, &binary):
		return "The secret is stored as binary"
	case errors.As(err, &replica):
		return "Refusing to publish to a replica"
	case errors.As(err, &tooLong), errors.As(err, &tooLarge):
		return "The authority does not fit the store"
	}
	for _, known := range summaries {
		if errors.Is(err, known.reason) {
			return known.summary
		}
	}
	return "The authority could not be shared"
}

// wireDiagnostics explains an error about the authority of the model.
func wireDiagnostics(model wireAuthorityModel, err error) diag.Diagnostics {
	summary := summaryOf(err)
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

// destroyed says what a destroy leaves behind.
func destroyed(state wireAuthorityModel) diag.Diagnostic {
	deployment, dir := state.Deployment.ValueString(), state.StateDir.ValueString()
	if state.withdraws() {
		return diag.NewWarningDiagnostic("The published authority will be deleted", fmt.Sprintf(
			"deletion_policy = %q deletes the published copy of deployment %s if it still is %s. A host that "+
				"has no authority of its own then finds none to adopt. %s stays as it is.",
			policyDeletePublished, deployment, fingerprint(state.Fingerprint), dir))
	}
	why := ""
	if state.DeletionPolicy.ValueString() == policyDeletePublished {
		why = fmt.Sprintf(" deletion_policy = %q does not apply: the last outcome is %s.",
			policyDeletePublished, state.Outcome.ValueString())
	}
	return diag.NewWarningDiagnostic("The authority stays", fmt.Sprintf(
		"Terraform forgets the authority of deployment %s. %s and the published copy stay as they are.%s",
		deployment, dir, why))
}

func publishedStays(state wireAuthorityModel, err error) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The published authority was not deleted", fmt.Sprintf(
		"Terraform forgets the authority of deployment %s. Somebody else published since, and what they "+
			"published stays.\n\nOriginal error: %s", state.Deployment.ValueString(), err))
}

// storeNotKnown is for a plan that can compare nothing; unknown are the provider's attributes at fault.
func storeNotKnown(unknown []string) diag.Diagnostics {
	if len(unknown) == 0 {
		return nil // Terraform shows which argument is unknown
	}
	return one(diag.NewWarningDiagnostic("The store is not known yet", fmt.Sprintf(
		"Not known before apply: %s. Nothing of AWS is asked now; apply makes every check.",
		settingNames("aws", unknown))))
}

func authorityKept(unknown []string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The authority was not refreshed", fmt.Sprintf(
		"Not known before apply: %s. Nothing of AWS is asked now, and the state stays as it is; apply makes "+
			"every check.", settingNames("aws", unknown)))
}

func badAuthorityImportID(problem string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid import ID", strings.TrimSpace(
		"The ID is deployment=ID,state_dir=PATH, and then secrets_manager=NAME, ssm_parameter=PREFIX or "+
			"file=PATH, with a deployment id of 32 lower-case hex characters and absolute paths. "+problem))
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
