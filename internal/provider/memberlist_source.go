package provider

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// memberlistSource says which Secret to read, to a data source and to an ephemeral resource.
type memberlistSource struct {
	Namespace  types.String `tfsdk:"namespace"`
	Name       types.String `tfsdk:"name"`
	WaitFor    types.String `tfsdk:"wait_for"`
	Kubernetes types.Object `tfsdk:"kubernetes"`
}

func memberlistSourceFields(waited, credentials string) map[string]field {
	return map[string]field{
		"namespace": {checks: []validator.String{isNamespace()},
			description: "Namespace that Antrea runs in. Default `kube-system`."},
		"name": {checks: []validator.String{isSecretName()},
			description: "Name of the Secret. Default `antrea-memberlist-keys`, which is the one that agents read."},
		"wait_for": {checks: []validator.String{isDuration()},
			description: "How long to wait until the Secret holds valid keys, such as `2m`, for " +
				"antrea-controller to create it. " + waited + " Waiting needs `list` and `watch` on this one " +
				"Secret beside `get`, and is not begun when the keys are there. Without it there is one GET."},
		"kubernetes": kubernetesField("How to reach the cluster of this Secret, in place of the provider's " +
			"`kubernetes`. It replaces that object as a whole, but for `allowed_cluster_uids`. " + credentials),
	}
}

func (s memberlistSource) where() (namespace, name string) {
	namespace, name = keys.DefaultNamespace, keys.DefaultName
	if !s.Namespace.IsNull() {
		namespace = s.Namespace.ValueString()
	}
	if !s.Name.IsNull() {
		name = s.Name.ValueString()
	}
	return namespace, name
}

func (s memberlistSource) own() types.Object { return s.Kubernetes }

func (s memberlistSource) wait() time.Duration {
	return new(faults).duration("wait_for", s.WaitFor)
}

func (s memberlistSource) validate(ctx context.Context) diag.Diagnostics {
	settings, found := kubernetesSettings(ctx, s.Kubernetes)
	return settingDiagnostics("kubernetes", append(found, settings.Validate()...))
}

// reveal reads the Secret with one GET. If it holds no valid keys and there is time to wait, it
// watches for them, and then what a second GET finds is the answer, whatever it is.
func (c *connections) reveal(ctx context.Context, s memberlistSource) (keys.Live, [][]byte, error) {
	namespace, name := s.where()
	wait := s.wait()
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout+wait)
	defer cancel()
	client, err := c.secrets(ctx, s.Kubernetes, namespace)
	if err != nil {
		return keys.Live{}, nil, err
	}
	live, found, err := keys.Reveal(ctx, client, namespace, name)
	unread := err != nil && !errors.Is(err, keys.ErrInvalidSecret)
	if wait == 0 || len(found) > 0 || unread {
		return live, found, err
	}
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	err = keys.Await(waiting, client, namespace, name)
	if timeIsOver := waiting.Err() != nil && ctx.Err() == nil; err != nil && !timeIsOver {
		return keys.Live{}, nil, err
	}
	return keys.Reveal(ctx, client, namespace, name)
}
