package keys

import (
	"errors"
	"testing"
)

func TestDecide_row_by_row(t *testing.T) {
	const f, g, s = "SHA256:F", "SHA256:G", "SHA256:S"
	for name, test := range map[string]struct {
		live, supplied string
		terms          Terms
		action         Action
		refusal        error
	}{
		"nothing there is provided":             {"", "", Terms{}, Provide, nil},
		"valid keys are adopted":                {f, "", Terms{}, Adopt, nil},
		"supplied keys never replace others":    {f, s, Terms{}, Adopt, nil},
		"the accepted key stays":                {f, "", Terms{Accepted: f}, Keep, nil},
		"a rotation outside is accepted":        {g, "", Terms{Accepted: f}, Accept, nil},
		"a pinned rotation is refused":          {g, "", Terms{Accepted: f, Pinned: f}, 0, &PinnedError{f, g}},
		"a pin moved to the live key accepts":   {g, "", Terms{Accepted: f, Pinned: g}, Accept, nil},
		"adopting another than pinned":          {g, "", Terms{Pinned: f}, 0, &PinnedError{f, g}},
		"a pin without a key to put":            {"", "", Terms{Pinned: f}, 0, &PinnedError{f, ""}},
		"a pin with that key at hand":           {"", f, Terms{Pinned: f}, Provide, nil},
		"gone is refused":                       {"", "", Terms{Accepted: f}, 0, &GoneError{f}},
		"gone with other keys at hand":          {"", s, Terms{Accepted: f}, 0, &GoneError{f}},
		"gone with that key at hand":            {"", f, Terms{Accepted: f}, Restore, nil},
		"gone with consent":                     {"", "", Terms{Accepted: f, AllowReplacing: f}, Replace, nil},
		"gone with consent for another":         {"", "", Terms{Accepted: f, AllowReplacing: g}, 0, &GoneError{f}},
		"consent is inert while the key exists": {f, "", Terms{Accepted: f, AllowReplacing: f}, Keep, nil},
		"consent against the pin":               {"", "", Terms{Accepted: f, Pinned: f, AllowReplacing: f}, 0, &PinnedError{f, ""}},
		"planned to adopt, gone since":          {"", "", Terms{Planned: f}, 0, &ChangedError{f, ""}},
		"planned to adopt, another since":       {g, "", Terms{Planned: f}, 0, &ChangedError{f, g}},
		"planned to keep, rotated since":        {g, "", Terms{Accepted: f, Planned: f}, 0, &ChangedError{f, g}},
		"planned to accept, rotated again":      {s, "", Terms{Accepted: f, Planned: g}, 0, &ChangedError{g, s}},
		"planned to restore, back since":        {f, f, Terms{Accepted: f, Planned: f}, Keep, nil},
		"a rotation to a new key":               {f, "", Terms{Accepted: f, Rotate: true}, Rotate, nil},
		"a rotation to supplied keys":           {f, s, Terms{Accepted: f, Rotate: true, Planned: s}, Rotate, nil},
		"a rotation to the keys in use":         {f, f, Terms{Accepted: f, Rotate: true}, 0, &SameKeysError{f}},
		"a rotation against the pin":            {f, "", Terms{Accepted: f, Pinned: f, Rotate: true}, 0, &PinnedError{f, f}},
		"a rotation to the pinned key":          {f, s, Terms{Accepted: f, Pinned: s, Rotate: true}, Rotate, nil},
		"a rotation of a key rotated already":   {g, "", Terms{Accepted: f, Rotate: true}, Accept, nil},
		"a rotation of a key that is gone":      {"", s, Terms{Accepted: f, Rotate: true}, 0, &GoneError{f}},
		"a rotation before there was a key":     {f, "", Terms{Rotate: true}, Adopt, nil},
		"planned to rotate, rotated since":      {g, "", Terms{Accepted: f, Rotate: true, PlannedWrite: true}, 0, &ChangedError{"", g}},
		"planned to replace, another since":     {g, "", Terms{Accepted: f, AllowReplacing: f, PlannedWrite: true}, 0, &ChangedError{"", g}},
		"planned to replace, back since":        {f, "", Terms{Accepted: f, AllowReplacing: f, PlannedWrite: true}, Keep, nil},
	} {
		t.Run(name, func(t *testing.T) {
			action, err := Decide(list(test.live), list(test.supplied), test.terms)
			if !sameRefusal(err, test.refusal) || (err == nil && action != test.action) {
				t.Errorf("action %d, error %v; want %d, %v", action, err, test.action, test.refusal)
			}
		})
	}
}

