package provider

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// The texts about what comes from elsewhere: a moved block, an identity, a list.

func notMovable(source string, problems []string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The state of the moved resource names no Secret", fmt.Sprintf(
		"The state of the %s does not say which Secret it is: %s. The state stays as it was, and nothing "+
			"was written.\n\nA kubernetes_secret_v1 says it in its metadata. A terraform_data says it in "+
			"its input, as an object with namespace and name or as the text namespace/name. Otherwise "+
			"remove the moved block, and import the Secret.", source, strings.Join(problems, "; ")))
}

func movedSecretGone(state memberlistSecretModel) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Refusing to make a key for a moved Secret", fmt.Sprintf(
		"The Secret %s was moved here, and the state that it was moved from did not say which keys it "+
			"holds. It is gone, or its keys entry is, so nobody knows which key agents use: a new one "+
			"could partition the cluster. %s\n\nantrea-controller puts the Secret back as long as it keeps "+
			"running, so wait for that or restore the Secret from a backup. If no agent uses the old key "+
			"any more, take the resource that was moved out of the state with a removed block, and remove "+
			"the moved block: then a new key is planned.",
		state.id().ValueString(), unwritten))
}

func badImportIdentity(problems []string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid import identity", fmt.Sprintf(
		"The identity is a namespace and a name, such as kube-system and %s, or a namespace alone: %s",
		keys.DefaultName, strings.Join(problems, "; ")))
}
