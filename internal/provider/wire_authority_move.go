package provider

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
)

var (
	awsSecretVersion = moveSource{provider: "hashicorp/aws", types: []string{"aws_secretsmanager_secret_version"}}
	awsParameter     = moveSource{provider: "hashicorp/aws", types: []string{"aws_ssm_parameter"}}
)

// movedAuthority is what the state of a source tells about what is published.
type movedAuthority struct {
	kind, place string
	// document holds private keys; "" when it was write-only.
	document string
}

// MoveState takes over a published authority from the resource that published it. A source knows no
// state directory, and without the document no deployment: they stay null, and the first plan takes
// them from the configuration, compares both sides and changes nothing but the state.
func (r *wireAuthority) MoveState(context.Context) []resource.StateMover {
	return movers(
		movable[movedAuthority]{awsSecretVersion, authorityOfSecret},
		movable[movedAuthority]{awsParameter, authorityOfParameter},
	)
}

func authorityOfSecret(state rawObject) movedAuthority {
	return movedAuthority{kind: secretsManager, place: state.text("secret_id"), document: state.text("secret_string")}
}

func authorityOfParameter(state rawObject) movedAuthority {
	prefix, ok := strings.CutSuffix(state.text("name"), parameterstore.Leaf)
	if !ok {
		prefix = ""
	}
	return movedAuthority{kind: ssmParameter, place: prefix, document: state.text("value")}
}

func (m movedAuthority) into(
	ctx context.Context, source string, resp *resource.MoveStateResponse,
) diag.Diagnostics {
	var found validator.StringResponse
	isStorePlace(m.kind).ValidateString(ctx, validator.StringRequest{
		ConfigValue: types.StringValue(m.place),
	}, &found)
	if found.Diagnostics.HasError() {
		return one(storeNotMovable(source))
	}
	side, deployment, err := m.published()
	if err != nil {
		return one(documentNotMovable(source, err))
	}
	diags := takeOver(ctx, &resp.TargetState, map[string]any{"store": storeAt(m.kind, m.place)})
	var state wireAuthorityModel
	diags.Append(resp.TargetState.Get(ctx, &state)...)
	state.Outcome = types.StringValue(string(wireshare.OutcomeAlreadyHeld))
	if side.State == wireshare.Whole {
		state.Deployment, state.Fingerprint = types.StringValue(deployment), types.StringValue(side.Info.Fingerprint)
		state.observe(wireshare.Observation{Published: side})
	}
	diags.Append(resp.TargetState.Set(ctx, &state)...)
	diags.Append(identify(ctx, resp.TargetIdentity, state.identity())...)
	return diags
}

// published reads the document, if there is one in the state.
func (m movedAuthority) published() (side wireshare.Side, deployment string, err error) {
	if m.document == "" {
		return side, "", nil
	}
	if deployment, err = wireshare.DeploymentOf([]byte(m.document)); err != nil {
		return side, "", err
	}
	document, err := wireshare.DecodeDocument([]byte(m.document), deployment)
	if err != nil {
		return side, "", err
	}
	return wireshare.Side{
		State: wireshare.Whole, Info: document.Authority.Info(), PublishedAt: document.PublishedAt,
	}, deployment, nil
}

// moved says that this is the state as a move made it, before any apply.
func (m *wireAuthorityModel) moved() bool { return !m.Store.IsNull() && m.StateDir.IsNull() }

// replaces says whether the change is a replacement. What a move could not know is none.
// Another spelling of the same directory is none either.
func replaces(state, plan types.String) bool {
	if state.IsNull() || plan.IsUnknown() {
		return !state.IsNull()
	}
	clean := func(value types.String) string { return filepath.Clean(expandHome(value.ValueString())) }
	return clean(state) != clean(plan)
}

func replacesUnlessMoved(
	_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
) {
	resp.RequiresReplace = replaces(req.StateValue, req.PlanValue)
}
