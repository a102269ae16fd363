// Package safefile holds the file operations that private keys need: a strict capped read that
// never follows a link and never hangs, a file that is private from its first byte, a rename that
// creates and never replaces, and a lock that serialises processes and goroutines alike.
//
// Links above the named file are followed; the named file itself must be a regular file. A hard
// link is a regular file and is accepted: nothing here writes into an existing file, so another
// name of the same file keeps its bytes.
package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MaxSize is the largest file, in bytes, that ReadFile returns.
const MaxSize = 1 << 20

var (
	// ErrSymlink says that the named file itself is a symbolic link.
	ErrSymlink = errors.New("it is a symbolic link; put the file itself there")
	// ErrNotRegular says that something other than a regular file is there. It was not opened.
	ErrNotRegular = errors.New("it is not a regular file")
	// ErrTooLarge says that the file has more than MaxSize bytes.
	ErrTooLarge = errors.New("it is larger than 1 MiB")
	// ErrReplaced says that the file was exchanged for another while it was being opened.
	ErrReplaced = errors.New("it was replaced while it was being opened")
	// ErrLockBusy says that somebody else held the lock for the whole bounded wait.
	ErrLockBusy = errors.New("another process or another resource holds this lock")
	// ErrLock says that the file could not be locked for any other reason, such as a file system
	// without locks.
	ErrLock = errors.New("it cannot be locked")
)

// PathError names the file an operation failed on. Its text holds the path and the reason, never
// content.
type PathError struct {
	Path string
	Err  error
}

// Error returns the path and the reason.
func (e *PathError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *PathError) Unwrap() error { return e.Err }

// pathErr names path once: the operating system's own error would repeat it.
func pathErr(path string, err error) error { return &PathError{Path: path, Err: reason(err)} }

// reason is err without the path, and with the cure where the cure is always the same.
func reason(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	} else if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run as the user who owns it, or give this user access", err)
	}
	return err
}
