package wirecert_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

const deployment = wirecerttest.Deployment

// vector is one directory written by billet itself.
type vector struct {
	Name        string `json:"name"`
	Deployment  string `json:"deployment"`
	Fingerprint string `json:"current_fingerprint"`
	Previous    string `json:"previous_fingerprint"`
	Files       []struct {
		Path string `json:"path"`
		Mode string `json:"mode"`
		Data string `json:"data_base64"`
	} `json:"files"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/authorities.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (v vector) write(t testing.TB, dir string) {
	t.Helper()
	for _, f := range v.Files {
		if strings.HasSuffix(f.Path, "/") {
			must(t, os.MkdirAll(filepath.Join(dir, f.Path), 0o700))
		}
	}
	for _, f := range v.Files {
		if strings.HasSuffix(f.Path, "/") {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(f.Data)
		must(t, err)
		mode, err := strconv.ParseUint(f.Mode, 8, 32)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, f.Path), data, fs.FileMode(mode)))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testTime() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }

// minted returns a state directory with a new authority.
func minted(t testing.TB) (string, wirecerttest.Pair) {
	t.Helper()
	dir := t.TempDir()
	p, err := wirecerttest.Mint(dir, wirecerttest.Options{})
	must(t, err)
	return dir, p
}

func authority(t testing.TB) *wirecert.Authority {
	t.Helper()
	a, err := wirecert.Mint(deployment, time.Now())
	must(t, err)
	return a
}

// tree describes everything under dir: names, modes, inode times and bytes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s %s", info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		found[p] = text
		return nil
	}))
	return found
}
