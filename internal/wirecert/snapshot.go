package wirecert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// State is what a state directory holds.
type State struct {
	// Authority is nil when there is none. "Cannot read" is an error and never this.
	Authority *Authority
	// Marker says that the marker of this deployment is there. Without an authority it means
	// that one was lost.
	Marker bool
	// Interrupted says that a staging directory is there: an installation did not finish, and the
	// directory may hold a private key. Without an authority it counts as one that was lost.
	Interrupted bool
	// Leftovers are the names in ca/ outside the allowlist, and the temporary names beside it,
	// sorted. They never travel.
	Leftovers []string
}

// snapshot is one read of a state directory, before anything is concluded from it.
type snapshot struct {
	files       Files
	id          []byte
	hasID       bool
	written     bool // a writer has been here: the lock exists
	interrupted bool
	leftovers   []string
	err         error
}

// equal says whether two reads saw the same. Errors are equal when they say the same.
func (s snapshot) equal(o snapshot) bool {
	if (s.err == nil) != (o.err == nil) || s.err != nil && s.err.Error() != o.err.Error() {
		return false
	}
	return s.files.Equal(o.files) && string(s.id) == string(o.id) && s.hasID == o.hasID &&
		s.interrupted == o.interrupted && s.written == o.written &&
		slices.Equal(s.leftovers, o.leftovers)
}

// take reads everything under the state directory once.
func take(stateDir string) snapshot {
	s := snapshot{files: Files{}}
	exists, err := checkStateDir(stateDir)
	if err != nil {
		return snapshot{err: err}
	}
	if !exists {
		return s
	}
	for _, step := range []func(*snapshot, string) error{
		readLockAndID, readDir, readMarker, readStaging,
	} {
		if err := step(&s, stateDir); err != nil {
			return snapshot{err: err}
		}
	}
	slices.Sort(s.leftovers)
	return s
}

// checkStateDir says whether the state directory exists. A link that leads nowhere, there or
// higher up, is an error: behind it an unmounted disk may hold the authority.
//
// The path is cleaned as filepath.Join cleans it for the files below: where a ".." follows a link,
// the system's own reading would look for the directory in another place than the files.
func checkStateDir(stateDir string) (bool, error) {
	stateDir = filepath.Clean(stateDir)
	info, err := os.Stat(stateDir)
	if err == nil {
		if !info.IsDir() {
			return false, &FileError{Place: stateDir, Err: ErrNotDirectory}
		}
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, statErr(stateDir, err)
	}
	for dir := filepath.Clean(stateDir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			if _, err := os.Stat(dir); err != nil {
				return false, &FileError{Place: dir, Err: ErrNotDirectory,
					Detail: "it is a link that leads nowhere"}
			}
			return false, nil
		}
		if dir == filepath.Dir(dir) {
			return false, nil
		}
	}
}

func readLockAndID(s *snapshot, stateDir string) error {
	_, err := safefile.CheckRegular(LockPath(stateDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.written = err == nil
	s.id, _, err = safefile.ReadFile(filepath.Join(stateDir, idName))
	s.hasID = err == nil
	return ignoreAbsent(err)
}

func readDir(s *snapshot, stateDir string) error {
	dir := filepath.Join(stateDir, dirName)
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return statErr(dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return &FileError{Place: dir, Err: ErrSymlink}
	case !info.IsDir():
		return &FileError{Place: dir, Err: ErrNotDirectory}
	}
	for _, name := range []string{
		KeyName, CertificateName, PreviousKeyName, PreviousCertificateName,
	} {
		if err := readOne(s, Path(stateDir, name), name); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return statErr(dir, err)
	}
	for _, e := range entries {
		if !allowed(e.Name()) || e.Name() == MarkerName {
			s.leftovers = append(s.leftovers, e.Name())
		}
	}
	return nil
}

func readMarker(s *snapshot, stateDir string) error {
	return readOne(s, Path(stateDir, MarkerName), MarkerName)
}

func readStaging(s *snapshot, stateDir string) error {
	for _, name := range []string{stagingName, markerTemp} {
		_, err := os.Lstat(filepath.Join(stateDir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return statErr(filepath.Join(stateDir, name), err)
		}
		s.leftovers = append(s.leftovers, name)
		s.interrupted = s.interrupted || name == stagingName
	}
	return nil
}

func readOne(s *snapshot, path, name string) error {
	data, info, err := safefile.ReadFile(path)
	if err != nil {
		return ignoreAbsent(err)
	}
	if private(name) && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return &FileError{Place: path, Err: ErrKeyExposed,
			Detail: fmt.Sprintf("its mode is %04o; chmod 600 %s", info.Mode().Perm(), path)}
	}
	s.files[name] = data
	return nil
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func statErr(path string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &FileError{Place: path, Err: err,
		Detail: "what is there is unknown; run as a user who may read it"}
}
