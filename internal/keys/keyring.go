package keys

import (
	"fmt"
	"slices"
)

// keyring holds keys in memory and never prints them: they sit behind a function, for fmt walks
// into the unexported fields of whatever holds a value without asking its Format method.
type keyring struct{ reveal func() [][]byte }

// newKeyring copies the keys, so that nobody can change a key which somebody else holds.
func newKeyring(keys [][]byte) *keyring {
	held := make([][]byte, len(keys))
	for i, key := range keys {
		held[i] = slices.Clone(key)
	}
	return &keyring{reveal: func() [][]byte { return held }}
}

// Format answers every verb with the fingerprint of the primary key alone.
func (k *keyring) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "keys(%s)", k.primary())
}

func (k *keyring) empty() bool { return k == nil || len(k.reveal()) == 0 }

// fingerprints name the keys in their order.
func (k *keyring) fingerprints() []string {
	if k.empty() {
		return nil
	}
	return Fingerprints(k.reveal())
}

// primary is the fingerprint of the primary key, or "".
func (k *keyring) primary() string { return primary(k.fingerprints()) }
