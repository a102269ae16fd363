package wireshare

import (
	"context"
	"fmt"
)

// Withdrawer is a store that can delete what it holds.
type Withdrawer interface {
	ConditionalStore
	// Delete deletes what is published if it still is the state read, and otherwise returns an
	// error that wraps ErrChanged. Nothing published is a success.
	Delete(ctx context.Context, read Version) error
}

// Withdraw deletes the published authority if it is the one with the fingerprint. Another one
// stays, and the error wraps ErrChanged and names both; one that cannot be read stays, too, with a
// *Refusal. Nothing published is a success.
func Withdraw(ctx context.Context, store Withdrawer, deployment, fingerprint string) error {
	now := readPublished(ctx, store, deployment)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case now.side.State == Absent:
		return nil
	case now.side.State == Unreadable:
		return &Refusal{Err: ErrPublishedUnreadable, Cause: now.side.Err()}
	case now.side.Info.Fingerprint != fingerprint:
		return fmt.Errorf("%w: published is %s, not %s", ErrChanged, now.side.Info.Fingerprint, fingerprint)
	}
	return store.Delete(ctx, now.version)
}
