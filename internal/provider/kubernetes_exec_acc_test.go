//go:build unix

package provider

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// issuer is a credential program, and what its tokens are worth at a gate: each is good for a short
// while, and stands for the token of a real account.
type issuer struct {
	t       *testing.T
	real    string
	program string
	log     string

	mu      sync.Mutex
	life    time.Duration
	refuse  int // so many requests that are no GET are answered 401, whatever the token
	refused int
}

const (
	execVersion = "client.authentication.k8s.io/v1"
	// shortLived begins each token, long enough to be looked for in all that Terraform wrote.
	shortLived = "short-lived-token-"
)

// newIssuer writes a program whose tokens live for whole seconds. It notes each run: the number, and
// what it found of a terminal and of its standard input.
func newIssuer(t *testing.T, real string, seconds int) *issuer {
	t.Helper()
	directory := t.TempDir()
	i := &issuer{
		t: t, real: real, life: time.Duration(seconds) * time.Second,
		program: filepath.Join(directory, "login"), log: filepath.Join(directory, "runs"),
	}
	script := fmt.Sprintf(`#!/bin/sh
now=$(date +%%s)
{
  printf 'run'
  if (: >/dev/tty) 2>/dev/null; then printf ' terminal'; fi
  if [ -n "$(cat)" ]; then printf ' input'; fi
  case $KUBERNETES_EXEC_INFO in *'"apiVersion":"%[1]s"'*'"interactive":false'*) ;; *) printf ' info' ;; esac
  printf '\n'
} >>'%[2]s'
expiry=$(date -u -d "@$((now + %[3]d))" +%%Y-%%m-%%dT%%H:%%M:%%SZ)
printf '{"kind":"ExecCredential","apiVersion":"%[1]s","status":{"token":"%[4]s%%s","expirationTimestamp":"%%s"}}' \
  "$now" "$expiry"
`, execVersion, i.log, seconds, shortLived)
	if err := os.WriteFile(i.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *issuer) argument() string {
	return fmt.Sprintf("exec = { api_version = %q, command = %q }", execVersion, i.program)
}

// admit puts the real token in the place of a short one, or answers 401.
func (i *issuer) admit(w http.ResponseWriter, r *http.Request) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	var made int64
	_, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer "+shortLived+"%d", &made)
	expired := err != nil || time.Now().Unix() > made+int64(i.life/time.Second)
	if r.Method != http.MethodGet && i.refuse > 0 {
		i.refuse--
		expired = true
	}
	if expired {
		i.refused++
		status(http.StatusUnauthorized, "Unauthorized", "")(w, r)
		return true
	}
	r.Header.Set("Authorization", "Bearer "+i.real)
	return false
}

// refuses sets how many writes are refused from now on.
func (i *issuer) refuses(writes int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refuse = writes
}

// refusals counts the requests that were answered with 401.
func (i *issuer) refusals() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused
}

// runs are the runs of the program. Each must have found neither a terminal nor input.
func (i *issuer) runs() int {
	i.t.Helper()
	notes, err := os.ReadFile(i.log)
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	for note := range strings.Lines(string(notes)) {
		if note != "run\n" {
			i.t.Errorf("the program found:%s", strings.TrimPrefix(note, "run"))
		}
	}
	return strings.Count(string(notes), "\n")
}

// K10, K7: the tokens of the plan have expired when its file is applied. Nothing of them was kept: the
// program runs again.
func TestAccKubernetes_a_saved_plan_outlives_the_tokens_that_it_was_made_with(t *testing.T) {
	w := newWorld(t)
	gate := w.cluster.Gate(t)
	issuer := newIssuer(t, w.cluster.Account(t, w.namespace, "exec", acctest.AnySecret).Token, 2)
	gate.Answers(issuer.admit)
	s := newSession(t, gated(gate, issuer.argument())+w.testResource(""))
	s.plan(changes)
	planned := issuer.runs()
	time.Sleep(3 * time.Second) // the plugin's clock is the one of the machine
	s.applySaved(0)
	if planned == 0 || issuer.runs() <= planned || issuer.refusals() != 0 {
		t.Errorf("%d runs at plan, %d in all, %d requests refused", planned, issuer.runs(), issuer.refusals())
	}
	if w.secret().Data["keys"] == nil {
		t.Error("no key")
	}
	s.leaksNothing([]byte(shortLived))
}

