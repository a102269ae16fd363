package connect

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// awsService is one service with an address that can be set.
type awsService struct {
	name     string // in the endpoints object
	variable string
	// attribute picks the service's address from the object.
	attribute func(Endpoints) string
	// configured is the address that the SDK takes from the environment or the profile.
	configured func(aws.Config) *string
}

// awsServices are the services that this provider calls.
var awsServices = [...]awsService{
	{"secretsmanager", "AWS_ENDPOINT_URL_SECRETS_MANAGER",
		func(e Endpoints) string { return e.SecretsManager },
		func(c aws.Config) *string {
			return secretsmanager.NewFromConfig(c).Options().BaseEndpoint
		}},
	{"ssm", "AWS_ENDPOINT_URL_SSM",
		func(e Endpoints) string { return e.SSM },
		func(c aws.Config) *string { return ssm.NewFromConfig(c).Options().BaseEndpoint }},
	{"sts", "AWS_ENDPOINT_URL_STS",
		func(e Endpoints) string { return e.STS },
		func(c aws.Config) *string { return sts.NewFromConfig(c).Options().BaseEndpoint }},
}

// EndpointError says that a request would have gone to a host that is not one of the endpoints
// set. It was not sent, and no name was looked up.
type EndpointError struct {
	Host    string
	Allowed []string
}

// Error names the host, the hosts set, and the cure.
func (e *EndpointError) Error() string {
	return fmt.Sprintf("endpoints are set, so only %s is dialled, and not %s. Set the endpoint of "+
		"this service, too", strings.Join(e.Allowed, ", "), e.Host)
}

// RetryableError tells the SDK not to send the request again.
func (e *EndpointError) RetryableError() bool { return false }

// hostGuard refuses requests to other hosts than those given, once any is given.
type hostGuard struct {
	mu    sync.Mutex
	hosts map[string]bool
}

// allow adds the host of an address.
func (g *hostGuard) allow(address string) {
	parsed, err := url.Parse(address)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hosts == nil {
		g.hosts = map[string]bool{}
	}
	g.hosts[hostPort(parsed)] = true
}

// active reports whether the guard limits anything.
func (g *hostGuard) active() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hosts != nil
}

func (g *hostGuard) check(request *http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hosts == nil || g.hosts[hostPort(request.URL)] {
		return nil
	}
	return &EndpointError{
		Host: request.URL.Host, Allowed: slices.Sorted(maps.Keys(g.hosts)),
	}
}

func hostPort(address *url.URL) string {
	port := address.Port()
	switch {
	case port != "":
	case address.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(address.Hostname()), port)
}

// resolveEndpoints finds the address of each service that has one set, by service name, and
// limits the guard to them. cfg is loaded, with the environment and the profile in it.
func (o *awsOpening) resolveEndpoints(cfg aws.Config) (map[string]string, error) {
	addresses := map[string]string{}
	for _, service := range awsServices {
		address := service.attribute(o.settings.Endpoints)
		if address == "" {
			address = aws.ToString(service.configured(cfg))
			if problem := awsEndpointFault(address); address != "" && problem != "" {
				return nil, &SettingError{
					Attribute: "endpoints." + service.name, Variable: o.endpointVariable(service),
					Problem: problem, Cure: awsEndpointCure,
				}
			}
		}
		if address != "" {
			addresses[service.name] = address
			o.guard.allow(address)
		}
	}
	if !o.guard.active() {
		return addresses, nil
	}
	// Sources of credentials that the environment names by address are set as well.
	for _, variable := range []string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		if address := o.env.get(variable); address != "" {
			o.guard.allow(address)
		}
	}
	return addresses, nil
}

// endpointVariable is the variable that the address came from, "" if it was the profile.
func (o *awsOpening) endpointVariable(service awsService) string {
	for _, variable := range []string{service.variable, "AWS_ENDPOINT_URL"} {
		if o.env.get(variable) != "" {
			return variable
		}
	}
	return ""
}
