package secretsmanagerstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

func TestTheNameOrARN(t *testing.T) {
	const prefix = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"
	for _, test := range []struct {
		id string
		ok bool
	}{
		{"billet/node-wire", true},
		{"my-secret", true}, // a hyphen and six characters: a name is found by equality
		{"a", true},
		{strings.Repeat("a", 512), true},
		{"", false},
		{strings.Repeat("a", 513), false},
		{"with space", false},
		{"name\n", false},
		{"ümlaut", false},
		{prefix + "billet/ca-AbCdE1", true},
		{"arn:aws-cn:secretsmanager:eu-west-1:123456789012:secret:ca-AbCdE1", true},
		{prefix + "billet", false},
		{prefix + "billet-ca", false},
		{prefix + "billet-toolong7", false},
		{prefix, false},
		{"arn:aws:secretsmanager:eu-west-1:123456789012:secret", false},
		{"arn:aws:ssm:eu-west-1:123456789012:parameter/x-AbCdE1", false},
		{"arn:aws:secretsmanager:eu-west-1::secret:ca-AbCdE1", false},
		{"ARN:aws:secretsmanager:eu-west-1:123456789012:secret:ca-AbCdE1", false},
		{"arn:aws:secretsmanager:us-east-1:123456789012:secret:ca-AbCdE1", false}, // region
	} {
		err := Config{SecretID: test.id, Region: "eu-west-1"}.Validate()
		var fault *ConfigError
		if test.ok != (err == nil) || !test.ok && (!errors.As(err, &fault) ||
			fault.Attribute != "secret_id" || fault.Cure == "") {
			t.Errorf("%q: %v", test.id, err)
		}
	}
}

// S11
func TestAKeyWithoutItsAccountBesideAForeignSecretIsRefused(t *testing.T) {
	const foreign = "arn:aws:secretsmanager:eu-west-1:210987654321:secret:ca-AbCdE1"
	const own = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:ca-AbCdE1"
	const bare = "1234abcd-12ab-34cd-56ef-1234567890ab"
	for _, test := range []struct {
		id, key, caller string
		ok              bool
	}{
		{foreign, bare, "123456789012", false},
		{foreign, "alias/billet", "123456789012", false},
		{foreign, "arn:aws:kms:eu-west-1:210987654321:key/" + bare, "123456789012", true},
		{foreign, "", "123456789012", true},
		{own, bare, "123456789012", true},
		{"name", bare, "123456789012", true},
		{foreign, bare, "", true}, // not known whose it is
	} {
		err := Config{SecretID: test.id, KMSKeyID: test.key, CallerAccount: test.caller}.Validate()
		var fault *ConfigError
		if test.ok != (err == nil) || !test.ok && (!errors.As(err, &fault) ||
			fault.Attribute != "kms_key_id" || !strings.Contains(fault.Cure, "ARN")) {
			t.Errorf("%s, %s: %v", test.id, test.key, err)
		}
	}
}

func TestTagsAndTheRecoveryWindow(t *testing.T) {
	many := map[string]string{}
	for i := range 51 {
		many[strings.Repeat("k", i+1)] = ""
	}
	for _, config := range []Config{
		{Tags: map[string]string{"aws:x": "y"}},
		{Tags: map[string]string{"": "y"}},
		{Tags: map[string]string{strings.Repeat("k", 129): "y"}},
		{DefaultTags: map[string]string{"k": strings.Repeat("v", 257)}},
		{Tags: many},
		{RecoveryDays: 6},
		{RecoveryDays: 31},
		{RecoveryDays: -1},
	} {
		config.SecretID = "name"
		var fault *ConfigError
		if err := config.Validate(); !errors.As(err, &fault) {
			t.Errorf("%+v was taken", config)
		}
	}
}

func TestAWrongConfigurationMakesNoCall(t *testing.T) {
	b := newBench(t)
	store := b.store(t, func(c *Config) { c.SecretID = "with space" })
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

func FuzzARNs(f *testing.F) {
	f.Add("arn:aws:secretsmanager:eu-west-1:123456789012:secret:ca-AbCdE1")
	f.Add("arn:::::::")
	f.Add("name")
	f.Fuzz(func(t *testing.T, text string) {
		config := Config{SecretID: text}
		if config.Validate() != nil {
			return
		}
		if isARN(text) {
			parsed, ok := parseARN(text)
			if !ok || parsed.region == "" || len(parsed.account) != 12 || parsed.resource == "" {
				t.Errorf("%q was taken for an ARN of a secret", text)
			}
		}
	})
}

var _ awscall.Sleep = (&bench{}).sleep

func TestTheRegionOfAnARNIsItsOwn(t *testing.T) {
	for id, want := range map[string]string{
		"arn:aws:secretsmanager:eu-west-1:123456789012:secret:ca-AbCdE1":      "eu-west-1",
		"arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:a/b-AbCdE1": "cn-north-1",
		"billet/ca": "",
		"arn:aws:ssm:eu-west-1:123456789012:parameter/a": "",
		"": "",
	} {
		if got := RegionOf(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// A secret that took a publish before is not asked about again: only the size can be a reason.
func TestCheckingASecretThatTookAPublishMakesNoCall(t *testing.T) {
	b := newBench(t)
	b.proxy.Inject(moto.Replica("us-east-1")...)
	emptySecret(t, b)
	store := b.store(t, func(c *Config) { c.Writable = true })
	if err := store.CheckPublish(t.Context(), 100); err != nil {
		t.Error(err)
	}
	var size *SizeError
	if err := store.CheckPublish(t.Context(), SizeLimit+1); !errors.As(err, &size) {
		t.Errorf("got %v", err)
	}
	wantCalls(t, b)
	var replica *ReplicaError
	if err := b.store(t).CheckPublish(t.Context(), 100); !errors.As(err, &replica) {
		t.Errorf("got %v", err)
	}
	wantCalls(t, b, "DescribeSecret")
}
