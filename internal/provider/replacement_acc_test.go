package provider

import (
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const standing = "Refusing a replacement that deletes what it keeps"

// G8: a replacement plans to adopt what is there, and its destroy would delete that in between: the next
// apply would make a new key without asking anybody.
func TestAccMemberlistSecret_a_replacement_never_deletes_the_Secret_that_it_keeps(t *testing.T) {
	for name, lifecycle := range map[string]string{
		"destroy first": "", "create first": "lifecycle { create_before_destroy = true }",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := newSession(t, w.config("deletion_policy = \"delete\"\n"+lifecycle))
			s.apply(0)
			before := w.secret()
			wants(t, s.run(refused, "apply", "-auto-approve", "-replace="+address),
				standing, w.namespace, "Nothing was written", "retain")
			w.unchanged(before)
			s.plan(empty)
			// The way that the message names.
			s.configure(w.config("deletion_policy = \"retain\"\n" + lifecycle))
			s.apply(0)
			s.apply(0, "-replace="+address)
			w.unchanged(before)
			s.plan(empty)
		})
	}
}

// Another Secret is another object: the policy holds for the one that is left.
func TestAccMemberlistSecret_a_replacement_by_another_Secret_deletes_the_first(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	config := func(w *world) string { return w.config(`deletion_policy = "delete"`) }
	other.kubeconfig = w.kubeconfig
	s := newSession(t, config(w))
	s.apply(0)
	s.configure(config(other))
	wants(t, s.apply(0), "The Secret will be deleted")
	other.secret()
	list, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || slices.ContainsFunc(list.Items, isTheSecret) {
		t.Errorf("the first Secret was not deleted: %v", err)
	}
}

// The same for what is published: nodes would be handed a new authority.
func TestAccWireAuthority_a_replacement_never_deletes_what_is_published(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	s := newSession(t, f.config(dir, `deletion_policy = "delete_published"`))
	s.apply(0)
	want := f.local(dir)
	before := tree(t, dir, filepath.Dir(f.store))
	wants(t, s.run(refused, "apply", "-auto-approve", "-replace="+authority), standing, "Nothing was written")
	s.configure(f.config(f.host(), `deletion_policy = "delete_published"`))
	wants(t, s.plan(refused), standing, f.store)
	if tree(t, dir, filepath.Dir(f.store)) != before {
		t.Error("the refusal touched the host or the store")
	}
	// Another spelling of the directory is no other host.
	s.configure(f.config(dir+"/", `deletion_policy = "delete_published"`))
	s.apply(0)
	s.plan(empty)
	if f.local(dir) != want {
		t.Error("the authority is another one")
	}
	s.configure(f.config(dir, ""))
	s.apply(0)
	s.apply(0, "-replace="+authority)
	s.plan(empty)
	if f.local(dir) != want {
		t.Error("the authority is another one after the replacement")
	}
}
