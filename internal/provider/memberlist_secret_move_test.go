package provider

import (
	"encoding/base64"
	"strings"
	"testing"
)

const (
	fromKubernetes = "registry.terraform.io/hashicorp/kubernetes"
	fromTerraform  = "terraform.io/builtin/terraform"
)

// written fills in what the states of a table leave out: METADATA and the keys A, B and, in base64, A64.
func written(state string) string {
	return strings.NewReplacer(
		"METADATA", `"metadata":[{"name":"s","namespace":"ns","uid":"u1","labels":null}]`,
		"A64", base64.StdEncoding.EncodeToString([]byte(line("a"))),
		"KEY-A", strings.TrimSpace(line("a")), "KEY-B", strings.TrimSpace(line("b")),
	).Replace(state)
}

// The schemas of sources differ between versions; what is not as expected counts as not there.
func TestMemberlistSecret_reads_the_states_of_all_versions_of_a_source(t *testing.T) {
	p := newProtocol(t, "")
	const v1, old, data = "kubernetes_secret_v1", "kubernetes_secret", "terraform_data"
	for name, test := range map[string]struct{ provider, source, state, want string }{
		"data":         {fromKubernetes, v1, `{METADATA,"data":{"keys":"KEY-A\n"}}`, print("a")},
		"several keys": {fromKubernetes, v1, `{METADATA,"data":{"keys":"KEY-B\nKEY-A"}}`, print("b")},
		"binary_data":  {fromKubernetes, old, `{METADATA,"data":{},"binary_data":{"keys":"A64"}}`, print("a")},
		"OpenTofu's registry": {"registry.opentofu.org/hashicorp/kubernetes", old,
			`{METADATA,"data":{"keys":"KEY-A"}}`, print("a")},
		"a mirror": {"mirror.example:8443/hashicorp/kubernetes", old,
			`{METADATA,"data":{"keys":"KEY-A"}}`, print("a")},
		"metadata as an object": {fromKubernetes, v1,
			`{"metadata":{"name":"s","namespace":"ns"},"data":{"keys":"KEY-A"}}`, print("a")},
		"no metadata":           {fromKubernetes, v1, `{"id":"ns/s","metadata":[],"data":{"keys":"KEY-A"}}`, print("a")},
		"write-only data":       {fromKubernetes, v1, `{METADATA,"data":null,"data_wo":null,"data_wo_revision":1}`, ""},
		"data of another shape": {fromKubernetes, v1, `{METADATA,"data":["KEY-A"]}`, ""},
		"keys that are no keys": {fromKubernetes, v1, `{METADATA,"data":{"keys":"AAAA"}}`, ""},
		"an object": {fromTerraform, data, `{"id":"x","output":null,"input":{"value":{"name":"s","namespace":"ns","n":1},
			"type":["object",{"name":"string","namespace":"string","n":"number"}]}}`, ""},
		"a text": {fromTerraform, data, `{"id":"x","input":{"value":"ns/s","type":"string"}}`, ""},
		"a trigger beside inputs": {fromTerraform, data, `{"id":"x","input":{"value":1,"type":"number"},
			"triggers_replace":{"value":"ns/s","type":"string"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp, diagnostics := p.move(test.provider, test.source, secretResource, written(test.state))
			p.well(diagnostics)
			state := p.texts(p.stateType(secretResource), resp.TargetState)
			if state["namespace"] != "ns" || state["name"] != "s" || state["primary_key_fingerprint"] != test.want {
				t.Errorf("moved to %v", state)
			}
			if (state["id"] == "ns/s") != (test.want != "") {
				t.Errorf("id %q", state["id"])
			}
			for _, secret := range []string{strings.TrimSpace(line("a")), "AAAA"} {
				if strings.Contains(string(resp.TargetState.MsgPack)+string(resp.TargetPrivate), secret) {
					t.Error("there is key material in the moved state")
				}
			}
		})
	}
}

// T6: an error about a source never quotes it.
func TestMemberlistSecret_refuses_to_move_what_it_does_not_know(t *testing.T) {
	p := newProtocol(t, "")
	secret := strings.TrimSpace(line("a"))
	const v1, good = "kubernetes_secret_v1", `{METADATA,"data":{"keys":"KEY-A"}}`
	for name, test := range map[string]struct{ provider, source, state, want string }{
		"another type":         {fromKubernetes, "kubernetes_config_map_v1", good, "Unable to Move"},
		"another provider":     {"registry.terraform.io/gavinbunney/kubernetes", v1, good, "Unable to Move"},
		"a provider like it":   {"registry.terraform.io/nothashicorp/kubernetes", v1, good, "Unable to Move"},
		"a name like the type": {"x.io/x/terraform", "terraform_data", `{"input":{"value":"ns/s"}}`, "Unable to Move"},
		"no name":              {fromKubernetes, v1, `{"data":{"keys":"KEY-A"}}`, "names no Secret"},
		"not JSON":             {fromKubernetes, v1, "KEY-A", "names no Secret"},
		"a secret for a name":  {fromTerraform, "terraform_data", `{"input":{"value":"KEY-A"}}`, "names no Secret"},
		"nothing":              {fromTerraform, "terraform_data", `{"input":null,"output":null}`, "names no Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, diagnostics := p.move(test.provider, test.source, secretResource, written(test.state))
			if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Summary, test.want) {
				t.Fatalf("%d diagnostics, state %t", len(diagnostics), resp.TargetState != nil)
			}
			if strings.Contains(diagnostics[0].Summary+diagnostics[0].Detail, secret) {
				t.Error("the error quotes the source")
			}
		})
	}
}
