//go:build !linux && !darwin && !windows

package safefile

import "errors"

func renameExclusive(_, _ string) error { return errors.ErrUnsupported }
