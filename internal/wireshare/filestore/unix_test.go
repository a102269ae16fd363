//go:build !windows

package filestore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

// obstacle puts something that is no regular file at path.
type obstacle struct {
	name string
	make func(t *testing.T, path string)
	want error
}

func obstacles() []obstacle {
	return []obstacle{
		{"a link", func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "target")
			must(t, os.WriteFile(target, []byte("target"), 0o600))
			must(t, os.Symlink(target, path))
		}, safefile.ErrSymlink},
		{"a link to nothing", func(t *testing.T, path string) {
			must(t, os.Symlink(filepath.Join(t.TempDir(), "none"), path))
		}, safefile.ErrSymlink},
		{"a FIFO", func(t *testing.T, path string) {
			must(t, syscall.Mkfifo(path, 0o600))
		}, safefile.ErrNotRegular},
		{"a directory", func(t *testing.T, path string) {
			must(t, os.Mkdir(path, 0o700))
		}, safefile.ErrNotRegular},
		{"a socket", func(t *testing.T, path string) {
			// The name of a socket is short: bind it by a relative path.
			t.Chdir(filepath.Dir(path))
			l, err := net.Listen("unix", filepath.Base(path))
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
		}, safefile.ErrNotRegular},
	}
}

func TestWhatIsNoRegularFileIsNeitherReadNorReplaced(t *testing.T) {
	for _, o := range obstacles() {
		t.Run(o.name, func(t *testing.T) {
			store, path := newStore(t)
			o.make(t, path)
			before, err := os.Lstat(path)
			must(t, err)
			_, err = store.GetAuthority(t.Context())
			for _, err := range []error{err, store.PutAuthority(t.Context(), []byte("x")),
				store.SwapAuthority(t.Context(), []byte("x"), ""), store.Delete(t.Context(), "")} {
				if !errors.Is(err, o.want) {
					t.Errorf("got %v, want %v", err, o.want)
				}
			}
			after, err := os.Lstat(path)
			must(t, err)
			if !os.SameFile(before, after) || before.Mode() != after.Mode() {
				t.Error("it was replaced")
			}
			if got := names(t, filepath.Dir(path)); got != filepath.Base(path) {
				t.Errorf("the directory holds %s", got)
			}
		})
	}
}

// C12: the lock and the temporary file are no way around that.
func TestWhatIsInPlaceOfTheLockOrTheTemporaryFileStopsTheWrite(t *testing.T) {
	for _, suffix := range []string{".lock", ".new"} {
		for _, o := range obstacles() {
			t.Run(o.name+" at "+suffix, func(t *testing.T) {
				store, path := newStore(t)
				must(t, os.WriteFile(path, []byte("old"), 0o600))
				o.make(t, path+suffix)
				if err := store.PutAuthority(t.Context(), []byte("x")); !errors.Is(err, o.want) {
					t.Errorf("got %v, want %v", err, o.want)
				}
				if got := read(t, path); got != "old" {
					t.Errorf("it holds %q", got)
				}
			})
		}
	}
}

// A hard link is a regular file. Publishing replaces the name and leaves the other one's bytes.
func TestAHardLinkKeepsItsBytes(t *testing.T) {
	store, path := newStore(t)
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.Link(path, other))
	_, version, err := store.ReadAuthority(t.Context())
	must(t, err)
	must(t, store.SwapAuthority(t.Context(), []byte("new"), version))
	if read(t, other) != "old" || read(t, path) != "new" {
		t.Errorf("%q and %q", read(t, other), read(t, path))
	}
}

func TestALinkedDirectoryIsFine(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "real"), 0o700))
	must(t, os.Symlink("real", filepath.Join(root, "link")))
	must(t, filestore.New(filepath.Join(root, "link", "a")).PutAuthority(t.Context(), []byte("x")))
	if got := read(t, filepath.Join(root, "real", "a")); got != "x" {
		t.Errorf("it holds %q", got)
	}
}

// C12: the lock is one file for good.
func TestTheLockIsNeverReplaced(t *testing.T) {
	store, path := newStore(t)
	must(t, store.PutAuthority(t.Context(), []byte("one")))
	before, err := os.Stat(path + ".lock")
	must(t, err)
	must(t, store.PutAuthority(t.Context(), []byte("two")))
	after, err := os.Stat(path + ".lock")
	must(t, err)
	if !os.SameFile(before, after) || after.Mode().Perm() != 0o600 {
		t.Errorf("another lock, or mode %s", after.Mode())
	}
}

// C9: a file that others may read is reported, and is private after the next publish.
func TestAnOpenFileIsReportedAndClosedByAPublish(t *testing.T) {
	for _, mode := range []fs.FileMode{0o644, 0o666, 0o640, 0o604} {
		store, path := newStore(t)
		must(t, os.WriteFile(path, []byte("old"), 0o600))
		if got := store.Exposed(); got != "" {
			t.Errorf("a private file is reported: %s", got)
		}
		must(t, os.Chmod(path, mode))
		if got := store.Exposed(); got != path {
			t.Errorf("mode %04o is not reported", mode)
		}
		_, version, err := store.ReadAuthority(t.Context())
		must(t, err)
		must(t, store.SwapAuthority(t.Context(), []byte("new"), version))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("after a publish the mode is %v", info.Mode())
		}
	}
}

