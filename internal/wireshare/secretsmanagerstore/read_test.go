package secretsmanagerstore

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

func TestARefreshIsOneGetSecretValue(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	version := publish(t, store, document("A"))
	b.proxy.Forget()
	body, again, err := store.ReadAuthority(t.Context())
	if err != nil || string(body) != string(document("A")) || again != version {
		t.Errorf("read %d bytes at %q, %v", len(body), again, err)
	}
	wantCalls(t, b, "GetSecretValue")
}

// S3, K1
func TestNothingPublishedIsTheAnswerOnlyForThese(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrange func(*testing.T, *bench)
	}{
		{"an absent secret", func(*testing.T, *bench) {}},
		{"a secret without a value", func(t *testing.T, b *bench) { emptySecret(t, b) }},
		{"a pending version only", func(t *testing.T, b *bench) { pendingOnly(t, b) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			test.arrange(t, b)
			body, version, err := b.store(t).ReadAuthority(t.Context())
			if !errors.Is(err, wireshare.ErrNoAuthority) || body != nil || version != "" {
				t.Errorf("got %d bytes, %q, %v", len(body), version, err)
			}
			wantCalls(t, b, "GetSecretValue", "DescribeSecret")
			if _, err := b.store(t).GetAuthority(t.Context()); !errors.Is(err,
				wireshare.ErrNoAuthority) {
				t.Errorf("GetAuthority: %v", err)
			}
		})
	}
}

// pendingOnly leaves one version that carries AWSPENDING and not AWSCURRENT.
func pendingOnly(t testing.TB, b *bench) string {
	t.Helper()
	emptySecret(t, b)
	value, current := "pending", currentStage
	put, err := b.direct.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{
		SecretId: &b.name, SecretString: &value, VersionStages: []string{"AWSPENDING"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.direct.UpdateSecretVersionStage(t.Context(),
		&secretsmanager.UpdateSecretVersionStageInput{
			SecretId: &b.name, VersionStage: &current, RemoveFromVersionId: put.VersionId,
		}); err != nil {
		t.Fatal(err)
	}
	return *put.VersionId
}

// K1, S11, S18: an error is never "nothing published", and says which call on which secret, with
// the service's last words.
func TestAFailedReadIsNeverNothing(t *testing.T) {
	for _, test := range []struct {
		name    string
		fault   moto.Fault
		kind    awscall.Kind
		message string
		tries   int
	}{
		{"throttled for ever", moto.Throttle("GetSecretValue", 0), awscall.Throttled,
			"Rate exceeded", 6},
		{"429 for ever", moto.ThrottleAfter("GetSecretValue", 0, "0"), awscall.Throttled,
			"Rate exceeded", 6},
		{"unavailable for ever", moto.Unavailable("GetSecretValue", 0), awscall.Unavailable,
			"Service is unavailable", 6},
		{"denied", moto.Deny("GetSecretValue"), awscall.Denied, "is not authorized", 1},
		{"key denied", moto.DenyKMS("GetSecretValue"), awscall.Denied,
			"Access to KMS is not allowed", 1},
		{"key unusable", moto.Fault{Operation: "GetSecretValue",
			Act: func(*moto.Exchange) moto.Answer {
				return moto.Refusal(400, "DecryptionFailure", "cannot decrypt")
			}}, awscall.Key, "cannot decrypt", 1},
		{"credentials", moto.Fault{Operation: "GetSecretValue",
			Act: func(*moto.Exchange) moto.Answer {
				return moto.Refusal(400, "ExpiredTokenException", "the token has expired")
			}}, awscall.Credentials, "the token has expired", 1},
		{"cut connections", moto.LoseRequest("GetSecretValue", 0), awscall.NoAnswer, "EOF", 6},
		{"a page of a proxy", moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 200, Body: []byte("<html>log in</html>")}
		}}, awscall.NoAnswer, "deserialization", 1},
		{"404 of a proxy", moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 404, Body: []byte("<html>not found</html>")}
		}}, awscall.NoAnswer, "StatusCode: 404", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			store := b.store(t)
			publish(t, store, document("A"))
			b.proxy.Forget()
			b.proxy.Inject(test.fault)
			_, _, err := store.ReadAuthority(t.Context())
			var failure *awscall.Error
			if !errors.As(err, &failure) || errors.Is(err, wireshare.ErrNoAuthority) {
				t.Fatalf("got %v", err)
			}
			if failure.Kind != test.kind || failure.Call != "GetSecretValue" {
				t.Errorf("kind %d of %s, want %d: %v", failure.Kind, failure.Call, test.kind, err)
			}
			text := err.Error()
			if !strings.Contains(text, test.message) || !strings.Contains(text, b.name) {
				t.Errorf("the text is %q", text)
			}
			if failure.Kind == awscall.Denied && !strings.Contains(text, "kms:Decrypt") {
				t.Errorf("the permissions are missing in %q", text)
			}
			if got := b.proxy.Count("GetSecretValue"); got != test.tries {
				t.Errorf("%d attempts, want %d", got, test.tries)
			}
			if test.tries > 1 && failure.Kind != awscall.NoAnswer && failure.Attempts != 6 {
				t.Errorf("%d attempts in the error", failure.Attempts)
			}
		})
	}
}

