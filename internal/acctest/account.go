package acctest

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Account is a service account of the cluster.
type Account struct {
	// Token is a bearer token that lives for an hour.
	Token string
	// User is how the API server calls the account.
	User string

	cluster         *Cluster
	namespace, name string
}

// AnySecret lets an account do anything with the Secrets of its namespace.
var AnySecret = rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"},
}

// Account makes a service account in the namespace that may do there what the rules say.
func (c *Cluster) Account(t testing.TB, namespace, name string, rules ...rbacv1.PolicyRule) *Account {
	t.Helper()
	ctx := context.Background()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.Admin.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := c.Admin.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	a := &Account{
		cluster: c, namespace: namespace, name: name,
		User: "system:serviceaccount:" + namespace + ":" + name,
	}
	a.Bind(t, name)
	a.Token = a.NewToken(t)
	return a
}

// Bind binds the account to a role of its namespace.
func (a *Account) Bind(t testing.TB, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: a.name + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: a.namespace, Name: a.name}},
	}
	if _, err := a.cluster.Admin.RbacV1().RoleBindings(a.namespace).Create(
		context.Background(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// MayReadTheCluster lets the account get the namespace kube-system, whose UID stands for the cluster.
func (a *Account) MayReadTheCluster(t testing.TB) {
	t.Helper()
	a.Everywhere(t, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"namespaces"},
		ResourceNames: []string{metav1.NamespaceSystem}, Verbs: []string{"get"},
	})
}

// Everywhere lets the account do what the rule says in all namespaces. It is for one rule.
func (a *Account) Everywhere(t testing.TB, rule rbacv1.PolicyRule) {
	t.Helper()
	ctx := context.Background()
	name := a.namespace + "-" + a.name
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule},
	}
	if _, err := a.cluster.Admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: a.namespace, Name: a.name}},
	}
	if _, err := a.cluster.Admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// PasteRole applies the Role that a message prints, and returns it.
func (c *Cluster) PasteRole(t testing.TB, message string) *rbacv1.Role {
	t.Helper()
	_, text, found := strings.Cut(message, "apiVersion: ")
	text, _, _ = strings.Cut(text, "\n\n")
	role := &rbacv1.Role{}
	err := yaml.UnmarshalStrict([]byte("apiVersion: "+text), role)
	if err != nil || !found || role.Kind != "Role" {
		t.Fatalf("there is no Role in the message: %v\n%s", err, message)
	}
	ctx, roles := context.Background(), c.Admin.RbacV1().Roles(role.Namespace)
	_, err = roles.Create(ctx, role, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return role
}

// NewToken asks the API server for another token of the account.
func (a *Account) NewToken(t testing.TB) string {
	t.Helper()
	request, err := a.cluster.Admin.CoreV1().ServiceAccounts(a.namespace).CreateToken(context.Background(),
		a.name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// Delete deletes the account: from then on the API server refuses its tokens, but for those that it
// saw within the last ten seconds.
func (a *Account) Delete(t testing.TB) {
	t.Helper()
	if err := a.cluster.Admin.CoreV1().ServiceAccounts(a.namespace).Delete(
		context.Background(), a.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
