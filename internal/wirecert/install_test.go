//go:build !windows

package wirecert_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// rotating returns a directory in the middle of a rotation and the authority in it.
func rotating(t *testing.T) (string, *wirecert.Authority) {
	t.Helper()
	dir := t.TempDir()
	rotated(t, dir)
	state, err := wirecert.Read(dir, deployment)
	must(t, err)
	return dir, state.Authority
}

func held(t *testing.T, dir string) *wirecert.Authority {
	t.Helper()
	state, err := wirecert.Read(dir, deployment)
	must(t, err)
	return state.Authority
}

// B1
func TestAllFiveFilesArriveByteForByte(t *testing.T) {
	_, a := rotating(t)
	dir := filepath.Join(t.TempDir(), "new", "D")
	lock, err := wirecert.Lock(t.Context(), dir, 0)
	must(t, err)
	defer lock.Release()
	must(t, wirecert.NewWriter(dir, deployment).Install(a))
	if !held(t, dir).Files().Equal(a.Files()) {
		t.Error("the files differ")
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"authority-created", "ca", "ca.lock"}; !slices.Equal(names, want) {
		t.Errorf("the directory holds %q, want %q", names, want)
	}
}

func TestInstallingNeverReplaces(t *testing.T) {
	a := authority(t)
	for name, prepare := range map[string]func(dir string) error{
		"another authority": func(d string) error {
			_, err := wirecerttest.Mint(d, wirecerttest.Options{})
			return err
		},
		"only a key": func(d string) error {
			return errors.Join(os.Mkdir(d+"/ca", 0o700), os.WriteFile(d+"/ca/ca.key",
				a.Files()[wirecert.KeyName], 0o600))
		},
		"marker of another": func(d string) error {
			return os.WriteFile(d+"/authority-created", []byte(strings.Repeat("a", 32)), 0o644)
		},
		"ca is a link": func(d string) error { return os.Symlink(d+"/x", d+"/ca") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, prepare(dir))
			before := tree(t, dir)
			if err := wirecert.NewWriter(dir, deployment).Install(a); err == nil {
				t.Error("it was installed")
			}
			same(t, before, tree(t, dir))
		})
	}
	if err := wirecert.NewWriter(t.TempDir(), strings.Repeat("a", 32)).Install(a); !errors.Is(err,
		wirecert.ErrDeployment) {
		t.Errorf("another deployment: %v", err)
	}
}

func TestAMarkerOfThisDeploymentIsTheRecoveryCaseAndStays(t *testing.T) {
	dir := t.TempDir()
	marker := dir + "/authority-created"
	must(t, os.WriteFile(marker, []byte(deployment+"\r\n"), 0o644))
	before := tree(t, dir)[marker]
	a := authority(t)
	must(t, wirecert.NewWriter(dir, deployment).Install(a))
	if tree(t, dir)[marker] != before {
		t.Error("the marker was written again")
	}
	if held(t, dir).Info().Fingerprint != a.Info().Fingerprint {
		t.Error("another authority is there")
	}
}

// C9: a directory that is too open is fixed, and leftovers in it are moved aside.
func TestACAWithoutAnAuthorityMakesRoom(t *testing.T) {
	at := testTime()
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/ca", 0o755))
	must(t, os.WriteFile(dir+"/ca/ca.key.new", []byte("half"), 0o600))
	clock := wirecert.WithClock(func() time.Time { return at })
	must(t, wirecert.NewWriter(dir, deployment, clock).Install(authority(t)))
	data, err := os.ReadFile(dir + "/ca.superseded-20261130T000000Z/ca.key.new")
	if err != nil || string(data) != "half" {
		t.Errorf("the leftover is %q, %v", data, err)
	}
	info, err := os.Stat(dir + "/ca")
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("ca is %v, %v", info, err)
	}
}

