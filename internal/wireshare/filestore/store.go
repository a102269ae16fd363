// Package filestore publishes an authority in one file, for hosts that share a disk.
//
// The file is private to its owner from its first byte on, whatever the umask. It is replaced in
// one step under a lock beside it (PATH.lock, never removed), and only if it still holds what the
// writer read. Reading takes no lock and creates nothing. A destination that is a link, or
// anything but a regular file, is refused. A file that others may access is read, is reported by
// Exposed so that the plan can warn, and is private again after the next publish. A hard link is a
// regular file: publishing never writes into it, so its other name keeps the bytes it had.
package filestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// DefaultLockWait is how long a writer waits for another one.
const DefaultLockWait = 30 * time.Second

var (
	// ErrNoParent says that the directory of the file does not exist. It is never made, and never
	// means that nothing is published: a disk may not be mounted.
	ErrNoParent = errors.New("its directory does not exist; make it, or mount it")
	// ErrNotWritten says that the file does not hold what was just written.
	ErrNotWritten = errors.New("it does not hold what was written")
)

// Store is one file.
type Store struct {
	path     string
	lockWait time.Duration
	step     safefile.Step
}

var _ wireshare.ConditionalStore = (*Store)(nil)

// Option adjusts a Store.
type Option func(*Store)

// WithLockWait bounds the wait for another writer.
func WithLockWait(d time.Duration) Option { return func(s *Store) { s.lockWait = d } }

// WithSteps has step called before every change on disk, see wirecert.WithSteps.
func WithSteps(step safefile.Step) Option { return func(s *Store) { s.step = step } }

// New returns the store in the file at path. It does nothing yet.
func New(path string, options ...Option) *Store {
	s := &Store{path: filepath.Clean(path), lockWait: DefaultLockWait}
	for _, option := range options {
		option(s)
	}
	return s
}

// Path returns the file's path.
func (s *Store) Path() string { return s.path }

// Exposed returns the path if others than the owner may access the file, and nothing otherwise.
func (s *Store) Exposed() string {
	info, err := os.Lstat(s.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return s.path
}

// GetAuthority returns the file's bytes, at most 1 MiB, or ErrNoAuthority when the directory is
// there and the file is not.
func (s *Store) GetAuthority(ctx context.Context) ([]byte, error) {
	body, _, err := s.ReadAuthority(ctx)
	return body, err
}

// ReadAuthority is GetAuthority with the Version, a hash of the bytes.
func (s *Store) ReadAuthority(ctx context.Context) ([]byte, wireshare.Version, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	body, _, err := safefile.ReadFile(s.path)
	for i := 0; errors.Is(err, safefile.ErrReplaced) && i < 10; i++ {
		// A writer renamed a new file here between two calls. The new one is as good.
		body, _, err = safefile.ReadFile(s.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", s.nothing()
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the published authority: %w", err)
	}
	return body, versionOf(body), nil
}

// PutAuthority replaces the file whatever it holds.
func (s *Store) PutAuthority(ctx context.Context, body []byte) error {
	return s.locked(ctx, func() error { return s.replace(body) })
}

// SwapAuthority replaces the file only if it still is what was read; ErrChanged otherwise.
func (s *Store) SwapAuthority(
	ctx context.Context, body []byte, read wireshare.Version,
) error {
	return s.locked(ctx, func() error {
		if err := s.unchanged(ctx, read); err != nil {
			return err
		}
		return s.replace(body)
	})
}

// Delete removes the file only if it still is what was read; ErrChanged otherwise. A file
// that is gone already is fine. The lock stays.
func (s *Store) Delete(ctx context.Context, read wireshare.Version) error {
	return s.locked(ctx, func() error {
		if _, err := os.Lstat(s.path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := s.unchanged(ctx, read); err != nil {
			return err
		}
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("remove the published authority: %w", err)
		}
		return safefile.SyncDir(filepath.Dir(s.path))
	})
}

// nothing says that the file is absent, unless its directory is, too.
func (s *Store) nothing() error {
	dir := filepath.Dir(s.path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &safefile.PathError{Path: s.path, Err: ErrNoParent}
	case err != nil:
		return fmt.Errorf("read the published authority: %w", err)
	case !info.IsDir():
		return &safefile.PathError{Path: dir, Err: errors.New("it is not a directory")}
	}
	return wireshare.ErrNoAuthority
}

// unchanged compares what is there with what the caller read.
func (s *Store) unchanged(ctx context.Context, read wireshare.Version) error {
	_, now, err := s.ReadAuthority(ctx)
	if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
		return err
	}
	if now != read {
		return fmt.Errorf("%s: %w", s.path, wireshare.ErrChanged)
	}
	return nil
}

// locked runs do under the lock beside the file.
func (s *Store) locked(ctx context.Context, do func() error) (err error) {
	if err := s.nothing(); !errors.Is(err, wireshare.ErrNoAuthority) {
		return err
	}
	if err := s.destination(); err != nil {
		return err
	}
	lock, err := safefile.LockFile(ctx, s.path+".lock", s.lockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

// destination refuses to write where something other than a regular file is.
func (s *Store) destination() error {
	_, err := safefile.CheckRegular(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replace writes a new file beside the old one and gives it the name in one step. The temporary
// name is always the same, so that an interrupted run leaves at most one, which the next removes.
func (s *Store) replace(body []byte) error {
	if len(body) > safefile.MaxSize {
		return &safefile.PathError{Path: s.path, Err: safefile.ErrTooLarge}
	}
	if err := s.destination(); err != nil {
		return err
	}
	temp, dir := s.path+".new", filepath.Dir(s.path)
	if err := s.clear(temp); err != nil {
		return err
	}
	if err := safefile.CreateFile(temp, body, 0o600, s.step); err != nil {
		return errors.Join(err, s.clear(temp))
	}
	if err := s.step.Before("rename"); err != nil {
		return err
	}
	if err := safefile.Replace(temp, s.path); err != nil {
		return errors.Join(err, s.clear(temp))
	}
	if err := s.step.Before("sync directory"); err != nil {
		return err
	}
	if err := safefile.SyncDir(dir); err != nil {
		return err
	}
	return s.verify(body)
}

// clear removes the temporary file of an interrupted run, and nothing that is not one.
func (s *Store) clear(temp string) error {
	_, err := safefile.CheckRegular(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(temp); err != nil {
		return fmt.Errorf("remove what an interrupted run left: %w", err)
	}
	return nil
}

func (s *Store) verify(body []byte) error {
	got, _, err := safefile.ReadFile(s.path)
	if err != nil {
		return err
	}
	if versionOf(got) != versionOf(body) {
		return &safefile.PathError{Path: s.path, Err: ErrNotWritten}
	}
	return nil
}

func versionOf(body []byte) wireshare.Version {
	sum := sha256.Sum256(body)
	return wireshare.Version(hex.EncodeToString(sum[:]))
}
