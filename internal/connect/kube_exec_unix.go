//go:build unix

package connect

import (
	"os/exec"
	"syscall"
)

// detach starts the program in a session of its own, which has no controlling terminal: it cannot
// open /dev/tty and wait there for an answer that nobody sees. Ending it ends its children too.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
