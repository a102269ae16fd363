package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"
)

// awsOpening is one Open under way.
type awsOpening struct {
	settings  AWS
	env       environment
	userAgent string
	guard     *hostGuard
	endpoints map[string]string // service name to address, of those set
	tokenFile string            // the web identity's, expanded
	hide      redactor
	tune      func(*http.Transport) // for tests
}

// Open loads the settings, the environment and the shared files, finds credentials, takes the
// roles and, unless that is left out, asks STS once who the caller is. It is the first moment at
// which anything of AWS is looked for; the provider calls it when a resource first needs AWS, and
// once. Faults are SettingErrors, a *SettingError, a *CredentialsError or an *AccountError.
//
// lookup reads the variables that this package judges itself. The SDK reads the process's own
// environment besides.
func (a AWS) Open(
	ctx context.Context, lookup func(string) (string, bool), userAgent string,
) (*Account, error) {
	return (&awsOpening{settings: a, env: lookup, userAgent: userAgent}).open(ctx)
}

func (o *awsOpening) open(ctx context.Context) (*Account, error) {
	if faults := o.settings.Validate(); len(faults) > 0 {
		return nil, SettingErrors(faults)
	}
	if len(o.settings.Unknown) > 0 {
		return nil, &SettingError{Attribute: o.settings.Unknown[0],
			Problem: "is not known yet", Cure: "Apply what it depends on first"}
	}
	o.guard = &hostGuard{}
	web := o.settings.AssumeRoleWithWebIdentity
	secrets := []string{o.settings.SecretKey.Reveal(), o.settings.Token.Reveal(),
		o.env.get("AWS_SECRET_ACCESS_KEY"), o.env.get("AWS_SESSION_TOKEN")}
	if web != nil {
		secrets = append(secrets, web.Token.Reveal())
	}
	o.hide = newRedactor(secrets...)
	if err := o.checkEnvironmentKeys(); err != nil {
		return nil, err
	}
	cfg, err := o.load(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		return nil, &SettingError{Attribute: "region",
			Problem: "no region: neither the attribute nor AWS_REGION, AWS_DEFAULT_REGION or the " +
				"profile gives one", Cure: "Set region"}
	}
	if err := o.takeRoles(ctx, &cfg); err != nil {
		return nil, err
	}
	account, err := o.identify(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Account{config: cfg, endpoints: o.endpoints, id: account,
		clients: map[string]*regional{}}, nil
}

// load reads everything twice. The first time without credentials, to learn what the environment
// and the profile say about addresses and retries; the second time with clients for credentials
// that keep to it.
func (o *awsOpening) load(ctx context.Context) (aws.Config, error) {
	first, err := o.loadWith(ctx, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	if err != nil {
		return aws.Config{}, err
	}
	if o.endpoints, err = o.resolveEndpoints(first); err != nil {
		return aws.Config{}, err
	}
	metadata := imds.NewFromConfig(first, func(m *imds.Options) {
		// Away from an instance nothing answers there, and each connection that does not come
		// about costs a quarter of a second: only an answer is worth another attempt.
		m.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.Retryables = []retry.IsErrorRetryable{
				retry.NoRetryCanceledError{},
				retry.RetryableHTTPStatusCode{Codes: retry.DefaultRetryableHTTPStatusCodes},
			}
		})
		if o.settings.SkipMetadataAPICheck {
			m.ClientEnableState = imds.ClientDisabled
		}
	})
	options := []func(*config.LoadOptions) error{
		config.WithRetryer(o.retryer(ctx, first.ConfigSources)),
		config.WithAPIOptions(o.middleware()),
		config.WithEC2RoleCredentialOptions(func(r *ec2rolecreds.Options) { r.Client = metadata }),
	}
	if own := o.ownCredentials(); own != nil {
		options = append(options, config.WithCredentialsProvider(own))
	}
	return o.loadWith(ctx, options...)
}

func (o *awsOpening) loadWith(
	ctx context.Context, more ...func(*config.LoadOptions) error,
) (aws.Config, error) {
	options, err := o.files()
	if err != nil {
		return aws.Config{}, err
	}
	bundle, err := o.caBundle()
	if err != nil {
		return aws.Config{}, err
	}
	if bundle != nil {
		options = append(options, config.WithCustomCABundle(bundle))
	}
	if o.settings.UseFIPSEndpoint {
		options = append(options, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
	if o.settings.UseDualStackEndpoint {
		options = append(options,
			config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	}
	options = append(options,
		config.WithRegion(o.settings.Region),
		config.WithSharedConfigProfile(o.settings.Profile),
		config.WithHTTPClient(o.httpClient()),
		// No request, response or credential reaches a log, whatever the environment asks for.
		config.WithLogger(logging.Nop{}),
		config.WithClientLogMode(0),
		// The mode "auto" asks the metadata service where it is.
		config.WithDefaultsMode(aws.DefaultsModeLegacy),
	)
	cfg, err := config.LoadDefaultConfig(ctx, append(options, more...)...)
	if err != nil {
		return aws.Config{}, o.loadFault(err)
	}
	return cfg, nil
}

// files are the shared files that the configuration names. The SDK overlooks one that is missing.
func (o *awsOpening) files() ([]func(*config.LoadOptions) error, error) {
	var options []func(*config.LoadOptions) error
	for _, list := range []struct {
		attribute string
		paths     []string
		use       func([]string) config.LoadOptionsFunc
	}{
		{"shared_config_files", o.settings.SharedConfigFiles, config.WithSharedConfigFiles},
		{"shared_credentials_files", o.settings.SharedCredentialsFiles,
			config.WithSharedCredentialsFiles},
	} {
		var paths []string
		for _, path := range list.paths {
			path, err := o.file(list.attribute, path)
			if err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
		if len(paths) > 0 {
			options = append(options, list.use(paths))
		}
	}
	if web := o.settings.AssumeRoleWithWebIdentity; web != nil && web.TokenFile != "" {
		path, err := o.file("assume_role_with_web_identity.web_identity_token_file", web.TokenFile)
		if err != nil {
			return nil, err
		}
		o.tokenFile = path
	}
	return options, nil
}

// file expands the path and makes sure that a file is there.
func (o *awsOpening) file(attribute, path string) (string, error) {
	path, found := expandHome(path, o.env)
	if found.found() {
		return "", &SettingError{Attribute: attribute, Problem: found.problem, Cure: found.cure}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", &SettingError{Attribute: attribute, Problem: "cannot be used: " + err.Error(),
			Cure: "Correct the path or leave it out", cause: err}
	case info.IsDir():
		return "", &SettingError{Attribute: attribute, Problem: path + " is a directory",
			Cure: "Give the path of a file"}
	}
	return path, nil
}

// loadFault explains an error of the SDK's loader.
func (o *awsOpening) loadFault(err error) error {
	var missing config.SharedConfigProfileNotExistError
	if errors.As(err, &missing) {
		profile, variable := o.settings.Profile, ""
		if profile == "" {
			variable = "AWS_PROFILE"
			profile = o.env.get(variable)
		}
		return &SettingError{Attribute: "profile", Variable: variable, cause: err,
			Problem: fmt.Sprintf("there is no profile %q in the shared files", profile),
			Cure:    "No other profile is taken in its place"}
	}
	return &CredentialsError{
		Problem: "the AWS configuration cannot be loaded: " + o.hide.clean(err.Error()),
		cause:   o.harmless(err),
	}
}
