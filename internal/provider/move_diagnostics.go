package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
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

func badAuthorityIdentity(problem string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid import identity", strings.TrimSpace(
		"The identity is deployment, a deployment id of 32 lower-case hex characters, state_dir, an absolute "+
			"path, and one of secrets_manager, ssm_parameter and file. "+problem))
}

func storeNotMovable(source string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The state of the moved resource names no store", fmt.Sprintf(
		"The state of the %s does not say where an authority is published. The state stays as it was, and "+
			"nothing was written.\n\nAn aws_secretsmanager_secret_version says it in secret_id; the name of an "+
			"aws_ssm_parameter has to be PREFIX%s. Otherwise remove the moved block, and import the "+
			"authority.", source, parameterstore.Leaf))
}

func documentNotMovable(source string, err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The moved resource holds no published authority", fmt.Sprintf(
		"What the state of the %s holds is not the document that publishes an authority. The state stays as "+
			"it was, and nothing was written. If that state is stale, refresh it "+
			"where it is, and move it then.\n\nOriginal error: %s", source, err))
}

// listDiagnostics explains why no Secrets could be listed.
func listDiagnostics(model memberlistSecretModel, err error) diag.Diagnostics {
	var request *connect.RequestError
	if !errors.As(err, &request) {
		return memberlistDiagnostics(model, err)
	}
	where := "all namespaces"
	if !model.Namespace.IsNull() {
		where = "namespace " + model.Namespace.ValueString()
	}
	cure := ""
	if apierrors.IsForbidden(err) {
		if model.Namespace.IsNull() {
			cure = " A list of one namespace takes less: set namespace."
		}
		cure = fmt.Sprintf("%s This grants it:\n\n%s", cure, request.Role())
	}
	return one(diag.NewErrorDiagnostic("The Secrets could not be listed", fmt.Sprintf(
		"Secrets named %s in %s, as %s.%s\n\nOriginal error: %s",
		model.Name.ValueString(), where, request.Identity, cure, request)))
}
