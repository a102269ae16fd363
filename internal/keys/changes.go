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
	own    string
	latest string
}

// wrote notes the Secret as this Provisioner stored it, and returns who changed it before that.
func (c *changes) wrote(stored *corev1.Secret) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.newest(stored); ok {
		c.own = entry.Manager
	}
	latest := c.latest
	c.known, c.latest = stored.ManagedFields, ""
	return latest
}

// inOrder notes the Secret as it is to stay: whoever changed it up to here is nobody to report.
func (c *changes) inOrder(secret *corev1.Secret) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.latest = secret.ManagedFields, ""
}

// note looks at what was read, or what an informer delivered. The API server also dates the entry of
// the manager that lost a field anew, so that the Provisioner's own entry says nothing.
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
	if entry, ok := c.newest(secret, c.own); ok {
		c.latest = entry.Manager
	}
}

// newest is the newest entry that is not known, of other managers than those left out.
func (c *changes) newest(secret *corev1.Secret, leftOut ...string) (metav1.ManagedFieldsEntry, bool) {
	var newest metav1.ManagedFieldsEntry
	for _, entry := range secret.ManagedFields {
		old := slices.ContainsFunc(c.known, func(known metav1.ManagedFieldsEntry) bool {
			return known.Manager == entry.Manager && known.Time.Equal(entry.Time)
		})
		if !old && entry.Time != nil && !entry.Time.Before(newest.Time) &&
			!slices.Contains(leftOut, entry.Manager) {
			newest = entry
		}
	}
	return newest, newest.Time != nil
}
