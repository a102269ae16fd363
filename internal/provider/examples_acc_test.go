package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/keys"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// exampleText is one file below examples/.
func exampleText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(acctest.Root(), "examples", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example is a session in a copy of the directory below examples/. The replacements, in pairs, put the
// test's own places where the example has those of a user.
func example(t *testing.T, name, more string, variables []string, replacements ...string) *session {
	t.Helper()
	s := traced(t, more, variables...)
	entries, err := os.ReadDir(filepath.Join(acctest.Root(), "examples", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text := exampleText(t, name+"/"+entry.Name())
		s.write(entry.Name(), strings.NewReplacer(replacements...).Replace(text))
	}
	return s
}

// alarms is what README.md of the drift check looks for in the plan.
func alarms(plan string) bool {
	return strings.Contains(plan, `"@level":"warn"`) || strings.Contains(plan, `"@level":"error"`)
}

func TestAccExample_nightly_drift_check_alarms_on_every_drift_and_cannot_write(t *testing.T) {
	w, f := newWorld(t), newFleet(t)
	before := w.put(line("a"))
	user := w.reader("get") // as role.yaml grants
	dir := f.host()
	agreed := f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	s := example(t, "nightly-drift-check", "", []string{
		"TF_VAR_kubeconfig=" + w.kubeconfig, "TF_VAR_namespace=" + w.namespace, "TF_VAR_primary_key=" + print("a"),
		"TF_VAR_deployment=" + wirecerttest.Deployment, "TF_VAR_published=" + f.store, "TF_VAR_authority=" + agreed,
	})
	if said := s.run(0, "plan", "-json"); alarms(said) {
		t.Errorf("it alarms without a drift:\n%s", said)
	}
	w.unchanged(before)
	if got, want := w.asked(user), []string{"get /secrets/" + keys.DefaultName}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	for _, drift := range []struct {
		what string
		make func()
		want string
	}{
		{"the key was rotated", func() { w.put(line("b") + line("a")) }, "the primary key is not " + print("a")},
		{"the Secret is invalid", func() { w.put("AAAA") }, "index 0"},
		{"the Secret is gone", w.remove, "the Secret does not exist"},
		{"another authority is published", func() {
			w.put(line("a"))
			other := f.host()
			f.mint(other, wirecerttest.Options{})
			f.publish(other)
		}, "published is not " + agreed},
		{"the authority cannot be read", func() {
			if err := os.WriteFile(f.store, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "The published authority cannot be read"},
		{"nothing is published", func() {
			if err := os.Remove(f.store); err != nil {
				t.Fatal(err)
			}
		}, "none is published"},
	} {
		drift.make()
		if said := s.run(0, "plan", "-json"); !alarms(said) || !strings.Contains(said, drift.want) {
			t.Errorf("%s, and the plan says:\n%s", drift.what, said)
		}
	}
}

// The files arrive byte for byte, with their modes, and never over an authority.
func TestAccExample_hand_over_installs_the_authority_on_a_host_that_has_none(t *testing.T) {
	f := newFleet(t)
	dir, target := f.host(), f.host()
	f.mint(dir, wirecerttest.Options{})
	_, current := f.rotate(dir)
	f.publish(dir)
	s := example(t, "hand-over", "", []string{
		"TF_VAR_deployment=" + wirecerttest.Deployment, "TF_VAR_published=" + f.store,
		"TF_VAR_remote=sh -c", "TF_VAR_state_dir=" + target,
	})
	s.plan(changes)
	s.shown()
	s.applySaved(empty)
	if got := f.local(target); got != current {
		t.Errorf("the new host holds %q", got)
	}
	same := func(dir string) string {
		text := ""
		for _, name := range []string{"ca/ca.key", "ca/ca.crt", "ca/ca-previous.key", "ca/ca-previous.crt", "authority-created"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			info, serr := os.Stat(filepath.Join(dir, name))
			if err != nil || serr != nil {
				t.Fatal(err, serr)
			}
			text += fmt.Sprintf("%s %s %x\n", name, info.Mode(), data)
		}
		return text
	}
	if same(target) != same(dir) {
		t.Error("the files differ")
	}
	s.plan(empty)
	s.leaksNothing(keyOf(t, dir)...)
	before := tree(t, target)
	wants(t, s.apply(refused, "-replace=terraform_data.hand_over"), "has, or had, an authority: nothing was written")
	if tree(t, target) != before {
		t.Error("the second hand-over touched the host")
	}
}

// The small examples of the documentation, with the test's places in place of a user's.
func TestAccExample_of_each_data_source_ephemeral_resource_and_function_is_applied(t *testing.T) {
	w, c := newWorld(t), newCloud(t)
	w.put(line("a"))
	dir := c.host()
	c.mint(dir, wirecerttest.Options{})
	c.publish(dir)
	c.name = "billet/node-wire-authority"
	c.publishTo(c.secret(), dir)
	certificate, err := os.ReadFile(filepath.Join(dir, "ca", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	both := strings.Replace(c.provider("skip_credentials_validation = true"), "aws = {",
		fmt.Sprintf("kubernetes = { config_path = %q }\n  aws = {", w.kubeconfig), 1)
	variables := []string{"TF_VAR_gossip_keys=" + line("a"), "TF_VAR_expected= " + print("a"), "TF_VAR_certificate=" + string(certificate)}
	for name, want := range map[string]string{
		"data-sources/billet_memberlist_secret":      "",
		"data-sources/billet_wire_authority":         "",
		"ephemeral-resources/billet_memberlist_keys": "keys.gpg",
		"ephemeral-resources/billet_wire_authority":  "ca.key.gpg",
		"functions/memberlist_key_fingerprints":      print("a"),
		"functions/ca_fingerprint":                   c.local(dir),
		"functions/same_fingerprint":                 "true",
	} {
		t.Run(name, func(t *testing.T) {
			s := example(t, name, both, variables,
				"kube-system", w.namespace, `"antrea" {}`, fmt.Sprintf("\"antrea\" {\n  namespace = %q\n}", w.namespace),
				"/var/lib/billet", dir, "/mnt/shared/billet/node-wire-authority.json", c.store,
				"gpg --encrypt --recipient ops@example.com --yes --output", "cat >")
			said := s.apply(empty)
			wantsNot(t, said, "Warning")
			switch kind, _, _ := strings.Cut(name, "/"); kind {
			case "functions":
				wants(t, said, want)
			case "ephemeral-resources":
				if info, err := os.Stat(s.path(want)); err != nil || info.Size() < 40 {
					t.Errorf("%s: %v", want, err)
				}
			}
		})
	}
}
