package connect

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// minRedacted is the length below which a value is not looked for: "1" or "true" among the
// values of a program's environment would make every message unreadable.
const minRedacted = 6

// redactor takes known secrets out of texts that others wrote: an admission webhook, a proxy that
// shows the request it did not like, a credential program.
type redactor struct{ values []string }

// newRedactor looks for each secret as it is, as base64 of both alphabets, and escaped for a URL
// or JSON. A text of several lines is looked for line by line too.
func newRedactor(secrets ...string) redactor {
	var r redactor
	for _, secret := range secrets {
		r.add(secret)
		if lines := strings.Split(secret, "\n"); len(lines) > 1 {
			for _, line := range lines {
				r.add(strings.TrimSpace(line))
			}
		}
	}
	// The longest first, or a part that is a secret of its own would leave the rest behind.
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	r.values = slices.Compact(r.values)
	return r
}

func (r *redactor) add(secret string) {
	if len(secret) < minRedacted {
		return
	}
	escaped := strings.NewReplacer("\n", `\n`, "\r", `\r`, `"`, `\"`, "+", `\u002b`,
		"=", `\u003d`, "/", `\/`)
	once := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, form := range []string{
		secret, strings.TrimSpace(secret), url.QueryEscape(secret), url.PathEscape(secret),
		strings.ReplaceAll(secret, "\n", `\n`), escaped.Replace(secret),
		once, strings.TrimRight(once, "="), url.QueryEscape(once),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(once)),
	} {
		if len(form) >= minRedacted {
			r.values = append(r.values, form)
		}
	}
}

func (r redactor) clean(text string) string {
	for _, secret := range r.values {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}
