package keys

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
	// Planned is the primary key that the reviewed plan showed. Anything else stops the apply.
	Planned string
}

// Decide is the decision table of the memberlist Secret. live is the primary key in the Secret and
// supplied the primary of the keys at hand to write; either may be "". No row without
// AllowReplacing puts another key where one was accepted.
func Decide(live, supplied string, terms Terms) (Action, error) {
	action, err := decide(live, supplied, terms)
	if err != nil {
		return action, err
	}
	if outcome := outcome(action, live, supplied); terms.Planned != "" && terms.Planned != outcome {
		return Keep, &ChangedError{Planned: terms.Planned, Live: live}
	}
	return action, nil
}

func decide(live, supplied string, terms Terms) (Action, error) {
	if live != "" {
		switch {
		case terms.Pinned != "" && terms.Pinned != live:
			return Keep, &PinnedError{Pinned: terms.Pinned, Live: live}
		case terms.Accepted == "":
			return Adopt, nil
		case terms.Accepted != live:
			return Accept, nil
		}
		return Keep, nil
	}
	action := Provide
	switch {
	case terms.Accepted == "":
	case terms.Accepted == supplied:
		action = Restore
	case terms.Accepted == terms.AllowReplacing:
		action = Replace
	default:
		return Keep, &GoneError{Accepted: terms.Accepted}
	}
	if terms.Pinned != "" && terms.Pinned != supplied {
		return Keep, &PinnedError{Pinned: terms.Pinned}
	}
	return action, nil
}

// outcome is the primary key after the action; "" when only writing it will tell.
func outcome(action Action, live, supplied string) string {
	if action.Writes() {
		return supplied
	}
	return live
}
