package wirecerttest

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// Write writes files into the state directory as they are, without any check and over what is
// there, with the modes of an authority.
func Write(stateDir string, files wirecert.Files) error {
	if err := os.MkdirAll(filepath.Join(stateDir, "ca"), 0o700); err != nil {
		return err
	}
	for _, name := range wirecert.Names() {
		if data, ok := files[name]; ok {
			if err := put(wirecert.Path(stateDir, name), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// Mint makes a new authority in the state directory, over what is there.
func Mint(stateDir string, o Options) (Pair, error) {
	p, err := NewPair(o)
	if err != nil {
		return Pair{}, err
	}
	deployment := o.Deployment
	if deployment == "" {
		deployment = Deployment
	}
	return p, Write(stateDir, Files(deployment, p, nil))
}

// Rotate makes a new authority that claims to replace the one in the state directory, which
// becomes the previous pair, and returns both fingerprints. It takes the lock as billet does.
func Rotate(ctx context.Context, stateDir, deployment string) (old, new string, err error) {
	err = locked(ctx, stateDir, func() error {
		state, err := wirecert.Read(stateDir, deployment)
		if err != nil {
			return err
		}
		if state.Authority == nil {
			return fmt.Errorf("%s holds no authority to rotate", stateDir)
		}
		old = state.Authority.Info().Fingerprint
		next, err := NewPair(Options{Deployment: deployment, Replaces: old})
		if err != nil {
			return err
		}
		new = next.Fingerprint
		return rotateFiles(stateDir, next)
	})
	return old, new, err
}

// rotateFiles changes one file after another, so that a reader without the lock can catch it in
// between.
func rotateFiles(stateDir string, next Pair) error {
	path := func(name string) string { return wirecert.Path(stateDir, name) }
	if err := os.Rename(path(wirecert.KeyName), path(wirecert.PreviousKeyName)); err != nil {
		return err
	}
	err := os.Rename(path(wirecert.CertificateName), path(wirecert.PreviousCertificateName))
	if err != nil {
		return err
	}
	if err := put(path(wirecert.KeyName), next.KeyPEM); err != nil {
		return err
	}
	return put(path(wirecert.CertificateName), next.CertificatePEM)
}

// Retire removes the previous pair. It takes the lock as billet does.
func Retire(ctx context.Context, stateDir string) error {
	return locked(ctx, stateDir, func() error {
		for _, name := range []string{wirecert.PreviousKeyName, wirecert.PreviousCertificateName} {
			err := os.Remove(wirecert.Path(stateDir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// Reissue replaces the certificate in the state directory by another one for the same key.
func Reissue(ctx context.Context, stateDir string, o Options) error {
	return locked(ctx, stateDir, func() error {
		key, err := readKey(wirecert.Path(stateDir, wirecert.KeyName))
		if err != nil {
			return err
		}
		o.Key = key
		p, err := NewPair(o)
		if err != nil {
			return err
		}
		return put(wirecert.Path(stateDir, wirecert.CertificateName), p.CertificatePEM)
	})
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", path)
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

func locked(ctx context.Context, stateDir string, do func() error) (err error) {
	lock, err := wirecert.Lock(ctx, stateDir, wirecert.DefaultLockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return do()
}

// put writes one file with its final mode and gives it its name in one step.
func put(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".key") {
		mode = 0o600
	}
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(temp, mode); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
