package connect

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// DefaultRequestTimeout bounds one request, from the dial to the last byte of the answer, when
// request_timeout is not set.
const DefaultRequestTimeout = 30 * time.Second

// ErrNotConfigured is in the chain of what Open returns when neither the configuration nor the
// environment says which cluster is meant. There is no default: a guessed cluster is a wrong one.
var ErrNotConfigured = errors.New("no Kubernetes cluster is configured")

// Kubernetes is the provider's kubernetes object. A zero field is one that is not set.
type Kubernetes struct {
	Host, Username        string
	Password, Token       Secret
	Insecure              *bool
	TLSServerName         string
	ClientCertificate     string // PEM
	ClientKey             Secret // PEM
	ClusterCACertificate  string // PEM
	ConfigPath            string
	ConfigPaths           []string
	ConfigContext         string
	ConfigContextAuthInfo string
	ConfigContextCluster  string
	ProxyURL              string // may carry the proxy's user and password
	Exec                  *Exec
	InCluster             bool
	AllowedClusterUIDs    []string      // nil: every cluster; empty but not nil: a fault
	RequestTimeout        time.Duration // 0: DefaultRequestTimeout

	// Unknown names the attributes ("client_key", "exec.command") that the configuration sets to
	// a value that is not known yet. Validate takes them neither for set nor for missing; Open
	// refuses them.
	Unknown []string
}

// Exec is the exec object: a program that prints an ExecCredential on its standard output.
type Exec struct {
	APIVersion string
	Command    string
	Args       []string
	Env        map[string]Secret
}

// settingsText is what printers show for the whole object: arguments of the plugin, and the
// password within a proxy URL, are credentials that no type of their own guards.
const settingsText = "(kubernetes settings)"

// Format implements fmt.Formatter and shows none of the settings.
func (k Kubernetes) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, settingsText) }

// MarshalJSON implements json.Marshaler and shows none of the settings.
func (k Kubernetes) MarshalJSON() ([]byte, error) { return []byte(`"` + settingsText + `"`), nil }

// LogValue implements slog.LogValuer and shows none of the settings.
func (k Kubernetes) LogValue() slog.Value { return slog.StringValue(settingsText) }

// Format implements fmt.Formatter and shows the command's name only.
func (e Exec) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "(exec %q)", e.Command) }

// SettingError is a fault of one setting.
type SettingError struct {
	// Attribute is the path within the kubernetes object, such as "exec.api_version". It is
	// empty when the fault is that nothing is set.
	Attribute string
	// Variable is the environment variable that the value came from, if it came from one.
	Variable string
	// Problem says what is wrong and where; it never quotes a value that can be a secret.
	Problem string
	// Cure says what to do about it. It may be empty.
	Cure string

	cause error
}

// Error names the place, the problem and the cure.
func (e *SettingError) Error() string {
	place := e.Attribute
	switch {
	case place == "":
		place = "kubernetes"
	case e.Variable != "":
		place += " (from the environment variable " + e.Variable + ")"
	}
	text := place + ": " + e.Problem
	if e.Cure != "" {
		text += ". " + e.Cure
	}
	return text
}

// Unwrap gives the cause: ErrNotConfigured, or the error of the file system.
func (e *SettingError) Unwrap() error { return e.cause }

// SettingErrors are all the faults found, in the order of the attributes.
type SettingErrors []*SettingError

// Error puts each fault on a line.
func (e SettingErrors) Error() string {
	lines := make([]string, len(e))
	for i, fault := range e {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first fault and errors.Is each cause.
func (e SettingErrors) Unwrap() []error {
	faults := make([]error, len(e))
	for i, fault := range e {
		faults[i] = fault
	}
	return faults
}
