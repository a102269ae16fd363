package wirecert

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
)

// Files holds the bytes of an authority's files by allowlisted name. It holds private keys, so it
// shows nothing of itself to any formatter.
type Files map[string][]byte

const redacted = "wirecert.Files(redacted)"

// Format prints a placeholder for every verb.
func (Files) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// MarshalJSON refuses: a document is encoded on purpose, never by the way.
func (Files) MarshalJSON() ([]byte, error) {
	return nil, errors.New("wirecert.Files holds private keys and is not marshalled")
}

// LogValue logs a placeholder.
func (Files) LogValue() slog.Value { return slog.StringValue(redacted) }

// Clone returns a deep copy.
func (f Files) Clone() Files {
	c := make(Files, len(f))
	for name, data := range f {
		c[name] = bytes.Clone(data)
	}
	return c
}

// Equal says whether both hold the same names with the same bytes.
func (f Files) Equal(other Files) bool {
	return maps.EqualFunc(f, other, func(a, b []byte) bool { return bytes.Equal(a, b) })
}
