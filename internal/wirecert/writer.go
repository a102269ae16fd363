package wirecert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Writer installs authorities in one state directory. Its caller holds the lock, see Lock.
type Writer struct {
	stateDir   string
	deployment string
	now        func() time.Time
	step       safefile.Step
	moved      []string
}

// Option adjusts a Writer.
type Option func(*Writer)

// WithClock sets the clock that names what is moved aside.
func WithClock(now func() time.Time) Option { return func(w *Writer) { w.now = now } }

// WithSteps has step called before every single change on disk, with its name. A test ends its
// process there to prove that no crash leaves a mixed pair; an error stops the writer in place.
func WithSteps(step safefile.Step) Option { return func(w *Writer) { w.step = step } }

// NewWriter returns a writer for the state directory of a deployment.
func NewWriter(stateDir, deployment string, options ...Option) *Writer {
	w := &Writer{stateDir: filepath.Clean(stateDir), deployment: deployment, now: time.Now}
	for _, option := range options {
		option(w)
	}
	return w
}

// Install writes a where there is no authority; ErrExists otherwise. A marker of this deployment
// that is already there is the recovery case and stays as it is.
//
// The files are written under ca.installing, in the order ca.key, ca.crt, previous pair, then the
// marker beside it; the last step gives the finished directory its name. So a crash at any point
// leaves either nothing that reads as an authority or the whole of it, and the next run finishes.
func (w *Writer) Install(a *Authority) error {
	state, err := w.ready(a)
	if err != nil {
		return err
	}
	if state.Authority != nil {
		return &FileError{Place: w.path(dirName), Err: ErrExists}
	}
	if err := w.stage(a); err != nil {
		return err
	}
	if !state.Marker {
		if err := w.writeMarker(a); err != nil {
			return err
		}
	}
	if err := w.clearPlace(); err != nil {
		return err
	}
	return w.finish(a, state.Marker)
}

// Replace moves the authority that is there aside and installs a. It stops with ErrChanging unless
// what is there has the fingerprint replaced, the one that consent named. ca/ becomes
// ca.superseded-<UTC time> and the marker likewise: a private key is never deleted.
func (w *Writer) Replace(a *Authority, replaced string) error {
	state, err := w.ready(a)
	if err != nil {
		return err
	}
	if state.Authority == nil || state.Authority.info.Fingerprint != replaced {
		return &FileError{Place: w.path(dirName), Err: ErrChanging,
			Detail: "it no longer holds " + replaced}
	}
	if err := w.stage(a); err != nil {
		return err
	}
	if err := w.moveAside(dirName); err != nil {
		return err
	}
	if err := w.moveAside(MarkerName); err != nil {
		return err
	}
	if err := w.writeMarker(a); err != nil {
		return err
	}
	return w.finish(a, false)
}

// ready decides everything that can be decided before the first byte is written.
func (w *Writer) ready(a *Authority) (State, error) {
	place := func(name string) string { return "to be installed: " + name }
	if _, err := CheckFiles(a.files, w.deployment, place); err != nil {
		return State{}, err
	}
	return Read(w.stateDir, w.deployment)
}

// finish gives the staged directory its name and reads everything back.
func (w *Writer) finish(a *Authority, keptMarker bool) error {
	err := w.change("name ca", func() error {
		return safefile.RenameNew(w.path(stagingName), w.path(dirName))
	})
	if err != nil {
		return err
	}
	if err := w.sync(w.stateDir); err != nil {
		return err
	}
	state, err := Read(w.stateDir, w.deployment)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReadBack, err)
	}
	want := a.files.Clone()
	if keptMarker && state.Authority != nil {
		want[MarkerName] = state.Authority.files[MarkerName]
	}
	if state.Authority == nil || !state.Authority.files.Equal(want) {
		return &FileError{Place: w.path(dirName), Err: ErrReadBack}
	}
	return nil
}

// clearPlace makes room for ca/. An empty one, as a crash or an administrator leaves it, goes; one
// that holds leftovers is moved aside, because they may be private keys.
func (w *Writer) clearPlace() error {
	entries, err := os.ReadDir(w.path(dirName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return statErr(w.path(dirName), err)
	}
	if len(entries) > 0 {
		return w.moveAside(dirName)
	}
	return w.change("remove the empty ca", func() error {
		return safefile.RemoveEmptyDir(w.path(dirName))
	})
}

// Moved returns the paths to which this writer moved what was in the way, oldest first.
func (w *Writer) Moved() []string { return slices.Clone(w.moved) }

// moveAside renames a file or directory of the state directory to its superseded name.
func (w *Writer) moveAside(name string) error {
	base := w.path(dirName + asideInfix + w.now().UTC().Format(asideTime))
	if name == MarkerName {
		base = w.path(MarkerName + asideInfix + w.now().UTC().Format(asideTime))
	}
	target := base
	err := w.change("move "+name+" aside", func() error {
		err := safefile.RenameNew(w.path(name), target)
		for i := 2; errors.Is(err, fs.ErrExist) && i < 1000; i++ {
			target = fmt.Sprintf("%s-%d", base, i)
			err = safefile.RenameNew(w.path(name), target)
		}
		return err
	})
	if err != nil {
		return err
	}
	w.moved = append(w.moved, target)
	return w.sync(w.stateDir)
}

func (w *Writer) path(name string) string { return filepath.Join(w.stateDir, name) }

// change runs one change on disk behind its step.
func (w *Writer) change(name string, do func() error) error {
	if err := w.step.Before(name); err != nil {
		return err
	}
	return do()
}

func (w *Writer) sync(dir string) error {
	return w.change("sync "+filepath.Base(dir), func() error { return safefile.SyncDir(dir) })
}
