package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

type awsModel struct {
	Region                    types.String `tfsdk:"region"`
	Profile                   types.String `tfsdk:"profile"`
	AccessKey                 types.String `tfsdk:"access_key"`
	SecretKey                 types.String `tfsdk:"secret_key"`
	Token                     types.String `tfsdk:"token"`
	SharedConfigFiles         types.List   `tfsdk:"shared_config_files"`
	SharedCredentialsFiles    types.List   `tfsdk:"shared_credentials_files"`
	AssumeRole                types.List   `tfsdk:"assume_role"`
	AssumeRoleWithWebIdentity types.Object `tfsdk:"assume_role_with_web_identity"`
	AllowedAccountIDs         types.Set    `tfsdk:"allowed_account_ids"`
	ForbiddenAccountIDs       types.Set    `tfsdk:"forbidden_account_ids"`
	Endpoints                 types.Object `tfsdk:"endpoints"`
	CustomCABundle            types.String `tfsdk:"custom_ca_bundle"`
	HTTPProxy                 types.String `tfsdk:"http_proxy"`
	HTTPSProxy                types.String `tfsdk:"https_proxy"`
	NoProxy                   types.String `tfsdk:"no_proxy"`
	Insecure                  types.Bool   `tfsdk:"insecure"`
	MaxRetries                types.Int64  `tfsdk:"max_retries"`
	RetryMode                 types.String `tfsdk:"retry_mode"`
	UseFIPSEndpoint           types.Bool   `tfsdk:"use_fips_endpoint"`
	UseDualStackEndpoint      types.Bool   `tfsdk:"use_dualstack_endpoint"`
	SkipCredentialsValidation types.Bool   `tfsdk:"skip_credentials_validation"`
	SkipMetadataAPICheck      types.Bool   `tfsdk:"skip_metadata_api_check"`
	SkipRequestingAccountID   types.Bool   `tfsdk:"skip_requesting_account_id"`
	DefaultTags               types.Map    `tfsdk:"default_tags"`
	UserAgent                 types.List   `tfsdk:"user_agent"`
}

type assumeRoleModel struct {
	RoleARN           types.String `tfsdk:"role_arn"`
	SessionName       types.String `tfsdk:"session_name"`
	ExternalID        types.String `tfsdk:"external_id"`
	Duration          types.String `tfsdk:"duration"`
	Policy            types.String `tfsdk:"policy"`
	PolicyARNs        types.Set    `tfsdk:"policy_arns"`
	SourceIdentity    types.String `tfsdk:"source_identity"`
	Tags              types.Map    `tfsdk:"tags"`
	TransitiveTagKeys types.Set    `tfsdk:"transitive_tag_keys"`
}

type webIdentityModel struct {
	RoleARN     types.String `tfsdk:"role_arn"`
	SessionName types.String `tfsdk:"session_name"`
	Token       types.String `tfsdk:"web_identity_token"`
	TokenFile   types.String `tfsdk:"web_identity_token_file"`
	Duration    types.String `tfsdk:"duration"`
	Policy      types.String `tfsdk:"policy"`
	PolicyARNs  types.Set    `tfsdk:"policy_arns"`
}

type endpointsModel struct {
	SecretsManager types.String `tfsdk:"secretsmanager"`
	SSM            types.String `tfsdk:"ssm"`
	STS            types.String `tfsdk:"sts"`
}

