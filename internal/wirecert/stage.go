package wirecert

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// stage writes the files of ca/ under its temporary name.
func (w *Writer) stage(a *Authority) error {
	if err := w.reclaim(a); err != nil {
		return err
	}
	staging := w.path(stagingName)
	err := w.change("make "+stagingName, func() error { return safefile.MakeDir(staging) })
	if err != nil {
		return err
	}
	for _, name := range Names() {
		data, ok := a.files[name]
		if !ok || name == MarkerName {
			continue
		}
		path := filepath.Join(staging, name)
		if err := safefile.CreateFile(path, data, modeOf(name), w.step); err != nil {
			return err
		}
	}
	if err := w.sync(staging); err != nil {
		return err
	}
	return w.sync(w.stateDir)
}

// reclaim makes room for the staging directory. One that an earlier, interrupted run left and that
// holds nothing but parts of the same authority goes; any other is moved aside, because it may
// hold the only copy of a private key.
func (w *Writer) reclaim(a *Authority) error {
	staging := w.path(stagingName)
	info, err := os.Lstat(staging)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return statErr(staging, err)
	case !info.IsDir() || !w.partOf(a, staging):
		return w.moveAside(stagingName)
	}
	for _, name := range Names() {
		path := filepath.Join(staging, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := w.change("remove staged "+name, func() error { return os.Remove(path) }); err != nil {
			return statErr(path, err)
		}
	}
	return w.change("remove "+stagingName, func() error { return safefile.RemoveEmptyDir(staging) })
}

// partOf says whether every entry of dir is the beginning of the file of a with that name.
func (w *Writer) partOf(a *Authority, dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		data, _, err := safefile.ReadFile(filepath.Join(dir, e.Name()))
		want, ok := a.files[e.Name()]
		if err != nil || !ok || e.Name() == MarkerName || !bytes.HasPrefix(want, data) {
			return false
		}
	}
	return true
}

// writeMarker writes the marker under a temporary name first: a marker cut short by a crash would
// name no deployment and block every later run.
func (w *Writer) writeMarker(a *Authority) error {
	temp := w.path(markerTemp)
	if info, err := os.Lstat(temp); err == nil && info.Mode().IsRegular() {
		// It is this code's own name and holds no key.
		if err := w.change("remove "+markerTemp, func() error { return os.Remove(temp) }); err != nil {
			return statErr(temp, err)
		}
	}
	if err := safefile.CreateFile(temp, a.files[MarkerName], publicMode, w.step); err != nil {
		return err
	}
	err := w.change("name "+MarkerName, func() error {
		return safefile.RenameNew(temp, w.path(MarkerName))
	})
	if err != nil {
		return err
	}
	return w.sync(w.stateDir)
}

func modeOf(name string) fs.FileMode {
	if private(name) {
		return keyMode
	}
	return publicMode
}
