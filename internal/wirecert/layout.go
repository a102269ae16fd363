// Package wirecert keeps the node-wire authority of a billet deployment on disk: it reads it
// strictly, mints one, installs one in an order that survives a crash, and moves one aside. It
// knows the file system and nothing else.
//
// An observer takes no lock and creates nothing. A writer holds the lock beside ca/ for as long as
// it reads, decides and writes.
package wirecert

import (
	"path/filepath"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"
)

// Names of the files that make up an authority. They are the allowlist: these files travel, and
// nothing else does.
const (
	// KeyName holds one SEC1 private key; mode 0600.
	KeyName = "ca.key"
	// CertificateName holds one certificate; mode 0644.
	CertificateName = "ca.crt"
	// PreviousKeyName and PreviousCertificateName are the generation being retired, both or
	// neither. The previous key signs what the control plane presents until every node renewed.
	PreviousKeyName         = "ca-previous.key"
	PreviousCertificateName = "ca-previous.crt"
	// MarkerName holds the deployment id and a newline; mode 0644. It lives outside ca/, so that a
	// lost ca/ can be told from a first day.
	MarkerName = "authority-created"
)

const (
	dirName     = "ca"
	lockName    = "ca.lock"
	idName      = "deployment-id"
	stagingName = "ca.installing"
	markerTemp  = MarkerName + ".new"
	asideInfix  = ".superseded-"
	asideTime   = "20060102T150405Z"
	keyMode     = 0o600
	publicMode  = 0o644
	commonName  = "billet node wire CA"
	claimPrefix = "billet-replaces:"
)

// DefaultLockWait is how long a writer waits for whoever holds the lock.
const DefaultLockWait = 30 * time.Second

// Names returns the allowlist in the order in which the files are written.
func Names() []string {
	return []string{
		KeyName, CertificateName, PreviousKeyName, PreviousCertificateName, MarkerName,
	}
}

func allowed(name string) bool {
	switch name {
	case KeyName, CertificateName, PreviousKeyName, PreviousCertificateName, MarkerName:
		return true
	}
	return false
}

// private says whether the file holds a private key.
func private(name string) bool { return name == KeyName || name == PreviousKeyName }

// Path returns where the allowlisted file lives under the state directory.
func Path(stateDir, name string) string {
	if name == MarkerName {
		return filepath.Join(stateDir, MarkerName)
	}
	return filepath.Join(stateDir, dirName, name)
}

// LockPath returns the lock's path under the state directory.
func LockPath(stateDir string) string { return filepath.Join(stateDir, lockName) }

// MaxSize is the largest file of an authority, in bytes.
const MaxSize = safefile.MaxSize
