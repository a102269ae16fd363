package connect

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func faultsOf(settings AWS) string {
	var attributes []string
	for _, fault := range settings.Validate() {
		attributes = append(attributes, fault.Attribute)
	}
	return strings.Join(attributes, " ")
}

func TestValidateOfAWSNamesTheAttribute(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/billet"
	less, more := -1, 0
	for _, test := range []struct {
		name     string
		settings AWS
		want     string
	}{
		{"nothing", AWS{}, ""},
		{"access key alone", AWS{AccessKey: "a"}, "access_key"},
		{"secret key alone", AWS{SecretKey: NewSecret("s")}, "secret_key"},
		{"token alone", AWS{Token: NewSecret("s")}, "token"},
		{"unknown secret key", AWS{AccessKey: "a", Unknown: []string{"secret_key"}}, ""},
		{"keys and web identity", AWS{AccessKey: "a", SecretKey: NewSecret("s"),
			AssumeRoleWithWebIdentity: &WebIdentity{RoleARN: role, TokenFile: "f"}},
			"assume_role_with_web_identity"},
		{"region", AWS{Region: "Frankfurt"}, "region"},
		{"region with a host", AWS{Region: "x.evil.example"}, "region"},
		{"empty path", AWS{SharedConfigFiles: []string{""}}, "shared_config_files"},
		{"role", AWS{AssumeRole: []AssumeRole{{RoleARN: role}, {RoleARN: "billet"}}},
			"assume_role[1].role_arn"},
		{"unknown role", AWS{AssumeRole: []AssumeRole{{}},
			Unknown: []string{"assume_role[0].role_arn"}}, ""},
		{"role of which nothing is known", AWS{AssumeRole: []AssumeRole{{RoleARN: role}, {}},
			Unknown: []string{"assume_role[1]"}}, ""},
		{"session name", AWS{AssumeRole: []AssumeRole{{RoleARN: role, SessionName: "a b"}}},
			"assume_role[0].session_name"},
		{"duration", AWS{AssumeRole: []AssumeRole{{RoleARN: role, Duration: time.Minute}}},
			"assume_role[0].duration"},
		{"web identity without a token",
			AWS{AssumeRoleWithWebIdentity: &WebIdentity{RoleARN: role}},
			"assume_role_with_web_identity"},
		{"web identity with two tokens", AWS{AssumeRoleWithWebIdentity: &WebIdentity{
			RoleARN: role, Token: NewSecret("t"), TokenFile: "f"}},
			"assume_role_with_web_identity"},
		{"account id", AWS{AllowedAccountIDs: []string{"12345678901"}}, "allowed_account_ids"},
		{"both guards", AWS{AllowedAccountIDs: []string{"123456789012"},
			ForbiddenAccountIDs: []string{"123456789012"}}, "forbidden_account_ids"},
		{"guard without the account", AWS{AllowedAccountIDs: []string{"123456789012"},
			SkipRequestingAccountID: true}, "skip_requesting_account_id"},
		{"unknown guard without the account", AWS{SkipRequestingAccountID: true,
			Unknown: []string{"forbidden_account_ids"}}, "skip_requesting_account_id"},
		{"fips and endpoints", AWS{UseFIPSEndpoint: true,
			Endpoints: Endpoints{SSM: "https://x"}}, "use_fips_endpoint"},
		{"dual stack and endpoints", AWS{UseDualStackEndpoint: true,
			Unknown: []string{"endpoints.sts"}}, "use_dualstack_endpoint"},
		{"proxy", AWS{HTTPProxy: "ftp://x", HTTPSProxy: "http://"}, "http_proxy https_proxy"},
		{"insecure with a bundle", AWS{Insecure: true, CustomCABundle: "x"}, "insecure"},
		{"user agent", AWS{UserAgent: []string{"ok/1", "a\r\nX-Evil: 1"}}, "user_agent"},
		{"negative retries", AWS{MaxRetries: &less}, "max_retries"},
		{"no retries", AWS{MaxRetries: &more}, ""},
		{"retry mode", AWS{RetryMode: "legacy"}, "retry_mode"},
		{"everything wrong", AWS{AccessKey: "a", Region: "-", RetryMode: "x"},
			"access_key region retry_mode"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := faultsOf(test.settings); got != test.want {
				t.Errorf("faults of %q, want %q", got, test.want)
			}
		})
	}
}

// S17
func TestValidateRefusesAddressesThatAreNone(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:5000":             true,
		"http://127.0.0.1:5000/":            true,
		"https://moto.example/some/path/":   true,
		"https://[::1]:443":                 true,
		"127.0.0.1:5000":                    false,
		"moto.example":                      false,
		"ftp://moto.example":                false,
		"http://":                           false,
		"http://:5000":                      false,
		"http://host:port":                  false,
		"http://host:70000":                 false,
		"http://user:password@moto.example": false,
		"http://moto.example?x=y":           false,
		"http://moto.example/#x":            false,
		"http://moto example":               false,
		"http://moto.example/%zz":           false,
	} {
		for _, service := range awsServices {
			settings := AWS{}
			switch service.name {
			case "secretsmanager":
				settings.Endpoints.SecretsManager = address
			case "ssm":
				settings.Endpoints.SSM = address
			case "sts":
				settings.Endpoints.STS = address
			}
			want := "endpoints." + service.name
			if ok {
				want = ""
			}
			if got := faultsOf(settings); got != want {
				t.Errorf("%s: faults of %q, want %q", address, got, want)
			}
			for _, fault := range settings.Validate() {
				if strings.Contains(fault.Error(), "password@") {
					t.Errorf("the fault shows the password: %v", fault)
				}
			}
		}
	}
}

// T6
func TestAWSSettingsNeverPrint(t *testing.T) {
	settings := AWS{
		AccessKey: "AKID", SecretKey: NewSecret("sentinel-1"), Token: NewSecret("sentinel-2"),
		HTTPProxy:                 "http://user:sentinel-3@proxy",
		AssumeRole:                []AssumeRole{{ExternalID: NewSecret("sentinel-4")}},
		AssumeRoleWithWebIdentity: &WebIdentity{Token: NewSecret("sentinel-5")},
	}
	var texts []string
	for _, value := range []any{
		settings, &settings, settings.AssumeRole[0], *settings.AssumeRoleWithWebIdentity,
		struct{ Inner AWS }{settings}, []AWS{settings},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			texts = append(texts, fmt.Sprintf(verb, value))
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(encoded))
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "aws", settings)
	for _, text := range append(texts, log.String()) {
		if strings.Contains(text, "sentinel") || strings.Contains(text, "73656e74") {
			t.Errorf("printed: %s", text)
		}
	}
}

func FuzzEndpointAddresses(f *testing.F) {
	f.Add("http://127.0.0.1:5000/")
	f.Add("https://user@host?x#y")
	f.Fuzz(func(t *testing.T, address string) {
		if awsEndpointFault(address) != "" {
			return
		}
		guard := &hostGuard{}
		guard.allow(address)
		if !guard.active() {
			t.Errorf("%q is taken and guards nothing", address)
		}
	})
}
