package connect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

func TestOpeningAsksOnceWhoTheCallerIs(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	account, wires := mustOpenAWS(t, static(proxy.URL))
	for range 2 {
		if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
			t.Errorf("Secrets Manager: %v", err)
		}
		if err := getParameter(t, account); !answered(err, "ParameterNotFound") {
			t.Errorf("SSM: %v", err)
		}
	}
	want := "GetCallerIdentity GetSecretValue GetParameter GetSecretValue GetParameter"
	if got := strings.Join(proxy.Calls(), " "); got != want {
		t.Errorf("calls %s", got)
	}
	if account.ID() != "123456789012" || account.Region() != "eu-west-1" || wires.foreign() != nil {
		t.Errorf("account %s, region %s, dialled %v", account.ID(), account.Region(),
			wires.foreign())
	}
	target := account.Target("us-west-2")
	for _, part := range []string{"123456789012", "us-west-2", proxy.URL} {
		if !strings.Contains(target, part) {
			t.Errorf("the target %q lacks %s", target, part)
		}
	}
}

func TestClientsAreMadeOncePerRegion(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	account, _ := mustOpenAWS(t, static(proxy.URL))
	if account.SSM("") != account.SSM("eu-west-1") || account.SSM("us-west-2") == account.SSM("") ||
		account.SecretsManager("us-west-2").Options().Region != "us-west-2" {
		t.Error("another client, or another region")
	}
}

// S17
func TestOnlyTheEndpointsSetAreDialled(t *testing.T) {
	for _, way := range []string{"attribute", "variable"} {
		bareMachine(t)
		proxy := awsProxy(t)
		settings := static("")
		if way == "attribute" {
			settings.Endpoints.SSM = proxy.URL
		} else {
			t.Setenv("AWS_ENDPOINT_URL_SSM", proxy.URL)
		}
		account, wires := mustOpenAWS(t, settings)
		if err := getParameter(t, account); !answered(err, "ParameterNotFound") {
			t.Errorf("%s: SSM: %v", way, err)
		}
		var refused *EndpointError
		start := time.Now()
		if err := getSecret(t, account); !errors.As(err, &refused) ||
			!strings.Contains(refused.Host, "secretsmanager.eu-west-1") {
			t.Errorf("%s: Secrets Manager: %v", way, err)
		}
		if time.Since(start) > time.Second {
			t.Error("it was tried again")
		}
		if wires.foreign() != nil || proxy.Count("GetCallerIdentity") != 0 {
			t.Errorf("%s: dialled %v, calls %v", way, wires.foreign(), proxy.Calls())
		}
		settings.AllowedAccountIDs = []string{"123456789012"}
		_, wires, err := openAWS(t, settings)
		wantFault(t, err, "endpoints.sts", "")
		if wires.foreign() != nil {
			t.Errorf("%s: dialled %v", way, wires.foreign())
		}
	}
}

// S17
func TestRolesAreNotTakenElsewhereWhenEndpointsAreSet(t *testing.T) {
	bareMachine(t)
	settings := static("")
	settings.Endpoints.SSM = "http://127.0.0.1:1"
	settings.AssumeRole = []AssumeRole{{RoleARN: "arn:aws:iam::123456789012:role/billet"}}
	_, wires, err := openAWS(t, settings)
	var refused *EndpointError
	if !errors.As(err, &refused) || wires.foreign() != nil {
		t.Errorf("got %v, dialled %v", err, wires.foreign())
	}
}

