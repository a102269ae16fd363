package provider

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

const authority = "billet_wire_authority.test"

// fleet is one deployment: hosts with their state directories, and the file that they share.
type fleet struct {
	t     *testing.T
	store string
}

func newFleet(t *testing.T) *fleet {
	return &fleet{t, filepath.Join(t.TempDir(), "published.json")}
}

func (f *fleet) host() string { return filepath.Join(f.t.TempDir(), "state dir") }

func (f *fleet) config(dir, arguments string) string {
	return fmt.Sprintf(`
resource "billet_wire_authority" "test" {
  deployment = %q
  state_dir  = %q
  store      = { file = { path = %q } }
  %s
}`, wirecerttest.Deployment, dir, f.store, arguments)
}

// mint makes an authority on the host and returns its fingerprint.
func (f *fleet) mint(dir string, options wirecerttest.Options) string {
	f.t.Helper()
	pair, err := wirecerttest.Mint(dir, options)
	if err != nil {
		f.t.Fatal(err)
	}
	return pair.Fingerprint
}

// publish puts what the host holds into the store, behind Terraform's back.
func (f *fleet) publish(dir string) {
	f.t.Helper()
	err := wireshare.Publish(context.Background(), filestore.New(f.store), dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) rotate(dir string) (old, new string) {
	f.t.Helper()
	old, new, err := wirecerttest.Rotate(context.Background(), dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
	return old, new
}

func (f *fleet) retire(dir string) {
	f.t.Helper()
	if err := wirecerttest.Retire(context.Background(), dir); err != nil {
		f.t.Fatal(err)
	}
}

// local is what the host holds now, "" for nothing.
func (f *fleet) local(dir string) string {
	f.t.Helper()
	state, err := wirecert.Read(dir, wirecerttest.Deployment)
	if err != nil {
		f.t.Fatal(err)
	}
	if state.Authority == nil {
		return ""
	}
	return state.Authority.Info().Fingerprint
}

// tree lists everything below the paths with its bytes and times.
func tree(t *testing.T, roots ...string) string {
	t.Helper()
	var text strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			var data []byte
			if info.Mode().IsRegular() {
				if data, err = os.ReadFile(path); err != nil {
					return err
				}
			}
			fmt.Fprintf(&text, "%s %s %s %x\n", path, info.Mode(), info.ModTime(), data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func expects(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply: append(more, plancheck.ExpectResourceAction(authority, action)),
	}
}

func holds(attribute, value string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(authority, tfjsonpath.New(attribute), knownvalue.StringExact(value))
}

// refuses plans the configuration, expects the refusal, and that nothing was touched.
func (f *fleet) refuses(dir, arguments string, parts ...string) {
	f.t.Helper()
	before := tree(f.t, dir, filepath.Dir(f.store))
	run(f.t, resource.TestStep{Config: f.config(dir, arguments), ExpectError: says(parts...)})
	if tree(f.t, dir, filepath.Dir(f.store)) != before {
		f.t.Error("the refusal touched the host or the store")
	}
}
