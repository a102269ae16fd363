package keys

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// SecretWatcher tells of the keys in Antrea's own Secret, and of every change to them.
type SecretWatcher struct {
	client          SecretClient
	namespace, name string
	delivered       *keyring
	// report receives what cannot be delivered, and what keeps it from watching.
	report func(error)
}

// NewSecretWatcher watches Antrea's own Secret in the namespace.
func NewSecretWatcher(client SecretClient, namespace string) *SecretWatcher {
	return NewSecretWatcherFor(client, namespace, DefaultName)
}

// NewSecretWatcherFor watches the named Secret.
func NewSecretWatcherFor(client SecretClient, namespace, name string) *SecretWatcher {
	return &SecretWatcher{
		client: client, namespace: namespace, name: name,
		report: func(err error) { logError(namespace, name, err) },
	}
}

// Watch delivers the keys as soon as the Secret holds valid ones, which may be before Watch
// returns, and again after every change of the keys, until stopCh is closed. onKeys always gets at
// least one key and is never called concurrently. Invalid data is logged, never its content, and
// like a deletion it is ignored: agents go on with the keys they have. Watch does not block, and
// is called once.
func (w *SecretWatcher) Watch(stopCh <-chan struct{}, onKeys func(keys [][]byte)) {
	handle := func(object any) {
		if secret, ok := object.(*corev1.Secret); ok {
			w.handle(secret, onKeys)
		}
	}
	_, informer := newInformer(w.client, w.namespace, w.name, w.report, cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, object any) { handle(object) },
	})
	go informer.RunWithContext(wait.ContextForChannel(stopCh))
}

// handle runs on the informer's one goroutine, so deliveries never overlap.
func (w *SecretWatcher) handle(secret *corev1.Secret, onKeys func(keys [][]byte)) {
	if secret.Name != w.name {
		return
	}
	keys, err := keysOf(secret)
	if err != nil {
		w.report(err)
		return
	}
	if len(keys) == 0 || w.delivered != nil && slices.EqualFunc(w.delivered.reveal(), keys, bytes.Equal) {
		return
	}
	w.delivered = newKeyring(keys)
	onKeys(keys)
}
