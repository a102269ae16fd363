package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// DirMode is the mode of every directory that is made here.
const DirMode fs.FileMode = 0o700

// Step is called before a change on disk, with a name for it; an error stops the change. A test
// ends its process there. Nil means nothing to call.
type Step func(name string) error

// Before calls the step.
func (s Step) Before(name string) error {
	if s == nil {
		return nil
	}
	return s(name)
}

// CreateFile makes the file at path, which must not exist, with exactly mode whatever the umask,
// and with its bytes on the disk. It is private to its owner until the last byte is written.
// After a failure a part of the file may be left.
func CreateFile(path string, data []byte, mode fs.FileMode, step Step) (err error) {
	base := filepath.Base(path)
	if err := step.Before("create " + base); err != nil {
		return err
	}
	f, err := openNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return pathErr(path, err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = pathErr(path, cerr)
		}
	}()
	if err := step.Before("write " + base); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return pathErr(path, err)
	}
	if err := step.Before("sync " + base); err != nil {
		return err
	}
	// The umask may have taken bits, even of the owner's.
	if err := f.Chmod(mode); err != nil {
		return pathErr(path, err)
	}
	if err := f.Sync(); err != nil {
		return pathErr(path, err)
	}
	return nil
}

// MakeDir makes one directory, which must not exist, with DirMode whatever the umask and whatever
// a set-group-id parent hands down.
func MakeDir(path string) error {
	if err := os.Mkdir(path, DirMode); err != nil {
		return pathErr(path, err)
	}
	if err := os.Chmod(path, DirMode); err != nil {
		return pathErr(path, err)
	}
	return nil
}

// MakeDirs makes path and every missing directory above it, each with DirMode, and leaves those
// that exist as they are.
func MakeDirs(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		if !info.IsDir() {
			return &PathError{Path: path, Err: errors.New("it is not a directory")}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return pathErr(path, err)
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MakeDirs(parent); err != nil {
			return err
		}
	}
	err = MakeDir(path)
	if errors.Is(err, fs.ErrExist) {
		return existingDir(path, err)
	}
	if err != nil {
		return err
	}
	return SyncDir(parent)
}

// existingDir accepts a directory that somebody else made first, and keeps the error for anything
// else there, such as a link that leads nowhere.
func existingDir(path string, err error) error {
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return nil
	}
	return err
}

// RenameNew renames oldpath to newpath, which must not exist: fs.ErrExist otherwise. Where the
// file system has no such call it looks first, which is as safe as the lock the caller holds.
func RenameNew(oldpath, newpath string) error {
	err := renameExclusive(oldpath, newpath)
	if errors.Is(err, errors.ErrUnsupported) {
		if _, serr := os.Lstat(newpath); serr == nil {
			return &PathError{Path: newpath, Err: fs.ErrExist}
		} else if !errors.Is(serr, fs.ErrNotExist) {
			return pathErr(newpath, serr)
		}
		err = os.Rename(oldpath, newpath)
	}
	if err != nil {
		return pathErr(newpath, err)
	}
	return nil
}

// Replace renames oldpath over newpath in one step: a reader finds the old file or the new one.
func Replace(oldpath, newpath string) error {
	if err := os.Rename(oldpath, newpath); err != nil {
		return pathErr(newpath, err)
	}
	return nil
}
