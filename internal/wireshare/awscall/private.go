package awscall

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// window is how many consecutive bytes of the document make a repetition. It is more than a
// deployment id, which may rightly stand in the name of a secret, and less than a line of PEM.
const window = 36

// repeats reports whether text holds a piece of private, as it is or as base64, and also if the
// text quotes it for JSON or a URL. Services that complain about a value tend to quote it.
func repeats(text string, private []byte) bool {
	if len(private) == 0 || text == "" {
		return false
	}
	forms := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil {
		forms = append(forms, plain)
	}
	forms = append(forms, strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(text))
	quoted, err := json.Marshal(string(private))
	if err != nil {
		return true
	}
	needles := []string{
		string(private), string(quoted), base64.StdEncoding.EncodeToString(private),
	}
	for _, form := range forms {
		for _, needle := range needles {
			if shares(form, needle) {
				return true
			}
		}
	}
	return false
}

// shares reports whether two texts have window consecutive bytes in common, or the whole of a
// shorter needle. A needle of a few bytes is no document and would be found in any text.
func shares(text, needle string) bool {
	if len(needle) <= window {
		return len(needle) >= window/3 && strings.Contains(text, needle)
	}
	if len(text) < window {
		return false
	}
	pieces := make(map[string]struct{}, len(text))
	for i := range len(text) - window + 1 {
		pieces[text[i:i+window]] = struct{}{}
	}
	for i := range len(needle) - window + 1 {
		if _, found := pieces[needle[i:i+window]]; found {
			return true
		}
	}
	return false
}
