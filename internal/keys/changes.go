package keys

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// changes remembers which field manager changed the Secret since it was last in order, as
// managedFields tell it.
type changes struct {
	mu     sync.Mutex
	known  []metav1.ManagedFieldsEntry
	latest string
}

// inOrder notes the Secret as it is to stay, and returns who changed it up to here.
func (c *changes) inOrder(secret *corev1.Secret) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	latest := c.latest
	c.known, c.latest = secret.ManagedFields, ""
	return latest
}

// note looks at what was read, or what an informer delivered.
func (c *changes) note(object any) {
	if final, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = final.Obj
	}
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var newest *metav1.Time
	for _, entry := range secret.ManagedFields {
		old := slices.ContainsFunc(c.known, func(known metav1.ManagedFieldsEntry) bool {
			return known.Manager == entry.Manager && known.Time.Equal(entry.Time)
		})
		if !old && entry.Time != nil && !entry.Time.Before(newest) {
			newest, c.latest = entry.Time, entry.Manager
		}
	}
}
