package provider

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// mirror is the provider as a program of its own, built once, for what the harness does not show:
// plan files, the bytes of the state, -parallelism, and a provider that starts anew for each command.
var mirror = sync.OnceValues(func() (string, error) {
	// The build outlives the test that asked for it first.
	return acctest.BuildProvider(context.Background())
})

// cli is the real Terraform in a directory of its own.
type cli struct {
	t         *testing.T
	terraform *acctest.Terraform
}

// newCLI prepares the configuration. The variables, as NAME=value, are all that Terraform sees of
// KUBE*, AWS_* and TF_*.
func newCLI(t *testing.T, config string, variables ...string) *cli {
	t.Helper()
	program, err := mirror()
	if err != nil {
		t.Fatal(err)
	}
	terraform, err := acctest.NewTerraform(t.TempDir(), program, variables...)
	if err != nil {
		t.Fatal(err)
	}
	c := &cli{t, terraform}
	c.configure(config)
	c.must("init", "-no-color")
	return c
}

// around replaces the variables that Terraform sees of KUBE*, AWS_* and TF_*.
func (c *cli) around(variables ...string) {
	c.t.Helper()
	program, err := mirror()
	if err != nil {
		c.t.Fatal(err)
	}
	if c.terraform, err = acctest.NewTerraform(c.terraform.Directory, program, variables...); err != nil {
		c.t.Fatal(err)
	}
}

// requirement says where the provider comes from.
const requirement = `terraform {
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}
`

// configure replaces the configuration. The requirement is added where it has none.
func (c *cli) configure(config string) {
	c.t.Helper()
	if !strings.Contains(config, "required_providers") {
		config = requirement + config
	}
	c.write("main.tf", config)
}

func (c *cli) write(name, content string) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cli) path(name string) string { return filepath.Join(c.terraform.Directory, name) }

// run returns the exit code and everything that was printed.
func (c *cli) run(arguments ...string) (int, string) {
	c.t.Helper()
	run, err := c.terraform.Run(c.t.Context(), arguments...)
	if err != nil {
		c.t.Fatal(err)
	}
	return run.ExitCode, string(run.Stdout) + string(run.Stderr)
}

// must runs what has to succeed.
func (c *cli) must(arguments ...string) string {
	c.t.Helper()
	code, printed := c.run(arguments...)
	if code != 0 {
		c.t.Fatalf("terraform %v ended with %d:\n%s", arguments, code, printed)
	}
	return printed
}

// apply applies what the configuration says, or the plan file.
func (c *cli) apply(arguments ...string) string {
	c.t.Helper()
	return c.must(append([]string{"apply", "-no-color", "-auto-approve"}, arguments...)...)
}

// refused runs what has to fail, and say so.
func (c *cli) refused(want *regexp.Regexp, arguments ...string) {
	c.t.Helper()
	code, printed := c.run(append(arguments, "-no-color")...)
	if code != 1 || !want.MatchString(printed) {
		c.t.Errorf("terraform %v ended with %d and does not say %s:\n%s", arguments, code, want, printed)
	}
}

// plan plans, keeps the plan, and returns what it does to each resource: "" for nothing.
func (c *cli) plan(arguments ...string) map[string]string {
	c.t.Helper()
	c.must(append([]string{"plan", "-no-color", "-out=plan.tfplan"}, arguments...)...)
	shown := struct {
		ResourceChanges []struct {
			Address string
			Change  struct{ Actions []string }
		} `json:"resource_changes"`
	}{}
	if err := json.Unmarshal([]byte(c.must("show", "-json", "plan.tfplan")), &shown); err != nil {
		c.t.Fatal(err)
	}
	actions := map[string]string{}
	for _, one := range shown.ResourceChanges {
		actions[one.Address] = strings.Join(one.Change.Actions, ",")
	}
	return actions
}

// diagnostic is one of those that Terraform prints with -json, unwrapped.
type diagnostic struct {
	Severity, Summary, Detail string
	Snippet                   struct{ Context, Code string }
}

// errors runs with -json and returns the errors.
func (c *cli) errors(arguments ...string) []diagnostic {
	c.t.Helper()
	_, printed := c.run(append(arguments, "-json")...)
	var found []diagnostic
	for line := range strings.Lines(printed) {
		event := struct{ Diagnostic diagnostic }{}
		if json.Unmarshal([]byte(line), &event) == nil && event.Diagnostic.Severity == "error" {
			found = append(found, event.Diagnostic)
		}
	}
	return found
}

// state is the state file, byte for byte; empty when there is none.
func (c *cli) state() []byte {
	state, err := os.ReadFile(c.path("terraform.tfstate"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	return state
}

// attributes are those of the resource in the state.
func (c *cli) attributes(address string) map[string]any {
	c.t.Helper()
	shown := struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}{}
	if err := json.Unmarshal([]byte(c.must("show", "-json")), &shown); err != nil {
		c.t.Fatal(err)
	}
	for _, one := range shown.Values.RootModule.Resources {
		if one.Address == address {
			return one.Values
		}
	}
	c.t.Fatalf("%s is not in the state", address)
	return nil
}

// holds says whether the resource is in the state.
func (c *cli) holds(address string) bool {
	c.t.Helper()
	_, listed := c.run("state", "list")
	return strings.Contains(listed, address)
}

// keeps fails if a text is in any file that Terraform wrote, plan files unpacked, but for the
// configuration.
func (c *cli) keeps(out ...string) {
	c.t.Helper()
	err := filepath.WalkDir(c.terraform.Directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, ".tf") ||
			strings.HasSuffix(path, ".tfvars") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for name, text := range unpacked(path, content) {
			for _, secret := range out {
				if bytes.Contains(text, []byte(secret)) {
					c.t.Errorf("there is a credential in %s", name)
				}
			}
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// unpacked is a file, or the files in it if it is a plan. A plan also holds the configuration, which
// is the user's own.
func unpacked(path string, content []byte) map[string][]byte {
	all := map[string][]byte{path: content}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return all
	}
	for _, member := range archive.File {
		if reader, err := member.Open(); err == nil && !strings.HasPrefix(member.Name, "tfconfig/") {
			all[path+"/"+member.Name], _ = io.ReadAll(reader)
			_ = reader.Close()
		}
	}
	return all
}

// gated is a provider block that reaches the cluster through the gate, with more arguments.
func gated(gate *acctest.Gate, more string) string {
	return fmt.Sprintf(`
provider "billet" {
  kubernetes = {
    host = %q
    cluster_ca_certificate = %q
    %s
  }
}
`, gate.URL, gate.CA, more)
}
