package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// The texts of data sources and ephemeral resources, which only read.

// cannotReadYet is an error: Terraform takes no unknown answer of a data source, and a guess would be
// read as a fact.
func cannotReadYet(object string, unknown []string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("This cannot be read yet", fmt.Sprintf(
		"Not known before apply: %s of the provider. Nothing was dialled. Add depends_on with the resource "+
			"that those settings come from: Terraform then reads during the apply, after it.",
		settingNames(object, unknown)))
}

func openedAtApply(object string, unknown []string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("This is not read before apply", fmt.Sprintf(
		"Not known before apply: %s of the provider. Nothing was dialled, and the values are unknown in this "+
			"plan.", settingNames(object, unknown)))
}

// problemOf says why the Secret is not valid, "" when it is. It holds no content.
func problemOf(live keys.Live, invalid error) string {
	switch {
	case invalid != nil:
		return invalid.Error()
	case !live.Exists:
		return "the Secret does not exist"
	case live.Primary() == "":
		return "the Secret holds no key"
	}
	return ""
}

func waitedInVain(model memberlistSecretDataModel) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("wait_for"), "The Secret holds no valid keys yet",
		fmt.Sprintf("Secret %s, after %s: %s. antrea-controller creates it when it starts.",
			model.ID.ValueString(), model.WaitFor.ValueString(), model.Problem.ValueString()))
}

// inTheSameRun is what Terraform's users meet first: depends_on does not put the opening off. The
// attribute is one that every write leaves unknown in the plan, also where the fingerprint is known.
func inTheSameRun(attribute string) string {
	return "Terraform opens this in the plan, too. Where the same run makes it, use an argument that is known " +
		"only after that: an expression that depends on " + attribute + "."
}

func noKeys(model memberlistKeysModel, live keys.Live) diag.Diagnostic {
	namespace, name := model.where()
	return diag.NewErrorDiagnostic("There are no keys to read", fmt.Sprintf(
		"Secret %s/%s: %s. It is never made or filled here. Set wait_for to wait for antrea-controller. "+
			"%s", namespace, name, problemOf(live, nil), inTheSameRun("origin of the billet_memberlist_secret")))
}

// authorityUnread explains why the copy could not be read, or may not be handed on.
func authorityUnread(source wireSource, err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic(summaryOf(err), fmt.Sprintf(
		"Deployment %s, %s. A failure to read is not an absence, and nothing was written.\n\n"+
			"Original error: %s", source.Deployment.ValueString(), source.place(), err))
}

func noAuthority(source wireSource) diag.Diagnostic {
	return diag.NewErrorDiagnostic("There is no authority to read", fmt.Sprintf(
		"Deployment %s, %s holds none, and none is made here. %s",
		source.Deployment.ValueString(), source.place(), inTheSameRun("published_at of the billet_wire_authority")))
}

func placeMissing(attribute, source string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(attribute), "The place to read is not set",
		fmt.Sprintf("source = %q reads %s: set it.", source, attribute))
}

func placeUnused(attribute, source string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(attribute), "Two places to read are set",
		fmt.Sprintf("source = %q does not read %s: remove it.", source, attribute))
}
