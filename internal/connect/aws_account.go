package connect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Account is who asks, and where. Its clients may be used at the same time by many.
type Account struct {
	config    aws.Config
	endpoints map[string]string
	id        string

	mu      sync.Mutex
	clients map[string]*regional
}

// regional are the clients of one region. They are kept: each has connections of its own.
type regional struct {
	secretsManager *secretsmanager.Client
	ssm            *ssm.Client
}

// Region is the configured region.
func (c *Account) Region() string { return c.config.Region }

// ID is the account's number, "" if it was not asked for.
func (c *Account) ID() string { return c.id }

// Target names, for messages, where calls for region go; "" is the configured region.
func (c *Account) Target(region string) string {
	if region == "" {
		region = c.config.Region
	}
	target := "AWS region " + region
	if c.id != "" {
		target = "AWS account " + c.id + ", region " + region
	}
	var addresses []string
	for _, service := range awsServices {
		if address := c.endpoints[service.name]; address != "" {
			addresses = append(addresses, service.name+" at "+address)
		}
	}
	if len(addresses) > 0 {
		target += " (" + strings.Join(addresses, ", ") + ")"
	}
	return target
}

// SecretsManager returns the client for region; "" is the configured region.
func (c *Account) SecretsManager(region string) *secretsmanager.Client {
	return c.in(region).secretsManager
}

// SSM returns the client for region; "" is the configured region.
func (c *Account) SSM(region string) *ssm.Client { return c.in(region).ssm }

func (c *Account) in(region string) *regional {
	if region == "" {
		region = c.config.Region
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.clients[region]; found != nil {
		return found
	}
	made := &regional{
		secretsManager: secretsmanager.NewFromConfig(c.config, func(s *secretsmanager.Options) {
			s.Region = region
			if address := c.endpoints["secretsmanager"]; address != "" {
				s.BaseEndpoint = &address
			}
		}),
		ssm: ssm.NewFromConfig(c.config, func(s *ssm.Options) {
			s.Region = region
			if address := c.endpoints["ssm"]; address != "" {
				s.BaseEndpoint = &address
			}
		}),
	}
	c.clients[region] = made
	return made
}

// identify asks STS who the caller is, and applies the guards on the account. It returns "" when
// nobody needs to know: the validation is left out and there is no guard, or endpoints are set
// and STS is not among them.
func (o *awsOpening) identify(ctx context.Context, cfg aws.Config) (string, error) {
	allowed, forbidden := o.settings.AllowedAccountIDs, o.settings.ForbiddenAccountIDs
	guarded := len(allowed) > 0 || len(forbidden) > 0
	if o.guard.active() && o.endpoints["sts"] == "" {
		if guarded {
			return "", &SettingError{Attribute: "endpoints.sts",
				Problem: "is not set, but the guard on the account needs STS and nothing but the " +
					"endpoints set is dialled", Cure: "Set it, or take the guard away"}
		}
		return "", nil
	}
	if o.settings.SkipCredentialsValidation && !guarded {
		return "", nil
	}
	identity, err := o.sts(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", &CredentialsError{Problem: "STS does not accept the credentials (set " +
			"skip_credentials_validation if it cannot be reached from here): " +
			o.hide.clean(err.Error()), cause: o.harmless(err)}
	}
	account := aws.ToString(identity.Account)
	switch {
	case len(allowed) > 0 && !slices.Contains(allowed, account):
		return "", &AccountError{Account: account, Allowed: allowed}
	case slices.Contains(forbidden, account):
		return "", &AccountError{Account: account}
	case guarded && account == "":
		return "", &CredentialsError{Problem: "the answer of STS names no account"}
	case o.settings.SkipRequestingAccountID:
		return "", nil
	}
	return account, nil
}

// middleware are the steps added to each call: the user agent, and the error that keeps the last
// answer.
func (o *awsOpening) middleware() []func(*middleware.Stack) error {
	return []func(*middleware.Stack) error{keepLastAnswer, o.addUserAgent}
}

// addUserAgent puts the caller's products before the SDK's and the configured ones after.
func (o *awsOpening) addUserAgent(stack *middleware.Stack) error {
	sdk := (*awsmiddleware.RequestUserAgent)(nil).ID()
	if _, there := stack.Build.Get(sdk); !there {
		return nil
	}
	return stack.Build.Insert(middleware.BuildMiddlewareFunc("BilletUserAgent", func(
		ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
	) (middleware.BuildOutput, middleware.Metadata, error) {
		request, ok := in.Request.(*smithyhttp.Request)
		if !ok {
			return middleware.BuildOutput{}, middleware.Metadata{},
				fmt.Errorf("unknown transport type %T", in.Request)
		}
		products := append([]string{o.userAgent, request.Header.Get("User-Agent")},
			o.settings.UserAgent...)
		request.Header.Set("User-Agent", strings.TrimSpace(strings.Join(products, " ")))
		return next.HandleBuild(ctx, in)
	}), sdk, middleware.After)
}
