package connect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
)

// awsSessionName is the name of sessions that the configuration does not name.
const awsSessionName = "terraform-provider-billet"

// ownCredentials are the ones of the configuration itself, nil to let the SDK look for some. A web
// identity needs none to begin with, so nothing is looked for then.
func (o *awsOpening) ownCredentials() aws.CredentialsProvider {
	switch {
	case o.settings.AccessKey != "":
		return credentials.NewStaticCredentialsProvider(o.settings.AccessKey,
			o.settings.SecretKey.Reveal(), o.settings.Token.Reveal())
	case o.settings.AssumeRoleWithWebIdentity != nil:
		return aws.AnonymousCredentials{}
	}
	return nil
}

// checkEnvironmentKeys refuses half a pair of keys. The SDK overlooks it and goes on to the next
// source, so that somebody else's credentials are used, or a metadata service is asked.
func (o *awsOpening) checkEnvironmentKeys() error {
	if o.ownCredentials() != nil || o.settings.Profile != "" {
		return nil
	}
	first := func(names ...string) (name string) {
		for _, name = range names {
			if o.env.get(name) != "" {
				return name
			}
		}
		return ""
	}
	access := first("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY")
	secret := first("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY")
	switch {
	case access != "" && secret == "":
		return &SettingError{Attribute: "access_key", Variable: access,
			Problem: "is set without AWS_SECRET_ACCESS_KEY", Cure: "Set both or neither"}
	case access == "" && secret != "":
		return &SettingError{Attribute: "secret_key", Variable: secret,
			Problem: "is set without AWS_ACCESS_KEY_ID", Cure: "Set both or neither"}
	}
	return nil
}

// takeRoles goes from the credentials in cfg to the web identity's and through the chain of roles,
// and fetches the result once: what is wrong with a role is said by its name and not by the first
// read of a secret.
func (o *awsOpening) takeRoles(ctx context.Context, cfg *aws.Config) error {
	if web := o.settings.AssumeRoleWithWebIdentity; web != nil {
		cfg.Credentials = aws.NewCredentialsCache(o.webIdentity(*cfg, web))
		if err := o.fetch(ctx, cfg, "assume_role_with_web_identity", web.RoleARN); err != nil {
			return err
		}
	} else if err := o.fetch(ctx, cfg, "", ""); err != nil {
		return err
	}
	for i, role := range o.settings.AssumeRole {
		cfg.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(
			o.sts(*cfg), role.RoleARN, role.options))
		attribute := fmt.Sprintf("assume_role[%d]", i)
		if err := o.fetch(ctx, cfg, attribute, role.RoleARN); err != nil {
			return err
		}
	}
	return nil
}

func (o *awsOpening) webIdentity(
	cfg aws.Config, web *WebIdentity,
) *stscreds.WebIdentityRoleProvider {
	var token stscreds.IdentityTokenRetriever = fixedToken{web.Token}
	if web.TokenFile != "" {
		token = stscreds.IdentityTokenFile(o.tokenFile)
	}
	return stscreds.NewWebIdentityRoleProvider(o.sts(cfg), web.RoleARN, token,
		func(p *stscreds.WebIdentityRoleOptions) {
			p.RoleSessionName = nameOr(web.SessionName)
			p.Duration = web.Duration
			p.Policy = optional(web.Policy)
			p.PolicyARNs = policyARNs(web.PolicyARNs)
		})
}

// fixedToken is a token given in the configuration.
type fixedToken struct{ token Secret }

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (f fixedToken) GetIdentityToken() ([]byte, error) { return []byte(f.token.Reveal()), nil }

func (r AssumeRole) options(p *stscreds.AssumeRoleOptions) {
	p.RoleSessionName = nameOr(r.SessionName)
	p.Duration = r.Duration
	p.ExternalID = optional(r.ExternalID.Reveal())
	p.Policy = optional(r.Policy)
	p.PolicyARNs = policyARNs(r.PolicyARNs)
	p.SourceIdentity = optional(r.SourceIdentity)
	p.TransitiveTagKeys = r.TransitiveTagKeys
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		value := r.Tags[key]
		p.Tags = append(p.Tags, types.Tag{Key: &key, Value: &value})
	}
}

// sts is the client for the credentials in cfg, at the address that is set for it.
func (o *awsOpening) sts(cfg aws.Config) *sts.Client {
	return sts.NewFromConfig(cfg, func(s *sts.Options) {
		if address := o.endpoints["sts"]; address != "" {
			s.BaseEndpoint = &address
		}
	})
}

// fetch retrieves the credentials in cfg.
func (o *awsOpening) fetch(ctx context.Context, cfg *aws.Config, attribute, role string) error {
	if cfg.Credentials == nil {
		return &CredentialsError{Problem: noCredentials}
	}
	_, err := cfg.Credentials.Retrieve(ctx)
	if err == nil {
		return nil
	}
	problem := noCredentials
	if role != "" {
		problem = attribute + ": role " + role + " could not be taken"
	}
	return &CredentialsError{
		Problem: problem + ": " + o.hide.clean(err.Error()), cause: o.harmless(err),
	}
}

// noCredentials lists the ways, because the error of the SDK names only the last one it tried.
const noCredentials = "no AWS credentials: set access_key and secret_key, profile, assume_role_" +
	"with_web_identity, or what the environment gives to every AWS tool (AWS_ACCESS_KEY_ID and " +
	"AWS_SECRET_ACCESS_KEY, AWS_PROFILE, a container's or an instance's role)"

// harmless keeps err for callers to match, unless its text repeats a credential.
func (o *awsOpening) harmless(err error) error {
	if o.hide.clean(err.Error()) == err.Error() {
		return err
	}
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return &smithy.GenericAPIError{Code: answer.ErrorCode(), Fault: answer.ErrorFault()}
	}
	return nil
}

func nameOr(session string) string {
	if session == "" {
		return awsSessionName
	}
	return session
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func policyARNs(arns []string) []types.PolicyDescriptorType {
	var policies []types.PolicyDescriptorType
	for _, arn := range arns {
		policies = append(policies, types.PolicyDescriptorType{Arn: &arn})
	}
	return policies
}
