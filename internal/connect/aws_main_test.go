package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

// motoServer starts the server with the first test that needs it. It ends with the test binary.
var motoServer = sync.OnceValues(func() (*moto.Server, error) {
	return moto.Start(context.Background(), os.Stderr)
})

func awsProxy(t testing.TB) *moto.Proxy {
	t.Helper()
	server, err := motoServer()
	if err != nil {
		t.Fatal(err)
	}
	return server.Proxy(t)
}

const testUserAgent = "terraform-provider-billet/1.2.3 Terraform/1.11.4"

// bareMachine takes away everything of AWS and every proxy from the environment and gives the
// test a home of its own, which it returns.
func bareMachine(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "AWS_") || strings.HasSuffix(strings.ToLower(name), "_proxy") {
			t.Setenv(name, "") // restores it afterwards
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, ".aws", "credentials"))
	return home
}

// sharedFile writes ~/.aws/NAME.
func sharedFile(t *testing.T, home, name, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, filepath.Join(home, ".aws"), name, content)
}

// dialed records the addresses dialled and refuses all but the local ones.
type dialed struct {
	mu        sync.Mutex
	addresses []string
}

var errNotLocal = errors.New("this test dials no other machine")

func (d *dialed) tune(transport *http.Transport) {
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		d.mu.Lock()
		d.addresses = append(d.addresses, address)
		d.mu.Unlock()
		if !strings.HasPrefix(address, "127.0.0.1:") {
			return nil, errNotLocal
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// foreign are the addresses dialled that are not of this machine.
func (d *dialed) foreign() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []string
	for _, address := range d.addresses {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			found = append(found, address)
		}
	}
	return found
}

// openAWS is Open with a transport that dials this machine alone.
func openAWS(t *testing.T, settings AWS) (*Account, *dialed, error) {
	t.Helper()
	wires := &dialed{}
	account, err := (&awsOpening{
		settings: settings, env: os.LookupEnv, userAgent: testUserAgent, tune: wires.tune,
	}).open(t.Context())
	return account, wires, err
}

func mustOpenAWS(t *testing.T, settings AWS) (*Account, *dialed) {
	t.Helper()
	account, wires, err := openAWS(t, settings)
	if err != nil {
		t.Fatal(err)
	}
	return account, wires
}

// static are settings that need nothing from the environment, with every endpoint at address.
func static(address string) AWS {
	return AWS{
		Region: "eu-west-1", AccessKey: "AKIDATTRIBUTE", SecretKey: NewSecret("attribute-secret"),
		Endpoints: Endpoints{SecretsManager: address, SSM: address, STS: address},
	}
}

func getSecret(t *testing.T, account *Account) error {
	t.Helper()
	name := "absent"
	_, err := account.SecretsManager("").GetSecretValue(t.Context(),
		&secretsmanager.GetSecretValueInput{SecretId: &name})
	return err
}

func getParameter(t *testing.T, account *Account) error {
	t.Helper()
	name := "/absent"
	_, err := account.SSM("").GetParameter(t.Context(), &ssm.GetParameterInput{Name: &name})
	return err
}

// answered reports whether err is an answer of the service with that code.
func answered(err error, code string) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && answer.ErrorCode() == code
}

// signers are the access keys that signed the requests, in order, for each operation.
type signers struct {
	mu    sync.Mutex
	calls []string
}

// watch records at the proxy who signs what.
func (s *signers) watch(proxy *moto.Proxy) {
	proxy.Inject(moto.Fault{When: func(x *moto.Exchange) bool {
		_, rest, _ := strings.Cut(x.Header.Get("Authorization"), "Credential=")
		key, _, _ := strings.Cut(rest, "/")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, x.Operation+" "+key)
		return false
	}})
}

func (s *signers) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

func (s *signers) last() string {
	calls := s.all()
	if len(calls) == 0 {
		return ""
	}
	return calls[len(calls)-1]
}

func wantFault(t *testing.T, err error, attribute, variable string) {
	t.Helper()
	var fault *SettingError
	if !errors.As(err, &fault) || fault.Attribute != attribute || fault.Variable != variable ||
		fault.Cure == "" {
		t.Errorf("want a fault of %s (%s), got %v", attribute, variable, err)
	}
}

func profiles(names ...string) string {
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "[%s]\naws_access_key_id = AKID%s\naws_secret_access_key = x%s\n",
			name, strings.ToUpper(name), name)
	}
	return text.String()
}