// S17
func TestEndpointsOfTheEnvironment(t *testing.T) {
	t.Run("for all services", func(t *testing.T) {
		bareMachine(t)
		proxy := awsProxy(t)
		t.Setenv("AWS_ENDPOINT_URL", proxy.URL+"/")
		account, wires := mustOpenAWS(t, static(""))
		if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
			t.Error(err)
		}
		if wires.foreign() != nil || proxy.Count("GetCallerIdentity") != 1 {
			t.Errorf("dialled %v, calls %v", wires.foreign(), proxy.Calls())
		}
	})
	t.Run("lose to the attribute", func(t *testing.T) {
		bareMachine(t)
		proxy, other := awsProxy(t), awsProxy(t)
		t.Setenv("AWS_ENDPOINT_URL", other.URL)
		t.Setenv("AWS_ENDPOINT_URL_SSM", other.URL)
		account, _ := mustOpenAWS(t, static(proxy.URL))
		_, _ = getSecret(t, account), getParameter(t, account)
		if len(other.Calls()) != 0 || len(proxy.Calls()) != 3 {
			t.Errorf("calls %v and %v", proxy.Calls(), other.Calls())
		}
	})
	t.Run("are ignored when that is asked for", func(t *testing.T) {
		bareMachine(t)
		other := awsProxy(t)
		t.Setenv("AWS_ENDPOINT_URL", other.URL)
		t.Setenv("AWS_ENDPOINT_URL_SSM", other.URL)
		t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
		settings := static("")
		settings.SkipCredentialsValidation, settings.MaxRetries = true, new(int)
		account, wires := mustOpenAWS(t, settings)
		if err := getParameter(t, account); !errors.Is(err, errNotLocal) {
			t.Error(err)
		}
		if got := wires.foreign(); len(got) != 1 || got[0] != "ssm.eu-west-1.amazonaws.com:443" ||
			len(other.Calls()) != 0 {
			t.Errorf("dialled %v, calls %v", got, other.Calls())
		}
	})
	t.Run("are checked", func(t *testing.T) {
		bareMachine(t)
		t.Setenv("AWS_ENDPOINT_URL_STS", "127.0.0.1:5000")
		_, _, err := openAWS(t, static(""))
		wantFault(t, err, "endpoints.sts", "AWS_ENDPOINT_URL_STS")
	})
	t.Run("of the profile", func(t *testing.T) {
		home := bareMachine(t)
		proxy := awsProxy(t)
		sharedFile(t, home, "config", "[default]\nregion = eu-west-1\nservices = local\n"+
			"[services local]\nssm =\n  endpoint_url = "+proxy.URL+"\n")
		account, wires := mustOpenAWS(t, static(""))
		if err := getParameter(t, account); !answered(err, "ParameterNotFound") ||
			wires.foreign() != nil {
			t.Errorf("got %v, dialled %v", err, wires.foreign())
		}
	})
}

// S17
func TestAnEndpointCanHaveAPathAndASlash(t *testing.T) {
	for suffix, want := range map[string]string{"/": "/", "/aws": "/aws", "/aws/": "/aws/"} {
		bareMachine(t)
		proxy := awsProxy(t)
		var path atomic.Value
		proxy.Inject(moto.Fault{Operation: "GetSecretValue", When: func(x *moto.Exchange) bool {
			path.Store(x.Path)
			return false
		}})
		account, _ := mustOpenAWS(t, static(proxy.URL+suffix))
		if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
			t.Errorf("%s: %v", suffix, err)
		}
		if path.Load() != want {
			t.Errorf("%s: the path is %v", suffix, path.Load())
		}
	}
}

// S17
func TestAnEndpointWithAPrivateAuthority(t *testing.T) {
	server, err := motoServer()
	if err != nil {
		t.Fatal(err)
	}
	home := bareMachine(t)
	proxy, authority := server.ProxyTLS(t)
	bundle := writeFile(t, home, "ca.pem", string(authority))
	settings := static(proxy.URL)
	settings.MaxRetries = new(int)
	var refused *CredentialsError
	if _, _, err := openAWS(t, settings); !errors.As(err, &refused) || len(proxy.Calls()) != 0 {
		t.Errorf("without the authority: %v, calls %v", err, proxy.Calls())
	}
	settings.CustomCABundle = "~/ca.pem"
	mustOpenAWS(t, settings)
	settings.CustomCABundle = ""
	settings.Insecure = true
	mustOpenAWS(t, settings)
	settings.Insecure = false
	t.Setenv("AWS_CA_BUNDLE", bundle)
	account, _ := mustOpenAWS(t, settings)
	if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
		t.Error(err)
	}
	t.Setenv("AWS_CA_BUNDLE", filepath.Join(home, "absent"))
	_, _, err = openAWS(t, settings)
	wantFault(t, err, "custom_ca_bundle", "AWS_CA_BUNDLE")
	settings.CustomCABundle = writeFile(t, home, "empty.pem", "no certificate")
	_, _, err = openAWS(t, settings)
	wantFault(t, err, "custom_ca_bundle", "")
}

