package acctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	// program and host are those of Terraform; `make test-tofu` sets the variables beside them.
	program         = "terraform"
	programVariable = "TF_ACC_TERRAFORM_PATH"
	host            = "registry.terraform.io"
	hostVariable    = "TF_ACC_PROVIDER_HOST"
	// interruptGrace is how long Terraform may take to end after an interrupt.
	interruptGrace = 30 * time.Second
)

// mirrored is a provider in the mirror, and what it is built from: a package, and the directory of the
// module, below the top of the project, that knows it. Its address is without the host.
type mirrored struct{ address, version, module, source string }

var (
	ownProvider = mirrored{"billetdev/billet", "0.1.0", ".", "."}

	// The providers that examples use beside it.
	neighbours = []mirrored{
		{"hashicorp/helm", "3.0.0", ".", "./internal/acctest/helmstub"}, // a stub
		{"hashicorp/time", "0.13.1", "tools/time-provider", // as in its go.mod
			"github.com/hashicorp/terraform-provider-time"},
	}
)

// BuildProvider builds the provider of this tree into a file-system mirror and returns the mirror's
// directory, for NewTerraform. The second build takes a second.
func BuildProvider(ctx context.Context) (mirror string, err error) {
	mirror = filepath.Join(Root(), ".cache", "bin", "mirror")
	return mirror, ownProvider.build(ctx, mirror)
}

// BuildNeighbours adds to the mirror the providers that the examples use beside this one: the time
// provider from its Go module, which takes half a minute once, and a stub in place of the helm provider.
func BuildNeighbours(ctx context.Context, mirror string) error {
	for _, one := range neighbours {
		if err := one.build(ctx, mirror); err != nil {
			return err
		}
	}
	return nil
}

func (m mirrored) build(ctx context.Context, mirror string) (err error) {
	address := fromEnvironment(hostVariable, host) + "/" + m.address
	directory := filepath.Join(mirror, filepath.FromSlash(address), m.version,
		runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	// Under a name of its own and renamed, for another run may be starting the program.
	scratch, err := os.MkdirTemp(filepath.Dir(mirror), "build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	name := "terraform-provider-" + path.Base(m.address) + "_v" + m.version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	built := filepath.Join(scratch, name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath",
		"-ldflags", "-s -w -X main.version="+m.version, "-o", built, m.source)
	build.Dir = filepath.Join(Root(), filepath.FromSlash(m.module))
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", m.address, err, output)
	}
	return os.Rename(built, filepath.Join(directory, name))
}

// fromEnvironment is the variable that terraform-plugin-testing reads, too, so that one setting chooses
// what all tests run.
func fromEnvironment(variable, otherwise string) string {
	if value := os.Getenv(variable); value != "" {
		return value
	}
	return otherwise
}

// UnderOpenTofu says that the tests run OpenTofu, which differs from Terraform in places.
func UnderOpenTofu() bool { return fromEnvironment(hostVariable, host) == "registry.opentofu.org" }

// Terraform runs the terraform on PATH, or what `make test-tofu` chose, in one directory, with the
// provider from the mirror and nothing of the user's: no CLI configuration, home directory,
// kubeconfig or credentials.
type Terraform struct {
	// Directory holds the configuration and, beside it, the state.
	Directory string

	environment []string
}

// NewTerraform prepares the directory. The extra variables, as NAME=value, are all that Terraform
// sees of KUBE*, AWS_* and TF_*.
func NewTerraform(directory, mirror string, extra ...string) (*Terraform, error) {
	private := filepath.Join(directory, ".terraform-cli")
	if err := os.MkdirAll(private, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(private, "terraformrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	environment := append(foreignFree(os.Environ()), "HOME="+private, "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE="+config, "TF_IN_AUTOMATION=1", "TF_INPUT=0")
	return &Terraform{Directory: directory, environment: append(environment, extra...)}, nil
}

// foreignFree leaves out what would make a run depend on who runs it.
func foreignFree(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		switch {
		case strings.HasPrefix(variable, "TF_"), strings.HasPrefix(variable, "KUBE"),
			strings.HasPrefix(variable, "AWS_"), strings.HasPrefix(variable, "HOME="):
		default:
			kept = append(kept, variable)
		}
	}
	return kept
}

// Run is how one run of Terraform ended.
type Run struct {
	ExitCode       int
	Stdout, Stderr []byte
}

// Run runs Terraform. An exit code is no error; only not being able to run it, or the end of ctx,
// is. When ctx ends Terraform is interrupted, so that it can store its state and release its lock.
func (t *Terraform) Run(ctx context.Context, arguments ...string) (Run, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, fromEnvironment(programVariable, program), arguments...)
	command.Dir, command.Env = t.Directory, t.environment
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = interruptGrace
	ownGroup(command)
	err := command.Run()
	run := Run{ExitCode: command.ProcessState.ExitCode(), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return run, context.Cause(ctx)
	}
	if err != nil && !errors.As(err, &exit) {
		return run, fmt.Errorf("running terraform: %w", err)
	}
	return run, nil
}
