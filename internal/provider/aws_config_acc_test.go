package provider

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/secretsmanagerstore"
)

// forbiddenMachine is one that nobody may call: each connection fails the test. It returns the variables
// that make it the proxy of every other host, and the metadata service.
func forbiddenMachine(t *testing.T) (address string, variables []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Error("a host was dialled that nobody named")
			_ = connection.Close()
		}
	})
	t.Cleanup(func() { _ = listener.Close(); accepting.Wait() })
	address = "http://" + listener.Addr().String()
	return address, []string{
		"HTTPS_PROXY=" + address, "HTTP_PROXY=" + address, "NO_PROXY=", "https_proxy=", "http_proxy=", "no_proxy=",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + address,
	}
}

// S15: nothing of AWS is looked for while no store of AWS is used, whatever its object says.
func TestAccProvider_looks_for_nothing_of_AWS_that_no_store_needs(t *testing.T) {
	for name, test := range map[string]struct{ object, profile string }{
		"not configured":     {"", "AWS_PROFILE="},
		"configured":         {fmt.Sprintf("aws = { region = %q }", testRegion), "AWS_PROFILE="},
		"configured wrongly": {`aws = { profile = "missing" }`, "AWS_PROFILE=missing"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			address, variables := forbiddenMachine(t)
			s := newSession(t, "provider \"billet\" {\n"+test.object+"\n}\n"+f.config(f.host(), ""),
				append(variables, "AWS_ENDPOINT_URL="+address, test.profile, "AWS_REGION="+testRegion,
					"AWS_ACCESS_KEY_ID=AKIDENV", "AWS_SECRET_ACCESS_KEY=x")...)
			s.apply(0)
			s.plan(empty)
		})
	}
}

// S15: the mirror case. The configuration of Kubernetes is not even read.
func TestAccProvider_looks_for_nothing_of_Kubernetes_that_only_AWS_needs(t *testing.T) {
	c := newCloud(t)
	address, variables := forbiddenMachine(t)
	s := newSession(t, c.in(c.secret(), c.host(), ""), append(variables,
		"KUBE_HOST="+address, "KUBE_CONFIG_PATH=/nowhere/config", "KUBECONFIG=/nowhere/config")...)
	s.apply(0)
	s.plan(empty)
}

// S17: nothing but the endpoints set is dialled; an attribute beats the environment.
func TestAccProvider_dials_nothing_but_the_endpoints_that_are_set(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		address, variables := forbiddenMachine(t)
		service := map[string]string{secretsManager: "secretsmanager", ssmParameter: "ssm"}[p.kind]
		variable := map[string]string{
			secretsManager: "AWS_ENDPOINT_URL_SECRETS_MANAGER", ssmParameter: "AWS_ENDPOINT_URL_SSM",
		}[p.kind]
		keys := []string{"AWS_ACCESS_KEY_ID=AKIDENV", "AWS_SECRET_ACCESS_KEY=" + testSecretKey,
			"AWS_REGION=" + testRegion}
		object := func(endpoints string) string {
			return "provider \"billet\" {\n  aws = {" + endpoints + "}\n}\n" + c.authority(p, c.host(), "")
		}
		for name, test := range map[string]struct {
			config    string
			variables []string
		}{
			"one attribute": {object(fmt.Sprintf(`endpoints = { %s = "%s/prefix/" }`, service, c.proxy.URL)), nil},
			"an attribute against the environment": {object(fmt.Sprintf(`endpoints = { %s = %q }`, service, c.proxy.URL)),
				[]string{variable + "=" + address}},
			"the variable of the service": {object(""), []string{variable + "=" + c.proxy.URL}},
			"the variable of all":         {object(""), []string{"AWS_ENDPOINT_URL=" + c.proxy.URL}},
			"the one of the service against that of all": {object("skip_credentials_validation = true"),
				[]string{variable + "=" + c.proxy.URL, "AWS_ENDPOINT_URL=" + address}},
		} {
			c.proxy.Forget()
			s := newSession(t, test.config, slices.Concat(variables, keys, test.variables)...)
			s.apply(0)
			if c.proxy.Count(p.read) == 0 {
				t.Errorf("%s: asked %v", name, c.proxy.Calls())
			}
		}
	})
}

