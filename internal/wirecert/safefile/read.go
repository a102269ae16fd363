package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// CheckRegular returns the information of the regular file at path. It opens nothing, because
// opening a FIFO would hang and opening a device can have effects. An absent file is
// fs.ErrNotExist; a link is ErrSymlink; anything else that is no regular file is ErrNotRegular.
func CheckRegular(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, pathErr(path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &PathError{Path: path, Err: ErrSymlink}
	case !info.Mode().IsRegular():
		return nil, &PathError{Path: path, Err: ErrNotRegular}
	}
	return info, nil
}

// ReadFile returns the bytes of the regular file at path, at most MaxSize of them, and the
// information of the very file that was read.
func ReadFile(path string) ([]byte, fs.FileInfo, error) {
	seen, err := CheckRegular(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := openNoFollow(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, pathErr(path, err)
	}
	defer f.Close()
	info, err := sameFile(f, seen)
	if err != nil {
		return nil, nil, pathErr(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, nil, pathErr(path, err)
	}
	if len(data) > MaxSize {
		return nil, nil, &PathError{Path: path, Err: ErrTooLarge}
	}
	return data, info, nil
}

// sameFile makes sure that the opened file is the regular file that was looked at, so that a link
// or FIFO put there in between is not read in its place.
func sameFile(f *os.File, seen fs.FileInfo) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	if !os.SameFile(info, seen) {
		return nil, ErrReplaced
	}
	return info, nil
}

// Transient says whether err only means that a name was exchanged or vanished during one read, so
// that another read may well succeed.
func Transient(err error) bool { return errors.Is(err, ErrReplaced) }
