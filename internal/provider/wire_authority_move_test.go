package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

const fromAWS = "registry.terraform.io/hashicorp/aws"

// A move takes the place and the fingerprint of what is published; anything else it refuses without
// quoting it. T6
func TestWireAuthority_reads_the_states_of_all_versions_of_a_source(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	want := f.mint(dir, wirecerttest.Options{})
	held, err := wirecert.Read(dir, wirecerttest.Deployment)
	if err != nil {
		t.Fatal(err)
	}
	body, err := wireshare.EncodeDocument(held.Authority, wirecerttest.Deployment, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(body))
	if err != nil {
		t.Fatal(err)
	}
	document := string(quoted)
	const secret, parameter = "aws_secretsmanager_secret_version", "aws_ssm_parameter"
	arn := "arn:aws:secretsmanager:eu-west-1:123456789012:secret:s-AbCdEf"
	const noDocument = "holds no published authority"
	written := strings.NewReplacer("DOCUMENT", document, "ARN", arn,
		"BROKEN", strings.Replace(document, "published_at", "hunter2", 1))
	p := newProtocol(t, "")
	_, of := p.identityType(authorityResource)
	for name, test := range map[string]struct{ source, state, place, fingerprint, refusal string }{
		"by ARN":          {secret, `{"arn":"ARN","secret_id":"ARN","secret_string":DOCUMENT,"secret_binary":""}`, arn, want, ""},
		"by name":         {secret, `{"secret_id":"s","secret_string":DOCUMENT}`, "s", want, ""},
		"write-only":      {secret, `{"secret_id":"s","secret_string":"","has_secret_string_wo":true}`, "s", "", ""},
		"no secret":       {secret, `{"secret_string":DOCUMENT}`, "", "", "names no store"},
		"another value":   {secret, `{"secret_id":"s","secret_string":"hunter2hunter2"}`, "", "", noDocument},
		"broken":          {secret, `{"secret_id":"s","secret_string":BROKEN}`, "", "", noDocument},
		"a parameter":     {parameter, `{"name":"/p/node-wire-authority","value":DOCUMENT}`, "/p", want, ""},
		"a write-only":    {parameter, `{"name":"/p/node-wire-authority","value":""}`, "/p", "", ""},
		"another name":    {parameter, `{"name":"/p/other","value":DOCUMENT}`, "", "", "names no store"},
		"no prefix":       {parameter, `{"name":"/node-wire-authority","value":DOCUMENT}`, "", "", "names no store"},
		"not JSON":        {parameter, `hunter2`, "", "", "names no store"},
		"another type":    {"aws_secretsmanager_secret", `{"secret_id":"s"}`, "", "", "Unable to Move"},
		"a list for text": {parameter, `{"name":["/p/node-wire-authority"],"value":DOCUMENT}`, "", "", "names no store"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, diagnostics := p.move(fromAWS, test.source, authorityResource, written.Replace(test.state))
			for _, one := range diagnostics {
				if !strings.Contains(one.Summary, test.refusal) || strings.Contains(one.Detail, "hunter2") ||
					strings.Contains(one.Detail, document[20:40]) {
					t.Errorf("%s: %s", one.Summary, one.Detail)
				}
			}
			if (len(diagnostics) == 1) != (test.refusal != "") {
				t.Fatalf("%d diagnostics", len(diagnostics))
			}
			if test.refusal != "" {
				return
			}
			state := p.texts(p.stateType(authorityResource), resp.TargetState)
			identity := p.texts(of, resp.TargetIdentity.IdentityData)
			deployment := map[bool]string{true: wirecerttest.Deployment}[test.fingerprint != ""]
			if state["fingerprint"] != test.fingerprint || state["published_fingerprint"] != test.fingerprint ||
				state["deployment"] != deployment || identity["secrets_manager"]+identity["ssm_parameter"] != test.place {
				t.Errorf("moved to %s with %s, identity %v", state["fingerprint"], state["deployment"], identity)
			}
			for _, canary := range canaries(t, string(body)) {
				if bytes.Contains(slices.Concat(resp.TargetState.MsgPack, resp.TargetPrivate), canary) {
					t.Error("there is a private key in the moved state")
				}
			}
		})
	}
}
