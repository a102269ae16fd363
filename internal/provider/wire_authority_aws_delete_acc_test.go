package provider

import (
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// deletion_policy: what this resource published goes into its recovery window, and nothing else.
func TestAccWireAuthority_deletes_a_secret_only_with_its_recovery_window(t *testing.T) {
	c := newCloud(t)
	p, dir := c.secret(), c.host()
	var requests overheard
	c.proxy.Inject(overhear(&requests, "DeleteSecret"))
	const policy = `deletion_policy = "delete_published"`
	s := newSession(t, c.in(p, dir, policy))
	s.apply(0)
	printed := s.plan(changes, "-destroy")
	wants(t, printed, "The published authority will be deleted", c.local(dir), dir, "stays as it is")
	local := tree(t, dir)
	s.applySaved(0)
	if len(requests.all()) != 1 || !strings.Contains(requests.all()[0], `"RecoveryWindowInDays":30`) ||
		strings.Contains(requests.all()[0], "Force") {
		t.Errorf("requests %q", requests.all())
	}
	if c.described().DeletedDate == nil || tree(t, dir) != local {
		t.Error("the secret stays, or the host was touched")
	}
}

// deletion_policy: what another host published since the plan stays, and so does what was adopted.
func TestAccWireAuthority_deletes_nothing_that_another_host_published(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		const policy = `deletion_policy = "delete_published"`
		dir, other := c.host(), c.host()
		s := newSession(t, c.in(p, dir, policy))
		s.apply(0)
		s.plan(changes, "-destroy")
		y := c.mint(other, wirecerttest.Options{})
		c.publishTo(p, other)
		wants(t, s.applySaved(0), "The published authority was not deleted", y)
		if c.publishedPrint(p) != y {
			t.Error("the other host's authority is gone")
		}
		adopting := newSession(t, c.in(p, c.host(), policy))
		adopting.apply(0)
		wants(t, adopting.run(0, "destroy", "-auto-approve"), "The authority stays", "does not apply", "adopted")
		if c.publishedPrint(p) != y || c.proxy.Count("DeleteSecret")+c.proxy.Count("DeleteParameter") != 0 {
			t.Error("what was adopted was deleted")
		}
	})
}
