//go:build !unix

package acctest

import "os/exec"

func ownGroup(*exec.Cmd) {}

func endGroup(command *exec.Cmd) error { return command.Process.Kill() }
