package connect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
)

// guardNamespace is the namespace whose UID stands for the cluster: each cluster has it, and no
// two have it with the same UID.
const guardNamespace = "kube-system"

// ClusterRefusedError says that this is none of the clusters in allowed_cluster_uids. Nothing was
// written.
type ClusterRefusedError struct {
	Found   string   // the UID of this cluster's kube-system namespace
	Allowed []string // those of the configuration
	Target  string   // as Cluster.Target
}

// Error names the UID that was found, those that are allowed, and what led to this cluster.
func (e *ClusterRefusedError) Error() string {
	return fmt.Sprintf("%s is the cluster with the UID %s, and allowed_cluster_uids allows only %s",
		e.Target, e.Found, strings.Join(e.Allowed, ", "))
}

type guard struct {
	allowed []string
	turn    chan struct{} // holds one token: whoever has it asks
	passed  *atomic.Bool
}

func newGuard(allowed []string) guard {
	g := guard{
		allowed: slices.Clone(allowed), turn: make(chan struct{}, 1), passed: &atomic.Bool{},
	}
	g.turn <- struct{}{}
	return g
}

// CheckAllowed compares the cluster with allowed_cluster_uids. Without that setting it does nothing
// and sends nothing. With it, it reads the namespace kube-system once, and again only after a
// failure. Every method that writes calls it first: no caller can forget the guard.
func (c *Cluster) CheckAllowed(ctx context.Context) error {
	if len(c.guard.allowed) == 0 || c.guard.passed.Load() {
		return nil
	}
	select {
	case <-c.guard.turn:
		defer func() { c.guard.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.guard.passed.Load() {
		return nil
	}
	uid, err := c.uid(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(c.guard.allowed, uid) {
		return &ClusterRefusedError{
			Found: uid, Allowed: slices.Clone(c.guard.allowed), Target: c.target,
		}
	}
	c.guard.passed.Store(true)
	return nil
}

func (c *Cluster) uid(ctx context.Context) (string, error) {
	const resource = "namespaces"
	var found corev1.Namespace
	op := operation{verb: "get", resource: resource, name: guardNamespace, read: true}
	err := c.do(ctx, op, func(ctx context.Context, x *exchange) error {
		body, err := x.success(c.request(http.MethodGet, resource).Name(guardNamespace).Do(ctx))
		if err != nil {
			return err
		}
		found = corev1.Namespace{}
		if err := x.decode(body, "Namespace", "", guardNamespace, &found); err != nil {
			return err
		}
		if found.UID == "" {
			return x.answerError("the Namespace in it has no UID")
		}
		return nil
	})
	return string(found.UID), err
}
