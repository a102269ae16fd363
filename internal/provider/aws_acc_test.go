package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/secretsmanagerstore"
)

const (
	testRegion = "eu-west-1"
	// Canaries: what may stand nowhere but in a request's signature.
	testSecretKey    = "kaPdRgUjXn2r5u8x/A?D(G+KbPeShVmYq3t6w9y$"
	testSessionToken = "IQoJb3JpZ2luX2VjEJrCanarySessionTokenOfTheTests0123456789"
)

// cloud is the AWS of one test: hosts, names of its own in the server that the tests share, a proxy
// that the provider goes through, and clients that bypass it.
type cloud struct {
	*fleet
	proxy      *moto.Proxy
	secrets    *secretsmanager.Client
	parameters *ssm.Client
	name       string // of the secret
	prefix     string // of the parameter
}

var clouds atomic.Int64

func newCloud(t *testing.T) *cloud {
	t.Helper()
	server := acctest.SharedMoto(t)
	number := clouds.Add(1)
	direct := aws.Config{
		Region: testRegion, BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTHETEST", "secret", ""),
	}
	return &cloud{
		fleet: newFleet(t), proxy: server.Proxy(t),
		secrets: secretsmanager.NewFromConfig(direct), parameters: ssm.NewFromConfig(direct),
		name: fmt.Sprintf("billet/acc-%d", number), prefix: fmt.Sprintf("/billet/acc-%d", number),
	}
}

// place is one kind of store: how a configuration names it, how a test reaches it behind the
// provider's back, and what is asked of it.
type place struct {
	kind   string
	object string // of the configuration
	direct wireshare.Withdrawer
	read   string   // the one call of a refresh
	absent []string // the calls of a read that finds nothing
	writes []string // all calls that write
}

func (c *cloud) secret(more ...string) place {
	return place{
		kind:   secretsManager,
		object: fmt.Sprintf(`{ secrets_manager = { secret_id = %q, %s } }`, c.name, strings.Join(more, ", ")),
		direct: secretsmanagerstore.New(c.secrets, secretsmanagerstore.Config{SecretID: c.name}),
		read:   "GetSecretValue", absent: []string{"GetSecretValue", "DescribeSecret"},
		writes: []string{"CreateSecret", "PutSecretValue", "UpdateSecretVersionStage", "DeleteSecret"},
	}
}

func (c *cloud) parameter(more ...string) place {
	return place{
		kind:   ssmParameter,
		object: fmt.Sprintf(`{ ssm_parameter = { prefix = %q, %s } }`, c.prefix, strings.Join(more, ", ")),
		direct: parameterstore.New(c.parameters, parameterstore.Config{Prefix: c.prefix}),
		read:   "GetParameter", absent: []string{"GetParameter"},
		writes: []string{"PutParameter", "DeleteParameter"},
	}
}

// inBoth runs the test once for each of the two stores.
func inBoth(t *testing.T, test func(t *testing.T, c *cloud, p place)) {
	t.Run(secretsManager, func(t *testing.T) {
		c := newCloud(t)
		test(t, c, c.secret())
	})
	t.Run(ssmParameter, func(t *testing.T) {
		c := newCloud(t)
		test(t, c, c.parameter())
	})
}

// provider is the provider's block: all three services are at the proxy.
func (c *cloud) provider(more string) string {
	return fmt.Sprintf(`
provider "billet" {
  aws = {
    region     = %q
    access_key = "AKIDPROVIDER"
    secret_key = %q
    token      = %q
    endpoints  = { secretsmanager = %[4]q, ssm = %[4]q, sts = %[4]q }
    %[5]s
  }
}`, testRegion, testSecretKey, testSessionToken, c.proxy.URL, more)
}

// authority is the resource alone, for a provider block of the test's own.
func (c *cloud) authority(p place, dir, arguments string) string {
	return fmt.Sprintf(`
resource "billet_wire_authority" "test" {
  deployment = %q
  state_dir  = %q
  store      = %s
  %s
}`, wirecerttest.Deployment, dir, p.object, arguments)
}

// in is a whole configuration. Without validating the credentials the only calls are the store's.
func (c *cloud) in(p place, dir, arguments string) string {
	return c.provider("skip_credentials_validation = true") + c.authority(p, dir, arguments)
}

// publishTo puts what the host holds into the store, behind Terraform's back.
func (c *cloud) publishTo(p place, dir string) {
	c.t.Helper()
	if err := wireshare.Publish(context.Background(), p.direct, dir, wirecerttest.Deployment); err != nil {
		c.t.Fatal(err)
	}
}

// holdsPublished is the document that is published, "" if there is none.
func (c *cloud) holdsPublished(p place) string {
	c.t.Helper()
	body, err := p.direct.GetAuthority(context.Background())
	if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
		c.t.Fatal(err)
	}
	return string(body)
}

// publishedPrint is the fingerprint of what is published, "" if nothing is.
func (c *cloud) publishedPrint(p place) string {
	c.t.Helper()
	side, err := wireshare.ObservePublished(context.Background(), p.direct, wirecerttest.Deployment)
	if err != nil || side.State == wireshare.Unreadable {
		c.t.Fatal(err, side.Reason)
	}
	return side.Info.Fingerprint
}

// asked fails unless exactly these calls were made since the last time, and forgets them.
func (c *cloud) asked(want ...string) {
	c.t.Helper()
	if got := c.proxy.Calls(); !slices.Equal(got, want) {
		c.t.Errorf("asked %v, want %v", got, want)
	}
	c.proxy.Forget()
}

// wroteNothing fails if a call was made that writes.
func (c *cloud) wroteNothing(p place) {
	c.t.Helper()
	for _, call := range c.proxy.Calls() {
		if slices.Contains(p.writes, call) {
			c.t.Errorf("asked %s", call)
		}
	}
}

// refusesIn plans the configuration, expects the refusal, and that nothing was touched.
func (c *cloud) refusesIn(p place, dir, arguments string, parts ...string) {
	c.t.Helper()
	before := tree(c.t, dir)
	c.proxy.Forget()
	run(c.t, resource.TestStep{Config: c.in(p, dir, arguments), ExpectError: says(parts...)})
	c.wroteNothing(p)
	if tree(c.t, dir) != before {
		c.t.Error("the refusal touched the host")
	}
}

// after has the fault act only once the operation was asked for.
func after(operation string, fault moto.Fault) []moto.Fault {
	var reached atomic.Bool
	when := fault.When
	fault.When = func(x *moto.Exchange) bool {
		return reached.Load() && (when == nil || when(x))
	}
	return []moto.Fault{fault, {Operation: operation, Act: func(x *moto.Exchange) moto.Answer {
		reached.Store(true)
		return x.Forward()
	}}}
}

// overhear keeps the bodies of requests, of these operations or of all, and changes nothing.
func overhear(bodies *[]string, operations ...string) moto.Fault {
	return moto.Fault{When: func(x *moto.Exchange) bool {
		if len(operations) == 0 || slices.Contains(operations, x.Operation) {
			*bodies = append(*bodies, string(x.Request))
		}
		return false
	}}
}

// documentOf is the document that publishes what the host holds.
func (c *cloud) documentOf(dir string) string {
	c.t.Helper()
	state, err := wirecert.Read(dir, wirecerttest.Deployment)
	if err != nil || state.Authority == nil {
		c.t.Fatal("the host holds no authority: ", err)
	}
	body, err := wireshare.EncodeDocument(state.Authority, wirecerttest.Deployment, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}