func TestAddressesOfFIPSAndDualStack(t *testing.T) {
	for _, test := range []struct {
		change func(*AWS)
		want   string
	}{
		{func(*AWS) {}, "ssm.us-east-1.amazonaws.com:443"},
		{func(a *AWS) { a.UseFIPSEndpoint = true }, "ssm-fips.us-east-1.amazonaws.com:443"},
		{func(a *AWS) { a.UseDualStackEndpoint = true }, "ssm.us-east-1.api.aws:443"},
	} {
		bareMachine(t)
		settings := static("")
		settings.Region = "us-east-1"
		settings.SkipCredentialsValidation, settings.MaxRetries = true, new(int)
		test.change(&settings)
		account, wires := mustOpenAWS(t, settings)
		if err := getParameter(t, account); !errors.Is(err, errNotLocal) {
			t.Error(err)
		}
		if got := wires.foreign(); len(got) != 1 || got[0] != test.want {
			t.Errorf("dialled %v, want %s", got, test.want)
		}
	}
}

// S16
func TestTheRegion(t *testing.T) {
	home := bareMachine(t)
	settings := static("")
	settings.Region, settings.SkipCredentialsValidation = "", true
	_, _, err := openAWS(t, settings)
	wantFault(t, err, "region", "")
	region := func() string {
		t.Helper()
		account, _ := mustOpenAWS(t, settings)
		return account.Region()
	}
	sharedFile(t, home, "config", "[default]\nregion = eu-north-1\n")
	if got := region(); got != "eu-north-1" {
		t.Errorf("of the profile: %s", got)
	}
	t.Setenv("AWS_DEFAULT_REGION", "eu-west-2")
	if got := region(); got != "eu-west-2" {
		t.Errorf("of AWS_DEFAULT_REGION: %s", got)
	}
	t.Setenv("AWS_REGION", "eu-west-3")
	if got := region(); got != "eu-west-3" {
		t.Errorf("of AWS_REGION: %s", got)
	}
	settings.Region = "eu-central-1"
	if got := region(); got != "eu-central-1" {
		t.Errorf("of the attribute: %s", got)
	}
}

func TestOpenRefusesWhatIsNotKnownYet(t *testing.T) {
	bareMachine(t)
	_, wires, err := openAWS(t, AWS{AccessKey: "a", Unknown: []string{"secret_key"}})
	wantFault(t, err, "secret_key", "")
	if len(wires.addresses) != 0 {
		t.Errorf("dialled %v", wires.addresses)
	}
}

