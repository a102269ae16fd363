//go:build unix

package connect

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is what the test binary does as a credential program. Each run appends a line to
// Log: what it was told in KUBERNETES_EXEC_INFO and what it found of a terminal.
type program struct {
	Reply  string // %N% is the number of the run
	Stderr string
	Exit   int
	Sleep  time.Duration
	Child  bool // leave a child behind that holds the output open for Sleep
	Hang   bool // do not end by itself, after leaving the child
	Log    string
}

type programRun struct {
	Info     string
	Stdin    string
	Terminal bool
	Leads    bool // it leads a process group of its own, as the leader of a session does
	Child    int  // the process id of the child
	Args     []string
}

func playProgram(script string) int {
	var p program
	if err := json.Unmarshal([]byte(script), &p); err != nil {
		return 99
	}
	run := programRun{Info: os.Getenv(execInfoName), Args: os.Args[1:]}
	stdin, _ := io.ReadAll(os.Stdin)
	run.Stdin = string(stdin)
	if terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		run.Terminal = true
		_ = terminal.Close()
	}
	run.Leads = syscall.Getpgrp() == os.Getpid()
	if p.Child {
		run.Child = p.leaveChild()
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 98
	}
	_ = json.NewEncoder(log).Encode(run)
	_ = log.Close()
	_, _ = io.WriteString(os.Stderr, p.Stderr)
	if !p.Child || p.Hang {
		time.Sleep(p.Sleep)
	}
	_, _ = io.WriteString(os.Stdout, strings.ReplaceAll(p.Reply, "%N%", fmt.Sprint(len(p.runs()))))
	return p.Exit
}

func (p program) leaveChild() int {
	child := exec.Command("sleep", fmt.Sprint(p.Sleep.Seconds()))
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if child.Start() != nil {
		return 0
	}
	return child.Process.Pid
}

func (p program) runs() []programRun {
	data, _ := os.ReadFile(p.Log)
	var runs []programRun
	for line := range strings.Lines(string(data)) {
		var run programRun
		_ = json.Unmarshal([]byte(line), &run)
		runs = append(runs, run)
	}
	return runs
}

// exec is the exec object that runs p.
func (p *program) exec(t testing.TB, version string) *Exec {
	t.Helper()
	if p.Log == "" {
		p.Log = filepath.Join(t.TempDir(), "runs")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return &Exec{
		APIVersion: execGroup + version, Command: self, Args: []string{"get-token"},
		Env: map[string]Secret{
			"BILLET_TEST_PROGRAM": NewSecret(string(script)),
			"GORACE":              NewSecret("atexit_sleep_ms=0"),
		},
	}
}

// tokenReply is a reply with a token, and an expiry unless it is the zero time.
func tokenReply(version, token string, expires time.Time) string {
	expiry := ""
	if !expires.IsZero() {
		expiry = fmt.Sprintf(`,"expirationTimestamp":%q`, expires.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":{"token":%q%s}}`,
		execGroup+version, token, expiry)
}

func (s *apiServer) execSettings(e *Exec) Kubernetes {
	return Kubernetes{Host: s.URL, ClusterCACertificate: s.ca.pem, Exec: e}
}
