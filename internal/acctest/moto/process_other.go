//go:build !unix

package moto

import "os/exec"

// startTied starts command; here nothing ends it when this process is killed.
func startTied(command *exec.Cmd) (stop func(), err error) {
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}, nil
}
