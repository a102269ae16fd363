//go:build unix

package acctest

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps an interrupt typed at the terminal from the program: it gets the one that its
// runner sends, and a second one would make Terraform end without storing its state.
func ownGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the program and what it started. It must have been started by ownGroup.
func endGroup(command *exec.Cmd) error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
