package provider

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// moveSource is what a moved block may come from. provider is the end of the provider's address: the
// host is a mirror's, or the default of Terraform or of OpenTofu.
type moveSource struct {
	provider string
	types    []string
}

func (s moveSource) matches(req resource.MoveStateRequest) bool {
	return req.SourceRawState != nil && slices.Contains(s.types, req.SourceTypeName) &&
		strings.HasSuffix("/"+req.SourceProviderAddress, "/"+s.provider)
}

// movable reads the state of a source as a model that fills the new state.
type movable[M filler] struct {
	moveSource
	read func(rawObject) M
}

type filler interface {
	into(ctx context.Context, source string, resp *resource.MoveStateResponse) diag.Diagnostics
}

func movers[M filler](sources ...movable[M]) []resource.StateMover {
	all := make([]resource.StateMover, 0, len(sources))
	for _, source := range sources {
		all = append(all, resource.StateMover{StateMover: func(
			ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse,
		) {
			if source.matches(req) {
				moved := source.read(objectIn(req.SourceRawState.JSON))
				resp.Diagnostics.Append(moved.into(ctx, req.SourceTypeName, resp)...)
			}
		}})
	}
	return all
}

// rawObject is the state of a source, whatever the version of its schema. It holds secrets: never
// format it. What is not as expected counts as not there, for an error of the decoder may quote.
type rawObject map[string]json.RawMessage

func objectIn(raw json.RawMessage) rawObject {
	var object rawObject
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// block is a nested block: an object, or a list with one.
func (o rawObject) block(name string) rawObject {
	var list []json.RawMessage
	if json.Unmarshal(o[name], &list) == nil && len(list) > 0 {
		return objectIn(list[0])
	}
	return objectIn(o[name])
}

func (o rawObject) text(name string) string { return textIn(o[name]) }

func textIn(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
