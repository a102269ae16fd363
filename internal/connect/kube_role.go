package connect

import (
	"fmt"
	"slices"
	"strings"
)

// Role returns a manifest that grants what was refused, for pasting: a Role, or for the namespace
// of the guard a ClusterRole, with a comment on how to bind it. It is limited by resourceNames
// wherever the API server can do that: it cannot for create, since the name is not a part of that
// request's path. It holds no "---" and ends with a newline.
func (e *RequestError) Role() string {
	if e.Resource == "namespaces" {
		return role("ClusterRole", "", "billet-memberlist", rule("namespaces", e.Name, e.Verb))
	}
	if e.Verb == "list" || e.Verb == "watch" {
		// Who waits needs both. A role of its own: pasting it takes nothing away. A list without a
		// namespace is one of all.
		kind := "Role"
		if e.Namespace == "" {
			kind = "ClusterRole"
		}
		return role(kind, e.Namespace, "billet-memberlist-watch",
			rule(secretsResource, e.Name, "get", "list", "watch"))
	}
	rules := ""
	if e.Name != "" {
		verbs := []string{"get", "update"}
		if e.Verb != "create" && !slices.Contains(verbs, e.Verb) {
			verbs = append(verbs, e.Verb)
		}
		rules += rule(secretsResource, e.Name, verbs...)
	}
	if e.Name == "" || e.Verb == "create" {
		rules += rule(secretsResource, "", e.Verb)
	}
	return role("Role", e.Namespace, "billet-memberlist", rules)
}

func role(kind, namespace, name, rules string) string {
	head := "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata:\n" +
		"  name: " + name + "\n"
	if namespace != "" {
		head += fmt.Sprintf("  namespace: %q\n", namespace)
	}
	return "# Bind it with a " + kind + "Binding to the user that the message names.\n" +
		head + "rules:\n" + rules
}

func rule(resource, name string, verbs ...string) string {
	text := "- apiGroups: [\"\"]\n  resources: [" + resource + "]\n"
	if name != "" {
		text += fmt.Sprintf("  resourceNames: [%q]\n", name)
	}
	return text + "  verbs: [" + strings.Join(verbs, ", ") + "]\n"
}
