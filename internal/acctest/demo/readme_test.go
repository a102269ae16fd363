package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

// readmeConfiguration is the first configuration in the README, as printed.
func readmeConfiguration(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(acctest.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```terraform\n")
	configuration, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("the README has no configuration")
	}
	return configuration
}

func TestAccTheConfigurationInTheReadmeWorksAsPrinted(t *testing.T) {
	cluster := acctest.SharedCluster(t)
	home, directory := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := acctest.WriteKubeconfig(filepath.Join(home, ".kube", "config"), cluster.Config); err != nil {
		t.Fatal(err)
	}
	text := []byte(readmeConfiguration(t))
	if err := os.WriteFile(filepath.Join(directory, "main.tf"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	mirror, err := acctest.BuildProvider(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	terraform, err := acctest.NewTerraform(directory, mirror, "HOME="+home)
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"init"}, {"apply", "-auto-approve"}, {"plan", "-detailed-exitcode"},
	} {
		run, err := terraform.Run(t.Context(), arguments...)
		if err != nil || run.ExitCode != 0 {
			t.Fatalf("terraform %v: exit code %d, %v\n%s%s",
				arguments, run.ExitCode, err, run.Stdout, run.Stderr)
		}
	}
	reader := &secretReader{admin: cluster.Admin}
	held, err := reader.read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	run, err := terraform.Run(t.Context(), "output", "-raw", "primary_key")
	if err != nil || string(run.Stdout) != held.fingerprint {
		t.Errorf("the output is %q, the Secret holds %s, %v", run.Stdout, held.fingerprint, err)
	}
}