// awsField is the provider's aws object, with the names of the hashicorp/aws provider.
func awsField() field {
	text := func(description string) field { return field{description: description} }
	secret := func(description string) field {
		return field{sensitive: true, description: description}
	}
	flag := func(description string) field { return field{kind: kindFlag, description: description} }
	session := map[string]field{
		"role_arn":     {required: true, description: "ARN of the role."},
		"session_name": text("Name of the session."),
		"duration":     text("How long the credentials are valid, such as `1h`: 15 minutes to 12 hours."),
		"policy":       text("Policy, JSON, that narrows what the session may do."),
		"policy_arns":  {kind: kindTextSet, description: "ARNs of policies that narrow it."},
	}
	role := with(session, map[string]field{
		"external_id":         secret("External id that the role asks for."),
		"source_identity":     text("Source identity of the session."),
		"tags":                {kind: kindTextMap, description: "Tags of the session."},
		"transitive_tag_keys": {kind: kindTextSet, description: "Keys of tags that later roles inherit."},
	})
	web := with(session, map[string]field{
		"web_identity_token": secret("Token of the identity provider."),
		"web_identity_token_file": text("File with the token, read again whenever the credentials are " +
			"renewed."),
	})
	return field{kind: kindObject, description: "How to reach AWS, with the names of the hashicorp/aws " +
		"provider. Attributes beat the environment, which beats the shared files, as with every AWS tool. " +
		"Nothing of AWS is looked for unless an authority is in one of its stores.", fields: map[string]field{
		"region":     text("Region (`AWS_REGION`, `AWS_DEFAULT_REGION`, the profile)."),
		"profile":    text("Profile of the shared files (`AWS_PROFILE`). One that is missing is an error."),
		"access_key": text("Access key id (`AWS_ACCESS_KEY_ID`)."),
		"secret_key": secret("Secret access key (`AWS_SECRET_ACCESS_KEY`)."),
		"token":      secret("Session token (`AWS_SESSION_TOKEN`)."),
		"shared_config_files": {kind: kindTexts,
			description: "Paths of config files, in place of `~/.aws/config`."},
		"shared_credentials_files": {kind: kindTexts,
			description: "Paths of credentials files, in place of `~/.aws/credentials`."},
		"assume_role": {kind: kindObjects, fields: role,
			description: "Roles to take one after another, each with the credentials of the one before."},
		"assume_role_with_web_identity": {kind: kindObject, fields: web,
			description: "Role to take with a token of an identity provider: exactly one of " +
				"`web_identity_token` and `web_identity_token_file`."},
		"allowed_account_ids": {kind: kindTextSet,
			description: "Accounts, one of which the credentials must belong to: a guard against a wrong " +
				"profile."},
		"forbidden_account_ids": {kind: kindTextSet, description: "Accounts that the credentials may not belong to."},
		"endpoints": {kind: kindObject, description: "Addresses of the services, also from " +
			"`AWS_ENDPOINT_URL_SECRETS_MANAGER`, `AWS_ENDPOINT_URL_SSM`, `AWS_ENDPOINT_URL_STS`, " +
			"`AWS_ENDPOINT_URL` or the profile. As soon as one is set, nothing but those set is dialled.",
			fields: map[string]field{
				"secretsmanager": text("Address of Secrets Manager."),
				"ssm":            text("Address of Systems Manager."),
				"sts":            text("Address of STS."),
			}},
		"custom_ca_bundle": text("Path of a PEM file with the authorities to trust in place of the " +
			"system's (`AWS_CA_BUNDLE`)."),
		"http_proxy":  secret("Proxy for http addresses (`HTTP_PROXY`)."),
		"https_proxy": secret("Proxy for https addresses (`HTTPS_PROXY`)."),
		"no_proxy":    text("Hosts that are reached without proxy (`NO_PROXY`)."),
		"insecure":    flag("Do not verify the services' certificates."),
		"max_retries": {kind: kindNumber,
			description: "How often a failed request is sent again (`AWS_MAX_ATTEMPTS` less one). Default 5."},
		"retry_mode":                  text("`standard` or `adaptive` (`AWS_RETRY_MODE`)."),
		"use_fips_endpoint":           flag("Use FIPS endpoints (`AWS_USE_FIPS_ENDPOINT`)."),
		"use_dualstack_endpoint":      flag("Use dual-stack endpoints (`AWS_USE_DUALSTACK_ENDPOINT`)."),
		"skip_credentials_validation": flag("Leave out the one call to STS that validates the credentials."),
		"skip_metadata_api_check":     flag("Never ask the instance metadata service for credentials."),
		"skip_requesting_account_id":  flag("Do not find out the account. No guard on it can be set beside."),
		"default_tags": {kind: kindTextMap,
			description: "Tags of every secret that is created. Its own tags win."},
		"user_agent": {kind: kindTexts, description: "Products to append to the user agent."},
	}}
}

func with(base, more map[string]field) map[string]field {
	all := map[string]field{}
	for _, fields := range []map[string]field{base, more} {
		for name, f := range fields {
			all[name] = f
		}
	}
	return all
}

