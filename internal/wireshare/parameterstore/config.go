package parameterstore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Config says which parameter the store is.
type Config struct {
	// Prefix is the path above the parameter, such as "/billet/prod".
	Prefix string
	// KMSKeyID is the key of every publish. Empty: the account's own key for Parameter Store,
	// also when the parameter had another one, because the service keeps none. Give the key that
	// billet is configured with.
	KMSKeyID string
	// Region is where the calls go, for messages. It may be empty.
	Region string
	// Sleep waits between reads. nil: real time.
	Sleep awscall.Sleep
}

// ConfigError is a fault of one field of the configuration.
type ConfigError struct {
	// Attribute is "prefix".
	Attribute string
	Problem   string
	Cure      string
}

// Error names the attribute, the problem and the cure.
func (e *ConfigError) Error() string {
	return e.Attribute + ": " + e.Problem + ". " + e.Cure
}

// Leaf ends the parameter's name, behind the prefix: what billet itself uses.
const Leaf = "/node-wire-authority"

// Limits of the service.
const (
	nameLimit  = 1011
	levelLimit = 15
)

var (
	prefixRule   = regexp.MustCompile(`^(/[A-Za-z0-9_.-]+)+$`)
	reservedRule = regexp.MustCompile(`^/(?i:aws|ssm)`)
)

// Name is the parameter's name.
func (c Config) Name() string { return c.Prefix + Leaf }

// Validate checks what needs no call. Each operation of the Store checks it again.
func (c Config) Validate() error {
	fault := func(problem, cure string) error { return &ConfigError{"prefix", problem, cure} }
	switch {
	case c.Prefix == "":
		return fault("it is empty", "Give the path that billet uses, such as /billet")
	case strings.HasPrefix(c.Prefix, "arn:"):
		return fault("an ARN", "Give the path alone, such as /billet")
	case !strings.HasPrefix(c.Prefix, "/"):
		return fault("it does not begin with a slash", "Write /"+c.Prefix)
	case strings.HasSuffix(c.Prefix, "/"):
		return fault("it ends with a slash", "The slash before node-wire-authority is added")
	case strings.HasSuffix(c.Prefix, Leaf):
		return fault("it ends with "+Leaf+", which is added", "Give the path above it")
	case !prefixRule.MatchString(c.Prefix):
		return fault("an empty level, or a character the service refuses",
			"Levels are made of ASCII letters, digits and _.- with one slash between them")
	case reservedRule.MatchString(c.Prefix):
		return fault("the service keeps names that begin with aws or ssm to itself",
			"Begin with another word")
	case len(c.Name()) > nameLimit:
		return fault(fmt.Sprintf("a parameter name of %d characters", len(c.Name())),
			fmt.Sprintf("The service takes %d at most", nameLimit))
	case strings.Count(c.Name(), "/") > levelLimit:
		return fault(fmt.Sprintf("a parameter name of %d levels", strings.Count(c.Name(), "/")),
			fmt.Sprintf("The service takes %d at most", levelLimit))
	}
	return nil
}
