package parameterstore

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

var server *moto.Server

func TestMain(m *testing.M) {
	started, err := moto.Start(context.Background(), os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server = started
	code := m.Run()
	server.Close()
	os.Exit(code)
}

const region = "eu-west-1"

// onlyHost fails every request to another host than the endpoint's.
type onlyHost struct {
	t    testing.TB
	host string
	base http.RoundTripper
}

func (o onlyHost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != o.host {
		o.t.Errorf("a request went to %s", r.URL.Host)
	}
	return o.base.RoundTrip(r)
}

// clientOf returns the real client with the SDK's retries, which only wait less.
func clientOf(t testing.TB, endpoint string) *ssm.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return ssm.New(ssm.Options{
		Region:       region,
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: &http.Client{Transport: onlyHost{
			t: t, host: strings.TrimPrefix(endpoint, "http://"), base: transport,
		}},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 6
			o.RateLimiter = ratelimit.None
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) {
				return time.Millisecond, nil
			})
		}),
	})
}

// bench is a proxy of the test, a client that bypasses it, and a prefix.
type bench struct {
	proxy  *moto.Proxy
	direct *ssm.Client
	prefix string
	slept  *atomic.Int64 // the injected waiting, in nanoseconds
}

var serial atomic.Int64

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{
		proxy:  server.Proxy(t),
		direct: clientOf(t, server.URL),
		prefix: fmt.Sprintf("/billet/test-%d", serial.Add(1)),
		slept:  new(atomic.Int64),
	}
}

func (b *bench) store(t testing.TB, change ...func(*Config)) *Store {
	t.Helper()
	config := Config{Prefix: b.prefix, Region: region, Sleep: b.sleep}
	for _, apply := range change {
		apply(&config)
	}
	return New(clientOf(t, b.proxy.URL), config)
}

// other is another writer's store, which bypasses the proxy.
func (b *bench) other() *Store {
	return New(b.direct, Config{Prefix: b.prefix, Region: region, Sleep: b.sleep})
}

func (b *bench) sleep(ctx context.Context, d time.Duration) error {
	b.slept.Add(int64(d))
	return ctx.Err()
}

// history asks the server itself for the value of each version, oldest first.
func (b *bench) history(t testing.TB) []string {
	t.Helper()
	name, decrypt := b.prefix+Leaf, true
	output, err := b.direct.GetParameterHistory(t.Context(),
		&ssm.GetParameterHistoryInput{Name: &name, WithDecryption: &decrypt})
	if err != nil {
		return nil
	}
	values := []string{}
	for _, version := range output.Parameters {
		values = append(values, aws.ToString(version.Value))
	}
	return values
}

func wantHistory(t testing.TB, b *bench, want ...[]byte) {
	t.Helper()
	got := b.history(t)
	if len(got) != len(want) {
		t.Errorf("%d versions, want %d", len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != string(want[i]) {
			t.Errorf("version %d holds another document", i+1)
		}
	}
}

func plainParameter(t testing.TB, b *bench, value string) {
	t.Helper()
	name := b.prefix + Leaf
	if _, err := b.direct.PutParameter(t.Context(), &ssm.PutParameterInput{
		Name: &name, Value: &value, Type: types.ParameterTypeString,
	}); err != nil {
		t.Fatal(err)
	}
}

// publish is a read and a publish that must work; it returns the version after it.
func publish(t testing.TB, store *Store, body []byte) wireshare.Version {
	t.Helper()
	if err := store.PutAuthority(t.Context(), body); err != nil {
		t.Fatalf("publish: %v", err)
	}
	_, version, err := store.ReadAuthority(t.Context())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return version
}

// document is opaque to the store; it looks like key material so that leaks can be found.
func document(tag string) []byte {
	return []byte(`{"deployment":"0123456789abcdef0123456789abcdef","files":{"ca.key":"` +
		strings.Repeat("S2V5TWF0ZXJpYWw/"+tag, 8) + `"}}`)
}

func wantCalls(t testing.TB, b *bench, want ...string) {
	t.Helper()
	got := strings.Join(b.proxy.Calls(), " ")
	if got != strings.Join(want, " ") {
		t.Errorf("calls: %s; want %s", got, strings.Join(want, " "))
	}
}
