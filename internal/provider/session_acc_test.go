package provider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// builtProvider is the mirror with the provider of this tree, built once.
var builtProvider = sync.OnceValues(func() (string, error) {
	return acctest.BuildProvider(context.Background())
})

// session is a directory of the real Terraform with the provider as a process of its own. It is for
// what a test has to see of one command alone: its requests, warnings, exit code, an interrupt.
type session struct {
	t   *testing.T
	cli *acctest.Terraform
	ctx context.Context
}

// Exit codes of terraform plan -detailed-exitcode.
const (
	empty   = 0
	refused = 1
	changes = 2
)

// newSession initialises Terraform with the configuration. The variables, as NAME=value, are all
// that it sees of AWS_* and KUBE*.
func newSession(t *testing.T, config string, variables ...string) *session {
	t.Helper()
	mirror, err := builtProvider()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	cli, err := acctest.NewTerraform(directory, mirror, variables...)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t, cli, t.Context()}
	s.configure(config)
	s.run(0, "init")
	return s
}

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
	path := filepath.Join(s.cli.Directory, "main.tf")
	if err := os.WriteFile(path, []byte(source+config), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run holds the command to the exit code and returns what it printed, which printed.log keeps, too.
func (s *session) run(exitCode int, arguments ...string) string {
	s.t.Helper()
	run, err := s.cli.Run(s.ctx, append(arguments, "-no-color")...)
	if err != nil {
		s.t.Fatal(err)
	}
	printed := append(run.Stdout, run.Stderr...)
	if run.ExitCode != exitCode {
		s.t.Fatalf("terraform %v ended with exit code %d, not %d:\n%s", arguments, run.ExitCode, exitCode, printed)
	}
	log, err := os.OpenFile(filepath.Join(s.cli.Directory, "printed.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = log.Write(printed)
	if err := errors.Join(err, log.Close()); err != nil {
		s.t.Fatal(err)
	}
	return string(printed)
}

// plan saves the plan for applySaved.
func (s *session) plan(exitCode int, more ...string) string {
	s.t.Helper()
	return s.run(exitCode, append([]string{"plan", "-detailed-exitcode", "-out=1.tfplan"}, more...)...)
}

func (s *session) applySaved(exitCode int) string {
	s.t.Helper()
	return s.run(exitCode, "apply", "1.tfplan")
}

func (s *session) apply(exitCode int, more ...string) string {
	s.t.Helper()
	return s.run(exitCode, append([]string{"apply", "-auto-approve"}, more...)...)
}

// state is the state file as it is.
func (s *session) state() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cli.Directory, "terraform.tfstate"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
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
