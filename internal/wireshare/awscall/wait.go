package awscall

import (
	"context"
	"time"
)

// Sleep waits for d or until ctx is done, and then returns the error of ctx.
type Sleep func(ctx context.Context, d time.Duration) error

// Pause is Sleep in real time.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Delays are the pauses between the reads that wait for a write to show: 16 seconds in all,
// several times what the services are seen to take.
func Delays() []time.Duration {
	return []time.Duration{
		250 * time.Millisecond, 750 * time.Millisecond, time.Second, 2 * time.Second,
		4 * time.Second, 4 * time.Second, 4 * time.Second,
	}
}

// settleLimit bounds what is still asked of the service after an interrupt.
const settleLimit = 3 * time.Second

// Settling is the context of the calls that find out, or clean up, what a failed or interrupted
// call left behind. While ctx lives it is ctx; once ctx is done it is a short one of its own,
// because a person who pressed Ctrl-C waits, and wants to know all the same.
func Settling(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
}
