package acctest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// configured prepares Terraform in a directory with a configuration that needs no provider.
func configured(t *testing.T, text string) *Terraform {
	t.Helper()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	terraform, err := NewTerraform(directory, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return terraform
}

func TestTerraformSeesNothingOfTheUsersEnvironment(t *testing.T) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TF_CLI_ARGS", "KUBECONFIG", "KUBE_TOKEN", "AWS_PROFILE"} {
		t.Setenv(name, "/nowhere")
	}
	terraform := configured(t, "")
	for _, variable := range terraform.environment {
		if strings.HasSuffix(variable, "=/nowhere") {
			t.Errorf("Terraform sees %s", variable)
		}
	}
	run, err := terraform.Run(t.Context(), "version")
	if err != nil || run.ExitCode != 0 {
		t.Fatalf("exit code %d, %v", run.ExitCode, err)
	}
	// A CLI configuration that is missing makes Terraform warn on every run.
	if printed := string(run.Stdout) + string(run.Stderr); strings.Contains(printed, "Warning") {
		t.Errorf("Terraform warns: %s", printed)
	}
}

func TestAnExitCodeIsNoError(t *testing.T) {
	run, err := configured(t, "output {").Run(t.Context(), "validate")
	if err != nil || run.ExitCode != 1 {
		t.Errorf("exit code %d, %v", run.ExitCode, err)
	}
}

func TestAnInterruptedTerraformEndsInTime(t *testing.T) {
	terraform := configured(t, `
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "touch started; sleep 60" }
}`)
	ctx, cancel := context.WithCancel(t.Context())
	if run, err := terraform.Run(ctx, "init"); err != nil || run.ExitCode != 0 {
		t.Fatalf("init: %v, %s", err, run.Stderr)
	}
	go func() {
		for _, err := os.Stat(filepath.Join(terraform.Directory, "started")); err != nil; {
			time.Sleep(10 * time.Millisecond)
			_, err = os.Stat(filepath.Join(terraform.Directory, "started"))
		}
		cancel()
	}()
	began := time.Now()
	if _, err := terraform.Run(ctx, "apply", "-auto-approve"); err == nil {
		t.Error("the apply went through")
	}
	if took := time.Since(began); took > interruptGrace {
		t.Errorf("it took %s", took)
	}
	if _, err := os.Stat(filepath.Join(terraform.Directory, ".terraform.tfstate.lock.info")); err == nil {
		t.Error("the state is still locked")
	}
}
