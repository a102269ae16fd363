package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

const (
	sourceLocal     = "local"
	sourcePublished = "published"
)

// wireSource says which copy of an authority to read, to a data source and to an ephemeral resource.
type wireSource struct {
	Deployment types.String `tfsdk:"deployment"`
	Source     types.String `tfsdk:"source"`
	StateDir   types.String `tfsdk:"state_dir"`
	Store      types.Object `tfsdk:"store"`
}

func wireSourceFields() map[string]field {
	store := storeField("Where the authority is published: exactly one of the three. It is required with " +
		"`published` and refused with `local`. It takes all that the resource's `store` takes; what is " +
		"about publishing has no effect here.")
	store.required = false
	return map[string]field{
		"deployment": {required: true, checks: []validator.String{isDeployment()},
			description: "Id of the billet deployment: 32 lower-case hex characters."},
		"source": {required: true, checks: []validator.String{stringvalidator.OneOf(sourceLocal, sourcePublished)},
			description: "`local` reads the state directory of this host, `published` the store."},
		"state_dir": {checks: []validator.String{isAbsolutePath()},
			description: "State directory of billet on this host: an absolute path, or one that begins with " +
				"`~/`. It is required with `local` and refused with `published`."},
		"store": store,
	}
}

// validate holds the place to what the source needs. What is unknown shows later.
func (s wireSource) validate() diag.Diagnostics {
	if s.Source.IsUnknown() {
		return nil
	}
	var diags diag.Diagnostics
	local := s.Source.ValueString() == sourceLocal
	for _, place := range []struct {
		attribute string
		value     attr.Value
		needed    bool
	}{{"state_dir", s.StateDir, local}, {"store", s.Store, !local}} {
		switch {
		case place.value.IsUnknown():
		case place.needed && place.value.IsNull():
			diags.Append(placeMissing(place.attribute, s.Source.ValueString()))
		case !place.needed && !place.value.IsNull():
			diags.Append(placeUnused(place.attribute, s.Source.ValueString()))
		}
	}
	return diags
}

// place says where the copy is, for messages.
func (s wireSource) place() string {
	if s.Source.ValueString() == sourceLocal {
		return "state directory " + s.StateDir.ValueString()
	}
	store := storeOf(s.Store)
	return store.kind + " " + store.place
}

// unknownSource names the provider's attributes that keep the copy from being read for now.
func (c *connections) unknownSource(s wireSource) []string {
	if s.Source.ValueString() == sourceLocal {
		return nil
	}
	return c.unknownFor(storeOf(s.Store))
}

// side looks at the copy, takes no lock and creates nothing.
func (c *connections) side(ctx context.Context, s wireSource) (wireshare.Side, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	var side wireshare.Side
	var err error
	if s.Source.ValueString() == sourceLocal {
		side, err = wireshare.ObserveLocal(ctx, expandHome(s.StateDir.ValueString()), s.Deployment.ValueString())
	} else {
		side, err = wireshare.ObservePublished(ctx, c.open(ctx, storeOf(s.Store)), s.Deployment.ValueString())
	}
	if err == nil {
		err = side.Err()
	}
	return side, s.unreadable(err)
}

// authority reads the copy with its private keys. It is nil when there is none.
func (c *connections) authority(ctx context.Context, s wireSource) (*wirecert.Authority, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	deployment := s.Deployment.ValueString()
	if s.Source.ValueString() == sourceLocal {
		state, err := wirecert.Observe(ctx, expandHome(s.StateDir.ValueString()), deployment)
		return state.Authority, s.unreadable(err)
	}
	body, err := c.open(ctx, storeOf(s.Store)).GetAuthority(ctx)
	if errors.Is(err, wireshare.ErrNoAuthority) {
		return nil, nil
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	document, err := wireshare.DecodeDocument(body, deployment)
	if err != nil {
		return nil, s.unreadable(err)
	}
	return document.Authority, nil
}

func (s wireSource) unreadable(err error) error {
	if err == nil {
		return nil
	}
	if s.Source.ValueString() == sourceLocal {
		return fmt.Errorf("%w: %w", wireshare.ErrLocalUnreadable, err)
	}
	return fmt.Errorf("%w: %w", wireshare.ErrPublishedUnreadable, err)
}
