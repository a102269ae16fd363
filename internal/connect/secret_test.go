package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// T6.
func TestSecretPrintsUnderNoVerb(t *testing.T) {
	const text = "swordfish-swordfish"
	secret := NewSecret(text)
	type holder struct{ hidden Secret }
	things := []any{
		secret, &secret, holder{secret}, &holder{secret}, []Secret{secret},
		map[string]Secret{"k": secret}, Exec{Env: map[string]Secret{"k": secret}},
		Kubernetes{Token: secret, Password: secret, ClientKey: secret},
		struct{ k Kubernetes }{Kubernetes{Token: secret}},
	}
	for _, thing := range things {
		for _, verb := range []string{
			"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T", "%t", "%10.3s", "%w", "%!",
		} {
			if got := fmt.Sprintf(verb, thing); strings.Contains(got, text) ||
				strings.Contains(got, fmt.Sprintf("%x", text)) {
				t.Errorf("%s of %T shows the secret: %s", verb, thing, got)
			}
		}
		encoded, _ := json.Marshal(thing)
		var logged bytes.Buffer
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "thing", thing)
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "thing", thing)
		if strings.Contains(string(encoded)+logged.String(), text) {
			t.Errorf("an encoder shows the secret in a %T", thing)
		}
	}
	if secret.Reveal() != text {
		t.Error("Reveal returns another text")
	}
}

func TestSecretOfTheEmptyTextIsUnset(t *testing.T) {
	if NewSecret("").IsSet() || NewSecret("") != (Secret{}) || (Secret{}).Reveal() != "" {
		t.Error("the empty text is a set Secret")
	}
}

// A proxy URL and the arguments of a program carry credentials that no type guards.
func TestSettingsPrintNothingOfTheirs(t *testing.T) {
	k := Kubernetes{
		ProxyURL: "http://u:swordfish@p:1", Exec: &Exec{Args: []string{"--secret=swordfish"}},
	}
	encoded, _ := json.Marshal(k)
	for _, text := range []string{
		fmt.Sprintf("%v %+v %#v", k, k, k), fmt.Sprintf("%+v", &k), string(encoded),
		fmt.Sprintf("%+v", k.Exec),
	} {
		if strings.Contains(text, "swordfish") {
			t.Errorf("shown: %s", text)
		}
	}
}
