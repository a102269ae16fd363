package secretsmanagerstore

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Config says which secret the store is, and how to create it.
type Config struct {
	// SecretID is the secret's name or its full ARN. By ARN the secret must exist already.
	SecretID string
	// KMSKeyID, Description and the tags are used when the store creates the secret, and are
	// never applied to one that exists. Tags win over DefaultTags. An empty KMSKeyID is the
	// account's own key for Secrets Manager.
	KMSKeyID          string
	Description       string
	Tags, DefaultTags map[string]string
	// Region is where the calls go, for messages and to notice an ARN of another region. It may
	// be empty.
	Region string
	// CallerAccount is the account that the credentials belong to, if known. A key named without
	// its account is looked for there.
	CallerAccount string
	// Writable says that this secret took a publish before, so that it is no replica: CheckPublish
	// then makes no call.
	Writable bool
	// RecoveryDays is the recovery window of Delete, 7 to 30. 0: 30.
	RecoveryDays int
	// Sleep waits between reads. nil: real time.
	Sleep awscall.Sleep
}

// ConfigError is a fault of one field of the configuration.
type ConfigError struct {
	// Attribute is "secret_id", "kms_key_id", "tags" or "recovery_window".
	Attribute string
	Problem   string
	Cure      string
}

// Error names the attribute, the problem and the cure.
func (e *ConfigError) Error() string {
	return e.Attribute + ": " + e.Problem + ". " + e.Cure
}

// Limits of the service.
const (
	nameLimit       = 512
	tagLimit        = 50
	tagKeyLimit     = 128
	tagValueLimit   = 256
	defaultRecovery = 30
	leastRecovery   = 7
	arnParts        = 7
)

var (
	nameRule = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`)
	// The service ends each ARN with a hyphen and six characters of its own choice.
	suffixRule  = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)
	accountRule = regexp.MustCompile(`^\d{12}$`)
)

// arn is a secret's ARN in parts.
type arn struct{ region, account, resource string }

// parseARN takes an ARN apart; ok is false if text is not one of a secret.
func parseARN(text string) (parsed arn, ok bool) {
	parts := strings.SplitN(text, ":", arnParts)
	if len(parts) != arnParts || parts[0] != "arn" || parts[2] != "secretsmanager" ||
		parts[5] != "secret" || parts[3] == "" || !accountRule.MatchString(parts[4]) {
		return arn{}, false
	}
	return arn{region: parts[3], account: parts[4], resource: parts[6]}, true
}

// RegionOf is the region that the full ARN of a secret names, "" for anything else.
func RegionOf(secretID string) string {
	parsed, _ := parseARN(secretID)
	return parsed.region
}

func isARN(text string) bool { return strings.HasPrefix(strings.ToLower(text), "arn:") }

// Validate checks what needs no call. Each operation of the Store checks it again.
//
// An ARN without the hyphen and six characters at its end is a partial one: the service then
// searches, and can find another secret whose name begins the same. An ARN that has such an end
// only because the name itself does ("…:secret:my-secret") cannot be told from a whole one by its
// text; the store compares it with the ARN that the service answers. A plain name with such an
// end is fine: the service finds it by equality.
func (c Config) Validate() error {
	if err := c.validateID(); err != nil {
		return err
	}
	if err := c.validateKey(); err != nil {
		return err
	}
	if c.RecoveryDays != 0 && (c.RecoveryDays < leastRecovery || c.RecoveryDays > defaultRecovery) {
		return &ConfigError{"recovery_window", fmt.Sprintf("%d days", c.RecoveryDays),
			"The service takes 7 to 30 days"}
	}
	return c.validateTags()
}

func (c Config) validateID() error {
	if !isARN(c.SecretID) {
		switch {
		case c.SecretID == "":
			return &ConfigError{"secret_id", "it is empty", "Give the secret's name or full ARN"}
		case len(c.SecretID) > nameLimit:
			return &ConfigError{"secret_id",
				fmt.Sprintf("a name of %d characters", len(c.SecretID)),
				fmt.Sprintf("The service takes %d at most", nameLimit)}
		case !nameRule.MatchString(c.SecretID):
			return &ConfigError{"secret_id", "a name with a character the service refuses",
				"Names are made of ASCII letters, digits and /_+=.@-"}
		}
		return nil
	}
	parsed, ok := parseARN(c.SecretID)
	switch {
	case !ok || !nameRule.MatchString(parsed.resource):
		return &ConfigError{"secret_id", "it begins like an ARN but is not one of a secret",
			"The form is arn:PARTITION:secretsmanager:REGION:ACCOUNT:secret:NAME-SUFFIX"}
	case !suffixRule.MatchString(parsed.resource):
		return &ConfigError{"secret_id", "a partial ARN: the hyphen and six characters that " +
			"the service adds after the name are missing",
			"Give the full ARN as DescribeSecret shows it, or the plain name"}
	case c.Region != "" && parsed.region != c.Region:
		return &ConfigError{"secret_id", fmt.Sprintf("an ARN of region %s, but calls go to %s",
			parsed.region, c.Region), "Set the region of this store to the ARN's"}
	}
	return nil
}

// validateKey refuses a key that would be looked for in the wrong account: without an account in
// its name the service takes the caller's, and the other account then cannot decrypt.
func (c Config) validateKey() error {
	parsed, whole := parseARN(c.SecretID)
	if c.KMSKeyID == "" || isARN(c.KMSKeyID) || !whole || c.CallerAccount == "" ||
		parsed.account == c.CallerAccount {
		return nil
	}
	return &ConfigError{"kms_key_id", fmt.Sprintf("a key without its account beside a secret of "+
		"account %s: it would be looked for in account %s", parsed.account, c.CallerAccount),
		"Give the full ARN of the key"}
}

func (c Config) validateTags() error {
	tags := c.tags()
	if len(tags) > tagLimit {
		return &ConfigError{"tags", fmt.Sprintf("%d tags", len(tags)),
			fmt.Sprintf("The service takes %d at most", tagLimit)}
	}
	for key, value := range tags {
		if key == "" || len(key) > tagKeyLimit || len(value) > tagValueLimit {
			return &ConfigError{"tags", fmt.Sprintf("the tag %q is too long or has no name", key),
				"A key has 1 to 128 characters and a value at most 256"}
		}
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return &ConfigError{"tags", fmt.Sprintf("the tag %q is reserved", key),
				"Tags that begin with aws: are the service's own"}
		}
	}
	return nil
}

func (c Config) tags() map[string]string {
	tags := maps.Clone(c.DefaultTags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, c.Tags)
	return tags
}