// S17: what needs a service without an address is refused and does not go to AWS.
func TestAccProvider_takes_no_role_where_STS_has_no_endpoint(t *testing.T) {
	c := newCloud(t)
	_, variables := forbiddenMachine(t)
	s := newSession(t, fmt.Sprintf(`
provider "billet" {
  aws = {
    region      = %q
    access_key  = "AKIDPROVIDER"
    secret_key  = %q
    endpoints   = { secretsmanager = %q }
    assume_role = [{ role_arn = "arn:aws:iam::123456789012:role/writer" }]
  }
}`, testRegion, testSecretKey, c.proxy.URL)+c.authority(c.secret(), c.host(), ""), variables...)
	wants(t, s.plan(refused), "sts."+testRegion+".amazonaws.com", "Set the endpoint of this service")
	c.asked()
}

// S17
func TestAccProvider_refuses_an_endpoint_that_is_no_address(t *testing.T) {
	c := newCloud(t)
	for _, bad := range []string{"127.0.0.1:4566", "ftp://127.0.0.1", "http://user:pass@127.0.0.1",
		"http://127.0.0.1/?x=1"} {
		config := strings.ReplaceAll(c.in(c.secret(), c.host(), ""), c.proxy.URL, bad)
		run(t, resource.TestStep{Config: config, ExpectError: says("Invalid connection setting", "endpoints.")})
	}
	c.asked()
}

// signed keeps the key and the region of each request's signature.
func signed(into *overheard) moto.Fault {
	return into.listen(func(x *moto.Exchange) (string, bool) {
		_, rest, _ := strings.Cut(x.Header.Get("Authorization"), "Credential=")
		scope := strings.Split(rest, "/")
		if len(scope) < 3 {
			return "", false
		}
		return scope[0] + " " + scope[2], true
	})
}

