package connect

import (
	"errors"
	"testing"
)

// Issue 5: one provider block, many clusters, one connection per distinct configuration.
func TestPoolOpensEachDistinctConfigurationOnce(t *testing.T) {
	server := newServer(t, answerSecret)
	env := variables{}
	pool := NewPool(env.lookup, testAgent)
	open := func(change func(*Kubernetes)) *Cluster {
		k := server.settings() // new Secrets with equal texts
		k.Token = NewSecret(testToken + "")
		change(&k)
		c, err := pool.Open(k)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	same := func(*Kubernetes) {}
	first := open(same)
	if open(same) != first {
		t.Error("equal settings were opened twice")
	}
	for name, change := range map[string]func(*Kubernetes){
		"token": func(k *Kubernetes) { k.Token = NewSecret("another") },
		"host":  func(k *Kubernetes) { k.Host += "/x" },
		"guard": func(k *Kubernetes) { k.AllowedClusterUIDs = []string{"u"} },
		"exec": func(k *Kubernetes) {
			k.Token = Secret{}
			k.Exec = &Exec{APIVersion: execGroup + "v1", Command: "x"}
		},
	} {
		if opened := open(change); opened == first || opened != open(change) {
			t.Errorf("%s: the wrong cluster", name)
		}
	}
	for range 2 {
		if _, err := pool.Open(Kubernetes{}); !errors.Is(err, ErrNotConfigured) {
			t.Errorf("error: %v", err)
		}
	}
	env["KUBE_HOST"] = server.URL
	if _, err := pool.Open(Kubernetes{}); err != nil {
		t.Errorf("an error was kept: %v", err)
	}
}

// Three endpoints with credentials of their own, by one pool: no credential reaches another's.
func TestPoolKeepsTheCredentialsOfClustersApart(t *testing.T) {
	pool := NewPool(variables{}.lookup, testAgent)
	for _, token := range []string{"token-one", "token-two", "token-three"} {
		server := newServer(t, answerSecret)
		k := server.settings()
		k.Token = NewSecret(token)
		c, err := pool.Open(k)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
		if got := authorizations(server.seen()); got != token {
			t.Errorf("got %s", got)
		}
	}
}
