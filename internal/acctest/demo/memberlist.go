package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

const memberlistAddress = "billet_memberlist_secret.antrea"

const memberlistConfiguration = `terraform {
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}

provider "billet" {
  kubernetes = { config_path = %q }
}

resource "billet_memberlist_secret" "antrea" {%s}
`

// memberlistDemo is the part's memory: what stands where, and every key that was ever in use.
type memberlistDemo struct {
	*stage
	terraform  *terraform
	kubeconfig string
	secret     *secretReader
}

// memberlist shows one Secret from its first apply to the replacement of a lost key.
func memberlist(s *stage) error {
	m := &memberlistDemo{stage: s}
	for _, one := range []struct {
		what string
		do   func() error
	}{
		{"A Kubernetes control plane: kube-apiserver and etcd, on loopback.", m.start},
		{"Apply where there is no Secret: it is made, with one new key.", m.first},
		{"Plan again: nothing to do, and nothing is written.", m.clean},
		{"Someone rotates the key outside Terraform: the next plan shows it.", m.rotated},
		{"Apply that plan: the new key is accepted, and nothing is written to the cluster.", m.accepted},
		{"Someone deletes the Secret: the plan refuses, for agents still run with its key.", m.refused},
		{"Consent to that one fingerprint: a new key is planned and written.", m.consented},
		{"Plan again: the consent left in the configuration does nothing.", m.clean},
		{"Search all that Terraform wrote for the keys.", m.searched},
	} {
		if err := s.step(one.what, one.do); err != nil {
			return err
		}
	}
	return nil
}

func (m *memberlistDemo) start() error {
	cluster, err := m.cluster(m.ctx)
	if err != nil {
		return err
	}
	// Beside Terraform's directory, not in it: credentials are no part of what Terraform writes.
	m.kubeconfig = m.directory + ".kubeconfig"
	if err := acctest.WriteKubeconfig(m.kubeconfig, cluster.Config); err != nil {
		return err
	}
	m.secret = &secretReader{admin: cluster.Admin}
	m.say("It answers at %s.", cluster.Config.Host)
	if err := m.configure(""); err != nil {
		return err
	}
	m.terraform, err = newTerraform(m.stage, m.directory)
	return err
}

func (m *memberlistDemo) configure(arguments string) error {
	for line := range strings.Lines(fmt.Sprintf(`resource "billet_memberlist_secret" "antrea" {%s}`, arguments)) {
		m.say("%s", strings.TrimRight(line, "\n"))
	}
	return m.write("main.tf", fmt.Sprintf(memberlistConfiguration, m.kubeconfig, arguments))
}

func (m *memberlistDemo) first() error {
	if _, err := m.terraform.plan(planChanges); err != nil {
		return err
	}
	if exists, err := m.secret.exists(m.ctx); err != nil || exists {
		return errors.Join(err, expect(!exists, "plan made the Secret"))
	}
	if err := m.terraform.apply(); err != nil {
		return err
	}
	return m.agree()
}

// agree reads the Secret with a client of the demo's own and holds Terraform's state against it.
func (m *memberlistDemo) agree() error {
	seen, err := m.secret.read(m.ctx)
	if err != nil {
		return err
	}
	state, err := m.terraform.state(memberlistAddress)
	if err != nil {
		return err
	}
	m.say("in the Secret:  one key of %d bits, %s", seen.bits, seen.fingerprint)
	m.say("in the state:   %s", state["primary_key_fingerprint"])
	return expect(state["primary_key_fingerprint"] == seen.fingerprint,
		"the state and the Secret name different keys")
}

func (m *memberlistDemo) clean() error {
	return m.unwritten(func() error {
		_, err := m.terraform.plan(planEmpty)
		return err
	})
}

// unwritten fails if the Secret was written meanwhile: its UID or resourceVersion would differ.
func (m *memberlistDemo) unwritten(do func() error) error {
	before, err := m.secret.read(m.ctx)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := m.secret.read(m.ctx)
	if err != nil {
		return err
	}
	m.say("The Secret was not written: resourceVersion %s before and after.", after.version)
	return expect(before.uid == after.uid && before.version == after.version, "the Secret was written")
}

func (m *memberlistDemo) rotated() error {
	old, err := m.secret.read(m.ctx)
	if err != nil {
		return err
	}
	rotated, err := m.secret.rotate(m.ctx)
	if err != nil {
		return err
	}
	var said []diagnostic
	err = m.unwritten(func() error {
		said, err = m.terraform.plan(planChanges)
		return err
	})
	if err != nil {
		return err
	}
	change, err := m.terraform.planned(memberlistAddress)
	if err != nil {
		return err
	}
	from, to := change.Before["primary_key_fingerprint"], change.After["primary_key_fingerprint"]
	m.say("planned: %s, primary_key_fingerprint from %s", change.Actions, from)
	m.say("         to %s", to)
	return errors.Join(
		expect(len(change.Actions) == 1 && change.Actions[0] == "update", "the plan is not an update in place"),
		expect(from == old.fingerprint && to == rotated, "the plan does not name both keys"),
		expect(mention(said, "warning", old.fingerprint, rotated), "no warning names both keys"))
}

func (m *memberlistDemo) accepted() error {
	if err := m.unwritten(m.terraform.apply); err != nil {
		return err
	}
	if err := m.agree(); err != nil {
		return err
	}
	return m.clean()
}

func (m *memberlistDemo) refused() error {
	lost, err := m.secret.remove(m.ctx)
	if err != nil {
		return err
	}
	said, err := m.terraform.plan(planRefused)
	if err != nil {
		return err
	}
	exists, err := m.secret.exists(m.ctx)
	if err != nil {
		return err
	}
	return errors.Join(expect(!exists, "plan made the Secret"),
		expect(mention(said, "error", lost, "allow_replacing_key", "partitions"),
			"the refusal does not name the key, the reason and the way out"))
}

func (m *memberlistDemo) consented() error {
	lost := m.secret.fingerprints[len(m.secret.fingerprints)-1]
	if err := m.configure(fmt.Sprintf("\n  allow_replacing_key = %q\n", lost)); err != nil {
		return err
	}
	said, err := m.terraform.plan(planChanges)
	if err != nil {
		return err
	}
	change, err := m.terraform.planned(memberlistAddress)
	if err != nil {
		return err
	}
	if err := errors.Join(
		expect(mention(said, "warning", lost), "no warning names the key that goes"),
		expect(change.AfterUnknown["primary_key_fingerprint"] == true, "the plan claims to know the new key"),
	); err != nil {
		return err
	}
	if err := m.terraform.apply(); err != nil {
		return err
	}
	if err := m.agree(); err != nil {
		return err
	}
	now, err := m.secret.read(m.ctx)
	return errors.Join(err, expect(now.fingerprint != lost, "the lost key came back from nowhere"))
}

func (m *memberlistDemo) searched() error {
	files, err := acctest.Leaks(m.directory, m.secret.keys)
	if err != nil {
		return err
	}
	m.say("%d keys were in use. None of them is in any of %d files: configuration, state, backup,",
		len(m.secret.keys), files)
	m.say("saved plans, what Terraform printed and its log at level TRACE. They were looked for raw, in")
	m.say("hexadecimal and in base64, and each of these in base64 again.")
	for _, name := range []string{"trace.log", "printed.log", "terraform.tfstate", m.terraform.planFile()} {
		err = errors.Join(err, expectFile(filepath.Join(m.directory, name)))
	}
	return err
}
