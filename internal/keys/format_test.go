package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The vectors were made by running Antrea's own parser.
func TestParseKeys_has_the_verdict_of_Antreas_parser(t *testing.T) {
	var vectors []struct {
		Name      string
		Data      []byte   `json:"data_base64"`
		Valid     bool     `json:"valid"`
		Keys      []string `json:"keys_hex"`
		Formatted []byte   `json:"formatted_base64"`
	}
	file, err := os.ReadFile("testdata/memberlist-keys.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 46 {
		t.Fatalf("%d vectors, want all 46", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			keys, err := ParseKeys(v.Data)
			if (err == nil) != v.Valid {
				t.Fatalf("error %v, Antrea says valid=%t", err, v.Valid)
			}
			if err != nil {
				mustBeParseError(t, err)
				return
			}
			var got []string
			for _, key := range keys {
				got = append(got, hex.EncodeToString(key))
			}
			if fmt.Sprint(got) != fmt.Sprint(v.Keys) {
				t.Errorf("keys %v, want %v", got, v.Keys)
			}
			if !bytes.Equal(FormatKeys(keys), v.Formatted) {
				t.Errorf("formatted as %q, want %q", FormatKeys(keys), v.Formatted)
			}
		})
	}
}

func mustBeParseError(t *testing.T, err error) {
	t.Helper()
	var bad *KeyError
	if !errors.As(err, &bad) && !errors.Is(err, ErrNoKeys) {
		t.Errorf("error %T is neither a *KeyError nor ErrNoKeys", err)
	}
}

func TestParseKeys_names_the_index_and_the_decoded_length(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	raw := bytes.Repeat([]byte{4}, 32)
	once := base64.StdEncoding.EncodeToString(raw)
	for name, test := range map[string]struct {
		data string
		want KeyError
	}{
		// G3
		"double base64":  {base64.StdEncoding.EncodeToString([]byte(once)), KeyError{0, 44}},
		"hex":            {hex.EncodeToString(raw), KeyError{0, 48}},
		"raw bytes":      {string(raw), KeyError{0, -1}},
		"24 letters":     {strings.Repeat("a", 24), KeyError{0, 18}}, // G11
		"16 letters":     {"AAAAAAAAAAAAAAAA", KeyError{0, 12}},      // G11
		"blanks ignored": {"\n\n" + good + "\n \n" + "AAAA", KeyError{1, 3}},
		"unpadded":       {strings.TrimRight(good, "="), KeyError{0, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseKeys([]byte(test.data))
			var got *KeyError
			if !errors.As(err, &got) || *got != test.want {
				t.Fatalf("error %v, want %+v", err, test.want)
			}
		})
	}
	// G11: 32 letters decode to 24 bytes, which is a key exactly as Antrea sees it.
	if keys, err := ParseKeys([]byte(strings.Repeat("a", 32))); err != nil || len(keys[0]) != 24 {
		t.Errorf("32 letters: %v, want one key of 24 bytes", err)
	}
}

func TestFingerprint_is_what_openssl_computes_over_the_decoded_key(t *testing.T) {
	key := bytes.Repeat([]byte{4}, 32)
	const want = "SHA256:n0+2jz4drIIgL5qlgc4Lvx92XfDprDyMV+IPaFq6uO0"
	if got := Fingerprint(key); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	spelled, err := ParseKeys([]byte("  " + base64.StdEncoding.EncodeToString(key) + "\r\n\n"))
	if err != nil || Fingerprint(spelled[0]) != want {
		t.Errorf("another spelling has another fingerprint (%v)", err)
	}
}

func TestGenerateKey_makes_another_AES256_key_every_time(t *testing.T) {
	one, err1 := GenerateKey()
	two, err2 := GenerateKey()
	if err1 != nil || err2 != nil || len(one) != 32 || len(two) != 32 || bytes.Equal(one, two) {
		t.Errorf("lengths %d and %d, equal %t, errors %v %v",
			len(one), len(two), bytes.Equal(one, two), err1, err2)
	}
}

func TestKeyring_prints_a_fingerprint_for_every_verb(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	ring := newKeyring([][]byte{key})
	holder := struct{ Ring *keyring }{ring}
	provisioner := NewProvisionerWith(nil, "ns", Options{SuppliedKeys: [][]byte{key}})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, value := range []any{ring, holder, provisioner} {
			text := fmt.Sprintf(verb, value)
			for _, canary := range []string{"kkkkkkkk", "6b6b6b6b", "107 107 107", "6B6B6B6B", "a2tra2tr"} {
				if strings.Contains(text, canary) {
					t.Errorf("%s of %T reveals the key", verb, value)
				}
			}
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n"))
	f.Add([]byte("\u2028AQEB\r\x00====\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := ParseKeys(data)
		if err != nil {
			mustBeParseError(t, err)
			if line := bytes.TrimSpace(data); len(line) > 8 && strings.Contains(err.Error(), string(line)) {
				t.Error("the error quotes the content")
			}
			return
		}
		if len(keys) == 0 {
			t.Fatal("no key and no error")
		}
		again, err := ParseKeys(FormatKeys(keys))
		if err != nil || fmt.Sprint(Fingerprints(again)) != fmt.Sprint(Fingerprints(keys)) {
			t.Errorf("formatting and parsing changes the keys (%v)", err)
		}
	})
}