func TestReplacingMovesTheOldAuthorityAside(t *testing.T) {
	dir, p := minted(t)
	old := held(t, dir)
	next := authority(t)
	w := wirecert.NewWriter(dir, deployment, wirecert.WithClock(testTime))
	if err := w.Replace(next, next.Info().Fingerprint); !errors.Is(err, wirecert.ErrChanging) {
		t.Fatalf("without the right fingerprint: %v", err)
	}
	must(t, w.Replace(next, p.Fingerprint))
	if !held(t, dir).Files().Equal(next.Files()) {
		t.Error("the new authority is not there")
	}
	for name, path := range map[string]string{
		wirecert.KeyName:         "ca.superseded-20261130T000000Z/ca.key",
		wirecert.CertificateName: "ca.superseded-20261130T000000Z/ca.crt",
		wirecert.MarkerName:      "authority-created.superseded-20261130T000000Z",
	} {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil || string(data) != string(old.Files()[name]) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// Within the same second the name is taken; nothing is replaced.
	must(t, w.Replace(old, next.Info().Fingerprint))
	data, err := os.ReadFile(dir + "/ca.superseded-20261130T000000Z-2/ca.key")
	if err != nil || string(data) != string(next.Files()[wirecert.KeyName]) {
		t.Errorf("the second one moved aside: %v", err)
	}
}

// A hard link elsewhere keeps the bytes it had.
func TestReplacingWritesIntoNoExistingFile(t *testing.T) {
	dir, p := minted(t)
	backup := dir + "/backup.key"
	must(t, os.Link(dir+"/ca/ca.key", backup))
	must(t, wirecert.NewWriter(dir, deployment).Replace(authority(t), p.Fingerprint))
	data, err := os.ReadFile(backup)
	if err != nil || string(data) != string(p.KeyPEM) {
		t.Errorf("the backup changed: %v", err)
	}
}

// C9
func TestModesAreExactUnderEveryUmask(t *testing.T) {
	from, a := rotating(t)
	for _, mask := range []string{"000", "022", "077", "277"} {
		t.Run(mask, func(t *testing.T) {
			base := filepath.Join(openDir(t), "base")
			must(t, os.Mkdir(base, 0o700))
			// A set-group-id parent hands its bit down to new directories.
			must(t, os.Chmod(base, 0o700|fs.ModeSetgid))
			dir := filepath.Join(base, "x", "D")
			source := filepath.Join(filepath.Dir(base), "from")
			must(t, os.CopyFS(source, os.DirFS(from)))
			for _, name := range []string{wirecert.KeyName, wirecert.PreviousKeyName} {
				must(t, os.Chmod(wirecert.Path(source, name), 0o600))
			}
			as := nobody(t, filepath.Dir(base))
			out, err := runChild(t, "umask", dir, []string{argVar + "=" + mask,
				fromVar + "=" + source}, as)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for path, mode := range map[string]fs.FileMode{
				"": 0o700, "ca": 0o700, "ca.lock": 0o600, "ca/ca.key": 0o600, "ca/ca.crt": 0o644,
				"ca/ca-previous.key": 0o600, "ca/ca-previous.crt": 0o644,
				"authority-created": 0o644,
			} {
				info, err := os.Stat(filepath.Join(dir, path))
				must(t, err)
				if got := info.Mode() &^ fs.ModeDir; got != mode {
					t.Errorf("%s has mode %v, want %v", path, got, mode)
				}
			}
			if !held(t, dir).Files().Equal(a.Files()) {
				t.Error("the files differ")
			}
		})
	}
}

// Every step of an installation, with a kill -9 before it: the next run finishes.
func TestAKilledInstallationIsFinishedByTheNextRun(t *testing.T) {
	from, a := rotating(t)
	steps := killEachStep(t, "install", from, func(t *testing.T) string { return t.TempDir() },
		func(t *testing.T, dir string) {
			state, err := wirecert.Read(dir, deployment)
			must(t, err)
			if state.Authority == nil {
				must(t, wirecert.NewWriter(dir, deployment).Install(a))
			}
			if !held(t, dir).Files().Equal(a.Files()) {
				t.Error("the authority is not whole")
			}
			if names := under(t, dir); !slices.Equal(names, []string{
				"authority-created", "ca", "ca.lock"}) {
				t.Errorf("the directory holds %q", names)
			}
		})
	if steps < 20 {
		t.Errorf("only %d steps were tried", steps)
	}
}

// The same of a replacement: the old key is never lost, and the host holds one whole authority or
// none.
func TestAKilledReplacementIsFinishedByTheNextRun(t *testing.T) {
	from, a := rotating(t)
	var old wirecerttest.Pair
	steps := killEachStep(t, "replace", from, func(t *testing.T) string {
		dir, p := minted(t)
		old = p
		return dir
	}, func(t *testing.T, dir string) {
		state, err := wirecert.Read(dir, deployment)
		must(t, err)
		w := wirecert.NewWriter(dir, deployment)
		switch {
		case state.Authority == nil:
			if !state.Marker && !state.Interrupted {
				t.Error("it looks like a first day")
			}
			must(t, w.Install(a))
		case state.Authority.Info().Fingerprint == old.Fingerprint:
			must(t, w.Replace(a, old.Fingerprint))
		}
		if !held(t, dir).Files().Equal(a.Files()) {
			t.Error("the authority is not whole")
		}
		if !anywhere(t, dir, string(old.KeyPEM)) {
			t.Error("the old key is lost")
		}
	})
	if steps < 20 {
		t.Errorf("only %d steps were tried", steps)
	}
}

// killEachStep kills a child before its first, second, ... step until one finishes, and has finish
// run after each. It returns the number of kills.
func killEachStep(
	t *testing.T, child, from string, prepare func(*testing.T) string,
	finish func(*testing.T, string),
) int {
	t.Helper()
	for n := 1; ; n++ {
		done := false
		t.Run(fmt.Sprintf("step %d", n), func(t *testing.T) {
			dir := prepare(t)
			out, err := runChild(t, child, dir, []string{fmt.Sprintf("%s=%d", argVar, n),
				fromVar + "=" + from}, nil)
			if err != nil && !killed(err) {
				t.Fatalf("%v: %s", err, out)
			}
			done = err == nil
			lock, err := wirecert.Lock(t.Context(), dir, 0)
			if err != nil {
				t.Fatalf("the lock is not free: %v", err)
			}
			defer lock.Release()
			finish(t, dir)
		})
		if done || t.Failed() {
			return n - 1
		}
	}
}

func under(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func anywhere(t *testing.T, dir, content string) bool {
	t.Helper()
	for text := range maps.Values(tree(t, dir)) {
		if strings.Contains(text, content) {
			return true
		}
	}
	return false
}

// A staging directory that may hold the only copy of another key is never removed.
func TestAForeignStagingDirectoryIsMovedAside(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/ca.installing", 0o700))
	other := pair(t, wirecerttest.Options{})
	must(t, os.WriteFile(dir+"/ca.installing/ca.key", other.KeyPEM, 0o600))
	must(t, wirecert.NewWriter(dir, deployment).Install(authority(t)))
	if !anywhere(t, dir, string(other.KeyPEM)) {
		t.Error("the other key is lost")
	}
	state, err := wirecert.Read(dir, deployment)
	must(t, err)
	if state.Interrupted || len(state.Leftovers) > 0 {
		t.Errorf("left %q", state.Leftovers)
	}
}

func TestAFailedStepStopsTheWriterAndTheNextRunFinishes(t *testing.T) {
	broken := errors.New("disk full")
	a := authority(t)
	for n := 1; ; n++ {
		dir := t.TempDir()
		left := n
		err := wirecert.NewWriter(dir, deployment, wirecert.WithSteps(func(string) error {
			if left--; left == 0 {
				return broken
			}
			return nil
		})).Install(a)
		if err == nil {
			return
		}
		if !errors.Is(err, broken) {
			t.Fatalf("step %d: %v", n, err)
		}
		state, err := wirecert.Read(dir, deployment)
		must(t, err)
		if state.Authority == nil {
			must(t, wirecert.NewWriter(dir, deployment).Install(a))
		}
	}
}

// C12
func TestTheLockOfAKilledHolderIsFreeAtOnceAndItsFileIsTheSame(t *testing.T) {
	dir, _ := minted(t)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVar+"=hold", dirVar+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(wirecert.LockPath(dir))
	must(t, err)
	_, err = wirecert.Lock(t.Context(), dir, 20*time.Millisecond)
	if !errors.Is(err, wirecert.ErrLockBusy) || !strings.Contains(err.Error(), dir+"/ca.lock") {
		t.Errorf("while held: %v", err)
	}
	// An observer does not need it.
	if _, err := observe(t, dir); err != nil {
		t.Errorf("observing while held: %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	lock, err := wirecert.Lock(t.Context(), dir, 0)
	must(t, err)
	must(t, lock.Release())
	after, err := os.Stat(wirecert.LockPath(dir))
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the lock file was replaced")
	}
}

// C12: a lock this user may only read is opened read-only; one it may not read is explained.
func TestALockOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	for mode, says := range map[fs.FileMode]string{0o644: "", 0o600: "permission denied: run as"} {
		dir := filepath.Join(openDir(t), "D")
		must(t, os.Mkdir(dir, 0o700))
		as := nobody(t, dir)
		must(t, os.WriteFile(dir+"/ca.lock", nil, mode))
		must(t, os.Chmod(dir+"/ca.lock", mode))
		out, err := runChild(t, "lock", dir, nil, as)
		if (err == nil) != (says == "") || !strings.Contains(out, says) {
			t.Errorf("mode %v: %v, %s", mode, err, out)
		}
	}
}

func TestTheLockIsNotTakenWithACancelledContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "D")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := wirecert.Lock(ctx, dir, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory was made")
	}
}

func TestAFileInPlaceOfTheDirectoryStopsTheWriter(t *testing.T) {
	file := t.TempDir() + "/f"
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := wirecert.Lock(t.Context(), file, 0); !errors.Is(err, wirecert.ErrNotDirectory) {
		t.Errorf("a file in place of the directory: %v", err)
	}
}
