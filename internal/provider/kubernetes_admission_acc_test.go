package provider

import (
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// secretWrites matches what the test's policies judge: writes of Secrets in one namespace.
func secretWrites(namespace string) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace},
		},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule: admissionv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"},
			},
		}}},
	}
}

// until waits until the API server applies a policy to Secrets of the namespace, by making some.
func (w *world) until(seen func(name string) bool) {
	w.t.Helper()
	n := 0
	if err := wait.PollUntilContextTimeout(w.t.Context(), 100*time.Millisecond, 30*time.Second, true,
		func(context.Context) (bool, error) { n++; return seen(fmt.Sprintf("probe-%d", n)), nil }); err != nil {
		w.t.Fatal("the policy never came into force")
	}
}

// K13: admission adds a label and an annotation to what is written, and somebody else another
// annotation. The apply is clean, and nothing of it is a difference.
func TestAccKubernetes_what_admission_adds_is_no_difference(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	const added = `Object{metadata: Object.metadata{labels: {"added": "l"}, annotations: {"added": "a"}}}`
	policies := w.cluster.Admin.AdmissionregistrationV1()
	if _, err := policies.MutatingAdmissionPolicies().Create(ctx, &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: secretWrites(w.namespace), ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: added},
			}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := policies.MutatingAdmissionPolicyBindings().Create(ctx, &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: w.namespace},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.until(func(name string) bool { return w.putNamed(name, "x").Labels["added"] == "l" })

	s := newSession(t, w.config(`labels = { mine = "1" }`))
	s.apply(0)
	secret := w.secret()
	if secret.Labels["added"] != "l" || secret.Annotations["added"] != "a" || secret.Labels["mine"] != "1" {
		t.Fatalf("%v %v", secret.Labels, secret.Annotations)
	}
	secret.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
	if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.plan(empty)
}

// K13: a denial of admission is shown word by word.
func TestAccKubernetes_a_denial_of_admission_is_shown_verbatim(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	const message = "Secrets here are made by the vault team, ask #vault"
	policies := w.cluster.Admin.AdmissionregistrationV1()
	if _, err := policies.ValidatingAdmissionPolicies().Create(ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: secretWrites(w.namespace),
			Validations:      []admissionv1.Validation{{Expression: "false", Message: message}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := policies.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: w.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.until(func(name string) bool {
		_, err := w.tryPut(name, "x")
		return apierrors.IsInvalid(err)
	})

	s := newSession(t, w.config(""))
	wants(t, s.apply(refused), w.namespace+"/antrea-memberlist-keys", message)
	if s.attributes(address) != nil {
		t.Error("the resource is in the state")
	}
}

// K11: the API server says 403 for a namespace that is being terminated, which is no lack of rights.
func TestAccKubernetes_names_the_namespace_that_is_being_terminated(t *testing.T) {
	e := newEndpoint(t)
	// Nothing ends the deletion: the control plane has no namespace controller.
	if err := e.cluster.Admin.CoreV1().Namespaces().Delete(
		context.Background(), e.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, gated(e.gate, fmt.Sprintf("token = %q", e.account.Token))+e.testResource(""))
	s.plan(changes)
	wants(t, s.apply(refused), "The namespace cannot hold the Secret", e.namespace, "is being terminated")
	if writes := wrote(e.gate); writes != 1 || s.attributes(address) != nil {
		t.Errorf("%d writes, in the state: %v", writes, s.attributes(address))
	}
}
