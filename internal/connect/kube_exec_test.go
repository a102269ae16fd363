//go:build unix

package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// K7.
func TestProgramIsAskedInTheConfiguredVersionWithoutInputOrTerminal(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			server := newServer(t, answerSecret)
			p := &program{Reply: tokenReply(version, "token-%N%", time.Time{})}
			c := mustOpen(t, server.execSettings(p.exec(t, version)), variables{}.opener())
			for range 2 {
				if _, err := get(t, c); err != nil {
					t.Fatal(err)
				}
			}
			if got := authorizations(server.seen()); got != "token-1 token-1" {
				t.Errorf("tokens sent: %s", got)
			}
			runs := p.runs()
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			var info struct {
				Kind, APIVersion string
				Spec             map[string]any
			}
			if err := json.Unmarshal([]byte(runs[0].Info), &info); err != nil {
				t.Fatal(err)
			}
			if info.Kind != execKind || info.APIVersion != execGroup+version ||
				info.Spec["interactive"] != false || info.Spec["cluster"] != nil {
				t.Errorf("KUBERNETES_EXEC_INFO is %s", runs[0].Info)
			}
			if runs[0].Stdin != "" || runs[0].Terminal || !runs[0].Leads ||
				runs[0].Args[0] != "get-token" {
				t.Errorf("the program got %+v", runs[0])
			}
		})
	}
}

// K10: a token that has expired is not sent.
func TestProgramRunsAgainWhenItsCredentialHasExpired(t *testing.T) {
	server := newServer(t, answerSecret)
	p := &program{Reply: tokenReply("v1", "token-%N%", time.Now().Add(time.Second))}
	c := mustOpen(t, server.execSettings(p.exec(t, "v1")), variables{}.opener())
	now := time.Now()
	c.granter.(*execGranter).now = func() time.Time { return now }
	for _, at := range []time.Duration{0, 0, 2 * time.Second} {
		now = now.Add(at)
		if _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := authorizations(server.seen()); got != "token-1 token-1 token-2" {
		t.Errorf("tokens sent: %s", got)
	}
}

// K10: a 401 in the middle of an apply.
func TestProgramRunsOnceMoreAfterA401AndTheWriteIsRepeatedWhole(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if r.Header.Get("Authorization") != "Bearer token-2" {
			writeJSON(w, 401, status(401, metav1.StatusReasonUnauthorized, "Unauthorized"))
			return
		}
		answerSecret(w, r, nth)
	})
	p := &program{Reply: tokenReply("v1", "token-%N%", time.Time{})}
	c := mustOpen(t, server.execSettings(p.exec(t, "v1")), variables{}.opener())
	secrets := c.Secrets(testNamespace)
	if _, err := secrets.Create(t.Context(), theSecret(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	calls := server.seen()
	if len(calls) != 2 || calls[0].body != calls[1].body ||
		!strings.Contains(calls[1].body, base64Of(testKeys)) {
		t.Errorf("%d requests; the bodies differ: %t", len(calls), calls[0].body != calls[1].body)
	}
	if len(p.runs()) != 2 {
		t.Errorf("%d runs", len(p.runs()))
	}
}

// K1, K10: a 401 is never "absent".
func TestErrorSaysThatTheCredentialExpiredWhenTheRepeatedRequestIsRefusedToo(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeJSON(w, 401, status(401, metav1.StatusReasonUnauthorized, "Unauthorized"))
	})
	p := &program{Reply: tokenReply("v1", "token-%N%", time.Time{})}
	c := mustOpen(t, server.execSettings(p.exec(t, "v1")), variables{}.opener())
	_, err := get(t, c)
	var request *RequestError
	if !errors.As(err, &request) || request.Attempts != 2 ||
		!strings.Contains(request.Note, "expired") {
		t.Errorf("error: %v", err)
	}
	if len(p.runs()) != 2 || len(server.seen()) != 2 {
		t.Errorf("%d runs, %d requests", len(p.runs()), len(server.seen()))
	}
}

