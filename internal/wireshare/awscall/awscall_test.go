package awscall

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func answer(status int, code, message string) error {
	var inner error = errors.New("no such code")
	if code != "" {
		inner = &smithy.GenericAPIError{Code: code, Message: message}
	}
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: inner,
	}
}

func TestTheKindIsToldByCodeAndStatus(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Kind
	}{
		{answer(400, "AccessDeniedException", "throttled, not found, KMS"), Denied},
		{answer(400, "DecryptionFailure", ""), Key},
		{answer(400, "KMSDisabledException", ""), Key},
		{answer(400, "InvalidKeyId", ""), Key},
		{answer(403, "ExpiredTokenException", ""), Credentials},
		{answer(400, "UnrecognizedClientException", ""), Credentials},
		{answer(400, "ThrottlingException", ""), Throttled},
		{answer(400, "TooManyUpdates", ""), Throttled},
		{answer(429, "SomethingElse", ""), Throttled},
		{answer(429, "", ""), Throttled},
		{answer(500, "SomethingElse", ""), Unavailable},
		{answer(502, "", ""), Unavailable},
		{answer(200, "", ""), NoAnswer},
		{answer(404, "", ""), NoAnswer},
		{answer(400, "ResourceNotFoundException", "access denied"), Other},
		{&smithy.GenericAPIError{Code: "X"}, Other},
		{context.Canceled, NoAnswer},
		{errors.New("AccessDeniedException"), NoAnswer},
	} {
		failure := Site{}.Fail("Call", fmt.Errorf("wrapped: %w", test.err), nil)
		if failure.Kind != test.want {
			t.Errorf("%v: kind %d, want %d", test.err, failure.Kind, test.want)
		}
		if !errors.Is(failure, test.err) {
			t.Errorf("%v is not in the chain", test.err)
		}
	}
}

type counted struct{ error }

func (counted) AttemptCount() int { return 4 }

func TestTheTextNamesCallSubjectAnswerAttemptsAndPermission(t *testing.T) {
	site := Site{Subject: `secret "x"`, Needs: map[string]string{"Get": "x:Get"}}
	failure := site.Fail("Get", &retry.MaxAttemptsError{
		Attempt: 6, Err: answer(400, "AccessDeniedException", "no"),
	}, nil)
	want := `Get on secret "x": AccessDeniedException: no (the answer to the last of 6 ` +
		`attempts). The call needs x:Get`
	if failure.Error() != want {
		t.Errorf("the text is %q", failure.Error())
	}
	if got := site.Fail("Get", counted{errors.New("x")}, nil).Attempts; got != 4 {
		t.Errorf("%d attempts", got)
	}
	if text := site.Fail("Get", answer(400, "Other", "no"), nil).Error(); strings.Contains(text,
		"needs") {
		t.Errorf("the text is %q", text)
	}
}

// T6
func TestTextThatRepeatsTheDocumentIsWithheld(t *testing.T) {
	document := `{"deployment":"0123456789abcdef0123456789abcdef","files":{"ca.key":"` +
		strings.Repeat("S2V5+WF0/XJpYWw", 9) + `"}}`
	quoted, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	piece := document[90:150]
	for _, text := range []string{
		document, string(quoted), piece, "at 'value': " + piece + " failed",
		url.QueryEscape(document), base64.StdEncoding.EncodeToString([]byte(document)),
		fmt.Sprintf("%q", document),
	} {
		failure := Site{}.Fail("Put", answer(400, "ValidationException", text), []byte(document))
		for err := error(failure); err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), piece[:36]) || strings.Contains(err.Error(), text) {
				t.Errorf("shown: %v", err)
			}
		}
		if failure.Code != "ValidationException" {
			t.Errorf("the code is %q", failure.Code)
		}
	}
	for _, text := range []string{
		"no", "secret billet/0123456789abcdef0123456789abcdef is not there", "",
	} {
		failure := Site{}.Fail("Put", answer(400, "X", text), []byte(document))
		if failure.Message != text {
			t.Errorf("%q became %q", text, failure.Message)
		}
	}
	if got := (Site{}).Fail("Put", answer(400, "X", "no x"), []byte("x")).Message; got != "no x" {
		t.Errorf("a document of one byte hides %q", got)
	}
}

func FuzzRepetitions(f *testing.F) {
	f.Add("some text", "of the document that is long enough to be looked for", 3)
	f.Fuzz(func(t *testing.T, text, document string, at int) {
		if len(document) < window || at < 0 {
			return
		}
		start := at % (len(document) - window + 1)
		piece := document[start : start+window]
		if !repeats(text+piece+text, []byte(document)) {
			t.Errorf("%q is not found", piece)
		}
	})
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Pause(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := Pause(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheWaitingIsBounded(t *testing.T) {
	total := time.Duration(0)
	for _, delay := range Delays() {
		total += delay
	}
	if total != 16*time.Second {
		t.Errorf("%s in all", total)
	}
}

// T8
func TestSettlingOutlivesAnInterruptAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		alive, done := Settling(ctx)
		defer done()
		if _, limited := alive.Deadline(); limited {
			t.Error("limited while nobody interrupts")
		}
		cancel()
		if alive.Err() == nil {
			t.Error("an interrupt does not reach what is under way")
		}
		after, done := Settling(ctx)
		defer done()
		if after.Err() != nil {
			t.Error("over before it begins")
		}
		time.Sleep(settleLimit + 1)
		synctest.Wait()
		if after.Err() == nil {
			t.Error("never over")
		}
	})
}
