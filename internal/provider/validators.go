package provider

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/secretsmanagerstore"
)

// textValidator checks a string by what the API server, or the format, itself requires. The problems
// never quote the value.
type textValidator struct {
	description string
	problems    func(string) []string
}

func (v textValidator) Description(context.Context) string         { return v.description }
func (v textValidator) MarkdownDescription(context.Context) string { return v.description }

func (v textValidator) ValidateString(
	_ context.Context, req validator.StringRequest, resp *validator.StringResponse,
) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if problems := v.problems(req.ConfigValue.ValueString()); len(problems) > 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value",
			"This is not "+v.description+": "+strings.Join(problems, "; "))
	}
}

func isNamespace() validator.String {
	return textValidator{"the name of a namespace", validation.IsDNS1123Label}
}

func isSecretName() validator.String {
	return textValidator{"the name of a Secret", validation.IsDNS1123Subdomain}
}

func isAbsolutePath() validator.String {
	return textValidator{"a path that names one place", func(path string) []string {
		if !filepath.IsAbs(expandHome(path)) {
			return []string{"it has to be absolute, or to begin with ~/"}
		}
		return nil
	}}
}

func isPositiveDuration() validator.String {
	return textValidator{"a positive duration, such as 10s or 2m", func(value string) []string {
		if parsed, err := time.ParseDuration(value); err != nil || parsed <= 0 {
			return []string{"write it as 10s or 1m30s"}
		}
		return nil
	}}
}

// valid makes a validator of a check in the package that knows the format.
func valid(description string, check func(string) error) validator.String {
	return textValidator{description, func(value string) []string {
		if err := check(value); err != nil {
			return []string{err.Error()}
		}
		return nil
	}}
}

func isFingerprint() validator.String {
	return valid("a fingerprint", func(value string) error {
		_, err := wirecert.ParseFingerprint(value)
		return err
	})
}

func isDeployment() validator.String { return valid("a deployment id", wirecert.CheckDeployment) }

func isSecretID() validator.String {
	return valid("the name or full ARN of a secret", func(id string) error {
		return secretsmanagerstore.Config{SecretID: id}.Validate()
	})
}

func isPrefix() validator.String {
	return valid("the path above a parameter", func(prefix string) error {
		return parameterstore.Config{Prefix: prefix}.Validate()
	})
}

// metadataValidator checks labels or annotations.
type metadataValidator struct{ values bool }

func (v metadataValidator) Description(context.Context) string {
	return "names and values as Kubernetes allows them"
}

func (v metadataValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v metadataValidator) ValidateMap(
	_ context.Context, req validator.MapRequest, resp *validator.MapResponse,
) {
	for name, value := range req.ConfigValue.Elements() {
		// Annotation names are checked by the API server in lower case, label names as they are.
		problems := validation.IsQualifiedName(name)
		text, ok := value.(types.String)
		switch {
		case !ok || text.IsUnknown():
		case text.IsNull():
			problems = append(problems, "a null value; leave the name out instead")
		case v.values:
			problems = append(problems, validation.IsValidLabelValue(text.ValueString())...)
		}
		if len(problems) > 0 {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(name), "Invalid value",
				strings.Join(problems, "; "))
		}
	}
}
