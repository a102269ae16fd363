package connect

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	awsRegionRule  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	awsAccountRule = regexp.MustCompile(`^\d{12}$`)
	awsRoleRule    = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::\d{12}:role/.+$`)
	awsSessionRule = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
)

const (
	awsLeastSession = 15 * time.Minute
	awsMostSession  = 12 * time.Hour
)

// Validate reports every fault that shows without environment, files and network.
func (a AWS) Validate() []*SettingError {
	v := awsValidation{a: a}
	v.who()
	v.roles()
	v.accounts()
	v.where()
	v.transport()
	v.retries()
	return v.faults
}

type awsValidation struct {
	a      AWS
	faults []*SettingError
}

func (v *awsValidation) add(attribute, problem, cure string) {
	v.faults = append(v.faults, &SettingError{
		Attribute: attribute, Problem: problem, Cure: cure,
	})
}

// isSet says whether the configuration sets the attribute, to a known value or not.
func (v *awsValidation) isSet(attribute string, known bool) bool {
	return known || slices.Contains(v.a.Unknown, attribute)
}

func (v *awsValidation) who() {
	access := v.isSet("access_key", v.a.AccessKey != "")
	secret := v.isSet("secret_key", v.a.SecretKey.IsSet())
	if access && !secret {
		v.add("access_key", "is set without secret_key", "Set both or neither")
	}
	if secret && !access {
		v.add("secret_key", "is set without access_key", "Set both or neither")
	}
	if v.isSet("token", v.a.Token.IsSet()) && !(access && secret) {
		v.add("token", "is set without access_key and secret_key",
			"A session token belongs to a pair of keys")
	}
	if (access || secret) && v.a.AssumeRoleWithWebIdentity != nil {
		v.add("assume_role_with_web_identity", "cannot be set together with access_key",
			"A web identity takes the place of keys")
	}
	if v.a.Region != "" && !awsRegionRule.MatchString(v.a.Region) {
		v.add("region", fmt.Sprintf("%q is not the name of a region", v.a.Region),
			"Region names look like eu-central-1")
	}
	v.files("shared_config_files", v.a.SharedConfigFiles)
	v.files("shared_credentials_files", v.a.SharedCredentialsFiles)
}

func (v *awsValidation) files(attribute string, paths []string) {
	if slices.Contains(paths, "") {
		v.add(attribute, "has an empty path", "Leave it out")
	}
}

func (v *awsValidation) roles() {
	for i, role := range v.a.AssumeRole {
		v.role(fmt.Sprintf("assume_role[%d]", i), role.RoleARN, role.SessionName, role.Duration)
	}
	web := v.a.AssumeRoleWithWebIdentity
	if web == nil {
		return
	}
	const attribute = "assume_role_with_web_identity"
	v.role(attribute, web.RoleARN, web.SessionName, web.Duration)
	token := v.isSet(attribute+".web_identity_token", web.Token.IsSet())
	file := v.isSet(attribute+".web_identity_token_file", web.TokenFile != "")
	if token == file {
		v.add(attribute, "takes exactly one of web_identity_token and web_identity_token_file",
			"Give the file if something renews the token")
	}
}

func (v *awsValidation) role(attribute, arn, session string, duration time.Duration) {
	if slices.Contains(v.a.Unknown, attribute) {
		return // nothing of this role is known yet
	}
	if !v.isSet(attribute+".role_arn", awsRoleRule.MatchString(arn)) {
		v.add(attribute+".role_arn", fmt.Sprintf("%q is not the ARN of a role", arn),
			"The form is arn:aws:iam::ACCOUNT:role/NAME")
	}
	if session != "" && !awsSessionRule.MatchString(session) {
		v.add(attribute+".session_name", fmt.Sprintf("%q is not a session name", session),
			"It has 2 to 64 letters, digits and _+=,.@-")
	}
	if duration != 0 && (duration < awsLeastSession || duration > awsMostSession) {
		v.add(attribute+".duration", fmt.Sprintf("%s is out of range", duration),
			"STS takes 15 minutes to 12 hours")
	}
}

func (v *awsValidation) accounts() {
	lists := []struct {
		attribute string
		ids       []string
	}{
		{"allowed_account_ids", v.a.AllowedAccountIDs},
		{"forbidden_account_ids", v.a.ForbiddenAccountIDs},
	}
	guards := 0
	for _, list := range lists {
		if !v.isSet(list.attribute, len(list.ids) > 0) {
			continue
		}
		guards++
		for _, id := range list.ids {
			if !awsAccountRule.MatchString(id) {
				v.add(list.attribute, fmt.Sprintf("%q is not an account id", id),
					"An account id has 12 digits; keep leading zeros by quoting it")
			}
		}
		if v.a.SkipRequestingAccountID {
			v.add("skip_requesting_account_id", "cannot be set together with "+list.attribute,
				"The guard needs to know the account")
		}
	}
	if guards == len(lists) {
		v.add("forbidden_account_ids", "cannot be set together with allowed_account_ids",
			"Keep one of them")
	}
}

func (v *awsValidation) where() {
	set := false
	for _, service := range awsServices {
		address := service.attribute(v.a.Endpoints)
		set = set || v.isSet("endpoints."+service.name, address != "")
		if address != "" {
			if problem := awsEndpointFault(address); problem != "" {
				v.add("endpoints."+service.name, problem, awsEndpointCure)
			}
		}
	}
	const cure = "It chooses among the addresses of AWS; give the address you mean"
	if v.a.UseFIPSEndpoint && set {
		v.add("use_fips_endpoint", "cannot be set together with endpoints", cure)
	}
	if v.a.UseDualStackEndpoint && set {
		v.add("use_dualstack_endpoint", "cannot be set together with endpoints", cure)
	}
}

const awsEndpointCure = `Write it as "https://HOST[:PORT][/PATH]"`

// awsEndpointFault is what is wrong with the address of a service, "" if nothing. The errors of
// net/url quote the whole text, so none of them is passed on.
func awsEndpointFault(text string) string {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a valid URL"
	case address.Scheme != "https" && address.Scheme != "http":
		return "has a scheme that is neither https nor http"
	case address.User != nil:
		return "has a user or password inside the URL"
	case address.Hostname() == "" || !validPort(address):
		return "names no host, or has an invalid port"
	case address.RawQuery != "" || address.Fragment != "" || strings.ContainsAny(text, "?#"):
		return "has a query or a fragment"
	}
	return ""
}

func (v *awsValidation) transport() {
	v.proxy("http_proxy", v.a.HTTPProxy)
	v.proxy("https_proxy", v.a.HTTPSProxy)
	if v.a.Insecure && v.isSet("custom_ca_bundle", v.a.CustomCABundle != "") {
		v.add("insecure", "cannot be set together with custom_ca_bundle",
			"Either the certificates are checked or they are not")
	}
	for _, product := range v.a.UserAgent {
		if product == "" || strings.ContainsFunc(product, func(r rune) bool {
			return r < ' ' || r > '~'
		}) {
			v.add("user_agent", fmt.Sprintf("%q cannot stand in a header", product),
				"Use printable ASCII")
		}
	}
}

func (v *awsValidation) proxy(attribute, address string) {
	if address == "" {
		return
	}
	if _, found := parseProxy(address); found.found() {
		v.add(attribute, found.problem, found.cure)
	}
}

func (v *awsValidation) retries() {
	if v.a.MaxRetries != nil && *v.a.MaxRetries < 0 {
		v.add("max_retries", "is negative", "0 sends each request once")
	}
	switch v.a.RetryMode {
	case "", "standard", "adaptive":
	default:
		v.add("retry_mode", fmt.Sprintf("%q is unknown", v.a.RetryMode),
			"It is standard or adaptive")
	}
}
