package keys

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Await returns once the Secret holds valid keys, or with ctx's error when that ends first. It
// looks by LIST and WATCH, and where those are denied it returns the *RequestError at once: to go on
// waiting would report as missing what nobody was allowed to see. Other failures are tried again as
// long as ctx lasts.
func Await(ctx context.Context, client SecretClient, namespace, name string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	arrived := make(chan struct{})
	watched := &deniable{SecretClient: client, namespace: namespace, name: name, denied: cancel}
	var once sync.Once
	NewSecretWatcherFor(watched, namespace, name).Watch(ctx.Done(), func([][]byte) {
		once.Do(func() { close(arrived) })
	})
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deniable tells of a denial, which an informer keeps to itself and asks again.
type deniable struct {
	SecretClient
	namespace, name string
	denied          context.CancelCauseFunc
}

// List implements SecretClient.
func (d *deniable) List(ctx context.Context, opts metav1.ListOptions) (*corev1.SecretList, error) {
	list, err := d.SecretClient.List(ctx, opts)
	d.tell("list", err)
	return list, err
}

// Watch implements SecretClient.
func (d *deniable) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	stream, err := d.SecretClient.Watch(ctx, opts)
	d.tell("watch", err)
	return stream, err
}

func (d *deniable) tell(verb string, err error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		d.denied(&RequestError{Verb: verb, Namespace: d.namespace, Name: d.name, Err: err})
	}
}
