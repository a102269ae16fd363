package wirecert

import (
	"context"
	"path/filepath"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Lock takes the writer's lock of a state directory and waits at most wait for whoever holds it,
// then returns ErrLockBusy; any other failure is ErrLock or the reason the directory cannot be
// made, and nothing may be written. A missing state directory is made with mode 0700.
//
// The lock belongs to the file, so two processes, two resources of one process and two spellings
// of one path serialise. The file is never removed or replaced.
func Lock(ctx context.Context, stateDir string, wait time.Duration) (*safefile.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := checkStateDir(stateDir); err != nil {
		return nil, err
	}
	if err := safefile.MakeDirs(filepath.Clean(stateDir)); err != nil {
		return nil, err
	}
	return safefile.LockFile(ctx, LockPath(stateDir), wait)
}
