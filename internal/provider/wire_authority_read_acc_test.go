package provider

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

const (
	wireType = "billet_wire_authority"
	dataWire = "data.billet_wire_authority.test"
)

// readLocal and readPublished are blocks of the kind that read one of the two copies.
func readLocal(kind, dir string) string {
	return fmt.Sprintf("\n%s %q \"test\" {\n  deployment = %q\n  source = \"local\"\n  state_dir = %q\n}\n",
		kind, wireType, wirecerttest.Deployment, dir)
}

func readPublished(kind, object string) string {
	return fmt.Sprintf("\n%s %q \"test\" {\n  deployment = %q\n  source = \"published\"\n  store = %s\n}\n",
		kind, wireType, wirecerttest.Deployment, object)
}

func (f *fleet) object() string { return fmt.Sprintf("{ file = { path = %q } }", f.store) }

// keyOf is what of a host's key no certificate shows: its scalar, and the line that spells it.
func keyOf(t *testing.T, dir string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ca", "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	scalar, err := key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{scalar, bytes.Split(text, []byte("\n"))[1]}
}

// absentAuthority is what there is to say about none.
func absentAuthority() map[string]any {
	return map[string]any{
		"exists": false, "fingerprint": nil, "previous_fingerprint": nil, "replaces": nil, "certificate_pem": nil,
		"trust_bundle_pem": nil, "not_after": nil, "published_at": nil, "leftovers": []string{},
	}
}

func TestAccWireAuthorityData_tells_of_the_host_and_touches_nothing(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	config := readLocal("data", dir)
	run(t, resource.TestStep{Config: config, ConfigStateChecks: has(dataWire, absentAuthority())})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
	f.mint(dir, wirecerttest.Options{})
	old, current := f.rotate(dir)
	if err := os.WriteFile(filepath.Join(dir, "ca", "ca.crt.new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	run(t, resource.TestStep{Config: config, ConfigStateChecks: has(dataWire, map[string]any{
		"exists": true, "fingerprint": current, "previous_fingerprint": old, "replaces": old, "published_at": nil,
		"leftovers": []string{"ca.crt.new"}, "not_after": knownvalue.StringRegexp(says("T", "Z")),
		"certificate_pem": knownvalue.StringRegexp(says("BEGIN CERTIFICATE")),
	})})
	if tree(t, dir) != before {
		t.Error("the directory was touched")
	}
}

// C11, C1, C6: what cannot be read, or is only half there, is an error and no absence.
func TestAccWireAuthorityData_takes_no_failure_to_read_for_an_absence(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	key := filepath.Join(dir, "ca", "ca.key")
	secrets := keyOf(t, dir)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	unreadable := func(kind, config string, parts ...string) {
		t.Helper()
		s := traced(t, config)
		wants(t, s.plan(refused), parts...)
		s.leaksNothing(secrets...)
	}
	for _, kind := range []string{"data", "ephemeral"} {
		unreadable(kind, readLocal(kind, dir), "The authority of this host cannot be read", "chmod 600")
	}
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(map[string]any{"deployment": wirecerttest.Deployment, "files": map[string][]byte{"ca.key": text}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.store, document, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"data", "ephemeral"} {
		unreadable(kind, readPublished(kind, f.object()), "The published authority cannot be read", "lacks one of the fields")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	unreadable("data", readLocal("data", dir), "The authority of this host cannot be read", "ca.key")
}

// The real stores of AWS, and no call that writes.
func TestAccWireAuthorityData_tells_what_a_store_of_AWS_holds(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		config := c.provider("skip_credentials_validation = true") + readPublished("data", p.object)
		s := newSession(t, config)
		s.plan(empty)
		c.asked(p.absent...)
		dir := c.host()
		print := c.mint(dir, wirecerttest.Options{})
		c.publishTo(p, dir)
		run(t, resource.TestStep{Config: config, ConfigStateChecks: has(dataWire, map[string]any{
			"exists": true, "fingerprint": print, "previous_fingerprint": nil, "replaces": nil,
			"published_at": knownvalue.StringRegexp(says("T", "Z")), "leftovers": []string{},
		})})
		c.proxy.Forget()
		s.plan(empty)
		c.asked(p.read)
		c.proxy.Inject(moto.Deny(p.read))
		for _, kind := range []string{"data", "ephemeral"} {
			s.configure(c.provider("skip_credentials_validation = true") + readPublished(kind, p.object))
			wants(t, s.plan(refused), "The published authority cannot be read", "Deployment "+wirecerttest.Deployment, "AccessDenied")
		}
		c.wroteNothing(p)
	})
}

func TestAccWireAuthorityRead_wants_the_one_place_that_its_source_has(t *testing.T) {
	f := newFleet(t)
	for _, kind := range []string{"data", "ephemeral"} {
		block := func(source, more string) string {
			return fmt.Sprintf("\n%s %q \"test\" {\n  deployment = %q\n  source = %q\n  %s\n}\n",
				kind, wireType, wirecerttest.Deployment, source, more)
		}
		dir, store := `state_dir = "/d"`, "store = "+f.object()
		for _, wrong := range []struct {
			config string
			want   []string
		}{
			{block("local", ""), []string{"The place to read is not set", "state_dir"}},
			{block("published", ""), []string{"The place to read is not set", "store"}},
			{block("local", dir+"\n"+store), []string{"Two places to read are set", "remove it"}},
			{block("published", dir+"\n"+store), []string{"Two places to read are set", "remove it"}},
			{block("both", dir), []string{"source", "value must be one of"}},
		} {
			run(t, resource.TestStep{Config: wrong.config, ExpectError: says(wrong.want...)})
		}
	}
}

