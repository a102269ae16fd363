package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// supplied are the keys of keys_wo, nil when there are none. known is false when only apply will tell.
// The error names the element and never quotes it.
func supplied(value types.List) (found [][]byte, known bool, err error) {
	if value.IsNull() {
		return nil, true, nil
	}
	if !isKnown(value) {
		return nil, false, nil
	}
	var texts []string
	for _, element := range value.Elements() {
		text, _ := element.(types.String) // a null counts as an empty one
		texts = append(texts, text.ValueString())
	}
	found, err = keys.ParseEach(texts)
	return found, true, err
}

// supply is what a plan knows of the keys that the configuration offers: their names alone.
type supply struct {
	fingerprints []string
	bits         int64
	known        bool
}

func supplyOf(config memberlistSecretModel) (supply, diag.Diagnostics) {
	found, known, err := supplied(config.KeysWO)
	if err != nil {
		return supply{}, one(badKeys(err))
	}
	offered := supply{known: known, fingerprints: keys.Fingerprints(found)}
	if len(found) > 0 {
		offered.bits = int64(8 * len(found[0]))
	}
	return offered, nil
}

// orTrusted are the fingerprints to decide with at plan. Keys that are not known yet are taken for those
// that are wanted: whether they are shows at apply.
func (s supply) orTrusted(terms keys.Terms) []string {
	switch {
	case s.known:
		return s.fingerprints
	case terms.Pinned != "":
		return []string{terms.Pinned}
	case terms.Rotate || terms.Accepted == "":
		return nil
	}
	return []string{terms.Accepted}
}

// unlike says that the supplied keys are known and are not those in the Secret.
func (s supply) unlike(live []string) bool {
	return len(s.fingerprints) > 0 && !slices.Equal(s.fingerprints, live)
}

// planWrite marks unknown what writing the keys can change, unless the supplied keys tell it.
func (m *memberlistSecretModel) planWrite(
	ctx context.Context, config memberlistSecretModel, offered supply,
) diag.Diagnostics {
	m.LiveKeyFingerprints = types.ListUnknown(types.StringType)
	m.PrimaryKeyBits = types.Int64Unknown()
	if config.PrimaryKeyFingerprint.IsNull() {
		m.PrimaryKeyFingerprint = types.StringUnknown()
	}
	if len(offered.fingerprints) == 0 {
		return nil
	}
	list, diags := types.ListValueFrom(ctx, types.StringType, offered.fingerprints)
	m.LiveKeyFingerprints, m.PrimaryKeyBits = list, types.Int64Value(offered.bits)
	if config.PrimaryKeyFingerprint.IsNull() {
		m.PrimaryKeyFingerprint = types.StringValue(offered.fingerprints[0])
	}
	return diags
}

// rotation says whether the plan asks for other keys. A first value of rotate_when_changed asks for
// nothing: there was none to change, as after an import.
func rotation(plan, state memberlistSecretModel) (asked, perhaps bool) {
	before, after := state.RotateWhenChanged, plan.RotateWhenChanged
	if before.IsNull() || after.IsNull() {
		return false, false
	}
	if !isKnown(after) {
		return false, true
	}
	return !before.Equal(after), false
}
