package wirecert

import "fmt"

// checkComplete refuses half an authority and names what is there and what is missing. Completing
// it, from anywhere, could pair a key of one generation with a certificate of another.
func checkComplete(files Files, place func(string) string) error {
	for name := range files {
		if !allowed(name) {
			return &FileError{Place: "the published files", Err: ErrUnknownFile,
				Detail: "a newer version wrote it; upgrade this one"}
		}
	}
	if err := checkBoth(files, KeyName, CertificateName, place); err != nil {
		return err
	}
	if err := checkBoth(files, PreviousKeyName, PreviousCertificateName, place); err != nil {
		return err
	}
	if _, ok := files[KeyName]; !ok {
		return &FileError{Place: place(KeyName), Err: ErrIncomplete,
			Detail: "it and " + place(CertificateName) + " are missing"}
	}
	if _, ok := files[MarkerName]; !ok {
		return &FileError{Place: place(MarkerName), Err: ErrNoMarker,
			Detail: "check that this authority belongs here, then write the deployment id into it"}
	}
	return nil
}

func checkBoth(files Files, a, b string, place func(string) string) error {
	_, hasA := files[a]
	_, hasB := files[b]
	if hasA == hasB {
		return nil
	}
	present, missing := a, b
	if hasB {
		present, missing = b, a
	}
	return &FileError{Place: place(missing), Err: ErrIncomplete,
		Detail: fmt.Sprintf("it is missing while %s is there; restore both from one copy",
			place(present))}
}