func TestAccWireAuthorityFiles_opens_what_the_host_and_the_store_hold(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	old, current := f.rotate(dir)
	f.publish(dir)
	files := map[string]knownvalue.Check{}
	for _, name := range []string{"ca.key", "ca.crt", "ca-previous.key", "ca-previous.crt", "authority-created"} {
		path := filepath.Join(dir, "ca", name)
		if name == "authority-created" {
			path = filepath.Join(dir, name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = knownvalue.StringExact(string(text))
	}
	before := tree(t, dir, filepath.Dir(f.store))
	for _, config := range []string{readLocal("ephemeral", dir), readPublished("ephemeral", f.object())} {
		echoed(t, wireType, resource.TestStep{Config: config, ConfigStateChecks: has("echo.test", map[string]any{
			"data.files": knownvalue.MapExact(files), "data.fingerprint": current, "data.previous_fingerprint": old,
		})})
	}
	if tree(t, dir, filepath.Dir(f.store)) != before {
		t.Error("opening touched the host or the store")
	}
}

// T14, C7: it never mints, and what has expired does not travel.
func TestAccWireAuthorityFiles_without_a_usable_authority_is_an_error(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	for _, config := range []string{readLocal("ephemeral", dir), readPublished("ephemeral", f.object())} {
		run(t, resource.TestStep{Config: config, ExpectError: says("There is no authority to read", "none is made here")})
	}
	if left := tree(t, dir, f.store); left != "" {
		t.Errorf("made %s", left)
	}
	f.mint(dir, wirecerttest.Options{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	run(t, resource.TestStep{Config: readLocal("ephemeral", dir), ExpectError: says("Refusing to move an expired authority")})
	run(t, resource.TestStep{Config: readLocal("data", dir), ConfigStateChecks: has(dataWire, map[string]any{"exists": true})})
}

// T5, S15: nothing of AWS is asked while the provider's settings are unknown.
func TestAccWireAuthorityRead_asks_nothing_while_the_account_is_unknown(t *testing.T) {
	c := newCloud(t)
	p, dir := c.secret(), c.host()
	print := c.mint(dir, wirecerttest.Options{})
	c.publishTo(p, dir)
	provider := fmt.Sprintf(`
resource "terraform_data" "later" { input = %q }
provider "billet" {
  aws = {
    region = terraform_data.later.output, access_key = "AKIDPROVIDER", secret_key = %q
    endpoints = { secretsmanager = %q }, skip_credentials_validation = true
  }
}
`, testRegion, testSecretKey, c.proxy.URL)
	s := newSession(t, provider+readPublished("data", p.object))
	wants(t, s.plan(refused), "This cannot be read yet", "aws.region", "depends_on")
	s.configure(provider + readPublished("ephemeral", p.object) + `
resource "terraform_data" "use" {
  provisioner "local-exec" {
    command     = "printf %s \"$PRINT\" > opened"
    environment = { PRINT = ephemeral.billet_wire_authority.test.fingerprint }
  }
}
`)
	if acctest.UnderOpenTofu() { // it takes no unknown values from an ephemeral resource
		wants(t, s.plan(refused), "This is not read before apply", "aws.region", "not wholly known")
		c.asked()
		return
	}
	wants(t, s.plan(changes), "Warning: This is not read before apply", "aws.region")
	c.asked()
	s.applySaved(empty)
	if opened, err := os.ReadFile(s.path("opened")); err != nil || string(opened) != print {
		t.Errorf("opened %s, %v", opened, err)
	}
	c.asked(p.read)
}

// T6
func TestAccWireAuthorityRead_leaves_no_key_in_state_plan_or_logs(t *testing.T) {
	c := newCloud(t)
	p, dir, target := c.secret(), c.host(), t.TempDir()
	c.mint(dir, wirecerttest.Options{})
	c.publishTo(p, dir)
	s := traced(t, c.provider("skip_credentials_validation = true")+readLocal("data", dir)+
		readPublished("ephemeral", p.object)+fmt.Sprintf(`
resource "terraform_data" "use" {
  input = data.billet_wire_authority.test.trust_bundle_pem
  provisioner "local-exec" {
    command = "printf '%%s' \"$KEY\" > '%s/key'"
    environment = {
      KEY   = ephemeral.billet_wire_authority.test.files["ca.key"]
      PRINT = provider::billet::ca_fingerprint(ephemeral.billet_wire_authority.test.files["ca.crt"])
    }
  }
}
`, target))
	s.plan(changes)
	s.shown()
	s.applySaved(empty)
	arrived, err := os.ReadFile(filepath.Join(target, "key"))
	original, _ := os.ReadFile(filepath.Join(dir, "ca", "ca.key"))
	if err != nil || !bytes.Equal(arrived, original) {
		t.Errorf("the key did not arrive: %v", err)
	}
	s.leaksNothing(keyOf(t, dir)...)
}
