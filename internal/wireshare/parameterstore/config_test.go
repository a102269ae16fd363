package parameterstore

import (
	"errors"
	"strings"
	"testing"
)

func TestThePrefix(t *testing.T) {
	for _, test := range []struct {
		prefix string
		ok     bool
	}{
		{"/billet", true},
		{"/billet/prod_1/a.b-c", true},
		{"/my/aws", true},
		{"/" + strings.Repeat("a", 1011-1-len(Leaf)), true},
		{strings.Repeat("/l", 14), true},
		{"", false},
		{"billet", false},
		{"/", false},
		{"/billet/", false},
		{"/billet//prod", false},
		{"/billet/node-wire-authority", false},
		{"/with space", false},
		{"/billet\n", false},
		{"/ümlaut", false},
		{"/aws/billet", false},
		{"/AWSbillet", false},
		{"/ssm", false},
		{"arn:aws:ssm:eu-west-1:123456789012:parameter/billet", false},
		{"/" + strings.Repeat("a", 1011-len(Leaf)), false},
		{strings.Repeat("/l", 15), false},
	} {
		err := Config{Prefix: test.prefix}.Validate()
		var fault *ConfigError
		if test.ok != (err == nil) || !test.ok && (!errors.As(err, &fault) ||
			fault.Attribute != "prefix" || fault.Cure == "") {
			t.Errorf("%q: %v", test.prefix, err)
		}
	}
}

func TestAWrongPrefixMakesNoCall(t *testing.T) {
	b := newBench(t)
	store := b.store(t, func(c *Config) { c.Prefix = "billet" })
	_, _, readErr := store.ReadAuthority(t.Context())
	for call, err := range map[string]error{
		"ReadAuthority": readErr,
		"SwapAuthority": store.SwapAuthority(t.Context(), document("A"), ""),
		"PutAuthority":  store.PutAuthority(t.Context(), document("A")),
		"CheckPublish":  store.CheckPublish(t.Context(), 1),
		"Delete":        store.Delete(t.Context(), "x"),
	} {
		var fault *ConfigError
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v", call, err)
		}
	}
	wantCalls(t, b)
}

func FuzzPrefixes(f *testing.F) {
	f.Add("/billet/prod")
	f.Add("//")
	f.Fuzz(func(t *testing.T, prefix string) {
		config := Config{Prefix: prefix}
		if config.Validate() == nil && (strings.Contains(config.Name(), "//") ||
			!strings.HasPrefix(config.Name(), "/") || len(config.Name()) > 1011) {
			t.Errorf("%q was taken", prefix)
		}
	})
}
