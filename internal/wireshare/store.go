// Package wireshare publishes the node-wire authority of a deployment to a store, adopts it from
// there, and decides which of the two may happen. The files on each host stay the source of truth;
// the store is a channel. Nothing in use is replaced without consent by fingerprint.
package wireshare

import (
	"context"
	"errors"
)

// ErrNoAuthority says that a store positively holds nothing: it was asked, it answered, and there
// is no authority. "Could not read" is never this error.
var ErrNoAuthority = errors.New("no authority is published")

// ErrChanged says that what is published is no longer what the caller read, so that nothing was
// written. The caller reads again to say what is there now.
var ErrChanged = errors.New("the published authority changed since it was read")

// Store is where the authority of one deployment is published.
type Store interface {
	// GetAuthority returns the published document, or ErrNoAuthority.
	GetAuthority(ctx context.Context) ([]byte, error)
	// PutAuthority publishes body in place of whatever is published.
	PutAuthority(ctx context.Context, body []byte) error
}

// Version names one published state of one store as a read found it. It is opaque, says nothing
// about the content, and must come from the same store. The zero Version is "nothing published".
type Version string

// ConditionalStore is a Store that can refuse to overwrite what its caller has not seen.
type ConditionalStore interface {
	Store
	// ReadAuthority is GetAuthority that also says which state was read. With ErrNoAuthority the
	// Version is zero.
	ReadAuthority(ctx context.Context) ([]byte, Version, error)
	// SwapAuthority publishes body only if what is published is still the state read (with the
	// zero Version: still nothing), and otherwise returns an error that wraps ErrChanged. It
	// returns nil only when body was read back, or is otherwise known to be what is published, also
	// after a lost response. An error that wraps ErrNotConfirmed says that the store accepted it and
	// does not show it yet.
	SwapAuthority(ctx context.Context, body []byte, read Version) error
}
