package provider

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// canaries are what may stand nowhere: the credentials, and of each document the whole and every
// private key in it, as a line of its PEM and as the number itself.
func canaries(t *testing.T, documents ...string) [][]byte {
	t.Helper()
	all := [][]byte{[]byte(testSecretKey), []byte(testSessionToken)}
	for _, document := range documents {
		decoded, err := wireshare.DecodeDocument([]byte(document), wirecerttest.Deployment)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, []byte(document))
		for _, name := range []string{wirecert.KeyName, wirecert.PreviousKeyName} {
			block, _ := pem.Decode(decoded.Authority.Files()[name])
			if block == nil {
				continue
			}
			key, err := x509.ParseECPrivateKey(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			scalar, err := key.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			// The lines after the first hold the public key, which certificates show, too.
			all = append(all, scalar, bytes.Split(pem.EncodeToMemory(block), []byte("\n"))[1])
		}
	}
	return all
}

// traced is a session that logs all it can into a file of its directory. The credentials come as
// ephemeral variables.
func (c *cloud) traced(p place, dir, arguments string) *session {
	c.t.Helper()
	config := strings.NewReplacer(fmt.Sprintf("%q", testSecretKey), "var.secret_key",
		fmt.Sprintf("%q", testSessionToken), "var.token").Replace(c.provider("max_retries = 1")) + `
variable "secret_key" {
  type      = string
  sensitive = true
  ephemeral = true
}
variable "token" {
  type      = string
  sensitive = true
  ephemeral = true
}
` + c.authority(p, dir, arguments)
	return newSession(c.t, config, "TF_LOG=TRACE", "TF_LOG_PROVIDER=TRACE", "TF_LOG_PATH=trace.log",
		"TF_VAR_secret_key="+testSecretKey, "TF_VAR_token="+testSessionToken)
}

// silent fails if a canary is in a file that Terraform or the provider wrote.
func (s *session) silent(keys [][]byte) {
	s.t.Helper()
	for _, name := range []string{"trace.log", "printed.log", "1.tfplan", "terraform.tfstate"} {
		if info, err := os.Stat(s.path(name)); err != nil || info.Size() == 0 {
			s.t.Errorf("%s has nothing to search: %v", name, err)
		}
	}
	s.leaksNothing(keys...)
}

// T6: no key material and no credential in state, plan, private state, logs or what Terraform prints,
// on every path.
func TestAccWireAuthority_nothing_secret_leaves_the_provider(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir, other := c.host(), c.host()
		const arguments = "publish_rotations = true"
		var documents []string
		// show keeps the plan and the state as JSON among the files that are searched.
		show := func(s *session) { s.shown(); s.run(0, "show", "-json") }
		first := c.traced(p, dir, arguments)
		first.plan(changes) // mint
		first.applySaved(0)
		show(first)
		documents = append(documents, c.holdsPublished(p))
		second := c.traced(p, other, arguments)
		second.plan(changes) // adopt
		second.applySaved(0)
		show(second)
		c.rotate(dir)
		first.plan(changes) // publish
		show(first)
		first.applySaved(0)
		documents = append(documents, c.holdsPublished(p))
		second.plan(refused) // behind
		imported := c.traced(p, dir, "")
		imported.run(0, "import", authority, fmt.Sprintf("deployment=%s,state_dir=%s,%s=%s", wirecerttest.Deployment,
			dir, p.kind, map[string]string{secretsManager: c.name, ssmParameter: c.prefix}[p.kind]))
		imported.plan(empty)
		// Errors: a service that quotes what it was sent, a document that is none, and a denial.
		c.rotate(dir)
		documents = append(documents, c.documentOf(dir))
		for _, write := range p.writes {
			c.proxy.Inject(moto.EchoInput(write))
		}
		first.plan(changes)
		wants(t, first.applySaved(refused), "The authority may not have been published", "withheld")
		c.proxy.Heal()
		c.proxy.Inject(moto.Fault{Operation: p.read, Act: func(x *moto.Exchange) moto.Answer {
			return x.Forward().Edit(func(object map[string]any) {
				if parameter, ok := object["Parameter"].(map[string]any); ok {
					parameter["Value"] = parameter["Value"].(string) + "trailing"
					return
				}
				object["SecretString"] = object["SecretString"].(string) + "trailing"
			})
		}})
		wants(t, first.plan(refused), "The published authority cannot be read")
		c.proxy.Heal()
		c.proxy.Inject(moto.Deny(p.read))
		first.plan(refused)
		for _, s := range []*session{first, second, imported} {
			s.silent(canaries(t, documents...))
		}
		first.write("x", documents[0])
		if _, err := acctest.Leaks(first.terraform.Directory, canaries(t, documents...)); err == nil {
			t.Error("the search finds nothing")
		}
	})
}
