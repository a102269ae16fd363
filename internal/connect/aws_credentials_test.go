package connect

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

// S16: attribute beats environment beats shared files.
func TestWhoseCredentialsCount(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*AWS)
		env    map[string]string
		want   string
	}{
		{"the default profile", nil, nil, "AKIDDEFAULT"},
		{"the environment's profile", nil, map[string]string{"AWS_PROFILE": "two"}, "AKIDTWO"},
		{"the environment's keys", nil, map[string]string{
			"AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "x", "AWS_PROFILE": "two"},
			"AKIDENV"},
		{"the profile attribute", func(a *AWS) { a.Profile = "two" }, map[string]string{
			"AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "x",
			"AWS_PROFILE": "default"}, "AKIDTWO"},
		{"the keys of the attributes", func(a *AWS) {
			a.AccessKey, a.SecretKey, a.Profile = "AKIDATTRIBUTE", NewSecret("x"), "two"
		}, map[string]string{"AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "x"},
			"AKIDATTRIBUTE"},
		{"the files of the attribute", func(a *AWS) {
			a.SharedCredentialsFiles = []string{"~/mine"}
		}, nil, "AKIDMINE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := bareMachine(t)
			sharedFile(t, home, "credentials", profiles("default", "two"))
			writeFile(t, home, "mine", strings.Replace(profiles("mine"), "[mine]", "[default]", 1))
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			proxy := awsProxy(t)
			var who signers
			who.watch(proxy)
			settings := static(proxy.URL)
			settings.AccessKey, settings.SecretKey = "", Secret{}
			if test.change != nil {
				test.change(&settings)
			}
			account, _ := mustOpenAWS(t, settings)
			_ = getSecret(t, account)
			want := []string{"GetCallerIdentity " + test.want, "GetSecretValue " + test.want}
			if got := who.all(); strings.Join(got, ",") != strings.Join(want, ",") {
				t.Errorf("signed %v, want %v", got, want)
			}
		})
	}
}

// S16
func TestAProfileThatIsMissingIsAnError(t *testing.T) {
	home := bareMachine(t)
	sharedFile(t, home, "credentials", profiles("default"))
	settings := AWS{Region: "eu-west-1", Profile: "absent"}
	_, wires, err := openAWS(t, settings)
	wantFault(t, err, "profile", "")
	if len(wires.addresses) != 0 {
		t.Errorf("dialled %v", wires.addresses)
	}
	t.Setenv("AWS_PROFILE", "absent")
	settings.Profile = ""
	_, _, err = openAWS(t, settings)
	wantFault(t, err, "profile", "AWS_PROFILE")
}

// S16
func TestABrokenSSOStanzaDoesNotMatterToOthers(t *testing.T) {
	home := bareMachine(t)
	sharedFile(t, home, "config", "[default]\nsso_region = eu-west-1\n")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	proxy := awsProxy(t)
	settings := static(proxy.URL)
	settings.AccessKey, settings.SecretKey = "", Secret{}
	mustOpenAWS(t, settings)
}

func TestHalfAPairOfKeysInTheEnvironmentIsAnError(t *testing.T) {
	for name, attribute := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access_key", "AWS_SECRET_ACCESS_KEY": "secret_key",
	} {
		bareMachine(t)
		t.Setenv(name, "sentinel-of-the-half")
		settings := AWS{Region: "eu-west-1"}
		_, wires, err := openAWS(t, settings)
		wantFault(t, err, attribute, name)
		if len(wires.addresses) != 0 || strings.Contains(err.Error(), "sentinel") {
			t.Errorf("dialled %v, %v", wires.addresses, err)
		}
		// It does not matter to those who say it otherwise.
		settings = static("")
		settings.SkipCredentialsValidation = true
		mustOpenAWS(t, settings)
	}
}

func TestFilesThatAreMissingAreAnError(t *testing.T) {
	home := bareMachine(t)
	for _, path := range []string{"~/absent", home} {
		settings := static("")
		settings.SharedConfigFiles = []string{path}
		_, _, err := openAWS(t, settings)
		wantFault(t, err, "shared_config_files", "")
		settings = static("")
		settings.SharedCredentialsFiles = []string{path}
		_, _, err = openAWS(t, settings)
		wantFault(t, err, "shared_credentials_files", "")
	}
}

// form is a request of the query protocol.
func form(t *testing.T, x *moto.Exchange) url.Values {
	t.Helper()
	values, err := url.ParseQuery(string(x.Request))
	if err != nil {
		t.Error(err)
	}
	return values
}

// roleAnswer is STS giving credentials out.
func roleAnswer(operation, key string) moto.Answer {
	return moto.Answer{Status: 200, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: fmt.Appendf(nil, `<%[1]sResponse><%[1]sResult><Credentials><AccessKeyId>%[2]s`+
			`</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>`+
			`<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials><AssumedRoleUser><Arn>`+
			`arn:aws:sts::123456789012:assumed-role/x/y</Arn><AssumedRoleId>a:b</AssumedRoleId>`+
			`</AssumedRoleUser></%[1]sResult></%[1]sResponse>`, operation, key)}
}

