package connect

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

func attemptsOf(t *testing.T, settings AWS) int {
	t.Helper()
	settings.SkipCredentialsValidation = true
	account, _ := mustOpenAWS(t, settings)
	return account.SSM("").Options().Retryer.MaxAttempts()
}

func TestHowOftenARequestIsSent(t *testing.T) {
	home := bareMachine(t)
	settings := static("")
	if got := attemptsOf(t, settings); got != 6 {
		t.Errorf("by default %d", got)
	}
	sharedFile(t, home, "config", "[default]\nmax_attempts = 4\n")
	if got := attemptsOf(t, settings); got != 4 {
		t.Errorf("of the profile %d", got)
	}
	t.Setenv("AWS_MAX_ATTEMPTS", "3")
	if got := attemptsOf(t, settings); got != 3 {
		t.Errorf("of the environment %d", got)
	}
	for _, retries := range []int{0, 1, 9} {
		settings.MaxRetries = &retries
		if got := attemptsOf(t, settings); got != retries+1 {
			t.Errorf("of the attribute %d", got)
		}
	}
}

func TestTheRetryMode(t *testing.T) {
	bareMachine(t)
	settings := static("")
	settings.SkipCredentialsValidation = true
	adaptive := func() bool {
		t.Helper()
		account, _ := mustOpenAWS(t, settings)
		inner, ok := account.SSM("").Options().Retryer.(awsRetryAfter)
		if !ok {
			t.Fatalf("another retryer: %T", account.SSM("").Options().Retryer)
		}
		_, ok = inner.RetryerV2.(*retry.AdaptiveMode)
		return ok
	}
	if adaptive() {
		t.Error("adaptive by default")
	}
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	if !adaptive() {
		t.Error("not of the environment")
	}
	settings.RetryMode = "standard"
	if adaptive() {
		t.Error("not of the attribute")
	}
}

// S18: many requests throttled at once, as under -parallelism=30, each end with their own last
// answer and not with the SDK's quota.
func TestManyThrottledRequestsEachReportTheLastAnswer(t *testing.T) {
	for _, mode := range []string{"standard", "adaptive"} {
		bareMachine(t)
		proxy := awsProxy(t)
		proxy.Inject(moto.ThrottleAfter("GetSecretValue", 0, "0"))
		settings := static(proxy.URL)
		retries, parallel := 1, 120
		if mode == "adaptive" {
			parallel = 2 // its own limiter slows the rest down, which is what it is for
		}
		settings.MaxRetries, settings.RetryMode = &retries, mode
		account, _ := mustOpenAWS(t, settings)
		var wait sync.WaitGroup
		for range parallel {
			wait.Go(func() {
				err := getSecret(t, account)
				var exhausted *retry.MaxAttemptsError
				if !answered(err, "ThrottlingException") || !errors.As(err, &exhausted) ||
					exhausted.Attempt != 2 {
					t.Errorf("%s: %v", mode, err)
				}
			})
		}
		wait.Wait()
	}
}

// S18
func TestRetryAfterIsHonoured(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	proxy.Inject(moto.ThrottleAfter("GetSecretValue", 1, "2"))
	account, _ := mustOpenAWS(t, static(proxy.URL))
	start := time.Now()
	if err := getSecret(t, account); !answered(err, "ResourceNotFoundException") {
		t.Error(err)
	}
	if time.Since(start) < 2*time.Second {
		t.Errorf("sent again after %s", time.Since(start))
	}
}

func TestTheTwoFormsOfRetryAfter(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":     0,
		"7":    7 * time.Second,
		"-7":   0,
		"soon": 0,
		"7.5":  0,
		now.Add(9 * time.Second).Format(http.TimeFormat):  9 * time.Second,
		now.Add(-9 * time.Second).Format(http.TimeFormat): -9 * time.Second,
	} {
		err := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{
			Header: http.Header{"Retry-After": {header}},
		}}}
		if got := askedDelay(err, now); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	long := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{
		Header: http.Header{"Retry-After": {"86400"}},
	}}}
	delay, err := awsRetryAfter{retry.NewStandard()}.RetryDelay(1, long)
	if err != nil || delay != time.Minute {
		t.Errorf("a day gives %s, %v", delay, err)
	}
}

// S18: the deadline does not hide why all the attempts failed.
func TestADeadlineKeepsTheLastAnswer(t *testing.T) {
	for _, mode := range []string{"standard", "adaptive"} {
		bareMachine(t)
		proxy := awsProxy(t)
		proxy.Inject(moto.ThrottleAfter("GetSecretValue", 0, "30"))
		settings := static(proxy.URL)
		settings.RetryMode = mode
		account, _ := mustOpenAWS(t, settings)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		name := "x"
		_, err := account.SecretsManager("").GetSecretValue(ctx,
			&secretsmanager.GetSecretValueInput{SecretId: &name})
		var last *LastAnswerError
		if !errors.As(err, &last) || last.Attempts != 1 || last.AttemptCount() != 1 ||
			!answered(err, "ThrottlingException") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestACanceledFirstAttemptHasNoLastAnswer(t *testing.T) {
	bareMachine(t)
	account, _ := mustOpenAWS(t, static(awsProxy(t).URL))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	name := "x"
	_, err := account.SecretsManager("").GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: &name})
	var last *LastAnswerError
	if errors.As(err, &last) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