// S16: an attribute beats the environment, which beats the shared files.
func TestAccProvider_knows_whose_credentials_and_region_count(t *testing.T) {
	const static = `access_key = "AKIDATTRIBUTE", secret_key = "x"`
	config, credentials := "[default]\nsso_region = us-east-2\n", ""
	for number, profile := range []string{"one", "two"} {
		config += fmt.Sprintf("[profile %s]\nregion = us-west-%d\n", profile, number+1)
		credentials += fmt.Sprintf("[%[1]s]\naws_access_key_id = AKID%[1]s\naws_secret_access_key = x\n", profile)
	}
	for name, test := range map[string]struct {
		object    string
		variables []string
		want      string // the signer, or the parts of an error
	}{
		"a broken SSO stanza beside the environment": {"", []string{"AWS_ACCESS_KEY_ID=AKIDENV",
			"AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=eu-west-2"}, "AKIDENV eu-west-2"},
		"the attribute against the environment": {static + `, region = "eu-west-3"`, []string{
			"AWS_ACCESS_KEY_ID=AKIDENV", "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=eu-west-2"}, "AKIDATTRIBUTE eu-west-3"},
		"a profile of the environment": {"", []string{"AWS_PROFILE=one"}, "AKIDone us-west-1"},
		"the profile attribute against the environment": {`profile = "two"`,
			[]string{"AWS_PROFILE=one"}, "AKIDtwo us-west-2"},
		"a missing profile": {`profile = "three"`, []string{"AWS_PROFILE=one"},
			`Invalid connection setting|profile|"three"`},
		"no region": {static, nil, "Invalid connection setting|region|AWS_REGION"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			home := t.TempDir()
			for file, text := range map[string]string{"config": config, "credentials": credentials} {
				if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, variables := forbiddenMachine(t)
			var signers overheard
			c.proxy.Inject(signed(&signers))
			object := "provider \"billet\" {\n  aws = { " + test.object + " }\n}\n"
			s := newSession(t, object+c.authority(c.secret(), c.host(), ""),
				slices.Concat(variables, test.variables, []string{"AWS_ENDPOINT_URL=" + c.proxy.URL,
					"AWS_CONFIG_FILE=" + filepath.Join(home, "config"),
					"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(home, "credentials")})...)
			if parts := strings.Split(test.want, "|"); len(parts) > 1 {
				wants(t, s.plan(refused), parts...)
				c.asked()
				return
			}
			s.plan(changes)
			if got := signers.distinct(); !slices.Equal(got, []string{test.want}) {
				t.Errorf("signed by %v", got)
			}
		})
	}
}

// The guard on the account stands before the first call to a store.
func TestAccProvider_refuses_an_account_that_is_not_allowed(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		for _, guard := range []string{
			`allowed_account_ids = ["210987654321"]`, `forbidden_account_ids = ["123456789012"]`,
		} {
			dir := c.host()
			c.mint(dir, wirecerttest.Options{})
			before := tree(t, dir)
			run(t, resource.TestStep{Config: c.provider(guard) + c.authority(p, dir, ""),
				ExpectError: says("Refusing this AWS account", "123456789012")})
			c.asked("GetCallerIdentity")
			if tree(t, dir) != before {
				t.Error("the host was touched")
			}
		}
		run(t, resource.TestStep{
			Config: c.provider(`allowed_account_ids = ["123456789012"]`) + c.authority(p, c.host(), ""),
		})
	})
}

// A role is taken for the store's calls, and the region of a store beats the provider's.
func TestAccProvider_takes_the_role_and_the_region_of_the_store(t *testing.T) {
	c := newCloud(t)
	var signers overheard
	c.proxy.Inject(signed(&signers))
	p := c.secret(`region = "us-west-2"`)
	run(t, resource.TestStep{Config: c.provider(`skip_credentials_validation = true
    assume_role = [{ role_arn = "arn:aws:iam::123456789012:role/writer" }]`) + c.authority(p, c.host(), ""),
		ConfigStateChecks: []statecheck.StateCheck{holds("outcome", "minted")}})
	got := signers.distinct()
	if c.proxy.Count("AssumeRole") == 0 || slices.Contains(got, "AKIDPROVIDER us-west-2") {
		t.Errorf("signed by %v", got)
	}
	for _, signer := range got {
		if want := " us-west-2"; signer != "AKIDPROVIDER "+testRegion && !strings.HasSuffix(signer, want) {
			t.Errorf("signed by %s", signer)
		}
	}
	if c.holdsPublished(c.secret()) != "" {
		t.Error("the secret is in the provider's region")
	}
}

// The region of a full ARN counts where none is set.
func TestAccProvider_follows_the_region_of_an_ARN(t *testing.T) {
	c := newCloud(t)
	c.empty()
	arn := *c.described().ARN
	var signers overheard
	c.proxy.Inject(signed(&signers))
	config := strings.Replace(c.in(c.secret(), c.host(), ""), fmt.Sprintf("%q", testRegion), `"us-east-1"`, 1)
	run(t, resource.TestStep{Config: strings.Replace(config, fmt.Sprintf("%q", c.name), fmt.Sprintf("%q", arn), 1)})
	if got := signers.distinct(); !slices.Equal(got, []string{"AKIDPROVIDER " + testRegion}) ||
		secretsmanagerstore.RegionOf(arn) != testRegion {
		t.Errorf("signed by %v", got)
	}
}

func TestAccProvider_names_itself_and_Terraform_to_AWS(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		var agents overheard
		c.proxy.Inject(agents.listen(func(x *moto.Exchange) (string, bool) {
			return x.Header.Get("User-Agent"), true
		}))
		s := newSession(t, c.provider(`user_agent = ["fleet/7"]`)+c.authority(p, c.host(), ""))
		s.apply(0)
		if len(agents.all()) == 0 {
			t.Fatal("nothing was asked")
		}
		line, _, _ := strings.Cut(s.run(0, "version"), "\n")
		want := "terraform-provider-billet/0.1.0 Terraform/" + strings.TrimPrefix(line, "Terraform v") + " "
		if acctest.UnderOpenTofu() {
			want = "terraform-provider-billet/0.1.0 Terraform/" // it names a Terraform that it is like
		}
		for _, agent := range agents.all() {
			if !strings.HasPrefix(agent, want) || !strings.HasSuffix(agent, " fleet/7") {
				t.Errorf("user agent %q, want %q first", agent, want)
			}
		}
	})
}
