package connect

import (
	"context"
	"sync"
)

// LazyAccount opens its settings when an Account is first asked for, and once. It is safe for
// concurrent use.
type LazyAccount struct {
	settings  AWS
	lookup    func(string) (string, bool)
	userAgent string

	mu      sync.Mutex
	account *Account
}

// NewLazyAccount returns a LazyAccount that opens with these arguments of AWS.Open.
func NewLazyAccount(a AWS, lookup func(string) (string, bool), userAgent string) *LazyAccount {
	return &LazyAccount{settings: a, lookup: lookup, userAgent: userAgent}
}

// Unknown names the attributes that are not known yet, and for which Open would fail.
func (l *LazyAccount) Unknown() []string { return l.settings.Unknown }

// DefaultTags are the configured tags of every secret that is created.
func (l *LazyAccount) DefaultTags() map[string]string { return l.settings.DefaultTags }

// Open returns the Account. An error is not kept: the next call tries again.
func (l *LazyAccount) Open(ctx context.Context) (*Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.account != nil {
		return l.account, nil
	}
	account, err := l.settings.Open(ctx, l.lookup, l.userAgent)
	l.account = account
	return account, err
}
