//go:build unix

package connect

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// K7: /dev/tty leads to Terraform's terminal, whatever the standard input is, unless the program is
// in a session of its own. A process group of its own is not enough.
func TestAProgramHasASessionOfItsOwn(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	detach(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	session, err := unix.Getsid(cmd.Process.Pid)
	if err != nil || session != cmd.Process.Pid {
		t.Errorf("session %d of process %d: %v", session, cmd.Process.Pid, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
}
