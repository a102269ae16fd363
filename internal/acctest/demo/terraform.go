package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// Exit codes of terraform plan -detailed-exitcode.
const (
	planEmpty   = 0
	planRefused = 1
	planChanges = 2
)

// terraform runs the real Terraform and remembers what its last plan said.
type terraform struct {
	stage *stage
	cli   *acctest.Terraform
	// plans counts the saved plans; each keeps its file, to be searched at the end.
	plans int
}

type diagnostic struct{ Severity, Summary, Detail string }

// change is what a plan says of one resource.
type change struct {
	Actions                     []string
	Before, After, AfterUnknown map[string]any
}

// newTerraform traces everything into a file, for the search for key material afterwards.
func newTerraform(s *stage, directory string) (*terraform, error) {
	cli, err := acctest.NewTerraform(directory, s.mirror, "TF_LOG=TRACE",
		"TF_LOG_PATH="+filepath.Join(directory, "trace.log"))
	if err != nil {
		return nil, err
	}
	t := &terraform{stage: s, cli: cli}
	_, err = t.must("init", "-no-color")
	return t, err
}

func (t *terraform) planFile() string { return fmt.Sprintf("%d.tfplan", t.plans) }

// run keeps what Terraform printed in a file, to be searched at the end.
func (t *terraform) run(arguments ...string) (acctest.Run, error) {
	run, err := t.cli.Run(t.stage.ctx, arguments...)
	if err != nil {
		return run, err
	}
	printed, err := os.OpenFile(filepath.Join(t.cli.Directory, "printed.log"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return run, err
	}
	_, err = printed.Write(append(run.Stdout, run.Stderr...))
	return run, errors.Join(err, printed.Close())
}

// must runs a command that has to succeed, and returns its standard output.
func (t *terraform) must(arguments ...string) ([]byte, error) {
	run, err := t.run(arguments...)
	if err != nil {
		return nil, err
	}
	if run.ExitCode != 0 {
		return nil, fmt.Errorf("terraform %s ended with exit code %d:\n%s%s",
			arguments[0], run.ExitCode, run.Stdout, run.Stderr)
	}
	return run.Stdout, nil
}

// plan plans, saves the plan, prints what Terraform said, and holds it to the exit code.
func (t *terraform) plan(exitCode int) ([]diagnostic, error) {
	t.plans++
	run, err := t.run("plan", "-json", "-detailed-exitcode", "-out="+t.planFile())
	if err != nil {
		return nil, err
	}
	t.stage.say("$ terraform plan -detailed-exitcode    (exit code %d)", run.ExitCode)
	diagnostics := diagnosticsOf(run.Stdout)
	for _, one := range diagnostics {
		t.stage.quote(strings.ToUpper(one.Severity) + ": " + one.Summary + "\n" + one.Detail)
	}
	if run.ExitCode != exitCode {
		return nil, fmt.Errorf("the plan ended with exit code %d, not %d:\n%s",
			run.ExitCode, exitCode, run.Stderr)
	}
	return diagnostics, nil
}

// apply applies the saved plan, as it was reviewed.
func (t *terraform) apply() error {
	t.stage.say("$ terraform apply")
	_, err := t.must("apply", "-json", t.planFile())
	return err
}

func diagnosticsOf(log []byte) []diagnostic {
	var found []diagnostic
	for line := range bytes.Lines(log) {
		var event struct {
			Type       string
			Diagnostic diagnostic
		}
		if json.Unmarshal(line, &event) == nil && event.Type == "diagnostic" {
			found = append(found, event.Diagnostic)
		}
	}
	return found
}

// planned is what the saved plan does to the resource.
func (t *terraform) planned(address string) (change, error) {
	text, err := t.must("show", "-json", t.planFile())
	if err != nil {
		return change{}, err
	}
	var plan struct {
		ResourceChanges []struct {
			Address string
			Change  struct {
				Actions      []string
				Before       map[string]any
				After        map[string]any
				AfterUnknown map[string]any `json:"after_unknown"`
			}
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		return change{}, err
	}
	for _, one := range plan.ResourceChanges {
		if one.Address == address {
			return change(one.Change), nil
		}
	}
	return change{}, fmt.Errorf("the plan says nothing of %s", address)
}

// state is what the state holds of the resource.
func (t *terraform) state(address string) (map[string]any, error) {
	text, err := t.must("show", "-json")
	if err != nil {
		return nil, err
	}
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, err
	}
	for _, one := range state.Values.RootModule.Resources {
		if one.Address == address {
			return one.Values, nil
		}
	}
	return nil, fmt.Errorf("the state does not hold %s", address)
}
