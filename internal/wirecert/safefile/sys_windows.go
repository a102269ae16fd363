package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openNoFollow opens path. CheckRegular looked at it before and sameFile looks again afterwards,
// which is how a link is refused here.
func openNoFollow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{})
}

func interrupted(error) bool { return false }

// readOnly says whether a file that could not be opened for writing may still be readable.
func readOnly(err error) bool { return errors.Is(err, fs.ErrPermission) }

// SyncDir does nothing: the system has no such call for directories.
func SyncDir(string) error { return nil }

// RemoveEmptyDir removes a directory only if it is one and is empty.
func RemoveEmptyDir(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		err = windows.RemoveDirectory(name)
	}
	if err != nil {
		return pathErr(path, err)
	}
	return nil
}

func renameExclusive(oldpath, newpath string) error {
	from, err := windows.UTF16PtrFromString(oldpath)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(newpath)
	if err != nil {
		return err
	}
	// Without MOVEFILE_REPLACE_EXISTING an existing target is an error.
	return windows.MoveFileEx(from, to, windows.MOVEFILE_WRITE_THROUGH)
}
