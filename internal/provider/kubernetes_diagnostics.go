package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

// The texts about the way to a cluster. They point at the object that says it: that of the resource
// where it has one of its own, else that of the provider.

const (
	notConfigured  = "No cluster is configured"
	invalidSetting = "Invalid connection setting"
)

// connectionDiagnostics explains why there is no client for the cluster; nil for any other error.
func connectionDiagnostics(own types.Object, err error) diag.Diagnostics {
	var refused *connect.ClusterRefusedError
	var all connect.SettingErrors
	var setting *connect.SettingError
	switch {
	case errors.As(err, &refused):
		return one(refusedCluster(own, refused))
	case errors.Is(err, connect.ErrNotConfigured), errors.Is(err, errNotConfigured):
		if own.IsNull() {
			return one(diag.NewErrorDiagnostic(notConfigured, err.Error()))
		}
		return one(diag.NewAttributeErrorDiagnostic(path.Root("kubernetes"), notConfigured, err.Error()))
	case errors.As(err, &all):
	case errors.As(err, &setting):
		all = connect.SettingErrors{setting}
	default:
		return nil
	}
	if !own.IsNull() {
		return settingDiagnostics("kubernetes", all)
	}
	var diags diag.Diagnostics
	for _, fault := range all {
		diags.AddError(invalidSetting, "Provider attribute kubernetes."+fault.Error())
	}
	return diags
}

// refusedCluster names whose guard it is: an object without one has that of the provider.
func refusedCluster(own types.Object, err *connect.ClusterRefusedError) diag.Diagnostic {
	detail := func(whose string) string {
		return fmt.Sprintf("%s. %s Choose another context, or add that UID to allowed_cluster_uids of %s.",
			err, unwritten, whose)
	}
	const summary = "Refusing to write to this cluster"
	if guard, ok := own.Attributes()["allowed_cluster_uids"]; ok && !guard.IsNull() {
		return diag.NewAttributeErrorDiagnostic(path.Root("kubernetes").AtName("allowed_cluster_uids"),
			summary, detail("this resource"))
	}
	return diag.NewErrorDiagnostic(summary, detail("the provider"))
}

// deniedDiagnostic names what was denied: the Secret, or the namespace that the guard reads.
func deniedDiagnostic(request *connect.RequestError) diag.Diagnostic {
	what := request.Namespace + "/" + request.Name
	if request.Namespace == "" {
		what = "the namespace " + request.Name + " (for allowed_cluster_uids)"
	}
	return diag.NewErrorDiagnostic("The API server denies access", fmt.Sprintf(
		"%s of %s was denied to %s. %s If the denial below is about access rights, this grants them:\n\n%s\n"+
			"Original error: %s", request.Verb, what, request.Identity, unwritten, request.Role(), request))
}

func cannotDelete(state memberlistSecretModel) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("kubernetes"), "The Secret cannot be deleted",
		fmt.Sprintf("The credentials for the cluster of the Secret %s are write-only, so a destroy does not "+
			"know them. It stays as it is. Set deletion_policy = %q and apply before the destroy, or give the "+
			"credentials by config_path or by exec without env.", state.ID.ValueString(), policyRetain))
}

func checksMoveToApply(unknown []string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The cluster is not known yet", fmt.Sprintf(
		"Not known before apply: %s. The cluster is not dialled now; apply makes every check.",
		settingNames("kubernetes", unknown)))
}

func stateKept(unknown []string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The Secret was not refreshed", fmt.Sprintf(
		"Not known before apply: %s. The cluster is not dialled now, and the state stays as it is; apply "+
			"makes every check.", settingNames("kubernetes", unknown)))
}

func settingNames(object string, unknown []string) string {
	var names []string
	for _, name := range unknown {
		if name != object {
			name = object + "." + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