// list is the one fingerprint, or none.
func list(fingerprint string) []string {
	if fingerprint == "" {
		return nil
	}
	return []string{fingerprint}
}

// A key behind the primary counts for what is written, and not for what is accepted.
func TestDecide_rotates_to_a_list_that_differs_behind_the_primary(t *testing.T) {
	f, g := "SHA256:F", "SHA256:G"
	terms := Terms{Accepted: f, Rotate: true, Planned: f}
	if action, err := Decide([]string{f}, []string{f, g}, terms); action != Rotate || err != nil {
		t.Errorf("one more key: action %d, %v", action, err)
	}
	var same *SameKeysError
	if _, err := Decide([]string{f, g}, []string{f, g}, terms); !errors.As(err, &same) {
		t.Errorf("the same list: %v", err)
	}
	if action, err := Decide([]string{f, g}, []string{f}, Terms{Accepted: f}); action != Keep || err != nil {
		t.Errorf("without a rotation: action %d, %v", action, err)
	}
}

func sameRefusal(got, want error) bool {
	if got == nil || want == nil {
		return got == want
	}
	var pinned, pinnedWant *PinnedError
	var gone, goneWant *GoneError
	var changed, changedWant *ChangedError
	var same, sameWant *SameKeysError
	switch {
	case errors.As(want, &sameWant):
		return errors.As(got, &same) && *same == *sameWant
	case errors.As(want, &pinnedWant):
		return errors.As(got, &pinned) && *pinned == *pinnedWant
	case errors.As(want, &goneWant):
		return errors.As(got, &gone) && *gone == *goneWant
	case errors.As(want, &changedWant):
		return errors.As(got, &changed) && *changed == *changedWant
	}
	return false
}

// Every combination of the table's inputs, against the promises rather than against the rows.
func TestDecide_never_replaces_without_consent(t *testing.T) {
	values := []string{"", "SHA256:A", "SHA256:B", "SHA256:C"}
	each := func(visit func(string)) {
		for _, value := range values {
			visit(value)
		}
	}
	each(func(live string) {
		each(func(supplied string) {
			each(func(accepted string) {
				each(func(pinned string) {
					each(func(allow string) {
						each(func(planned string) {
							for flags := range 4 {
								checkPromises(t, live, supplied, Terms{
									accepted, pinned, allow, flags&1 != 0, planned, flags&2 != 0,
								})
							}
						})
					})
				})
			})
		})
	})
}

func checkPromises(t *testing.T, live, supplied string, terms Terms) {
	t.Helper()
	action, err := Decide(list(live), list(supplied), terms)
	if err != nil {
		return
	}
	after := live
	if action.Writes() {
		after = supplied
	}
	switch {
	case live != "" && action.Writes() && !(terms.Rotate && terms.Accepted == live):
		t.Errorf("live %q, supplied %q, %+v: action %d writes over a key", live, supplied, terms, action)
	case live != "" && action.Writes() && live == supplied:
		t.Errorf("live %q, supplied %q, %+v: writes what is there", live, supplied, terms)
	case live == "" && !action.Writes():
		t.Errorf("live %q, supplied %q, %+v: action %d leaves no key", live, supplied, terms, action)
	case live == "" && terms.Accepted != "" && after != terms.Accepted && terms.AllowReplacing != terms.Accepted:
		t.Errorf("live %q, supplied %q, %+v: replaced without consent", live, supplied, terms)
	case terms.Pinned != "" && after != terms.Pinned:
		t.Errorf("live %q, supplied %q, %+v: %q is not the pinned key", live, supplied, terms, after)
	case terms.Planned != "" && after != terms.Planned:
		t.Errorf("live %q, supplied %q, %+v: %q is not the planned key", live, supplied, terms, after)
	case terms.PlannedWrite && !action.Writes() && terms.Accepted != "" && after != terms.Accepted:
		t.Errorf("live %q, supplied %q, %+v: accepts a key that nobody reviewed", live, supplied, terms)
	}
}
