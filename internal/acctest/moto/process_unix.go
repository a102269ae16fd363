//go:build unix

package moto

import "os/exec"

// tie runs its arguments and ends them when its standard input ends, which it does with the test
// binary however that ends: also after a kill -9 or a test timeout. It lets go of the log, so that
// the log ends with the server.
const tie = `"$@" & child=$!; exec 2>&-; cat >/dev/null; kill $child; wait $child`

// startTied starts command so that it does not outlive this process.
func startTied(command *exec.Cmd) (stop func(), err error) {
	command.Args = append([]string{"sh", "-c", tie, "sh", command.Path}, command.Args[1:]...)
	if command.Path, err = exec.LookPath("sh"); err != nil {
		return nil, err
	}
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = stdin.Close()
		_ = command.Wait()
	}, nil
}
