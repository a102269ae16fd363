package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	dschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	eschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	pschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The same argument stands in several kinds of schema: how to reach a cluster is set for the
// provider, and for one resource, data source or ephemeral resource. The framework has a type of
// its own for each kind, so the argument is described once as a field and built from it.

type fieldKind int

const (
	kindText    fieldKind = iota // a string
	kindFlag                     // a bool
	kindNumber                   // an int64
	kindTexts                    // a list of strings
	kindTextSet                  // a set of strings
	kindTextMap                  // a map of strings
	kindObject                   // a nested object
	kindObjects                  // a list of nested objects
)

// field is one argument. It is optional unless required.
type field struct {
	kind                fieldKind
	description         string
	required, sensitive bool
	fields              map[string]field // of kindObject and kindObjects
	checks              []validator.String
	objectChecks        []validator.Object
}

// attrType is the type that a value of the field has.
func (f field) attrType() attr.Type {
	switch f.kind {
	case kindFlag:
		return types.BoolType
	case kindNumber:
		return types.Int64Type
	case kindTexts:
		return types.ListType{ElemType: types.StringType}
	case kindTextSet:
		return types.SetType{ElemType: types.StringType}
	case kindTextMap:
		return types.MapType{ElemType: types.StringType}
	case kindObject:
		return types.ObjectType{AttrTypes: attrTypes(f.fields)}
	case kindObjects:
		return types.ListType{ElemType: types.ObjectType{AttrTypes: attrTypes(f.fields)}}
	}
	return types.StringType
}

func attrTypes(fields map[string]field) map[string]attr.Type {
	all := map[string]attr.Type{}
	for name, f := range fields {
		all[name] = f.attrType()
	}
	return all
}

// build makes the attributes of one kind of schema.
func build[A any](fields map[string]field, one func(field) A) map[string]A {
	all := map[string]A{}
	for name, f := range fields {
		all[name] = one(f)
	}
	return all
}

func providerAttribute(f field) pschema.Attribute {
	optional := !f.required
	switch f.kind {
	case kindFlag:
		return pschema.BoolAttribute{Required: f.required, Optional: optional, MarkdownDescription: f.description}
	case kindNumber:
		return pschema.Int64Attribute{Required: f.required, Optional: optional, MarkdownDescription: f.description}
	case kindTexts:
		return pschema.ListAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextSet:
		return pschema.SetAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextMap:
		return pschema.MapAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindObject:
		return pschema.SingleNestedAttribute{Required: f.required, Optional: optional, Validators: f.objectChecks,
			MarkdownDescription: f.description, Attributes: build(f.fields, providerAttribute)}
	case kindObjects:
		return pschema.ListNestedAttribute{Required: f.required, Optional: optional,
			MarkdownDescription: f.description,
			NestedObject:        pschema.NestedAttributeObject{Attributes: build(f.fields, providerAttribute)}}
	}
	return pschema.StringAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
		Validators: f.checks, MarkdownDescription: f.description}
}

// resourceAttribute keeps what is sensitive out of plan and state: it is write-only, so that Terraform
// before 1.11 and OpenTofu before 1.11 refuse those arguments, and take all others.
func resourceAttribute(f field) rschema.Attribute {
	optional := !f.required
	switch f.kind {
	case kindFlag:
		return rschema.BoolAttribute{Required: f.required, Optional: optional, MarkdownDescription: f.description}
	case kindTexts:
		return rschema.ListAttribute{Required: f.required, Optional: optional, WriteOnly: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextSet:
		return rschema.SetAttribute{Required: f.required, Optional: optional,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextMap:
		return rschema.MapAttribute{Required: f.required, Optional: optional, WriteOnly: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindObject:
		return rschema.SingleNestedAttribute{Required: f.required, Optional: optional, Validators: f.objectChecks,
			MarkdownDescription: f.description, Attributes: build(f.fields, resourceAttribute)}
	}
	return rschema.StringAttribute{Required: f.required, Optional: optional, WriteOnly: f.sensitive,
		Validators: f.checks, MarkdownDescription: f.description}
}

// dataSourceAttribute has nothing write-only to offer: whoever reads the data takes the sensitive
// values out of it before they reach the state.
func dataSourceAttribute(f field) dschema.Attribute {
	optional := !f.required
	switch f.kind {
	case kindFlag:
		return dschema.BoolAttribute{Required: f.required, Optional: optional, MarkdownDescription: f.description}
	case kindTexts:
		return dschema.ListAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextSet:
		return dschema.SetAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextMap:
		return dschema.MapAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindObject:
		return dschema.SingleNestedAttribute{Required: f.required, Optional: optional, Validators: f.objectChecks,
			MarkdownDescription: f.description, Attributes: build(f.fields, dataSourceAttribute)}
	}
	return dschema.StringAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
		Validators: f.checks, MarkdownDescription: f.description}
}

func ephemeralAttribute(f field) eschema.Attribute {
	optional := !f.required
	switch f.kind {
	case kindFlag:
		return eschema.BoolAttribute{Required: f.required, Optional: optional, MarkdownDescription: f.description}
	case kindTexts:
		return eschema.ListAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextSet:
		return eschema.SetAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindTextMap:
		return eschema.MapAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
			ElementType: types.StringType, MarkdownDescription: f.description}
	case kindObject:
		return eschema.SingleNestedAttribute{Required: f.required, Optional: optional, Validators: f.objectChecks,
			MarkdownDescription: f.description, Attributes: build(f.fields, ephemeralAttribute)}
	}
	return eschema.StringAttribute{Required: f.required, Optional: optional, Sensitive: f.sensitive,
		Validators: f.checks, MarkdownDescription: f.description}
}
