package safefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Poll times of a lock that somebody else holds.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 100 * time.Millisecond
)

// Locker takes exclusive advisory locks on files. The zero value locks with the operating system;
// every lock belongs to one open file, so it also serialises goroutines of one process.
type Locker struct {
	// try takes the lock without waiting: errBusy when somebody else has it. A test puts the
	// errors of a network file system here.
	try func(*os.File) error
}

// Lock is a held lock. Release gives it back.
type Lock struct {
	file    *os.File
	release sync.Once
	err     error
}

// errBusy is what try answers while somebody else holds the lock.
var errBusy = errors.New("busy")

// LockFile takes the lock at path with the operating system's own calls, see Locker.Lock.
func LockFile(ctx context.Context, path string, wait time.Duration) (*Lock, error) {
	return Locker{}.Lock(ctx, path, wait)
}

// Lock takes the lock at path and waits at most wait for whoever holds it, then returns
// ErrLockBusy. A missing file is made with mode 0600; an existing one is never written, removed or
// replaced, because a second process would then lock another file than the first. It is opened
// read-only where that is all this user may. Any failure but an interruption is ErrLock: without
// the lock nothing may be written.
func (l Locker) Lock(ctx context.Context, path string, wait time.Duration) (*Lock, error) {
	try := l.try
	if try == nil {
		try = tryLock
	}
	deadline := time.Now().Add(wait)
	pause := firstPoll
	for {
		if err := ctx.Err(); err != nil {
			return nil, pathErr(path, err)
		}
		held, err := lockOnce(path, try)
		if err == nil {
			return held, nil
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, ErrReplaced) {
			return nil, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, pathErr(path, fmt.Errorf("%w: gave up after %s", ErrLockBusy, wait))
		}
		if err := sleep(ctx, min(pause, left)); err != nil {
			return nil, pathErr(path, fmt.Errorf("%w: %w", ErrLockBusy, err))
		}
		pause = min(2*pause, lastPoll)
	}
}

// Release gives the lock back. It never removes the file, does not depend on any context, and may
// be called more than once.
func (l *Lock) Release() error {
	l.release.Do(func() { l.err = errors.Join(unlock(l.file), l.file.Close()) })
	return l.err
}

func lockOnce(path string, try func(*os.File) error) (*Lock, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	err = try(f)
	for interrupted(err) {
		err = try(f)
	}
	if err == nil {
		// A lock on a file that no longer has this name excludes nobody.
		err = stillNamed(f, path)
	}
	if err == nil {
		return &Lock{file: f}, nil
	}
	f.Close()
	if errors.Is(err, errBusy) || errors.Is(err, ErrReplaced) {
		return nil, err
	}
	return nil, lockErr(path, err)
}

func lockErr(path string, err error) error {
	return &PathError{Path: path, Err: fmt.Errorf("%w: %w", ErrLock, reason(err))}
}

func openLock(path string) (*os.File, error) {
	f, err := openNoFollow(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err := f.Chmod(0o600); err != nil {
			f.Close()
			return nil, pathErr(path, err)
		}
		return f, nil
	}
	seen, serr := CheckRegular(path)
	if errors.Is(serr, fs.ErrNotExist) {
		return nil, lockErr(path, err)
	}
	if serr != nil {
		return nil, serr
	}
	f, err = openNoFollow(path, os.O_RDWR, 0)
	if err != nil && readOnly(err) {
		f, err = openNoFollow(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, lockErr(path, err)
	}
	if _, err := sameFile(f, seen); err != nil {
		f.Close()
		return nil, pathErr(path, err)
	}
	return f, nil
}

func stillNamed(f *os.File, path string) error {
	seen, err := CheckRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrReplaced
	}
	if err != nil {
		return err
	}
	_, err = sameFile(f, seen)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