func TestManyRequestsAtOnceRunTheProgramOnce(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if r.Header.Get("Authorization") != "Bearer token-2" {
			writeJSON(w, 401, status(401, metav1.StatusReasonUnauthorized, "Unauthorized"))
			return
		}
		answerSecret(w, r, nth)
	})
	p := &program{
		Reply: tokenReply("v1", "token-%N%", time.Time{}), Sleep: 100 * time.Millisecond,
	}
	c := mustOpen(t, server.execSettings(p.exec(t, "v1")), variables{}.opener())
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			if _, err := get(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := len(p.runs()); n != 2 {
		t.Errorf("%d runs for 30 requests that were refused once each", n)
	}
}

// One failing program must not be waited for 30 times.
func TestWaitersShareTheErrorOfOneRunAndTheLastToLeaveEndsIt(t *testing.T) {
	starts, ended := make(chan struct{}, 10), make(chan struct{})
	x := &execGranter{now: time.Now, run: func(ctx context.Context) (*grant, error) {
		starts <- struct{}{}
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}
	first, leave := context.WithCancel(t.Context())
	second, leaveToo := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, ctx := range []context.Context{first, second} {
		group.Go(func() {
			if _, err := x.grant(ctx, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error: %v", err)
			}
		})
	}
	<-starts
	for {
		x.mu.Lock()
		waiting := x.flight.waiting
		x.mu.Unlock()
		if waiting == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	leave()
	select {
	case <-ended:
		t.Fatal("the run ended while somebody waited for it")
	case <-time.After(20 * time.Millisecond):
	}
	leaveToo()
	<-ended
	group.Wait()
	if len(starts) != 0 {
		t.Error("the program was started twice")
	}
}

// K7 and the rules of the reply.
func TestErrorsOfProgramsShowStderrAndNeverStdout(t *testing.T) {
	const token, note = "printed-token-printed", "please log in again"
	cert, key := newAuthority(t).issue(t, time.Now().Add(time.Hour), "ada")
	reply := func(version, rest string) string {
		return fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q%s}`, execGroup+version, rest)
	}
	for name, test := range map[string]struct {
		p    program
		want string
	}{
		"exit status":       {program{Exit: 3, Reply: token, Stderr: note}, "exit status 3"},
		"nothing printed":   {program{Stderr: note}, "printed nothing"},
		"not JSON":          {program{Reply: token, Stderr: note}, "not one ExecCredential"},
		"another version":   {program{Reply: tokenReply("v1beta1", token, time.Time{}), Stderr: note}, "v1beta1"},
		"another kind":      {program{Reply: `{"kind":"` + token + `"}`, Stderr: note}, "kind"},
		"no status":         {program{Reply: reply("v1", ""), Stderr: note}, "no status"},
		"an empty status":   {program{Reply: reply("v1", `,"status":{}`), Stderr: note}, "neither"},
		"half a pair":       {program{Reply: reply("v1", `,"status":{"clientKeyData":"`+token+`"}`), Stderr: note}, "without the other"},
		"broken pair":       {program{Reply: reply("v1", fmt.Sprintf(`,"status":{"clientCertificateData":%q,"clientKeyData":%q}`, cert, key[:70])), Stderr: note}, "client key"},
		"a token in pieces": {program{Reply: tokenReply("v1", token+"\n"+token, time.Time{}), Stderr: note}, "character"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, answerSecret)
			c := mustOpen(t, server.execSettings(test.p.exec(t, "v1")), variables{}.opener())
			_, err := get(t, c)
			var failure *ExecError
			if !errors.As(err, &failure) || !strings.Contains(failure.Problem, test.want) {
				t.Fatalf("error: %v", err)
			}
			if failure.Stderr != note || !strings.Contains(err.Error(), note) {
				t.Errorf("standard error is %q in: %v", failure.Stderr, err)
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("standard output is in the error: %v", err)
			}
			if len(server.seen()) != 0 {
				t.Error("a request was sent without its credential")
			}
		})
	}
}

func TestAReplyOfMoreThanTheLimitIsRefused(t *testing.T) {
	server := newServer(t, answerSecret)
	reply := strings.Repeat(" ", maxExecReply) + tokenReply("v1", "t", time.Time{})
	e := &Exec{
		APIVersion: execGroup + "v1", Command: "cat",
		Args: []string{writeFile(t, t.TempDir(), "reply", reply)},
	}
	_, err := get(t, mustOpen(t, server.execSettings(e), variables{}.opener()))
	var failure *ExecError
	if !errors.As(err, &failure) || !strings.Contains(failure.Problem, "larger") {
		t.Errorf("error: %v", err)
	}
}

func TestStderrIsBoundedPrintableAndWithoutTheValuesOfEnv(t *testing.T) {
	const canary = "value-of-a-variable"
	p := &program{
		Exit: 1,
		Stderr: strings.Repeat("noise ", 2000) + canary + " " + base64Of(canary) +
			"\x1b[31m red \x00 the end",
	}
	e := p.exec(t, "v1")
	e.Env["SECRET"] = NewSecret(canary)
	server := newServer(t, answerSecret)
	_, err := get(t, mustOpen(t, server.execSettings(e), variables{}.opener()))
	var failure *ExecError
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	switch s := failure.Stderr; {
	case len(s) > maxShownStderr+10:
		t.Errorf("%d bytes of standard error", len(s))
	case strings.Contains(s, canary), strings.Contains(s, base64Of(canary)):
		t.Error("a value of env is shown")
	case strings.ContainsAny(s, "\x1b\x00"), !strings.HasSuffix(s, "the end"):
		t.Errorf("standard error: %q", s[max(0, len(s)-40):])
	}
}

func TestProgramAndItsChildrenEndWithTheTimeLimit(t *testing.T) {
	server := newServer(t, answerSecret)
	p := &program{
		Sleep: time.Minute, Child: true, Hang: true, Stderr: "waiting for a browser",
	}
	o := variables{}.opener()
	o.execTimeout = 300 * time.Millisecond
	started := time.Now()
	_, err := get(t, mustOpen(t, server.execSettings(p.exec(t, "v1")), o))
	var failure *ExecError
	if !errors.As(err, &failure) || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "waiting for a browser") {
		t.Errorf("error: %v", err)
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	child := p.runs()[0].Child
	if child == 0 {
		t.Fatal("there was no child")
	}
	for gone := time.Now().Add(5 * time.Second); running(child); {
		if time.Now().After(gone) {
			t.Fatal("the child outlives the program")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// running is false for a process that has ended, whether or not somebody has collected it.
func running(process int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return syscall.Kill(process, 0) == nil && runtime.GOOS != "linux"
	}
	return !strings.Contains(string(stat), ") Z ")
}

func TestRequestTimeoutIsNotSpentOnTheProgram(t *testing.T) {
	server := newServer(t, answerSecret)
	p := &program{
		Sleep: 600 * time.Millisecond, Reply: tokenReply("v1", "t", time.Time{}),
	}
	k := server.execSettings(p.exec(t, "v1"))
	k.RequestTimeout = 500 * time.Millisecond
	if _, err := get(t, mustOpen(t, k, variables{}.opener())); err != nil {
		t.Error(err)
	}
}

func TestCancellationEndsTheProgram(t *testing.T) {
	server := newServer(t, answerSecret)
	p := &program{Sleep: time.Minute}
	c := mustOpen(t, server.execSettings(p.exec(t, "v1")), variables{}.opener())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	started := time.Now()
	_, err := c.Secrets(testNamespace).Get(ctx, testName, metav1.GetOptions{})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(started), err)
	}
}

func TestAReplyCountsEvenIfAChildHoldsTheOutputOpen(t *testing.T) {
	t.Parallel()
	server := newServer(t, answerSecret)
	started := time.Now()
	p := &program{
		Child: true, Sleep: 12 * time.Second, Reply: tokenReply("v1", "t", time.Time{}),
	}
	if _, err := get(t, mustOpen(t, server.execSettings(p.exec(t, "v1")),
		variables{}.opener())); err != nil || time.Since(started) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(started), err)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	server := newServer(t, answerSecret)
	for _, command := range []string{"no-such-program-here", "/no/such/program"} {
		e := &Exec{APIVersion: execGroup + "v1", Command: command}
		_, err := get(t, mustOpen(t, server.execSettings(e), variables{}.opener()))
		var failure *ExecError
		if !errors.As(err, &failure) || !strings.Contains(failure.Problem, "no such program") ||
			failure.Command != command {
			t.Errorf("error: %v", err)
		}
	}
}

// A connection speaks for the certificate that it was made with.
func TestAClientCertificateOfAProgramIsUsedAndReplaced(t *testing.T) {
	server := newServer(t, answerSecret)
	directory := t.TempDir()
	var replies []string
	for _, name := range []string{"ada", "bob"} {
		cert, key := server.ca.issue(t, time.Now().Add(time.Hour), name)
		replies = append(replies, fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":{`+
			`"clientCertificateData":%q,"clientKeyData":%q}}`, execGroup+"v1", cert, key))
	}
	reply := writeFile(t, directory, "reply", replies[0])
	e := &Exec{APIVersion: execGroup + "v1", Command: "cat", Args: []string{reply}}
	c := mustOpen(t, server.execSettings(e), variables{}.opener())
	if _, err := get(t, c); err != nil {
		t.Fatal(err)
	}
	writeFile(t, directory, "reply", replies[1])
	later := time.Now().Add(2 * time.Hour)
	c.granter.(*execGranter).now = func() time.Time { return later }
	if _, err := get(t, c); err != nil {
		t.Fatal(err)
	}
	if calls := server.seen(); calls[0].peer != "ada" || calls[1].peer != "bob" {
		t.Errorf("certificates of %q and %q", calls[0].peer, calls[1].peer)
	}
}

