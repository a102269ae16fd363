// Package keys provisions the Secret that holds the gossip keys of an Antrea cluster.
//
// Every agent of a cluster must share the primary key: two nodes with different ones cannot hear
// each other and the cluster partitions. So every rule here serves one: a key that agents may be
// using is never changed unless a person said so. The format and the verdict on every value equal
// those of Antrea's own parser.
package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// generatedLength is the length in bytes of a generated key: AES-256.
const generatedLength = 32

// ErrNoKeys says that a value holds no key at all.
var ErrNoKeys = errors.New("there is no key in the value")

// KeyError says which key of a value is not a gossip key, without its content.
type KeyError struct {
	// Index counts keys from 0, blank lines left out.
	Index int
	// Length is the decoded length in bytes, or -1 if the line is not standard base64.
	Length int
}

func (e *KeyError) Error() string {
	if e.Length < 0 {
		return fmt.Sprintf("the key at index %d (counting from 0) is not standard base64 with padding",
			e.Index)
	}
	return fmt.Sprintf("the key at index %d (counting from 0) decodes to %d bytes, not 16, 24 or 32",
		e.Index, e.Length)
}

// ParseKeys decodes the `keys` entry of the Secret: one key per line in standard base64 with
// padding, the first being the primary. White space around a line and blank lines do not count.
// One bad key makes the whole value a *KeyError, for an agent that skipped it would end up with
// another primary than its peers; a value without any key is ErrNoKeys.
func ParseKeys(data []byte) ([][]byte, error) {
	var keys [][]byte
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		key := make([]byte, base64.StdEncoding.DecodedLen(len(line)))
		n, err := base64.StdEncoding.Decode(key, line)
		if err != nil {
			// The decoder's own error is dropped: a person needs the place, not an offset.
			return nil, &KeyError{Index: len(keys), Length: -1}
		}
		switch n {
		case 16, 24, 32: // AES-128, AES-192, AES-256
		default:
			return nil, &KeyError{Index: len(keys), Length: n}
		}
		keys = append(keys, key[:n:n])
	}
	if len(keys) == 0 {
		return nil, ErrNoKeys
	}
	return keys, nil
}

// ParseEach decodes keys that come one by one, in the spelling of a line of the entry. An element that
// does not hold exactly one key is a *KeyError with its index; no element at all is ErrNoKeys.
func ParseEach(texts []string) ([][]byte, error) {
	var keys [][]byte
	for i, text := range texts {
		one, err := ParseKeys([]byte(text))
		var bad *KeyError
		switch {
		case errors.As(err, &bad):
			return nil, &KeyError{Index: i, Length: bad.Length}
		case err != nil:
			return nil, &KeyError{Index: i, Length: 0}
		case len(one) > 1:
			return nil, &KeyError{Index: i, Length: -1}
		}
		keys = append(keys, one[0])
	}
	if len(keys) == 0 {
		return nil, ErrNoKeys
	}
	return keys, nil
}

// FormatKeys writes keys as Antrea does: each on a line of its own, with a final newline.
func FormatKeys(keys [][]byte) []byte {
	var text []byte
	for _, key := range keys {
		text = base64.StdEncoding.AppendEncode(text, key)
		text = append(text, '\n')
	}
	return text
}

// GenerateKey returns a new random key of 32 bytes (AES-256).
func GenerateKey() ([]byte, error) {
	key := make([]byte, generatedLength)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("no randomness for a new key: %w", err)
	}
	return key, nil
}

// Fingerprint names a key without revealing it: "SHA256:" and the unpadded standard base64 of
// SHA-256 over the decoded key bytes. Two spellings of one key have one fingerprint.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Fingerprints names the keys in their order.
func Fingerprints(keys [][]byte) []string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, Fingerprint(key))
	}
	return names
}
