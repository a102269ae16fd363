package connect

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// The Role is limited by name wherever RBAC can do that, and grants nothing that was not needed.
func TestTheRoleGrantsWhatWasRefused(t *testing.T) {
	type grants struct {
		Resources, ResourceNames, Verbs []string
	}
	type manifest struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
		Rules    []grants
	}
	names := []string{testName}
	secrets := []string{"secrets"}
	for verb, want := range map[string][]grants{
		"get":    {{secrets, names, []string{"get", "update"}}},
		"update": {{secrets, names, []string{"get", "update"}}},
		"delete": {{secrets, names, []string{"get", "update", "delete"}}},
		"list":   {{secrets, names, []string{"get", "list", "watch"}}},
		"watch":  {{secrets, names, []string{"get", "list", "watch"}}},
		"create": {{secrets, names, []string{"get", "update"}}, {secrets, nil, []string{"create"}}},
	} {
		t.Run(verb, func(t *testing.T) {
			e := &RequestError{
				Verb: verb, Resource: "secrets", Namespace: testNamespace, Name: testName,
			}
			var got manifest
			if err := yaml.Unmarshal([]byte(e.Role()), &got); err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(got.Rules, want, func(a, b grants) bool {
				return slices.Equal(a.Resources, b.Resources) && slices.Equal(a.Verbs, b.Verbs) &&
					slices.Equal(a.ResourceNames, b.ResourceNames)
			})
			if !same || got.Kind != "Role" || got.Metadata.Namespace != testNamespace {
				t.Errorf("the manifest is\n%s", e.Role())
			}
		})
	}
	guard := &RequestError{Verb: "get", Resource: "namespaces", Name: guardNamespace}
	var got manifest
	if err := yaml.Unmarshal([]byte(guard.Role()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "ClusterRole" || got.Metadata.Namespace != "" ||
		!slices.Equal(got.Rules[0].ResourceNames, []string{guardNamespace}) {
		t.Errorf("the manifest is\n%s", guard.Role())
	}
}
