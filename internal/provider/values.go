package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

// What Terraform's values are for the packages below, which know nothing of null and unknown.

func secretOf(value types.String) connect.Secret { return connect.NewSecret(value.ValueString()) }

// faults collects what is wrong with settings.
type faults []*connect.SettingError

// duration is the positive duration of the attribute, or 0 when none is set or known.
func (f *faults) duration(attribute string, value types.String) time.Duration {
	if value.ValueString() == "" {
		return 0
	}
	parsed, err := time.ParseDuration(value.ValueString())
	if err != nil || parsed <= 0 {
		*f = append(*f, &connect.SettingError{Attribute: attribute, Problem: "is not a positive duration",
			Cure: "Write it as 10s or 1m30s"})
		return 0
	}
	return parsed
}

// into reads the object into the model. It fails only if schema and model do not fit together.
func (f *faults) into(ctx context.Context, attribute string, value types.Object, model any) {
	if diags := value.As(ctx, model, basetypes.ObjectAsOptions{}); diags.HasError() {
		*f = append(*f, &connect.SettingError{Attribute: attribute, Problem: diags[0].Detail()})
	}
}

// knownStrings are the elements that have a value; the others are among the unknown leaves.
func knownStrings(elements []attr.Value) []string {
	var known []string
	for _, element := range elements {
		if text, ok := element.(types.String); ok && !text.IsUnknown() && !text.IsNull() {
			known = append(known, text.ValueString())
		}
	}
	return known
}

func texts(values types.Map) map[string]string {
	known := map[string]string{}
	for name, value := range values.Elements() {
		if text, ok := value.(types.String); ok {
			known[name] = text.ValueString()
		}
	}
	return known
}

// unknownLeaves names the attributes that are unknown or hold something unknown. The object can be
// known while a leaf in it is not.
func unknownLeaves(prefix string, value types.Object) []string {
	var unknown []string
	attributes := value.Attributes()
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		unknown = append(unknown, unknownIn(prefix+name, attributes[name])...)
	}
	return unknown
}

func unknownIn(name string, value attr.Value) []string {
	switch nested := value.(type) {
	case types.Object:
		if !nested.IsUnknown() {
			return unknownLeaves(name+".", nested)
		}
	case types.List:
		if _, ok := nested.ElementType(context.Background()).(types.ObjectType); ok && !nested.IsUnknown() {
			var unknown []string
			for i, element := range nested.Elements() {
				unknown = append(unknown, unknownIn(fmt.Sprintf("%s[%d]", name, i), element)...)
			}
			return unknown
		}
	}
	if !isKnown(value) {
		return []string{name}
	}
	return nil
}

// isKnown says that the value is known, and so is all that it holds.
func isKnown(value attr.Value) bool {
	terraform, err := value.ToTerraformValue(context.Background())
	return err == nil && terraform.IsFullyKnown()
}
