package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// retryer returns what makes a retryer for each client. sources are the SDK's: the environment
// and the profile.
func (o *awsOpening) retryer(ctx context.Context, sources []any) func() aws.Retryer {
	attempts, mode := o.attempts(ctx, sources), o.retryMode(ctx, sources)
	standard := func(s *retry.StandardOptions) {
		s.MaxAttempts = attempts
		// The quota of the SDK ends retries early when many requests fail at once, which is what
		// throttling under -parallelism looks like.
		s.RateLimiter = ratelimit.None
	}
	return func() aws.Retryer {
		if mode == aws.RetryModeAdaptive {
			return awsRetryAfter{retry.NewAdaptiveMode(func(a *retry.AdaptiveModeOptions) {
				a.StandardOptions = append(a.StandardOptions, standard)
			})}
		}
		return awsRetryAfter{retry.NewStandard(standard)}
	}
}

// attempts is how often a request is sent at most.
func (o *awsOpening) attempts(ctx context.Context, sources []any) int {
	if o.settings.MaxRetries != nil {
		return *o.settings.MaxRetries + 1
	}
	for _, source := range sources {
		configured, ok := source.(interface {
			GetRetryMaxAttempts(context.Context) (int, bool, error)
		})
		if !ok {
			continue
		}
		if most, set, err := configured.GetRetryMaxAttempts(ctx); err == nil && set && most > 0 {
			return most
		}
	}
	return DefaultMaxRetries + 1
}

func (o *awsOpening) retryMode(ctx context.Context, sources []any) aws.RetryMode {
	if o.settings.RetryMode != "" {
		return aws.RetryMode(o.settings.RetryMode)
	}
	for _, source := range sources {
		configured, ok := source.(interface {
			GetRetryMode(context.Context) (aws.RetryMode, bool, error)
		})
		if !ok {
			continue
		}
		if mode, set, err := configured.GetRetryMode(ctx); err == nil && set {
			return mode
		}
	}
	return aws.RetryModeStandard
}

// awsRetryAfter waits at least as long as the Retry-After of an answer asks for, which the SDK
// overlooks.
type awsRetryAfter struct{ aws.RetryerV2 }

// awsRetryAfterLimit is the longest wait that an answer can ask for. A person waits, too.
const awsRetryAfterLimit = time.Minute

// RetryDelay implements aws.Retryer.
func (r awsRetryAfter) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, failed := r.RetryerV2.RetryDelay(attempt, err)
	if failed != nil {
		return delay, failed
	}
	return max(delay, min(askedDelay(err, time.Now()), awsRetryAfterLimit)), nil
}

// askedDelay reads Retry-After in its two forms, seconds and a date.
func askedDelay(err error, now time.Time) time.Duration {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil ||
		response.Response.Response == nil {
		return 0
	}
	header := response.Response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return date.Sub(now)
	}
	return 0
}

// LastAnswerError says how a call ended when it was the wait for its next attempt that ended it: a
// deadline, an interrupt, or the rate limit of the adaptive mode. The SDK then reports the end of
// the wait alone, and the reason of all the attempts is lost.
type LastAnswerError struct {
	Attempts int
	// Last is the service's answer to the last attempt.
	Last error

	err error
}

// Error names the end of the call, the attempts and the last answer.
func (e *LastAnswerError) Error() string {
	return fmt.Sprintf("%v (after %d attempts, the last of which was answered: %v)",
		e.err, e.Attempts, e.Last)
}

// Unwrap gives both, so that callers can match the answer and the context's error.
func (e *LastAnswerError) Unwrap() []error { return []error{e.err, e.Last} }

// AttemptCount is Attempts.
func (e *LastAnswerError) AttemptCount() int { return e.Attempts }

type attemptLog struct {
	attempts int
	last     error
}

type attemptLogKey struct{}

// keepLastAnswer installs, around the SDK's retries and inside them, the two steps that make a
// LastAnswerError.
func keepLastAnswer(stack *middleware.Stack) error {
	outer := middleware.InitializeMiddlewareFunc("BilletLastAnswer", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		log := &attemptLog{}
		out, metadata, err := next.HandleInitialize(
			context.WithValue(ctx, attemptLogKey{}, log), in)
		var answer smithy.APIError
		if err != nil && log.last != nil && !errors.As(err, &answer) {
			err = &LastAnswerError{Attempts: log.attempts, Last: log.last, err: err}
		}
		return out, metadata, err
	})
	if err := stack.Initialize.Add(outer, middleware.Before); err != nil {
		return err
	}
	if _, retries := stack.Finalize.Get("Retry"); !retries {
		return nil
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("BilletAttempt", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		if log, ok := ctx.Value(attemptLogKey{}).(*attemptLog); ok {
			log.attempts++
			var answer smithy.APIError
			if err != nil && errors.As(err, &answer) {
				log.last = err
			}
		}
		return out, metadata, err
	}), "Retry", middleware.After)
}
