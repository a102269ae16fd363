package connect

import (
	"net/url"
	"strings"
	"testing"
)

func TestRedactorFindsTheSpellingsOfASecret(t *testing.T) {
	const one, two = "k1+/first=", "k2+/second="
	secret := one + "\n" + two + "\n"
	r := newRedactor(secret, "", "abc")
	for name, text := range map[string]string{
		"as it is": secret, "a line of it": two, "base64": base64Of(secret),
		"base64 of a line": base64Of(one), "twice": base64Of(base64Of(secret)),
		"in a URL": url.QueryEscape(secret), "in JSON": encode(secret),
	} {
		got := r.clean("before " + text + " after")
		if strings.Contains(got, "first") || strings.Contains(got, base64Of(one)) ||
			strings.Contains(got, "second") || !strings.HasPrefix(got, "before ") ||
			!strings.HasSuffix(got, " after") || !strings.Contains(got, redacted) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := r.clean("abc is too short to look for"); !strings.HasPrefix(got, "abc") {
		t.Error(got)
	}
}

func FuzzRedaction(f *testing.F) {
	f.Add("secret-secret", "a secret-secret b")
	f.Add("aa\naaaaaaaa", "aaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, secret, text string) {
		got := newRedactor(secret).clean(text + secret)
		if len(secret) >= minRedacted && !strings.Contains(redacted, secret) &&
			strings.Contains(got, secret) && !strings.Contains(secret, redacted) {
			t.Fatalf("the secret is left in %q", got)
		}
	})
}
