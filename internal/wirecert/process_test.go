//go:build !windows

package wirecert_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// Variables that make the test binary a child process of a test.
const (
	childVar = "WIRECERT_CHILD"
	dirVar   = "WIRECERT_DIR"
	fromVar  = "WIRECERT_FROM"
	argVar   = "WIRECERT_ARG"
)

func TestMain(m *testing.M) {
	child := map[string]func() error{
		"install": childInstall, "replace": childReplace, "hold": childHold,
		"observe": childObserve, "umask": childUmask, "lock": childLock,
	}[os.Getenv(childVar)]
	if child == nil {
		os.Exit(m.Run())
	}
	if err := child(); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(0)
}

// runChild runs this test binary as the named child and returns its output.
func runChild(
	t *testing.T, child, dir string, env []string, as *syscall.Credential,
) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if as != nil {
		self = publicCopy(t, self)
	}
	cmd := exec.Command(self)
	// The race detector sleeps a second before each exit unless it is told not to.
	env = append(env, childVar+"="+child, dirVar+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// publicCopy copies the test binary to where another user may run it.
func publicCopy(t *testing.T, path string) string {
	t.Helper()
	dir := openDir(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "test-binary")
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}

// openDir returns a temporary directory that every user may search.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// nobody returns the credentials of an ordinary user when the tests run as root, and nil
// otherwise, and gives the tree to that user.
func nobody(t *testing.T, tree string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	const id = 65534
	err := filepath.WalkDir(tree, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: id, Gid: id}
}

func killed(err error) bool {
	exit, ok := err.(*exec.ExitError)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// crashAt returns a step that kills this process before the n-th change on disk.
func crashAt(n int) func(string) error {
	return func(string) error {
		n--
		if n == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
}

func childLocked(do func(w *wirecert.Writer, a *wirecert.Authority) error) error {
	n, err := strconv.Atoi(os.Getenv(argVar))
	if err != nil {
		return err
	}
	dir := os.Getenv(dirVar)
	lock, err := wirecert.Lock(context.Background(), dir, time.Second)
	if err != nil {
		return err
	}
	defer lock.Release()
	source, err := wirecert.Read(os.Getenv(fromVar), deployment)
	if err != nil {
		return err
	}
	w := wirecert.NewWriter(dir, deployment, wirecert.WithSteps(crashAt(n)))
	return do(w, source.Authority)
}

func childInstall() error {
	return childLocked(func(w *wirecert.Writer, a *wirecert.Authority) error { return w.Install(a) })
}

func childReplace() error {
	return childLocked(func(w *wirecert.Writer, a *wirecert.Authority) error {
		state, err := wirecert.Read(os.Getenv(dirVar), deployment)
		if err != nil {
			return err
		}
		return w.Replace(a, state.Authority.Info().Fingerprint)
	})
}

func childHold() error {
	_, err := wirecert.Lock(context.Background(), os.Getenv(dirVar), time.Second)
	if err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return nil
}

func childLock() error {
	lock, err := wirecert.Lock(context.Background(), os.Getenv(dirVar), time.Second)
	if err != nil {
		return err
	}
	return lock.Release()
}

func childObserve() error {
	state, err := wirecert.Observe(context.Background(), os.Getenv(dirVar), deployment)
	if err != nil {
		return err
	}
	if state.Authority == nil {
		fmt.Println("absent")
	} else {
		fmt.Println(state.Authority.Info().Fingerprint)
	}
	return nil
}

func childUmask() error {
	mask, err := strconv.ParseInt(os.Getenv(argVar), 8, 32)
	if err != nil {
		return err
	}
	syscall.Umask(int(mask))
	if err := os.Setenv(argVar, "0"); err != nil {
		return err
	}
	return childInstall()
}