// S18
func TestShortThrottlingIsNotNoticed(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	b.proxy.Inject(moto.Throttle("GetSecretValue", 3), moto.Throttle("DescribeSecret", 3),
		moto.Throttle("CreateSecret", 3), moto.Unavailable("GetSecretValue", 2))
	publish(t, store, document("A"))
	b.proxy.Inject(moto.Throttle("PutSecretValue", 3),
		moto.Throttle("UpdateSecretVersionStage", 3))
	publish(t, store, document("B"))
	if got := b.current(t); got != string(document("B")) || len(b.versions(t)) != 2 {
		t.Errorf("%d versions, or another document", len(b.versions(t)))
	}
}

// S1: in both of the service's wordings, and in moto's.
func TestARecoveryWindowIsNeitherAbsenceNorAPlaceToWrite(t *testing.T) {
	date := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, wording := range []string{moto.MarkedDeleted, moto.AlreadyScheduled} {
		for _, exists := range []bool{true, false} {
			b := newBench(t)
			store := b.store(t)
			read := wireshare.Version("")
			if exists {
				read = publish(t, store, document("A"))
			} else {
				emptySecret(t, b)
			}
			b.proxy.Inject(moto.ScheduledForDeletion(date, wording)...)
			_, _, readErr := store.ReadAuthority(t.Context())
			for call, err := range map[string]error{
				"ReadAuthority": readErr,
				"SwapAuthority": store.SwapAuthority(t.Context(), document("B"), read),
				"CheckPublish":  store.CheckPublish(t.Context(), 1),
			} {
				var scheduled *ScheduledError
				if !errors.As(err, &scheduled) || !scheduled.Date.Equal(date) {
					t.Errorf("%s: %v", call, err)
					continue
				}
				for _, part := range []string{"2031-02-03T04:05:06Z", b.name, "restore-secret"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %q lacks %q", call, err, part)
					}
				}
			}
			if got := b.proxy.Count("CreateSecret") + b.proxy.Count("RestoreSecret"); got > 1 {
				t.Errorf("%d calls that create or restore", got)
			}
			b.proxy.Heal()
			if exists && b.current(t) != string(document("A")) {
				t.Error("the value changed")
			}
		}
	}
}

func TestASecretThatMotoScheduledIsRefused(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	version := publish(t, store, document("A"))
	if err := store.Delete(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	var scheduled *ScheduledError
	if _, _, err := store.ReadAuthority(t.Context()); !errors.As(err, &scheduled) {
		t.Errorf("read: %v", err)
	}
	if err := store.SwapAuthority(t.Context(), document("B"), ""); !errors.As(err, &scheduled) {
		t.Errorf("publish: %v", err)
	}
}

// S7
func TestABinaryValueIsRefusedAndKept(t *testing.T) {
	for _, value := range [][]byte{document("A"), {0, 255, 1, 254}} {
		b := newBench(t)
		if _, err := b.direct.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
			Name: &b.name, SecretBinary: value,
		}); err != nil {
			t.Fatal(err)
		}
		store := b.store(t)
		var binary *BinaryError
		if _, _, err := store.ReadAuthority(t.Context()); !errors.As(err, &binary) {
			t.Errorf("read: %v", err)
		}
		if err := store.PutAuthority(t.Context(), document("B")); !errors.As(err, &binary) {
			t.Errorf("publish: %v", err)
		}
		if err := store.SwapAuthority(t.Context(), document("B"), ""); !errors.Is(err,
			wireshare.ErrChanged) {
			t.Errorf("publish over it: %v", err)
		}
		if len(b.versions(t)) != 1 {
			t.Error("a version was written")
		}
	}
}

