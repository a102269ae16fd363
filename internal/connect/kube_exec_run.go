package connect

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// maxExecReply bounds the standard output, in bytes.
	maxExecReply = 1 << 20
	// maxExecStderr bounds what is kept of the standard error, maxShownStderr what an error shows
	// of it. More is kept than shown, so that no half of a credential is left by the cut.
	maxExecStderr  = 64 << 10
	maxShownStderr = 4 << 10
)

// run starts the program once and reads its reply. The program gets no standard input and no
// terminal, and a limited time.
func (p *plugin) run(ctx context.Context, e *endpoint, timeout time.Duration) (*grant, error) {
	info, err := p.info(e)
	if err != nil {
		return nil, &ExecError{Command: p.command, Problem: "its " + execInfoName +
			" cannot be written", Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stdout := &capped{limit: maxExecReply}
	stderr := &tail{limit: maxExecStderr}
	cmd := exec.CommandContext(ctx, p.command, p.args...)
	cmd.Env = os.Environ()
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		cmd.Env = append(cmd.Env, name+"="+p.env[name].Reveal())
	}
	cmd.Env = append(cmd.Env, execInfoName+"="+info)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = execGrace
	detach(cmd)
	// ErrWaitDelay: it ended well, and left a process behind that holds its output open.
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, p.failed(ctx, err, timeout, stderr)
	}
	found, problem := readReply(stdout, p.apiVersion)
	if problem != "" {
		return nil, &ExecError{Command: p.command, Problem: problem, Stderr: p.shown(stderr)}
	}
	return found, nil
}

func (p *plugin) failed(
	ctx context.Context, err error, timeout time.Duration, stderr *tail,
) *ExecError {
	failure := &ExecError{Command: p.command, Stderr: p.shown(stderr), Err: err}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure.Problem = "no reply within " + timeout.String() + "; it was ended"
		failure.Err = ctx.Err()
	case ctx.Err() != nil:
		failure.Problem, failure.Err = "it was ended because the run was cancelled", ctx.Err()
	case errors.As(err, &exit):
		failure.Problem = exit.ProcessState.String()
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		failure.Problem = "there is no such program on this machine (looked for in PATH, " +
			"or at the path given)"
		failure.Hint = p.installHint
	default:
		failure.Problem = "it cannot be started: " + reason(err)
	}
	return failure
}

// reason is the system's word for a failed start, without the path or the arguments.
func reason(err error) string {
	var ofExec *exec.Error
	if errors.As(err, &ofExec) {
		err = ofExec.Err
	}
	var ofPath *os.PathError
	if errors.As(err, &ofPath) {
		err = ofPath.Err
	}
	return err.Error()
}

// shown is the standard error fit for a message. The values of env are credentials often enough,
// and a program in its debug mode prints its environment.
func (p *plugin) shown(stderr *tail) string {
	var hidden []string
	for _, secret := range p.env {
		hidden = append(hidden, secret.Reveal())
	}
	text := newRedactor(hidden...).clean(strings.TrimSpace(printable(stderr.String())))
	if over := len(text) - maxShownStderr; over > 0 {
		text = "... " + strings.ToValidUTF8(text[over:], "")
	}
	return text
}
