package keys

import (
	"fmt"
	"slices"
)

// keyring holds keys in memory and never prints them. It is passed by pointer, so that formatting
// a struct around it shows an address at most.
type keyring struct{ keys [][]byte }

// Format answers every verb with the fingerprint of the primary key alone.
func (k *keyring) Format(state fmt.State, _ rune) { _, _ = fmt.Fprintf(state, "keys(%s)", k.primary()) }

func (k *keyring) empty() bool { return k == nil || len(k.keys) == 0 }

func (k *keyring) primary() string {
	if k.empty() {
		return ""
	}
	return Fingerprint(k.keys[0])
}

func newKeyring(keys [][]byte) *keyring { return &keyring{keys: cloneKeys(keys)} }

// cloneKeys copies keys wholly, so that nobody can change a key which somebody else holds.
func cloneKeys(keys [][]byte) [][]byte {
	clone := make([][]byte, len(keys))
	for i, key := range keys {
		clone[i] = slices.Clone(key)
	}
	return clone
}