// S6
func TestAStageMovedByHandIsFollowed(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	one := publish(t, store, document("A"))
	two := publish(t, store, document("B"))
	moveCurrent(t, b, string(two), string(one))
	body, version, err := store.ReadAuthority(t.Context())
	if err != nil || version != one || string(body) != string(document("A")) {
		t.Errorf("after moving back: %q, %v", version, err)
	}
	// The version of B exists already, so the service ignores the put of it.
	if err := store.SwapAuthority(t.Context(), document("B"), one); err != nil {
		t.Fatal(err)
	}
	if len(b.versions(t)) != 2 || b.holder(t, currentStage) != string(two) ||
		b.holder(t, pendingStage) != "" {
		t.Errorf("stages: %v", b.versions(t))
	}
}

// moveCurrent plays another writer.
func moveCurrent(t testing.TB, b *bench, from, to string) {
	t.Helper()
	stage := currentStage
	if _, err := b.direct.UpdateSecretVersionStage(t.Context(),
		&secretsmanager.UpdateSecretVersionStageInput{
			SecretId: &b.name, VersionStage: &stage,
			RemoveFromVersionId: &from, MoveToVersionId: &to,
		}); err != nil {
		t.Fatal(err)
	}
}

func TestAValueTooNewToBeSeenIsWaitedFor(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	publish(t, store, document("A"))
	b.proxy.Inject(moto.NotFound("GetSecretValue", 2))
	if _, _, err := store.ReadAuthority(t.Context()); err != nil {
		t.Error(err)
	}
	b.proxy.Heal()
	b.proxy.Inject(moto.NotFound("GetSecretValue", 0))
	if _, _, err := store.ReadAuthority(t.Context()); err == nil ||
		errors.Is(err, wireshare.ErrNoAuthority) {
		t.Errorf("a value that DescribeSecret shows was called %v", err)
	}
}

func TestAReadThatCannotBeExplainedIsAnError(t *testing.T) {
	b := newBench(t)
	b.proxy.Inject(moto.Deny("DescribeSecret"))
	_, _, err := b.store(t).ReadAuthority(t.Context())
	if err == nil || errors.Is(err, wireshare.ErrNoAuthority) ||
		!strings.Contains(err.Error(), "secretsmanager:DescribeSecret") {
		t.Errorf("got %v", err)
	}
}

// A partial ARN that cannot be told from a full one by its text.
func TestAnARNThatFindsAnotherSecretIsRefused(t *testing.T) {
	b := newBench(t)
	b.name += "-abcdef"
	publish(t, b.store(t), document("A"))
	partial := "arn:aws:secretsmanager:" + region + ":123456789012:secret:" + b.name
	byARN := b.store(t, func(c *Config) { c.SecretID = partial })
	var fault *ConfigError
	if _, _, err := byARN.ReadAuthority(t.Context()); !errors.As(err, &fault) ||
		fault.Attribute != "secret_id" {
		t.Errorf("got %v", err)
	}
	described, err := b.direct.DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: &b.name})
	if err != nil {
		t.Fatal(err)
	}
	full := b.store(t, func(c *Config) { c.SecretID = *described.ARN })
	publish(t, full, document("B"))
	if b.current(t) != string(document("B")) {
		t.Error("publishing by full ARN did not arrive")
	}
}

// T6
func TestNoErrorTextHoldsThePublishedDocument(t *testing.T) {
	for _, operation := range []string{"CreateSecret", "PutSecretValue"} {
		b := newBench(t)
		store := b.store(t)
		read := wireshare.Version("")
		if operation == "PutSecretValue" {
			read = publish(t, store, document("A"))
		}
		b.proxy.Inject(moto.EchoInput(operation))
		err := store.SwapAuthority(t.Context(), document("B"), read)
		if err == nil {
			t.Fatal("no error")
		}
		secret := strings.Repeat("S2V5TWF0ZXJpYWw/B", 8)[:40]
		for ; err != nil; err = errors.Unwrap(err) {
			for _, form := range []string{secret,
				base64.StdEncoding.EncodeToString([]byte(secret))[:40]} {
				if strings.Contains(err.Error(), form) {
					t.Errorf("%s: the text holds the document: %T", operation, err)
				}
			}
		}
	}
}
