package provider

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
)

// nothing is a value of the object type in which every attribute is null, but those given.
func nothing(of types.ObjectType, set map[string]attr.Value) types.Object {
	values := map[string]attr.Value{}
	for name, one := range of.AttrTypes {
		switch kind := one.(type) {
		case types.ObjectType:
			values[name] = types.ObjectNull(kind.AttrTypes)
		case types.ListType:
			values[name] = types.ListNull(kind.ElemType)
		case types.SetType:
			values[name] = types.SetNull(kind.ElemType)
		case types.MapType:
			values[name] = types.MapNull(kind.ElemType)
		default:
			values[name] = map[attr.Type]attr.Value{
				types.StringType: types.StringNull(), types.BoolType: types.BoolNull(), types.Int64Type: types.Int64Null(),
			}[one]
		}
	}
	for name, value := range set {
		values[name] = value
	}
	return types.ObjectValueMust(of.AttrTypes, values)
}

// T5: an object is known while a leaf in it is not.
func TestAWSSettings_name_each_unknown_leaf(t *testing.T) {
	object := awsField().attrType().(types.ObjectType)
	role := object.AttrTypes["assume_role"].(types.ListType).ElemType.(types.ObjectType)
	endpoints := object.AttrTypes["endpoints"].(types.ObjectType)
	known := nothing(role, map[string]attr.Value{"role_arn": types.StringValue("arn:aws:iam::123456789012:role/one")})
	partly := nothing(role, map[string]attr.Value{
		"role_arn": types.StringUnknown(), "tags": types.MapValueMust(types.StringType,
			map[string]attr.Value{"team": types.StringUnknown()}),
	})
	settings, found := awsSettings(t.Context(), nothing(object, map[string]attr.Value{
		"region":      types.StringValue("eu-west-1"),
		"assume_role": types.ListValueMust(role, []attr.Value{known, partly, types.ObjectUnknown(role.AttrTypes)}),
		"endpoints":   nothing(endpoints, map[string]attr.Value{"ssm": types.StringUnknown()}),
		"user_agent":  types.ListValueMust(types.StringType, []attr.Value{types.StringUnknown(), types.StringValue("a/1")}),
	}))
	if len(found) > 0 {
		t.Fatal(found[0])
	}
	want := []string{"assume_role[1].role_arn", "assume_role[1].tags", "assume_role[2]", "endpoints.ssm", "user_agent"}
	if !slices.Equal(settings.Unknown, want) {
		t.Errorf("unknown %v, want %v", settings.Unknown, want)
	}
	if len(settings.AssumeRole) != 3 || settings.AssumeRole[0].RoleARN == "" || settings.Region != "eu-west-1" {
		t.Error("what is known was dropped")
	}
	for _, fault := range settings.Validate() {
		t.Error(fault)
	}
	whole, _ := awsSettings(t.Context(), types.ObjectUnknown(object.AttrTypes))
	none, _ := awsSettings(t.Context(), types.ObjectNull(object.AttrTypes))
	if !slices.Equal(whole.Unknown, []string{"aws"}) || len(none.Unknown) != 0 {
		t.Errorf("unknown %v and %v", whole.Unknown, none.Unknown)
	}
}

func TestSettingDiagnostics_stand_on_the_attribute_at_fault(t *testing.T) {
	aws := path.Root("aws")
	for attribute, want := range map[string]path.Path{
		"region":                  aws.AtName("region"),
		"endpoints.ssm":           aws.AtName("endpoints").AtName("ssm"),
		"assume_role[1].role_arn": aws.AtName("assume_role").AtListIndex(1).AtName("role_arn"),
		"assume_role[0]":          aws.AtName("assume_role").AtListIndex(0),
		"aws":                     aws,
		"":                        aws,
	} {
		diags := settingDiagnostics("aws", []*connect.SettingError{{Attribute: attribute, Problem: "x"}})
		at, ok := diags[0].(diag.DiagnosticWithPath)
		if !ok || !at.Path().Equal(want) {
			t.Errorf("%q: %v, want %s", attribute, diags, want)
		}
	}
}
