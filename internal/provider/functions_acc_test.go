package provider

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// vectorsOf reads a vector file of another package into the list.
func vectorsOf(t *testing.T, file string, list any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, list); err != nil {
		t.Fatal(err)
	}
}

// decoded is HCL for bytes that may be no text HCL can hold.
func decoded(data []byte) string {
	return fmt.Sprintf("base64decode(%q)", base64.StdEncoding.EncodeToString(data))
}

// calls applies one output for each expression, and compares them.
func calls(t *testing.T, want map[string]knownvalue.Check, expressions map[string]string) {
	t.Helper()
	var config strings.Builder
	var checks []statecheck.StateCheck
	for name, expression := range expressions {
		fmt.Fprintf(&config, "output %q {\n  value = %s\n}\n", name, expression)
		checks = append(checks, statecheck.ExpectKnownOutputValue(name, want[name]))
	}
	run(t, resource.TestStep{Config: config.String(), ConfigStateChecks: checks})
}

func exactly(texts ...string) knownvalue.Check {
	list := make([]knownvalue.Check, len(texts))
	for i, text := range texts {
		list[i] = knownvalue.StringExact(text)
	}
	return knownvalue.ListExact(list)
}

// The vectors were made by running Antrea's own parser, and the fingerprint in
// TestFingerprint_is_what_openssl_computes_over_the_decoded_key by openssl. G6, G11
func TestAccFunction_memberlist_key_fingerprints_agrees_with_Antreas_parser(t *testing.T) {
	var vectors []struct {
		Name  string
		Data  []byte   `json:"data_base64"`
		Valid bool     `json:"valid"`
		Keys  []string `json:"keys_hex"`
	}
	vectorsOf(t, "keys/testdata/memberlist-keys.json", &vectors)
	want, expressions, judged := map[string]knownvalue.Check{}, map[string]string{}, 0
	for i, v := range vectors {
		name := fmt.Sprintf("v%d", i)
		expression := "provider::billet::memberlist_key_fingerprints(" + decoded(v.Data) + ")"
		if !utf8.Valid(v.Data) {
			continue // base64decode refuses what is not UTF-8
		}
		judged++
		if !v.Valid {
			want[name], expressions[name] = knownvalue.Bool(false), "can("+expression+")"
			continue
		}
		var prints []string
		for _, text := range v.Keys {
			key, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			prints = append(prints, keys.Fingerprint(key))
		}
		want[name], expressions[name] = exactly(prints...), expression
	}
	if judged < 40 {
		t.Fatalf("only %d vectors were judged", judged)
	}
	calls(t, want, expressions)
}

func TestAccFunction_ca_fingerprint_agrees_with_billet(t *testing.T) {
	var vectors []struct {
		Current  string `json:"current_fingerprint"`
		Previous string `json:"previous_fingerprint"`
		Files    []struct {
			Path string
			Data []byte `json:"data_base64"`
		}
	}
	vectorsOf(t, "wirecert/testdata/authorities.json", &vectors)
	want, expressions := map[string]knownvalue.Check{}, map[string]string{}
	for i, v := range vectors {
		for _, file := range v.Files {
			print := map[string]string{"ca/ca.crt": v.Current, "ca/ca-previous.crt": v.Previous}[file.Path]
			if print == "" {
				continue
			}
			name := fmt.Sprintf("v%d_%d", i, len(want))
			want[name] = knownvalue.StringExact(print)
			expressions[name] = "provider::billet::ca_fingerprint(" + decoded(file.Data) + ")"
		}
	}
	if len(want) != 4 {
		t.Fatalf("%d certificates", len(want))
	}
	calls(t, want, expressions)
}

func TestAccFunction_same_fingerprint_compares_exactly_but_for_white_space(t *testing.T) {
	a, b := print("a"), print("b")
	same := func(a, b string) string {
		return fmt.Sprintf("provider::billet::same_fingerprint(%q, %q)", a, b)
	}
	calls(t, map[string]knownvalue.Check{
		"trimmed": knownvalue.Bool(true), "other": knownvalue.Bool(false), "case": knownvalue.Bool(false),
	}, map[string]string{
		"trimmed": same("\t"+a+" \n", a), "other": same(a, b),
		"case": same(a, a[:7]+strings.ToLower(a[7:8])+a[8:]),
	})
}

// A form that is not understood is an error of its argument and never `false`; no error shows content.
func TestAccFunction_explains_what_it_refuses_without_its_content(t *testing.T) {
	pair, err := wirecerttest.NewPair(wirecerttest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	good, hexSum := print("a"), strings.Repeat("0a", 32)
	for _, test := range []struct {
		name, expression string
		want             []string
	}{
		{"hexadecimal", fmt.Sprintf("same_fingerprint(%q, %q)", good, hexSum), []string{`Invalid value for "b" parameter`, "hexadecimal"}},
		{"no prefix", fmt.Sprintf("same_fingerprint(%q, %q)", good[7:], good), []string{`Invalid value for "a" parameter`, "prefix SHA256: is missing"}},
		{"padding", fmt.Sprintf("same_fingerprint(%q, %q)", good+"=", good), []string{"43 characters"}},
		{"null", fmt.Sprintf("same_fingerprint(null, %q)", good), []string{"must not be null"}},
		{"no key", `memberlist_key_fingerprints(" \n")`, []string{"there is no key"}},
		{"short", fmt.Sprintf("memberlist_key_fingerprints(%q)", line("a")+"AAAA"), []string{"index 1", "3 bytes"}},
		{"a key", fmt.Sprintf("ca_fingerprint(%q)", pair.KeyPEM), []string{"not a certificate"}},
		{"two", fmt.Sprintf("ca_fingerprint(%q)", string(pair.CertificatePEM)+string(pair.CertificatePEM)), []string{"something follows"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run(t, resource.TestStep{
				Config:      "output \"o\" {\n  value = provider::billet::" + test.expression + "\n}",
				ExpectError: says(test.want...),
			})
		})
	}
}
