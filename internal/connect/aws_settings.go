package connect

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// AWS is the provider's aws object. A zero field is one that is not set.
//
// Attributes win over the environment, and the environment over the shared files, as with every
// AWS tool. Of the ways to say who is asking, the first that is set counts: access_key with
// secret_key; assume_role_with_web_identity; profile; the environment; the default profile; the
// container's or the instance's role. assume_role goes on from there.
type AWS struct {
	Region  string
	Profile string

	AccessKey        string
	SecretKey, Token Secret

	// Files beside which no others are read. "~" is expanded; each must exist.
	SharedConfigFiles, SharedCredentialsFiles []string

	// AssumeRole are roles taken one after another, each with the credentials of the one before.
	AssumeRole                []AssumeRole
	AssumeRoleWithWebIdentity *WebIdentity

	// Account ids, one of which the credentials must, or none of which they may, belong to.
	AllowedAccountIDs, ForbiddenAccountIDs []string

	Endpoints Endpoints

	// CustomCABundle is the path of a PEM file of authorities that replace the system's.
	CustomCABundle string
	// HTTPProxy is for http addresses and HTTPSProxy for https ones; either may carry the proxy's
	// user and password.
	HTTPProxy, HTTPSProxy string
	NoProxy               string
	Insecure              bool

	// MaxRetries is how often a failed request is sent again. nil: the environment's
	// AWS_MAX_ATTEMPTS less one, the profile's, or DefaultMaxRetries.
	MaxRetries *int
	// RetryMode is "standard" or "adaptive". Empty: AWS_RETRY_MODE, the profile's, or standard.
	RetryMode string

	UseFIPSEndpoint, UseDualStackEndpoint bool

	// SkipCredentialsValidation leaves out the one call to STS that Open makes.
	SkipCredentialsValidation bool
	// SkipMetadataAPICheck never asks the instance metadata service for credentials.
	SkipMetadataAPICheck bool
	// SkipRequestingAccountID leaves the account unknown; no account guard can be set beside it.
	SkipRequestingAccountID bool

	DefaultTags map[string]string
	// UserAgent are products appended to the user agent.
	UserAgent []string

	// Unknown names the attributes ("secret_key", "endpoints.ssm") that the configuration sets to
	// a value that is not known yet. Validate takes them for set and does not judge their
	// content; Open refuses them.
	Unknown []string
}

// DefaultMaxRetries is how often a failed request is sent again if nothing else is configured.
const DefaultMaxRetries = 5

// AssumeRole is one role to take.
type AssumeRole struct {
	RoleARN           string
	SessionName       string
	ExternalID        Secret // shared between two parties, so kept out of every message
	Duration          time.Duration
	Policy            string
	PolicyARNs        []string
	SourceIdentity    string
	Tags              map[string]string
	TransitiveTagKeys []string
}

// WebIdentity is a role taken with a token of an identity provider: Token, or the file that holds
// one and is read again whenever the credentials are renewed.
type WebIdentity struct {
	RoleARN     string
	SessionName string
	Token       Secret
	TokenFile   string
	Duration    time.Duration
	Policy      string
	PolicyARNs  []string
}

// Endpoints are the addresses of services. An empty one is not set here and may be by
// AWS_ENDPOINT_URL_SECRETS_MANAGER, AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL_STS or AWS_ENDPOINT_URL,
// unless AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true, or by the profile.
//
// As soon as one of the three is set, wherever, nothing but the addresses set is dialled: a
// service without one is refused with an EndpointError, and STS is not asked who the caller is.
// The instance metadata service then counts as set if AWS_EC2_METADATA_SERVICE_ENDPOINT names it.
type Endpoints struct{ SecretsManager, SSM, STS string }

// awsText is what printers show for the whole object: a proxy URL can carry a password, and no
// type guards it.
const awsText = "(aws settings)"

// Format implements fmt.Formatter and shows none of the settings.
func (a AWS) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, awsText) }

// MarshalJSON implements json.Marshaler and shows none of the settings.
func (a AWS) MarshalJSON() ([]byte, error) { return []byte(`"` + awsText + `"`), nil }

// LogValue implements slog.LogValuer and shows none of the settings.
func (a AWS) LogValue() slog.Value { return slog.StringValue(awsText) }

// AccountError says that the credentials belong to an account that the configuration rules out.
type AccountError struct {
	Account string
	// Allowed is nil if the account is one of ForbiddenAccountIDs.
	Allowed []string
}

// Error names the account and the attribute.
func (e *AccountError) Error() string {
	if e.Allowed == nil {
		return fmt.Sprintf("the credentials belong to account %s, which is one of "+
			"forbidden_account_ids", e.Account)
	}
	return fmt.Sprintf("the credentials belong to account %s, which is not one of "+
		"allowed_account_ids %v", e.Account, e.Allowed)
}

// CredentialsError says that no credentials were found, or that they are not accepted.
type CredentialsError struct {
	Problem string

	cause error
}

// Error says what was tried and the last answer.
func (e *CredentialsError) Error() string { return e.Problem }

// Unwrap gives the SDK's error.
func (e *CredentialsError) Unwrap() error { return e.cause }
