package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	firstRetry = 5 * time.Second
	lastRetry  = time.Minute
)

// RestoredError reports that keys were put back. They were only in memory by then, so it is an
// error even though it worked: they would not have survived a restart.
type RestoredError struct {
	Namespace, Name string
	// Fingerprint names the primary key that was put back.
	Fingerprint string
	// Deleted says that the whole Secret was gone, and not only its keys.
	Deleted bool
	// UID is that of the Secret which holds the keys now.
	UID types.UID
	// By is the field manager that changed the Secret last before that, other than this Provisioner;
	// "" when managedFields do not tell. The API server records no deletion there.
	By string
}

func (e *RestoredError) Error() string {
	what := "had lost its keys"
	if e.Deleted {
		what = "was deleted"
	}
	by := ""
	if e.By != "" {
		by = fmt.Sprintf(" (last changed by the field manager %q)", e.By)
	}
	return fmt.Sprintf("the Secret %s/%s %s%s; the primary key %s was put back from memory",
		e.Namespace, e.Name, what, by, e.Fingerprint)
}

// Run keeps the Secret in sync until ctx is done. It watches this one Secret, puts deleted keys
// back, and reports what it did and what failed. A failure is retried after 5 seconds, doubling up
// to a minute; invalid data is not, for only a change can put it right. Nothing ends the loop but
// ctx.
func (p *Provisioner) Run(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry))
	defer queue.ShutDown()
	enqueue := func(object any) {
		p.changes.note(object)
		queue.Add(p.name)
	}
	_, informer := newInformer(p.client, p.namespace, p.name, p.report, cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, secret any) { enqueue(secret) },
		DeleteFunc: enqueue,
	})
	queue.Add(p.name) // a Secret that does not exist raises no event
	go informer.RunWithContext(ctx)
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		p.sync(ctx, queue, item)
		queue.Done(item)
	}
}

// sync ensures the Secret once and decides whether to try again.
func (p *Provisioner) sync(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], item string,
) {
	before := p.seen()
	result, err := p.Apply(ctx, Terms{})
	switch {
	case err == nil:
		queue.Forget(item)
		if result.Made != MadeNothing && before != "" && before == result.Live.Primary() {
			p.report(&RestoredError{
				Namespace: p.namespace, Name: p.name,
				Fingerprint: before, Deleted: result.Made == MadeSecret,
				UID: result.Live.UID, By: result.By,
			})
		}
	case ctx.Err() != nil:
	case errors.Is(err, ErrInvalidSecret):
		queue.Forget(item)
		p.report(err)
	default:
		queue.AddRateLimited(item)
		p.report(err)
	}
}

// seen is the primary key that this Provisioner has seen in the Secret, or "".
func (p *Provisioner) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.primary()
}

// newInformer watches one Secret. A role limited by resourceNames authorises LIST and WATCH only
// with this field selector. There is no resync: the API server tells of every change. What keeps it
// from watching is reported, and tried again.
func newInformer(
	client SecretClient, namespace, name string, report func(error), handler cache.ResourceEventHandler,
) (cache.Store, cache.Controller) {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	failed := func(ctx context.Context, verb string, err error) {
		if err != nil && ctx.Err() == nil {
			report(&RequestError{verb, namespace, name, err})
		}
	}
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.FieldSelector = selector
			list, err := client.List(ctx, opts)
			failed(ctx, "list", err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.FieldSelector = selector
			watcher, err := client.Watch(ctx, opts)
			failed(ctx, "watch", err)
			return watcher, err
		},
	}
	return cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(listWatch, plainList{}),
		ObjectType:    &corev1.Secret{},
		Handler:       handler,
	})
}

// plainList asks for a LIST and then a WATCH. For one object there is nothing to gain from
// streaming the list, and a client that cannot stream never gets to the end of it.
type plainList struct{}

// IsWatchListSemanticsUnSupported has the name that client-go looks for.
func (plainList) IsWatchListSemanticsUnSupported() bool { return true }
