package wirecert

import (
	"fmt"
	"strings"
)

// CheckDeployment returns ErrDeployment unless id is 32 lower-case hex characters, as billet mints
// them.
func CheckDeployment(id string) error {
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("%w: a deployment id is 32 lower-case hexadecimal characters",
			ErrDeployment)
	}
	return nil
}

// checkSameDeployment compares an id that was found at place with the configured one. The found
// text is repeated only when it is an id: it comes from a file that may hold anything.
func checkSameDeployment(place, found, want string) error {
	if CheckDeployment(found) != nil {
		return &FileError{Place: place, Err: ErrDeployment, Detail: "it names no deployment id, " +
			"want " + want}
	}
	if found != want {
		return &FileError{Place: place, Err: ErrDeployment,
			Detail: fmt.Sprintf("it names %s, the configuration %s", found, want)}
	}
	return nil
}

// markerID returns the deployment id a marker or a deployment-id file holds.
func markerID(data []byte) string { return strings.TrimRight(string(data), " \t\r\n") }