func TestRolesAreTakenOneAfterAnother(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	var who signers
	who.watch(proxy)
	var forms []url.Values
	proxy.Inject(moto.Fault{Operation: "AssumeRole", Act: func(x *moto.Exchange) moto.Answer {
		forms = append(forms, form(t, x))
		return roleAnswer("AssumeRole", fmt.Sprintf("AKIDROLE%d", len(forms)))
	}})
	settings := static(proxy.URL)
	const first, second = "arn:aws:iam::123456789012:role/one", "arn:aws:iam::210987654321:role/two"
	settings.AssumeRole = []AssumeRole{
		{RoleARN: first, SessionName: "one", ExternalID: NewSecret("shared"),
			Duration: 20 * time.Minute, Policy: `{"x":1}`, PolicyARNs: []string{"arn:p"},
			SourceIdentity: "me", Tags: map[string]string{"k": "v"},
			TransitiveTagKeys: []string{"k"}},
		{RoleARN: second},
	}
	account, _ := mustOpenAWS(t, settings)
	_ = getSecret(t, account)
	_ = getSecret(t, account)
	want := "AssumeRole AKIDATTRIBUTE,AssumeRole AKIDROLE1,GetCallerIdentity AKIDROLE2," +
		"GetSecretValue AKIDROLE2,GetSecretValue AKIDROLE2"
	if got := strings.Join(who.all(), ","); got != want {
		t.Errorf("signed %s", got)
	}
	for name, value := range map[string]string{
		"RoleArn": first, "RoleSessionName": "one", "ExternalId": "shared",
		"DurationSeconds": "1200", "Policy": `{"x":1}`, "PolicyArns.member.1.arn": "arn:p",
		"SourceIdentity": "me", "Tags.member.1.Key": "k", "Tags.member.1.Value": "v",
		"TransitiveTagKeys.member.1": "k",
	} {
		if got := forms[0].Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if forms[1].Get("RoleArn") != second ||
		forms[1].Get("RoleSessionName") != "terraform-provider-billet" {
		t.Errorf("the second form is %v", forms[1])
	}
}

func TestARoleThatIsRefusedIsNamed(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	proxy.Inject(moto.Fault{Operation: "AssumeRole", Skip: 1,
		Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 403, Header: http.Header{"Content-Type": {"text/xml"}},
				Body: []byte(`<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>` +
					`<Message>not authorized</Message></Error></ErrorResponse>`)}
		}})
	settings := static(proxy.URL)
	settings.AssumeRole = []AssumeRole{
		{RoleARN: "arn:aws:iam::123456789012:role/one"},
		{RoleARN: "arn:aws:iam::123456789012:role/two"},
	}
	_, _, err := openAWS(t, settings)
	var refused *CredentialsError
	if !errors.As(err, &refused) || !answered(err, "AccessDenied") ||
		!strings.Contains(err.Error(), "role/two") ||
		!strings.Contains(err.Error(), "assume_role[1]") {
		t.Errorf("got %v", err)
	}
	if got := proxy.Calls(); len(got) != 2 {
		t.Errorf("calls %v", got)
	}
}

func TestAWebIdentityNeedsNoOtherCredentials(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/web"
	for _, way := range []string{"token", "file"} {
		home := bareMachine(t)
		// Half a pair would be a fault if anybody looked for it.
		t.Setenv("AWS_ACCESS_KEY_ID", "AKIDHALF")
		proxy := awsProxy(t)
		var who signers
		who.watch(proxy)
		proxy.Inject(moto.Fault{Operation: "AssumeRoleWithWebIdentity",
			Act: func(x *moto.Exchange) moto.Answer {
				values := form(t, x)
				if values.Get("WebIdentityToken") != "the-web-identity-token" ||
					values.Get("RoleArn") != role {
					t.Errorf("%s: role %s, another token", way, values.Get("RoleArn"))
				}
				return roleAnswer("AssumeRoleWithWebIdentity", "AKIDWEB")
			}})
		web := &WebIdentity{RoleARN: role}
		if way == "token" {
			web.Token = NewSecret("the-web-identity-token")
		} else {
			writeFile(t, home, "token", "the-web-identity-token")
			web.TokenFile = "~/token"
		}
		settings := static(proxy.URL)
		settings.AccessKey, settings.SecretKey = "", Secret{}
		settings.AssumeRoleWithWebIdentity = web
		mustOpenAWS(t, settings)
		if got := strings.Join(who.all(), ","); got !=
			"AssumeRoleWithWebIdentity ,GetCallerIdentity AKIDWEB" {
			t.Errorf("%s: signed %s", way, got)
		}
	}
}

// T6
func TestAWebIdentityTokenIsNotInTheError(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	proxy.Inject(moto.Fault{Operation: "AssumeRoleWithWebIdentity",
		Act: func(x *moto.Exchange) moto.Answer {
			return moto.Answer{Status: 400, Header: http.Header{"Content-Type": {"text/xml"}},
				Body: []byte(`<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>` +
					form(t, x).Get("WebIdentityToken") + `</Message></Error></ErrorResponse>`)}
		}})
	settings := static(proxy.URL)
	settings.AccessKey, settings.SecretKey, settings.MaxRetries = "", Secret{}, new(int)
	settings.AssumeRoleWithWebIdentity = &WebIdentity{
		RoleARN: "arn:aws:iam::123456789012:role/web", Token: NewSecret("the-web-identity-token"),
	}
	_, _, err := openAWS(t, settings)
	if !answered(err, "InvalidIdentityToken") {
		t.Errorf("got %v", err)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), "the-web-identity-token") {
			t.Errorf("the text holds the token: %v", err)
		}
	}
}

func TestATokenFileThatIsMissingIsAnError(t *testing.T) {
	home := bareMachine(t)
	_, _, err := openAWS(t, AWS{Region: "eu-west-1", AssumeRoleWithWebIdentity: &WebIdentity{
		RoleARN: "arn:aws:iam::123456789012:role/web", TokenFile: filepath.Join(home, "absent"),
	}})
	wantFault(t, err, "assume_role_with_web_identity.web_identity_token_file", "")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
