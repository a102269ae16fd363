package provider

import (
	"fmt"
	"os"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

// T10: the configuration that Terraform writes for an import is valid as it is, and plans nothing.
func generates(t *testing.T, provider, address, id string) {
	t.Helper()
	s := newSession(t, provider+fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", address, id))
	s.run(empty, "plan", "-generate-config-out=generated.tf")
	text, err := os.ReadFile(s.path("generated.tf"))
	if err != nil {
		t.Fatal(err)
	}
	wantsNot(t, string(text), "# Warning")
	s.plan(changes)
	s.applySaved(0)
	s.plan(empty)
	s.configure(provider) // the import block is not needed any more
	s.plan(empty)
}

func TestAccMemberlistSecret_a_generated_configuration_plans_nothing(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a") + line("b"))
	provider := fmt.Sprintf("provider \"billet\" {\n  kubernetes = { config_path = %q }\n}\n", w.kubeconfig)
	generates(t, provider, address, w.namespace)
	w.unchanged(before)
}

func TestAccWireAuthority_a_generated_configuration_plans_nothing(t *testing.T) {
	f := newFleet(t)
	dir := f.host()
	f.mint(dir, wirecerttest.Options{})
	f.publish(dir)
	published := tree(t, f.store)
	generates(t, "", authority, "deployment="+wirecerttest.Deployment+",state_dir="+dir+",file="+f.store)
	if tree(t, f.store) != published {
		t.Error("the store was touched")
	}
	inBoth(t, func(t *testing.T, c *cloud, p place) {
		dir := c.host()
		c.mint(dir, wirecerttest.Options{})
		c.publishTo(p, dir)
		c.proxy.Forget()
		place := map[string]string{secretsManager: c.name, ssmParameter: c.prefix}[p.kind]
		generates(t, c.provider("skip_credentials_validation = true"), authority,
			fmt.Sprintf("deployment=%s,state_dir=%s,%s=%s", wirecerttest.Deployment, dir, p.kind, place))
		c.wroteNothing(p)
	})
}
