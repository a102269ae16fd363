package keys

import "slices"

// Action is the one thing that may happen to the Secret's keys.
type Action int

const (
	// Keep leaves the accepted primary key as it is.
	Keep Action = iota
	// Adopt accepts the keys that are there, without any prior state.
	Adopt
	// Accept accepts a primary key that somebody else rotated to. Nothing is written.
	Accept
	// Provide puts keys where there never was one: supplied keys, else one new key.
	Provide
	// Restore puts the accepted keys back where they are gone.
	Restore
	// Replace puts another key where the accepted one is gone, by consent.
	Replace
	// Rotate puts supplied keys, else one new key, over the accepted one, because it was asked for.
	Rotate
)

// Writes says whether the action writes keys.
func (a Action) Writes() bool { return a >= Provide }

// Terms are what the state and the configuration say about the keys. Fingerprints are compared
// exactly, since base64 is case-sensitive; "" stands for "not said".
type Terms struct {
	// Accepted is the primary key that the last apply accepted; "" without prior state.
	Accepted string
	// Pinned is the only primary key that may be accepted.
	Pinned string
	// AllowReplacing names the one accepted key whose replacement is consented to.
	AllowReplacing string
	// Rotate asks for other keys than the accepted ones. It is no consent to replace any other key: one
	// that somebody else rotated to meanwhile is accepted in place of rotating again, and so is the one
	// of a rotation whose answer was lost.
	Rotate bool
	// Planned is the primary key that the reviewed plan showed. Anything else stops the apply.
	Planned string
	// PlannedWrite says that the reviewed plan was to write a key it could not name, so that accepting
	// somebody else's is not what was reviewed.
	PlannedWrite bool
}

// Decide is the decision table of the memberlist Secret. live are the fingerprints of the keys in the
// Secret and supplied those of the keys at hand to write, primary key first; either may be empty. No
// row without AllowReplacing or Rotate puts another key where one was accepted.
func Decide(live, supplied []string, terms Terms) (Action, error) {
	action, err := decide(live, supplied, terms)
	if err != nil {
		return action, err
	}
	after := primary(live)
	if action.Writes() {
		after = primary(supplied) // "" when only writing it will tell
	}
	if terms.Planned != "" && terms.Planned != after || terms.PlannedWrite && action == Accept {
		return Keep, &ChangedError{Planned: terms.Planned, Live: primary(live)}
	}
	return action, nil
}

func decide(live, supplied []string, terms Terms) (Action, error) {
	found, offered := primary(live), primary(supplied)
	if found == "" {
		return decideAbsent(offered, terms)
	}
	if terms.Rotate && terms.Accepted == found {
		switch {
		case slices.Equal(live, supplied):
			return Keep, &SameKeysError{Live: found}
		case terms.Pinned != "" && terms.Pinned != offered:
			return Keep, &PinnedError{Pinned: terms.Pinned, Live: found}
		}
		return Rotate, nil
	}
	switch {
	case terms.Pinned != "" && terms.Pinned != found:
		return Keep, &PinnedError{Pinned: terms.Pinned, Live: found}
	case terms.Accepted == "":
		return Adopt, nil
	case terms.Accepted != found:
		return Accept, nil
	}
	return Keep, nil
}

func decideAbsent(offered string, terms Terms) (Action, error) {
	action := Provide
	switch {
	case terms.Accepted == "":
	case terms.Accepted == offered:
		action = Restore
	case terms.Accepted == terms.AllowReplacing:
		action = Replace
	default:
		return Keep, &GoneError{Accepted: terms.Accepted}
	}
	if terms.Pinned != "" && terms.Pinned != offered {
		return Keep, &PinnedError{Pinned: terms.Pinned}
	}
	return action, nil
}

// primary is the key that agents encrypt with, or "".
func primary(fingerprints []string) string {
	if len(fingerprints) == 0 {
		return ""
	}
	return fingerprints[0]
}