func TestOpenRefusesWhatValidateRefuses(t *testing.T) {
	bareMachine(t)
	_, _, err := openAWS(t, AWS{AccessKey: "a", RetryMode: "x"})
	var faults SettingErrors
	if !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestTheUserAgent(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	var agents []string
	proxy.Inject(moto.Fault{When: func(x *moto.Exchange) bool {
		agents = append(agents, x.Header.Get("User-Agent"))
		return false
	}})
	settings := static(proxy.URL)
	settings.UserAgent = []string{"mine/1.0", "(comment)"}
	account, _ := mustOpenAWS(t, settings)
	_ = getSecret(t, account)
	for _, agent := range agents {
		if !strings.HasPrefix(agent, testUserAgent+" aws-sdk-go-v2/") ||
			!strings.HasSuffix(agent, " mine/1.0 (comment)") {
			t.Errorf("user agent %q", agent)
		}
	}
	if len(agents) != 2 {
		t.Errorf("%d requests", len(agents))
	}
}

// T6
func TestNoClientLogs(t *testing.T) {
	bareMachine(t)
	account, _ := mustOpenAWS(t, static(awsProxy(t).URL))
	secrets, parameters := account.SecretsManager("").Options(), account.SSM("").Options()
	if secrets.ClientLogMode != 0 || parameters.ClientLogMode != 0 ||
		secrets.Logger != (logging.Nop{}) || parameters.Logger != (logging.Nop{}) {
		t.Errorf("log modes %v and %v", secrets.ClientLogMode, parameters.ClientLogMode)
	}
}

func TestProxies(t *testing.T) {
	const host = "http://secretsmanager.internal.example"
	t.Run("of the attribute, for http", func(t *testing.T) {
		bareMachine(t)
		proxy, other := awsProxy(t), awsProxy(t)
		t.Setenv("HTTP_PROXY", other.URL)
		settings := static(host)
		settings.HTTPProxy = proxy.URL
		account, wires := mustOpenAWS(t, settings)
		if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
			t.Error(err)
		}
		if len(proxy.Calls()) != 2 || len(other.Calls()) != 0 || wires.foreign() != nil {
			t.Errorf("calls %v, dialled %v", proxy.Calls(), wires.foreign())
		}
	})
	t.Run("of the environment", func(t *testing.T) {
		bareMachine(t)
		proxy := awsProxy(t)
		t.Setenv("http_proxy", proxy.URL)
		account, _ := mustOpenAWS(t, static(host))
		if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
			t.Error(err)
		}
	})
	t.Run("not for hosts of no_proxy", func(t *testing.T) {
		bareMachine(t)
		proxy := awsProxy(t)
		t.Setenv("NO_PROXY", "nothing.example")
		settings := static(host)
		settings.HTTPProxy, settings.NoProxy = proxy.URL, "internal.example"
		settings.MaxRetries = new(int)
		_, wires, err := openAWS(t, settings)
		if !errors.Is(err, errNotLocal) || len(wires.foreign()) != 1 || len(proxy.Calls()) != 0 {
			t.Errorf("got %v, dialled %v", err, wires.foreign())
		}
	})
	t.Run("by CONNECT, for https", func(t *testing.T) {
		bareMachine(t)
		var connected atomic.Value
		tunnel := httptest.NewServer(http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				connected.Store(r.Method + " " + r.Host)
				w.WriteHeader(http.StatusForbidden)
			}))
		t.Cleanup(tunnel.Close)
		settings := static("https://secretsmanager.internal.example")
		settings.HTTPSProxy = tunnel.URL
		settings.MaxRetries = new(int)
		_, wires, err := openAWS(t, settings)
		if err == nil || wires.foreign() != nil ||
			connected.Load() != "CONNECT secretsmanager.internal.example:443" {
			t.Errorf("got %v: %v, dialled %v", err, connected.Load(), wires.foreign())
		}
	})
}

// S15: where no metadata service is, or one that never answers.
func TestWithoutCredentialsTheErrorComesSoon(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	for _, address := range []string{"http://192.0.2.1", silent.URL} {
		bareMachine(t)
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", address)
		start := time.Now()
		_, _, err := openAWS(t, AWS{Region: "eu-west-1"})
		var none *CredentialsError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), "AWS_PROFILE") {
			t.Errorf("%s: %v", address, err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: it took %s", address, took)
		}
	}
}

// metadata is an instance metadata service that counts its requests.
func metadata(t *testing.T, requests *atomic.Int64) string {
	t.Helper()
	const role = "/latest/meta-data/iam/security-credentials/"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
			_, _ = w.Write([]byte("token"))
		case r.URL.Path == role:
			_, _ = w.Write([]byte("billet"))
		case r.URL.Path == role+"billet":
			writeJSON(w, http.StatusOK, map[string]string{
				"Code": "Success", "AccessKeyId": "AKIDINSTANCE", "SecretAccessKey": "s",
				"Token": "t", "Expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
			})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// S15, S16
func TestTheMetadataServiceIsTheLastResort(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	var who signers
	who.watch(proxy)
	var requests atomic.Int64
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata(t, &requests))
	// The mode that asks it for the region.
	t.Setenv("AWS_DEFAULTS_MODE", "auto")
	settings := static(proxy.URL)
	mustOpenAWS(t, settings)
	if requests.Load() != 0 {
		t.Errorf("%d requests although there are keys", requests.Load())
	}
	settings.AccessKey, settings.SecretKey, settings.SkipMetadataAPICheck = "", Secret{}, true
	var none *CredentialsError
	if _, _, err := openAWS(t, settings); !errors.As(err, &none) || requests.Load() != 0 {
		t.Errorf("left out: %d requests, %v", requests.Load(), err)
	}
	settings.SkipMetadataAPICheck = false
	mustOpenAWS(t, settings)
	if who.last() != "GetCallerIdentity AKIDINSTANCE" || requests.Load() == 0 {
		t.Errorf("signed: %v", who.all())
	}
}

