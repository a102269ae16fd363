//go:build !unix

package connect

import "os/exec"

// detach does nothing here: without a standard input the program has nothing to ask through.
func detach(*exec.Cmd) {}
