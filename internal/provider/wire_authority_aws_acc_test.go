package provider

import (
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// What is asked of AWS, to the last request: one read for a refresh, and nothing else while there is
// nothing to do.
func TestAccWireAuthority_asks_AWS_no_more_than_it_has_to(t *testing.T) {
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		c.mint(dir, wirecerttest.Options{})
		first := map[string][]string{
			secretsManager: {"DescribeSecret", "CreateSecret", "GetSecretValue"},
			ssmParameter:   {"PutParameter", "GetParameter"},
		}[p.kind]
		again := map[string][]string{
			secretsManager: {"PutSecretValue", "UpdateSecretVersionStage", "UpdateSecretVersionStage", "GetSecretValue"},
			ssmParameter:   {"GetParameter", "PutParameter", "GetParameter"},
		}[p.kind]
		planned := p.absent
		if p.kind == secretsManager {
			planned = append(planned, "DescribeSecret") // a replica, or one that is scheduled for deletion
		}
		s := newSession(t, c.provider("")+c.authority(p, dir, "publish_rotations = true"))
		who := []string{"GetCallerIdentity"}
		join := func(parts ...[]string) (all []string) {
			for _, part := range parts {
				all = append(all, part...)
			}
			return all
		}
		s.plan(changes)
		c.asked(join(who, planned)...)
		s.applySaved(0)
		c.asked(join(who, planned, p.absent, first)...)
		s.plan(empty)
		c.asked(join(who, []string{p.read})...)
		s.apply(0)
		c.asked(join(who, []string{p.read})...)
		s.run(0, "apply", "-refresh-only", "-auto-approve")
		c.asked(join(who, []string{p.read})...)
		c.rotate(dir)
		s.plan(changes)
		c.asked(join(who, []string{p.read})...)
		s.applySaved(0)
		c.asked(join(who, []string{p.read}, again)...)
		s.plan(empty)
	})
}
