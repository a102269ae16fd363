package wirecert

import (
	"context"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// ObserveBetween is Observe with a call between every two reads.
func ObserveBetween(
	ctx context.Context, stateDir, deployment string, between func(),
) (State, error) {
	return observer{stateDir: stateDir, deployment: deployment, between: between}.observe(ctx)
}

// LockWith is Lock with another locker.
func LockWith(
	ctx context.Context, l safefile.Locker, stateDir string, wait time.Duration,
) (*safefile.Lock, error) {
	return lockWith(ctx, l, stateDir, wait)
}
