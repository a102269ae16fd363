package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// builtProvider is the mirror with the provider of this tree, built once. The build outlives the test
// that asked for it first.
var builtProvider = sync.OnceValues(func() (string, error) {
	return acctest.BuildProvider(context.Background())
})

// session is a directory of the real Terraform with the provider as a process of its own, anew for
// each command. It is for what terraform-plugin-testing does not show: the requests, warnings and exit
// code of one command, plan files, the bytes of the state, -parallelism, an interrupt.
type session struct {
	t         *testing.T
	terraform *acctest.Terraform
	plans     int
}

// Exit codes of terraform plan -detailed-exitcode.
const (
	empty   = 0
	refused = 1
	changes = 2
)

// newSession initialises Terraform with the configuration. The variables are as for around.
func newSession(t *testing.T, config string, variables ...string) *session {
	t.Helper()
	s := &session{t: t, terraform: &acctest.Terraform{Directory: t.TempDir()}}
	s.around(variables...)
	s.configure(config)
	s.run(0, "init")
	return s
}

// logged makes Terraform log everything into its directory.
var logged = []string{"TF_LOG=TRACE", "TF_LOG_PATH=trace.log"}

// traced is a session that is logged.
func traced(t *testing.T, config string, variables ...string) *session {
	t.Helper()
	return newSession(t, config, slices.Concat(logged, variables)...)
}

// around replaces the variables, as NAME=value, that are all that Terraform sees of KUBE*, AWS_* and
// TF_*.
func (s *session) around(variables ...string) {
	s.t.Helper()
	mirror, err := builtProvider()
	if err != nil {
		s.t.Fatal(err)
	}
	s.terraform, err = acctest.NewTerraform(s.terraform.Directory, mirror, variables...)
	if err != nil {
		s.t.Fatal(err)
	}
}

// configure replaces the configuration. Where the provider comes from is added if it does not say so.
func (s *session) configure(config string) {
	s.t.Helper()
	source := `
terraform {
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}
`
	if strings.Contains(config, "required_providers") {
		source = "" // a whole configuration
	}
	s.write("main.tf", source+config)
}

// write leaves a file executable that Terraform may have to run.
func (s *session) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(content), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) path(name string) string { return filepath.Join(s.terraform.Directory, name) }

// run holds the command to the exit code and returns what it printed, which printed.log keeps, too.
func (s *session) run(exitCode int, arguments ...string) string {
	s.t.Helper()
	run, err := s.terraform.Run(s.t.Context(), append(arguments, "-no-color")...)
	if err != nil {
		s.t.Fatal(err)
	}
	printed := append(run.Stdout, run.Stderr...)
	if run.ExitCode != exitCode {
		s.t.Fatalf("terraform %v ended with exit code %d, not %d:\n%s", arguments, run.ExitCode, exitCode, printed)
	}
	log, err := os.OpenFile(s.path("printed.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = log.Write(printed)
	if err := errors.Join(err, log.Close()); err != nil {
		s.t.Fatal(err)
	}
	return string(printed)
}

// plan saves the plan for applySaved, beside the ones before it, so that leaksNothing reads all.
func (s *session) plan(exitCode int, more ...string) string {
	s.t.Helper()
	s.plans++
	return s.run(exitCode, append([]string{"plan", "-detailed-exitcode", "-out=" + s.saved()}, more...)...)
}

// saved is the name of the last plan.
func (s *session) saved() string { return fmt.Sprintf("%d.tfplan", s.plans) }

func (s *session) applySaved(exitCode int, more ...string) string {
	s.t.Helper()
	return s.run(exitCode, append(append([]string{"apply"}, more...), s.saved())...)
}

func (s *session) apply(exitCode int, more ...string) string {
	s.t.Helper()
	return s.run(exitCode, append([]string{"apply", "-auto-approve"}, more...)...)
}

// shown is the saved plan as JSON, which printed.log keeps, too.
func (s *session) shown() string {
	s.t.Helper()
	return s.run(0, "show", "-json", s.saved())
}

// actions are what the saved plan does to each resource.
func (s *session) actions() map[string]string {
	s.t.Helper()
	plan := struct {
		ResourceChanges []struct {
			Address string
			Change  struct{ Actions []string }
		} `json:"resource_changes"`
	}{}
	if err := json.Unmarshal([]byte(s.shown()), &plan); err != nil {
		s.t.Fatal(err)
	}
	actions := map[string]string{}
	for _, one := range plan.ResourceChanges {
		actions[one.Address] = strings.Join(one.Change.Actions, ",")
	}
	return actions
}

// diagnostic is one of those that Terraform prints with -json, unwrapped.
type diagnostic struct {
	Severity, Summary, Detail string
	Snippet                   struct{ Context, Code string }
}

// errors runs with -json what has to fail and returns the errors.
func (s *session) errors(arguments ...string) []diagnostic {
	s.t.Helper()
	var found []diagnostic
	for line := range strings.Lines(s.run(refused, append(arguments, "-json")...)) {
		event := struct{ Diagnostic diagnostic }{}
		if json.Unmarshal([]byte(line), &event) == nil && event.Diagnostic.Severity == "error" {
			found = append(found, event.Diagnostic)
		}
	}
	return found
}

// state is the state file as it is.
func (s *session) state() string {
	s.t.Helper()
	text, err := os.ReadFile(s.path("terraform.tfstate"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// attributes are those of the resource in the state, nil if it is not there.
func (s *session) attributes(address string) map[string]any {
	s.t.Helper()
	state := struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}{}
	if err := json.Unmarshal([]byte(s.run(0, "show", "-json")), &state); err != nil {
		s.t.Fatal(err)
	}
	for _, one := range state.Values.RootModule.Resources {
		if one.Address == address {
			return one.Values
		}
	}
	return nil
}

// leaksNothing searches all that Terraform wrote and printed for the secrets. T6
func (s *session) leaksNothing(secrets ...[]byte) {
	s.t.Helper()
	files, err := acctest.Leaks(s.terraform.Directory, secrets)
	if err != nil || files < 4 {
		s.t.Errorf("%d files: %v", files, err)
	}
}

// wants fails unless the text has the parts in this order, however Terraform wraps its lines.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	if !says(parts...).MatchString(text) {
		t.Errorf("%q is not in:\n%s", parts, text)
	}
}

// wantsNot fails if the text holds the part.
func wantsNot(t *testing.T, text, part string) {
	t.Helper()
	if regexp.MustCompile(regexp.QuoteMeta(part)).MatchString(text) {
		t.Errorf("%q is in:\n%s", part, text)
	}
}
