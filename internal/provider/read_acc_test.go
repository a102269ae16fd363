package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// kube is the provider's block for the cluster of the world.
func (w *world) kube() string {
	return fmt.Sprintf("provider \"billet\" {\n  kubernetes = { config_path = %q }\n}\n", w.kubeconfig)
}

// object is a block of the kind and type that names the Secret of the world.
func (w *world) object(kind, name, arguments string) string {
	return fmt.Sprintf("%s %q \"test\" {\n  namespace = %q\n  %s\n}\n", kind, name, w.namespace, arguments)
}

// reader is a user who may do with this one Secret what the verbs say.
func (w *world) reader(verbs ...string) (user string) {
	w.t.Helper()
	user = "reader-" + w.namespace
	w.kubeconfig = w.cluster.Limited(w.t, user, w.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"},
		ResourceNames: []string{keys.DefaultName}, Verbs: verbs,
	})
	return user
}

// asked is each request of the user: its verb and what follows the path of the Secrets.
func (w *world) asked(user string) []string {
	w.t.Helper()
	var asked []string
	for _, request := range w.cluster.Requests(w.t, user) {
		asked = append(asked, request.Verb+" "+strings.TrimPrefix(request.RequestURI, "/api/v1/namespaces/"+w.namespace))
	}
	return asked
}

// has checks attributes of the address in the state; nil stands for null.
func has(address string, attributes map[string]any) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for name, value := range attributes {
		var check knownvalue.Check
		switch value := value.(type) {
		case nil:
			check = knownvalue.Null()
		case bool:
			check = knownvalue.Bool(value)
		case int:
			check = knownvalue.Int64Exact(int64(value))
		case string:
			check = knownvalue.StringExact(value)
		case []string:
			check = exactly(value...)
		case knownvalue.Check:
			check = value
		}
		at := tfjsonpath.New(name)
		if outer, inner, nested := strings.Cut(name, "."); nested {
			at = tfjsonpath.New(outer).AtMapKey(inner)
		}
		checks = append(checks, statecheck.ExpectKnownValue(address, at, check))
	}
	return checks
}

// echoed applies the configuration, which has the ephemeral resource of the type, and shows what it
// opened in the state of another provider: echo.test, attribute data.
func echoed(t *testing.T, kind string, steps ...resource.TestStep) {
	t.Helper()
	both := factories()
	both["echo"] = echoprovider.NewProviderServer()
	for i := range steps {
		steps[i].Config += fmt.Sprintf(
			"\nprovider \"echo\" {\n  data = ephemeral.%s.test\n}\nresource \"echo\" \"test\" {}\n", kind)
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: both, Steps: steps})
}
