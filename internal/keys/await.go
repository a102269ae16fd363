package keys

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Await returns once the Secret holds valid keys, or with ctx's error when that ends first. It
// looks by LIST and WATCH, and where those are denied it returns the *RequestError at once: to go on
// waiting would report as missing what nobody was allowed to see. Other failures are tried again as
// long as ctx lasts.
func Await(ctx context.Context, client SecretClient, namespace, name string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watcher := NewSecretWatcherFor(client, namespace, name)
	watcher.report = func(err error) {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			cancel(err)
		}
	}
	arrived := make(chan struct{})
	var once sync.Once
	watcher.Watch(ctx.Done(), func([][]byte) { once.Do(func() { close(arrived) }) })
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