func TestTheMetadataServiceIsNotDialledBesideEndpoints(t *testing.T) {
	bareMachine(t)
	settings := static("http://127.0.0.1:1")
	settings.AccessKey, settings.SecretKey = "", Secret{}
	_, wires, err := openAWS(t, settings)
	var refused *EndpointError
	if !errors.As(err, &refused) || refused.Host != "169.254.169.254" || wires.foreign() != nil {
		t.Errorf("got %v, dialled %v", err, wires.foreign())
	}
}

func TestOpenIsTheExportedWay(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	account, err := static(proxy.URL).Open(t.Context(), os.LookupEnv, testUserAgent)
	if err != nil || account.ID() != "123456789012" {
		t.Errorf("got %v", err)
	}
}

func TestTheGuardsOnTheAccount(t *testing.T) {
	const own, other = "123456789012", "210987654321"
	for _, test := range []struct {
		name   string
		change func(*AWS)
		ok     bool
		calls  int
		id     string
	}{
		{"allowed", func(a *AWS) { a.AllowedAccountIDs = []string{other, own} }, true, 1, own},
		{"not allowed", func(a *AWS) { a.AllowedAccountIDs = []string{other} }, false, 1, ""},
		{"not forbidden", func(a *AWS) { a.ForbiddenAccountIDs = []string{other} }, true, 1, own},
		{"forbidden", func(a *AWS) { a.ForbiddenAccountIDs = []string{own} }, false, 1, ""},
		{"forbidden, without validation", func(a *AWS) {
			a.ForbiddenAccountIDs, a.SkipCredentialsValidation = []string{own}, true
		}, false, 1, ""},
		{"without validation", func(a *AWS) { a.SkipCredentialsValidation = true }, true, 0, ""},
		{"without the account", func(a *AWS) { a.SkipRequestingAccountID = true }, true, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			bareMachine(t)
			proxy := awsProxy(t)
			settings := static(proxy.URL)
			test.change(&settings)
			account, _, err := openAWS(t, settings)
			if got := proxy.Count("GetCallerIdentity"); got != test.calls {
				t.Errorf("%d calls of STS", got)
			}
			var refused *AccountError
			if !test.ok {
				if !errors.As(err, &refused) || refused.Account != own {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || account.ID() != test.id {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCredentialsThatSTSRefusesAreAnError(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	proxy.Inject(moto.Fault{Operation: "GetCallerIdentity",
		Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 403, Header: http.Header{"Content-Type": {"text/xml"}},
				Body: []byte(`<ErrorResponse><Error><Type>Sender</Type>` +
					`<Code>InvalidClientTokenId</Code>` +
					`<Message>invalid, and here is attribute-secret</Message></Error>` +
					`</ErrorResponse>`)}
		}})
	_, _, err := openAWS(t, static(proxy.URL))
	var refused *CredentialsError
	if !errors.As(err, &refused) || !answered(err, "InvalidClientTokenId") {
		t.Errorf("got %v", err)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), "attribute-secret") {
			t.Errorf("the text holds the secret key: %v", err)
		}
	}
}

func TestEndpointErrorsAreNotSentAgain(t *testing.T) {
	var refused error = &EndpointError{Host: "x", Allowed: []string{"y"}}
	var judged interface{ RetryableError() bool }
	if !errors.As(refused, &judged) || judged.RetryableError() {
		t.Error("retryable")
	}
	retryer := (&awsOpening{}).retryer(t.Context(), nil)()
	if retryer.IsErrorRetryable(refused) || retryer.MaxAttempts() != 6 {
		t.Errorf("retryable, or %d attempts", retryer.MaxAttempts())
	}
	if !slices.Contains([]aws.RetryMode{aws.RetryModeStandard},
		(&awsOpening{}).retryMode(t.Context(), nil)) {
		t.Error("another mode")
	}
}
