package moto

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var shared *Server

func TestMain(m *testing.M) {
	if os.Getenv("MOTO_TEST_ORPHAN") != "" {
		orphan()
	}
	var err error
	if shared, err = Start(context.Background(), os.Stderr); err != nil {
		panic(err)
	}
	code := m.Run()
	shared.Close()
	os.Exit(code)
}

// orphan starts a server, says where, and is then killed by its parent.
func orphan() {
	server, err := Start(context.Background(), os.Stderr)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(server.URL + "\n")
	select {}
}

// send posts one request of Secrets Manager or SSM.
func send(t *testing.T, url, target, body string) (*http.Response, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	service := "secretsmanager"
	if strings.HasPrefix(target, "AmazonSSM") {
		service = "ssm"
	}
	request.Header.Set("X-Amz-Target", target)
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20300101/eu-west-1/"+
		service+"/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text), nil
}

const (
	create = "secretsmanager.CreateSecret"
	get    = "secretsmanager.GetSecretValue"
)

func TestRequestsAreCountedAndPassOn(t *testing.T) {
	proxy := shared.Proxy(t)
	send(t, proxy.URL, create, `{"Name":"counted","SecretString":"one",
		"ClientRequestToken":"00000000-0000-0000-0000-000000000001"}`)
	response, text, err := send(t, proxy.URL+"/some/prefix", get, `{"SecretId":"counted"}`)
	if err != nil || response.StatusCode != 200 || !strings.Contains(text, `"one"`) {
		t.Errorf("%v %s", err, text)
	}
	if got := strings.Join(proxy.Calls(), " "); got != "CreateSecret GetSecretValue" {
		t.Errorf("calls %s", got)
	}
	proxy.Forget()
	if proxy.Count("GetSecretValue") != 0 {
		t.Error("counts are kept")
	}
}

func TestFaultsActAsOftenAsTheyAreMeantTo(t *testing.T) {
	proxy := shared.Proxy(t)
	fault := Throttle("GetSecretValue", 2)
	fault.Skip = 1
	proxy.Inject(fault)
	var statuses []int
	for range 4 {
		response, _, err := send(t, proxy.URL, get, `{"SecretId":"absent"}`)
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, response.StatusCode)
	}
	want := []int{404, 400, 400, 404}
	for i := range want {
		if statuses[i] != want[i] {
			t.Fatalf("statuses %v, want %v", statuses, want)
		}
	}
}

func TestALostResponseIsOfARequestThatWasCarriedOut(t *testing.T) {
	proxy := shared.Proxy(t)
	proxy.Inject(LoseResponse("CreateSecret", 1))
	body := `{"Name":"lost","SecretString":"one",
		"ClientRequestToken":"00000000-0000-0000-0000-000000000001"}`
	if _, _, err := send(t, proxy.URL, create, body); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	_, text, err := send(t, shared.URL, get, `{"SecretId":"lost"}`)
	if err != nil || !strings.Contains(text, "one") {
		t.Errorf("it was not carried out: %s", text)
	}
}

func TestAStaleReadIsTheAnswerFromBefore(t *testing.T) {
	proxy := shared.Proxy(t)
	send(t, proxy.URL, create, `{"Name":"stale","SecretString":"one",
		"ClientRequestToken":"00000000-0000-0000-0000-000000000001"}`)
	send(t, proxy.URL, get, `{"SecretId":"stale"}`)
	send(t, proxy.URL, "secretsmanager.PutSecretValue", `{"SecretId":"stale","SecretString":"two",
		"ClientRequestToken":"00000000-0000-0000-0000-000000000002"}`)
	proxy.Inject(StaleRead("GetSecretValue", 1))
	for _, want := range []string{"one", "two"} {
		if _, text, _ := send(t, proxy.URL, get, `{"SecretId":"stale"}`); !strings.Contains(text,
			`"`+want+`"`) {
			t.Errorf("want %s, got %s", want, text)
		}
	}
}

// Started through a shell, the server must not outlive a test binary that is killed.
func TestTheServerEndsWithItsTestBinary(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "MOTO_TEST_ORPHAN=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := output.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(string(line[:n]))
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(url + "/moto-api/data.json")
		if err != nil {
			return
		}
		response.Body.Close()
		if time.Now().After(deadline) {
			t.Fatal("it still answers")
		}
	}
}

func TestAProgramThatEndsAtOnceIsAnError(t *testing.T) {
	start := time.Now()
	_, err := run(t.Context(), exec.Command(os.Args[0], "-test.run=^$", "-no-such-flag"))
	if err == nil || time.Since(start) > 30*time.Second {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
}

func TestAnInstallationThatIsThereIsUsed(t *testing.T) {
	cache := t.TempDir()
	place := interpreter(filepath.Join(cache, "moto"))
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	got, err := install(t.Context(), cache, &said)
	if err != nil || got != place || said.Len() != 0 {
		t.Errorf("%q, %v, said %q", got, err, said.String())
	}
}
