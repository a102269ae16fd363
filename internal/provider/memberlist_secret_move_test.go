package provider

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

const (
	fromKubernetes = "registry.terraform.io/hashicorp/kubernetes"
	fromTerraform  = "terraform.io/builtin/terraform"
)

// The schemas of sources differ between versions; what is not as expected counts as not there.
func TestMemberlistSecret_reads_the_states_of_all_versions_of_a_source(t *testing.T) {
	p := newProtocol(t, "")
	a := line("a")
	metadata := `"metadata":[{"name":"s","namespace":"ns","uid":"u1","labels":null}]`
	for name, test := range map[string]struct{ provider, source, state, want string }{
		"data":                    {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{%s,"data":{"keys":%q}}`, metadata, a), print("a")},
		"several keys":            {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{%s,"data":{"keys":%q}}`, metadata, line("b")+a), print("b")},
		"binary_data":             {fromKubernetes, "kubernetes_secret", fmt.Sprintf(`{%s,"data":{},"binary_data":{"keys":%q}}`, metadata, base64.StdEncoding.EncodeToString([]byte(a))), print("a")},
		"OpenTofu's registry":     {"registry.opentofu.org/hashicorp/kubernetes", "kubernetes_secret", fmt.Sprintf(`{%s,"data":{"keys":%q}}`, metadata, a), print("a")},
		"a mirror":                {"mirror.example:8443/hashicorp/kubernetes", "kubernetes_secret", fmt.Sprintf(`{%s,"data":{"keys":%q}}`, metadata, a), print("a")},
		"metadata as an object":   {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{"metadata":{"name":"s","namespace":"ns"},"data":{"keys":%q}}`, a), print("a")},
		"no metadata":             {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{"id":"ns/s","metadata":[],"data":{"keys":%q}}`, a), print("a")},
		"write-only data":         {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{%s,"data":null,"data_wo":null,"data_wo_revision":1}`, metadata), ""},
		"data of another shape":   {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{%s,"data":[%q]}`, metadata, a), ""},
		"keys that are no keys":   {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{%s,"data":{"keys":"AAAA"}}`, metadata), ""},
		"an object":               {fromTerraform, "terraform_data", `{"id":"x","input":{"value":{"name":"s","namespace":"ns","n":1},"type":["object",{"name":"string","namespace":"string","n":"number"}]},"output":null}`, ""},
		"a text":                  {fromTerraform, "terraform_data", `{"id":"x","input":{"value":"ns/s","type":"string"}}`, ""},
		"a trigger beside inputs": {fromTerraform, "terraform_data", `{"id":"x","input":{"value":1,"type":"number"},"triggers_replace":{"value":"ns/s","type":"string"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp, diagnostics := p.move(test.provider, test.source, "billet_memberlist_secret", test.state)
			p.well(diagnostics)
			state := p.texts(p.stateType("billet_memberlist_secret"), resp.TargetState)
			if state["namespace"] != "ns" || state["name"] != "s" || state["primary_key_fingerprint"] != test.want {
				t.Errorf("moved to %v", state)
			}
			if (state["id"] == "ns/s") != (test.want != "") {
				t.Errorf("id %q", state["id"])
			}
			for _, secret := range []string{strings.TrimSpace(a), "AAAA"} {
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
	good := fmt.Sprintf(`{"metadata":[{"name":"s","namespace":"ns"}],"data":{"keys":%q}}`, secret)
	for name, test := range map[string]struct{ provider, source, state, want string }{
		"another type":         {fromKubernetes, "kubernetes_config_map_v1", good, "Unable to Move"},
		"another provider":     {"registry.terraform.io/gavinbunney/kubernetes", "kubernetes_secret_v1", good, "Unable to Move"},
		"a provider like it":   {"registry.terraform.io/nothashicorp/kubernetes", "kubernetes_secret_v1", good, "Unable to Move"},
		"a name like the type": {"registry.terraform.io/x/terraform", "terraform_data", `{"input":{"value":"ns/s"}}`, "Unable to Move"},
		"no name":              {fromKubernetes, "kubernetes_secret_v1", fmt.Sprintf(`{"data":{"keys":%q}}`, secret), "names no Secret"},
		"not JSON":             {fromKubernetes, "kubernetes_secret_v1", secret, "names no Secret"},
		"a secret for a name":  {fromTerraform, "terraform_data", fmt.Sprintf(`{"input":{"value":%q}}`, secret), "names no Secret"},
		"nothing":              {fromTerraform, "terraform_data", `{"input":null,"output":null}`, "names no Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, diagnostics := p.move(test.provider, test.source, "billet_memberlist_secret", test.state)
			if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Summary, test.want) {
				t.Fatalf("%d diagnostics, state %t", len(diagnostics), resp.TargetState != nil)
			}
			if strings.Contains(diagnostics[0].Summary+diagnostics[0].Detail, secret) {
				t.Error("the error quotes the source")
			}
		})
	}
}
