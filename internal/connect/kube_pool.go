package connect

import (
	"reflect"
	"slices"
	"sync"
)

// Pool opens each distinct configuration once, so that a fleet of resources shares its connections
// and runs each credential program once. It is safe for concurrent use.
type Pool struct {
	lookup    func(string) (string, bool)
	userAgent string

	mu   sync.Mutex
	open []pooled
}

type pooled struct {
	settings Kubernetes
	cluster  *Cluster
}

// NewPool returns a Pool that opens with these arguments of Kubernetes.Open.
func NewPool(lookup func(string) (string, bool), userAgent string) *Pool {
	return &Pool{lookup: lookup, userAgent: userAgent}
}

// Open returns the Cluster of equal settings, or opens one. Errors are not kept: the next call
// tries again.
func (p *Pool) Open(k Kubernetes) (*Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.open, func(o pooled) bool { return reflect.DeepEqual(o.settings, k) })
	if i >= 0 {
		return p.open[i].cluster, nil
	}
	cluster, err := k.Open(p.lookup, p.userAgent)
	if err != nil {
		return nil, err
	}
	p.open = append(p.open, pooled{settings: k, cluster: cluster})
	return cluster, nil
}
