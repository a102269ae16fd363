//go:build !windows

package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openNoFollow opens path without following a link at its end and without waiting for the other
// side of a FIFO.
func openNoFollow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, ErrSymlink
	}
	return f, err
}

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

func unlock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_UN)
	for interrupted(err) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
	return err
}

func interrupted(err error) bool { return errors.Is(err, unix.EINTR) }

// readOnly says whether a file that could not be opened for writing may still be readable.
func readOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return pathErr(path, err)
	}
	defer d.Close()
	// Some file systems have nothing to do for a directory and say so with EINVAL.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return pathErr(path, err)
	}
	return nil
}

// RemoveEmptyDir removes a directory only if it is one and is empty.
func RemoveEmptyDir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return pathErr(path, err)
	}
	return nil
}
