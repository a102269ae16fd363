package keys

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAwait_returns_when_the_keys_are_valid_and_not_before(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{}, secretWith("garbage"))
		done := make(chan error, 1)
		go func() { done <- Await(t.Context(), f.CoreV1().Secrets(namespace), namespace, DefaultName) }()
		settle()
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		if _, err := f.CoreV1().Secrets(namespace).Update(
			t.Context(), secretWith(line(keyW)), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		settle()
	})
}

// It runs in real time: client-go's handler of errors sleeps for years in a bubble.
func TestAwait_ends_with_its_context_and_at_once_when_it_is_denied(t *testing.T) {
	const patience = 300 * time.Millisecond
	late := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	for name, test := range map[string]struct {
		fails error
		waits bool
		want  func(error) bool
	}{
		"absent": {nil, true, late},
		"denied": {
			apierrors.NewForbidden(corev1.Resource("secrets"), DefaultName, errors.New("no")), false,
			func(err error) bool {
				var request *RequestError
				return errors.As(err, &request) && request.Verb == "list" && apierrors.IsForbidden(err)
			},
		},
		// What may pass is tried again.
		"failing": {apierrors.NewInternalError(errors.New("for a while")), true, late},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(Options{})
			if test.fails != nil {
				f.fail("list", test.fails)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			err := Await(ctx, f.CoreV1().Secrets(namespace), namespace, DefaultName)
			if waited := time.Since(began) >= patience; !test.want(err) || waited != test.waits {
				t.Errorf("waited to the end: %t; %v", waited, err)
			}
		})
	}
}

func TestRead_of_an_invalid_Secret_says_that_it_exists(t *testing.T) {
	f := newFixture(Options{}, secretWith("garbage"))
	live, err := Read(t.Context(), f.CoreV1().Secrets(namespace), namespace, DefaultName)
	if !errors.Is(err, ErrInvalidSecret) || !live.Exists || live.Primary() != "" {
		t.Errorf("%+v, %v", live, err)
	}
}
