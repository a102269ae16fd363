package connect

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what every printer shows in place of a Secret, whether it is set or not: the length
// and the presence of a credential are nobody's business either.
const redacted = "(secret)"

// Secret is a string that never prints: each verb of fmt, JSON, text encoders and slog show a
// placeholder. The text sits behind a pointer because fmt does not call methods on unexported
// fields: a Secret of kind string inside somebody's unexported field would print in clear.
//
// The zero value is the unset Secret.
type Secret struct{ text *string }

// NewSecret wraps text. The empty text gives the unset Secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text, "" when unset. Call it where the text is used, not before.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// Format implements fmt.Formatter: it covers %v, %+v, %#v, %s, %q, %x and every other verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String implements fmt.Stringer.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return redacted }

// MarshalText implements encoding.TextMarshaler, which also covers JSON, YAML and XML encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