// C9: under every umask, over nothing and over a file that others may write, the file is private
// at every step. The mask is the process's, so each case is a process, of an ordinary user.
func TestTheFileIsPrivateFromItsFirstByteUnderEveryUmask(t *testing.T) {
	for _, mask := range []string{"000", "022", "077", "277"} {
		for _, mode := range []string{"", "0644", "0666"} {
			t.Run(mask+" over "+mode, func(t *testing.T) {
				dir := ordinaryDir(t)
				out, err := child(t, "TestUmaskChild", "BILLET_TEST_UMASK="+mask,
					"BILLET_TEST_DIR="+dir, "BILLET_TEST_MODE="+mode)
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

func TestUmaskChild(t *testing.T) {
	mask, err := strconv.ParseInt(os.Getenv("BILLET_TEST_UMASK"), 8, 32)
	if err != nil {
		return
	}
	path := filepath.Join(os.Getenv("BILLET_TEST_DIR"), "published")
	if mode, err := strconv.ParseUint(os.Getenv("BILLET_TEST_MODE"), 8, 32); err == nil {
		must(t, os.WriteFile(path, []byte("old"), 0o600))
		must(t, os.Chmod(path, fs.FileMode(mode)))
	}
	syscall.Umask(int(mask))
	watch := func(step string) error {
		for _, p := range []string{path, path + ".new"} {
			info, err := os.Lstat(p)
			if err != nil {
				continue
			}
			data, err := os.ReadFile(p)
			if err == nil && string(data) != "old" && info.Mode().Perm()&0o177 != 0 {
				t.Errorf("before %s %s has mode %s", step, filepath.Base(p), info.Mode())
			}
		}
		return nil
	}
	store := filestore.New(path, filestore.WithSteps(watch))
	_, version, err := store.ReadAuthority(t.Context())
	if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
		t.Fatal(err)
	}
	must(t, store.SwapAuthority(t.Context(), []byte("new"), version))
	for p, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", filepath.Base(p), info, err)
		}
	}
	if got := read(t, path); got != "new" {
		t.Errorf("it holds %q", got)
	}
}

// C11: what may not be read is an error and never "nothing published", and nothing is written.
func TestAnUnreadableFileIsNotAbsent(t *testing.T) {
	for _, place := range []string{"file", "directory"} {
		t.Run(place, func(t *testing.T) {
			out, err := child(t, "TestUnreadableChild", "BILLET_TEST_UNREADABLE="+place,
				"BILLET_TEST_DIR="+ordinaryDir(t))
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestUnreadableChild(t *testing.T) {
	place := os.Getenv("BILLET_TEST_UNREADABLE")
	if place == "" {
		return
	}
	dir := filepath.Join(os.Getenv("BILLET_TEST_DIR"), "store")
	path := filepath.Join(dir, "published")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	locked := map[string]string{"file": path, "directory": dir}[place]
	must(t, os.Chmod(locked, 0))
	store := filestore.New(path)
	_, err := store.GetAuthority(t.Context())
	for _, err := range []error{err, store.SwapAuthority(t.Context(), []byte("x"), "")} {
		if !errors.Is(err, fs.ErrPermission) || errors.Is(err, wireshare.ErrNoAuthority) {
			t.Errorf("error %v", err)
		}
	}
	must(t, os.Chmod(locked, 0o700))
	if got := read(t, path); got != "old" {
		t.Errorf("it holds %q", got)
	}
}

// A directory that may only be read serves readers and refuses writers.
func TestAReadOnlyDirectoryServesReaders(t *testing.T) {
	out, err := child(t, "TestReadOnlyChild", "BILLET_TEST_READ_ONLY=1",
		"BILLET_TEST_DIR="+ordinaryDir(t))
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestReadOnlyChild(t *testing.T) {
	if os.Getenv("BILLET_TEST_READ_ONLY") == "" {
		return
	}
	dir := os.Getenv("BILLET_TEST_DIR")
	path := filepath.Join(dir, "published")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	must(t, os.Chmod(dir, 0o500))
	store := filestore.New(path)
	body, version, err := store.ReadAuthority(t.Context())
	if err != nil || string(body) != "old" {
		t.Errorf("%q, %v", body, err)
	}
	err = store.SwapAuthority(t.Context(), []byte("x"), version)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
	must(t, os.Chmod(dir, 0o700))
	if got := names(t, dir); got != "published" || read(t, path) != "old" {
		t.Errorf("the directory holds %s", got)
	}
}

// ordinary is a user without root's rights over files.
const ordinary = 65534

// ordinaryDir returns a directory that the children of these tests own.
func ordinaryDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() == 0 {
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
		must(t, os.Chown(dir, ordinary, ordinary))
	}
	return dir
}

// child runs one test of this binary in a process of its own, as an ordinary user.
func child(t *testing.T, test string, env ...string) (string, error) {
	t.Helper()
	binary, err := os.Executable()
	must(t, err)
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: ordinary, Gid: ordinary}
		binary = publicCopy(t, binary)
	}
	cmd := exec.Command(binary, fmt.Sprintf("-test.run=^%s$", test))
	// The race detector sleeps a second before each exit unless it is told not to.
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = attributes
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// publicCopy links or copies the test binary to where another user may run it.
func publicCopy(t *testing.T, binary string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	copied := filepath.Join(dir, "test-binary")
	data, err := os.ReadFile(binary)
	must(t, err)
	must(t, os.WriteFile(copied, data, 0o755))
	must(t, os.Chmod(copied, 0o755))
	return copied
}