// The exec entry of a kubeconfig: relative command, cluster information, install hint.
func TestExecOfAKubeconfigIsRunByTheSameRules(t *testing.T) {
	server := newServer(t, answerSecret)
	directory := t.TempDir()
	info := filepath.Join(directory, "info")
	script := writeFile(t, directory, "login", "#!/bin/sh\nprintf %s \"$KUBERNETES_EXEC_INFO\" > "+
		info+"\nprintf '%s' '"+tokenReply("v1beta1", "from-kubeconfig", time.Time{})+"'\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(exec string) string {
		return writeFile(t, directory, "config", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %q, extensions: [
  {name: client.authentication.k8s.io/exec, extension: {audience: "abc"}}]}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {exec: {%s}}}]
`, server.URL, base64Of(server.ca.pem), exec))
	}
	const version = "apiVersion: client.authentication.k8s.io/v1beta1, "
	k := Kubernetes{ConfigPath: write(version + `command: ./login, provideClusterInfo: true`)}
	if _, err := get(t, mustOpen(t, k, variables{}.opener())); err != nil {
		t.Fatal(err)
	}
	if got := authorizations(server.seen()); got != "from-kubeconfig" {
		t.Errorf("token: %s", got)
	}
	var told struct {
		Spec struct {
			Cluster struct {
				Server string         `json:"server"`
				CA     []byte         `json:"certificate-authority-data"`
				Config map[string]any `json:"config"`
			} `json:"cluster"`
		} `json:"spec"`
	}
	data, _ := os.ReadFile(info)
	if err := json.Unmarshal(data, &told); err != nil {
		t.Fatal(err)
	}
	if c := told.Spec.Cluster; c.Server != server.URL || string(c.CA) != server.ca.pem ||
		c.Config["audience"] != "abc" {
		t.Errorf("cluster information: %s", data)
	}

	k.ConfigPath = write(version + `command: no-such-program, installHint: "get it \u001b[1mhere"`)
	_, err := get(t, mustOpen(t, k, variables{}.opener()))
	if err == nil || !strings.Contains(err.Error(), "get it [1mhere") {
		t.Errorf("install hint: %v", err)
	}
	for _, bad := range []string{
		version + `command: ./login, interactiveMode: Always`,
		`apiVersion: client.authentication.k8s.io/v1alpha1, command: ./login`,
		`apiVersion: v1, command: ./login`, `command: ./login`, version,
	} {
		k.ConfigPath = write(bad)
		_, err := variables{}.opener().open(k)
		var setting *SettingError
		if !errors.As(err, &setting) || setting.Attribute != attrPath {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzCredentialReplies(f *testing.F) {
	for _, seed := range []string{
		"", "{}", tokenReply("v1", "t", time.Now()), tokenReply("v1beta1", "t", time.Time{}),
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, problem := parseReply(data, execGroup+"v1")
		if (g == nil) == (problem == "") {
			t.Fatalf("grant %v and problem %q", g != nil, problem)
		}
		if g != nil && !g.authorization.IsSet() && g.pair == nil {
			t.Fatal("a grant of nothing")
		}
	})
}
