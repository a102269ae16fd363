//go:build !windows

package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func take(t *testing.T, path string, wait time.Duration) *Lock {
	t.Helper()
	l, err := LockFile(t.Context(), path, wait)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

// C12
func TestALockSerialisesOneProcessAndKeepsItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.lock")
	first := take(t, path, 0)
	before := inode(t, path)
	_, err := LockFile(t.Context(), path, 20*time.Millisecond)
	if !errors.Is(err, ErrLockBusy) || !strings.Contains(err.Error(), path) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(); err != nil {
		t.Errorf("releasing twice: %v", err)
	}
	second := take(t, path, 0)
	defer second.Release()
	if inode(t, path) != before {
		t.Error("the lock file was replaced")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("the lock file is %v, %v", info, err)
	}
}

// C12
func TestPathsSpelledDifferentlyAreOneLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir + "-link") })
	t.Chdir(dir)
	held := take(t, filepath.Join(dir, "ca.lock"), 0)
	defer held.Release()
	for _, path := range []string{
		dir + "-link/ca.lock", dir + "/./../" + filepath.Base(dir) + "/ca.lock", "ca.lock",
	} {
		if _, err := LockFile(t.Context(), path, 0); !errors.Is(err, ErrLockBusy) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestTheWaitIsBoundedAndEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.lock")
	synctest.Test(t, func(t *testing.T) {
		l := Locker{try: func(*os.File) error { return errBusy }}
		start := time.Now()
		_, err := l.Lock(t.Context(), path, 7*time.Second)
		if took := time.Since(start); !errors.Is(err, ErrLockBusy) || took != 7*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = l.Lock(ctx, path, time.Hour)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) ||
			took != time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestAnInterruptionIsRetriedAndEveryOtherFailureStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.lock")
	calls := 0
	l := Locker{try: func(*os.File) error {
		if calls++; calls < 4 {
			return unix.EINTR
		}
		return nil
	}}
	held, err := l.Lock(t.Context(), path, 0)
	if err != nil || calls != 4 {
		t.Fatalf("after %d calls: %v", calls, err)
	}
	held.Release()
	for _, errno := range []error{unix.ENOLCK, unix.EOPNOTSUPP, unix.EBADF, unix.EIO} {
		calls = 0
		l := Locker{try: func(*os.File) error { calls++; return errno }}
		_, err := l.Lock(t.Context(), path, time.Hour)
		if !errors.Is(err, ErrLock) || !errors.Is(err, errno) || calls != 1 {
			t.Errorf("%v: after %d calls %v", errno, calls, err)
		}
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not name the lock", err)
		}
	}
}

func TestAFailedLockIsNotHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.lock")
	_, err := Locker{try: func(f *os.File) error {
		if err := tryLock(f); err != nil {
			return err
		}
		return unix.EIO
	}}.Lock(t.Context(), path, 0)
	if !errors.Is(err, ErrLock) {
		t.Fatal(err)
	}
	take(t, path, 0).Release()
}

// A lock on a file that no longer has the name excludes nobody, so the new file is locked.
func TestALockFileReplacedMeanwhileIsLockedAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.lock")
	first := true
	held, err := Locker{try: func(f *os.File) error {
		if first {
			first = false
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		return tryLock(f)
	}}.Lock(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if _, err := LockFile(t.Context(), path, 0); !errors.Is(err, ErrLockBusy) {
		t.Errorf("the file with the name is not locked: %v", err)
	}
}

func TestALockThatIsNoRegularFileIsRefusedAndUntouched(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		make func(string) error
		want error
	}{
		"symlink":   {func(p string) error { return os.Symlink(dir+"/target", p) }, ErrSymlink},
		"FIFO":      {func(p string) error { return syscall.Mkfifo(p, 0o600) }, ErrNotRegular},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, ErrNotRegular},
	} {
		path := filepath.Join(dir, name)
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		before := inode(t, path)
		if _, err := LockFile(t.Context(), path, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if inode(t, path) != before {
			t.Errorf("%s was replaced", name)
		}
	}
	if _, err := os.Lstat(dir + "/target"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the link's target was created")
	}
}

func TestAMissingDirectoryIsAnErrorThatNamesTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "ca.lock")
	_, err := LockFile(t.Context(), path, 0)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestRenameNewNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, name+".d"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a.d", "b.d"}} {
		err := RenameNew(filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1]))
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s over %s: %v", pair[0], pair[1], err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "b"))
	if err != nil || string(data) != "b" {
		t.Errorf("b is now %q, %v", data, err)
	}
	if err := RenameNew(filepath.Join(dir, "a"), filepath.Join(dir, "c")); err != nil {
		t.Error(err)
	}
}