// awsSettings translates the object for the package that connects. As in kubernetesSettings, unknown
// leaves are named in Unknown.
func awsSettings(ctx context.Context, value types.Object) (connect.AWS, faults) {
	if value.IsUnknown() {
		return connect.AWS{Unknown: []string{"aws"}}, nil
	}
	if value.IsNull() {
		return connect.AWS{}, nil
	}
	var model awsModel
	var found faults
	found.into(ctx, "", value, &model)
	settings := connect.AWS{
		Region: model.Region.ValueString(), Profile: model.Profile.ValueString(),
		AccessKey: model.AccessKey.ValueString(), SecretKey: secretOf(model.SecretKey), Token: secretOf(model.Token),
		SharedConfigFiles:      knownStrings(model.SharedConfigFiles.Elements()),
		SharedCredentialsFiles: knownStrings(model.SharedCredentialsFiles.Elements()),
		AllowedAccountIDs:      knownStrings(model.AllowedAccountIDs.Elements()),
		ForbiddenAccountIDs:    knownStrings(model.ForbiddenAccountIDs.Elements()),
		CustomCABundle:         model.CustomCABundle.ValueString(),
		HTTPProxy:              model.HTTPProxy.ValueString(), HTTPSProxy: model.HTTPSProxy.ValueString(),
		NoProxy: model.NoProxy.ValueString(), Insecure: model.Insecure.ValueBool(),
		RetryMode: model.RetryMode.ValueString(), UseFIPSEndpoint: model.UseFIPSEndpoint.ValueBool(),
		UseDualStackEndpoint:      model.UseDualStackEndpoint.ValueBool(),
		SkipCredentialsValidation: model.SkipCredentialsValidation.ValueBool(),
		SkipMetadataAPICheck:      model.SkipMetadataAPICheck.ValueBool(),
		SkipRequestingAccountID:   model.SkipRequestingAccountID.ValueBool(),
		DefaultTags:               texts(model.DefaultTags), UserAgent: knownStrings(model.UserAgent.Elements()),
		Unknown: unknownLeaves("", value),
	}
	if !model.MaxRetries.IsNull() && !model.MaxRetries.IsUnknown() {
		retries := int(model.MaxRetries.ValueInt64())
		settings.MaxRetries = &retries
	}
	found.roles(ctx, model, &settings)
	if !model.Endpoints.IsNull() && !model.Endpoints.IsUnknown() {
		var endpoints endpointsModel
		found.into(ctx, "endpoints", model.Endpoints, &endpoints)
		settings.Endpoints = connect.Endpoints{
			SecretsManager: endpoints.SecretsManager.ValueString(), SSM: endpoints.SSM.ValueString(),
			STS: endpoints.STS.ValueString(),
		}
	}
	return settings, found
}

func (f *faults) roles(ctx context.Context, model awsModel, settings *connect.AWS) {
	for i, element := range model.AssumeRole.Elements() {
		var role assumeRoleModel
		value, ok := element.(types.Object)
		if !ok || value.IsUnknown() {
			settings.AssumeRole = append(settings.AssumeRole, connect.AssumeRole{})
			continue // it is among the unknown leaves
		}
		at := fmt.Sprintf("assume_role[%d]", i)
		f.into(ctx, at, value, &role)
		settings.AssumeRole = append(settings.AssumeRole, connect.AssumeRole{
			RoleARN: role.RoleARN.ValueString(), SessionName: role.SessionName.ValueString(),
			ExternalID: secretOf(role.ExternalID), Policy: role.Policy.ValueString(),
			Duration:       f.duration(at+".duration", role.Duration),
			PolicyARNs:     knownStrings(role.PolicyARNs.Elements()),
			SourceIdentity: role.SourceIdentity.ValueString(), Tags: texts(role.Tags),
			TransitiveTagKeys: knownStrings(role.TransitiveTagKeys.Elements()),
		})
	}
	if model.AssumeRoleWithWebIdentity.IsNull() || model.AssumeRoleWithWebIdentity.IsUnknown() {
		return
	}
	var web webIdentityModel
	f.into(ctx, "assume_role_with_web_identity", model.AssumeRoleWithWebIdentity, &web)
	settings.AssumeRoleWithWebIdentity = &connect.WebIdentity{
		RoleARN: web.RoleARN.ValueString(), SessionName: web.SessionName.ValueString(),
		Token: secretOf(web.Token), TokenFile: web.TokenFile.ValueString(), Policy: web.Policy.ValueString(),
		Duration:   f.duration("assume_role_with_web_identity.duration", web.Duration),
		PolicyARNs: knownStrings(web.PolicyARNs.Elements()),
	}
}
