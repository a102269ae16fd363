package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

var (
	kubernetesSecret = moveSource{
		provider: "hashicorp/kubernetes", types: []string{"kubernetes_secret_v1", "kubernetes_secret"},
	}
	terraformData = moveSource{provider: "builtin/terraform", types: []string{"terraform_data"}}
)

// movedSecret is what the state of a source tells about its Secret, without the keys.
type movedSecret struct{ namespace, name, uid, primary string }

// MoveState takes over a Secret from the resource that made it. Nothing is asked of the cluster here:
// the fingerprint is that of the source's state, so that the plan shows what differs from it.
func (r *memberlistSecret) MoveState(context.Context) []resource.StateMover {
	return movers(
		movable[movedSecret]{kubernetesSecret, secretOfKubernetes},
		movable[movedSecret]{terraformData, secretOfData},
	)
}

// into fills the state. Without a fingerprint there is no id: the first Read then accepts the key
// that it finds, and refuses to find none.
func (m movedSecret) into(ctx context.Context, source string, resp *resource.MoveStateResponse) diag.Diagnostics {
	if problems := secretProblems(m.namespace, m.name); len(problems) > 0 {
		return one(notMovable(source, problems))
	}
	values := map[string]any{"namespace": m.namespace, "name": m.name, "origin": originAdopted}
	if m.uid != "" {
		values["uid"] = m.uid
	}
	if m.primary != "" {
		values["primary_key_fingerprint"] = m.primary
		values["id"] = m.namespace + "/" + m.name
		values["live_key_fingerprints"] = []string{m.primary}
	}
	diags := takeOver(ctx, &resp.TargetState, values)
	diags.Append(identify(ctx, resp.TargetIdentity, secretIdentity(m.namespace, m.name))...)
	return diags
}

func secretProblems(namespace, name string) []string {
	return slices.Concat(validation.IsDNS1123Label(namespace), validation.IsDNS1123Subdomain(name))
}

// secretOfKubernetes reads the state of the kubernetes provider: data is decoded in it, binary_data
// is in base64, and write-only data is in neither.
func secretOfKubernetes(state rawObject) movedSecret {
	metadata := state.block("metadata")
	moved := movedSecret{
		namespace: metadata.text("namespace"), name: metadata.text("name"), uid: metadata.text("uid"),
		primary: primaryIn([]byte(state.block("data").text("keys"))),
	}
	if moved.primary == "" {
		binary, err := base64.StdEncoding.DecodeString(state.block("binary_data").text("keys"))
		if err == nil {
			moved.primary = primaryIn(binary)
		}
	}
	if moved.name == "" {
		moved.namespace, moved.name, _ = strings.Cut(state.text("id"), "/")
	}
	return moved
}

// primaryIn is the fingerprint of the first key; "" when these are no keys.
func primaryIn(data []byte) string {
	if parsed, err := keys.ParseKeys(data); err == nil && len(parsed) > 0 {
		return keys.Fingerprint(parsed[0])
	}
	return ""
}

// secretOfData takes namespace and name, or namespace/name, from what a terraform_data was given.
func secretOfData(state rawObject) movedSecret {
	for _, attribute := range []string{"input", "triggers_replace"} {
		// A value of any type is stored beside its type.
		value := objectIn(state[attribute])["value"]
		if moved := secretOfValue(value); moved.name != "" {
			return moved
		}
	}
	return movedSecret{}
}

func secretOfValue(value json.RawMessage) movedSecret {
	if object := objectIn(value); object != nil {
		return movedSecret{namespace: object.text("namespace"), name: object.text("name")}
	}
	namespace, name, _ := strings.Cut(textIn(value), "/")
	return movedSecret{namespace: namespace, name: name}
}
