//go:build unix

package provider

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The example as it stands, on the real API server: one cluster by a context, one by its address and a
// program. A third context that leads to a cluster with another UID is refused alone.
func TestAccFleet_the_example_serves_clusters_by_context_and_by_program(t *testing.T) {
	byContext, byProgram := newEndpoint(t), newEndpoint(t)
	byContext.account.MayReadTheCluster(t)
	issuer := newIssuer(t, byProgram.account.Token, 3600)
	byProgram.gate.Answers(issuer.admit)
	uid := (&site{t: t, cluster: byContext.cluster}).uid()
	s := example(t, "fleet", "", nil)
	clusters := func(more map[string]any) {
		t.Helper()
		all := map[string]any{
			"north": map[string]any{"context": "north", "uid": uid, "namespace": byContext.namespace},
			"south": map[string]any{
				"host": byProgram.gate.URL, "ca": byProgram.gate.CA, "login": []string{issuer.program},
				"namespace": byProgram.namespace,
			},
		}
		for name, one := range more {
			all[name] = one
		}
		text, err := json.Marshal(map[string]any{"kubeconfig": byContext.context("north"), "clusters": all})
		if err != nil {
			t.Fatal(err)
		}
		s.write("fleet.auto.tfvars.json", string(text))
	}
	clusters(nil)
	s.apply(0)
	for name, e := range map[string]*endpoint{"north": byContext, "south": byProgram} {
		got := s.attributes(fmt.Sprintf("billet_memberlist_secret.fleet[%q]", name))
		if got["uid"] != string(e.secret().UID) || got["origin"] != originCreated {
			t.Errorf("%s: %v", name, got)
		}
	}
	s.plan(empty)
	s.leaksNothing([]byte(byContext.account.Token), []byte(byProgram.account.Token),
		[]byte(shortLived))

	clusters(map[string]any{"wrong": map[string]any{
		"context": "north", "uid": "another", "namespace": byContext.namespace,
	}})
	before := wrote(byContext.gate)
	wants(t, s.plan(refused), "Refusing to write to this cluster", uid, "another")
	if wrote(byContext.gate) != before {
		t.Error("something was written")
	}
}
