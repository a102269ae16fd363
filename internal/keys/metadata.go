package keys

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Metadata is what a configuration manages of the Secret's labels and annotations: those it names,
// and those it named before and names no longer. All others belong to somebody else.
type Metadata struct {
	Labels, Annotations             map[string]string
	RemoveLabels, RemoveAnnotations []string
}

// put sets the metadata and says whether that made a difference. It never touches the data.
func (m Metadata) put(secret *corev1.Secret) bool {
	var labels, annotations bool
	secret.Labels, labels = merge(secret.Labels, m.Labels, m.RemoveLabels)
	secret.Annotations, annotations = merge(secret.Annotations, m.Annotations, m.RemoveAnnotations)
	return labels || annotations
}

func merge(live, want map[string]string, remove []string) (map[string]string, bool) {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, name := range remove {
		delete(merged, name)
	}
	maps.Copy(merged, want)
	return merged, !maps.Equal(merged, live)
}