// K10: a 401 in the middle of an apply runs the program once more and repeats the request once; a
// second one is an error that says what happened to the credential, and is no absence.
func TestAccKubernetes_a_401_within_an_apply_is_answered_by_one_more_run(t *testing.T) {
	w := newWorld(t)
	gate := w.cluster.Gate(t)
	issuer := newIssuer(t, w.cluster.Account(t, w.namespace, "exec", acctest.AnySecret).Token, 3600)
	gate.Answers(issuer.admit)
	s := newSession(t, gated(gate, issuer.argument())+w.testResource(""))
	s.plan(changes)

	issuer.refuses(2)
	before := issuer.runs()
	gate.Forget()
	wants(t, s.applySaved(refused), "request to the API server failed", "create of", w.namespace,
		"The server does not accept", "nor did it accept the one before: it has expired")
	if issuer.runs() != before+2 || wrote(gate) != 2 || issuer.refusals() != 2 {
		t.Errorf("%d runs, %d writes", issuer.runs()-before, wrote(gate))
	}

	issuer.refuses(1)
	before = issuer.runs()
	gate.Forget()
	s.plan(changes)
	planned := issuer.runs()
	s.applySaved(0)
	if issuer.runs() != planned+2 || wrote(gate) != 2 || planned != before+1 {
		t.Errorf("%d, %d, %d runs, %d writes", before, planned, issuer.runs(), wrote(gate))
	}
	if w.secret().Data["keys"] == nil {
		t.Error("no key")
	}
}

// K10: the real API server refuses the token of an account that is gone. It is an error that says so,
// and the state stays.
func TestAccKubernetes_a_withdrawn_token_is_an_error_that_names_it(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	gate := w.cluster.Gate(t)
	account := w.cluster.Account(t, w.namespace, "short", acctest.AnySecret)
	config := func(token string) string {
		return gated(gate, fmt.Sprintf("token = %q", token)) + w.testResource("")
	}
	s := newSession(t, config(account.Token))
	s.apply(0)
	state := s.state()
	unused := account.NewToken(t) // the API server remembers for ten seconds those that it has seen
	account.Delete(t)
	s.configure(config(unused))
	wants(t, s.plan(refused), "The server does not accept the token in token",
		"it has expired, was withdrawn, or is not for this cluster")
	if s.state() != state {
		t.Error("the state changed")
	}
	w.unchanged(before)
}

// What the program says on its standard error is in the error; what it prints on its standard output,
// where a credential may be, is in nothing that Terraform writes.
func TestAccKubernetes_a_failing_program_is_quoted_by_its_stderr_alone(t *testing.T) {
	w := newWorld(t)
	const canary = "stdout-canary-7f3a"
	program := filepath.Join(t.TempDir(), "login")
	script := "#!/bin/sh\necho " + canary + "\necho 'please log in first' >&2\nexit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	gate := w.cluster.Gate(t)
	config := fmt.Sprintf("exec = { api_version = %q, command = %q }", execVersion, program)
	trace := filepath.Join(t.TempDir(), "trace.log")
	s := newSession(t, gated(gate, config)+w.testResource(""), "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	printed := s.plan(refused)
	wants(t, printed, "credential program", "exit status 3", "please log in first")
	log, err := os.ReadFile(trace)
	if err != nil || len(log) == 0 {
		t.Fatalf("no log: %v", err)
	}
	if strings.Contains(printed, canary) || strings.Contains(string(log), canary) {
		t.Error("the standard output is shown")
	}
	if len(gate.Seen()) != 0 {
		t.Errorf("sent without a credential: %v", gate.Seen())
	}
}
