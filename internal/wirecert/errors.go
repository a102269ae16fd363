package wirecert

import (
	"errors"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Reasons for which an authority is refused. Match them with errors.Is; the error around them is a
// *FileError where one file is at fault.
var (
	// ErrKeyExposed says that group or other may reach a private key.
	ErrKeyExposed = errors.New("group or other may access this private key")
	// ErrPEM says that a file is not exactly one PEM block of the right type.
	ErrPEM = errors.New("it must be exactly one PEM block of the right type")
	// ErrKeyFormat says that a private key is not a SEC1 EC key, the only form billet reads.
	ErrKeyFormat = errors.New("it must be a SEC1 \"EC PRIVATE KEY\"")
	// ErrKeyMismatch says that a key and a certificate do not belong together.
	ErrKeyMismatch = errors.New("it is not the key of the certificate beside it")
	// ErrNotAuthority says that a certificate is not a node-wire authority.
	ErrNotAuthority = errors.New("it is not a node-wire authority")
	// ErrNotSelfSigned says that a certificate was signed by another key, or badly.
	ErrNotSelfSigned = errors.New("it is not self-signed")
	// ErrDeployment says that something belongs to another deployment, or that a deployment id is
	// malformed.
	ErrDeployment = errors.New("wrong deployment")
	// ErrIncomplete says that one of two files that belong together is missing.
	ErrIncomplete = errors.New("half of a pair is missing")
	// ErrNoMarker says that a complete authority lacks its marker.
	ErrNoMarker = errors.New("a complete authority without its marker " + MarkerName)
	// ErrNotDirectory says that something that must be a directory is not.
	ErrNotDirectory = errors.New("it is not a directory")
	// ErrUnknownFile says that a file outside the allowlist was handed over, by a newer version.
	ErrUnknownFile = errors.New("a file this version does not know")
	// ErrChanging says that two reads never agreed: a writer is at work.
	ErrChanging = errors.New("the authority is changing; try again when the other writer is done")
	// ErrExists says that an authority is there where one was to be created.
	ErrExists = errors.New("an authority is already there; nothing was written")
	// ErrReadBack says that what was installed does not read back as it was written.
	ErrReadBack = errors.New("the installed authority does not read back as it was written")
	// ErrFingerprint says that a text is not a fingerprint.
	ErrFingerprint = errors.New("not a fingerprint")

	// ErrSymlink, ErrNotRegular, ErrTooLarge, ErrLockBusy and ErrLock are those of safefile.
	ErrSymlink    = safefile.ErrSymlink
	ErrNotRegular = safefile.ErrNotRegular
	ErrTooLarge   = safefile.ErrTooLarge
	ErrLockBusy   = safefile.ErrLockBusy
	ErrLock       = safefile.ErrLock
)

// FileError is a refusal of one file. Its text holds the place, the reason and the cure, and
// never anything of the content.
type FileError struct {
	// Place is a path, or the name of a file in a published document.
	Place string
	// Detail says what was found and what to do. It may be empty.
	Detail string
	// Err is one of this package's reasons.
	Err error
}

// Error returns place, reason and detail.
func (e *FileError) Error() string {
	text := e.Place + ": " + e.Err.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }
