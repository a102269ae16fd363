package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

const authorityAddress = "billet_wire_authority.this"

const authorityConfiguration = `terraform {
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}

resource "billet_wire_authority" "this" {
  deployment = %q
  state_dir  = %q
  store      = { file = { path = %q } }
%s}
`

// controller is one host of the deployment: its state directory, and Terraform's directory on it.
type controller struct {
	name      string
	stateDir  string
	terraform *terraform
	stage     *stage
}

// authorityDemo is the part's memory. keys are all private keys that were ever in use.
type authorityDemo struct {
	*stage
	store         string
	first, second *controller
	old, new      string
	keys          [][]byte
}

// authority shows two controllers that share one authority through a file.
func authority(s *stage) error {
	a := &authorityDemo{stage: s, store: s.directory + ".published.json"}
	for _, one := range []struct {
		what string
		do   func() error
	}{
		{"Two controllers without any authority, and a file that both reach.", a.start},
		{"Apply on the first: a new authority is made, published and installed.", a.mint},
		{"Apply on the second: it adopts what is published.", a.adopt},
		{"Plan again on both: nothing to do.", a.clean},
		{"The first one's authority is rotated, as billet does it: its plan refuses to replace the " +
			"published one.", a.rotated},
		{"Consent to that one fingerprint: the rotation is published.", a.published},
		{"Plan on the second: it is behind, and refuses to replace what it holds.", a.behind},
		{"Consent there, too: it adopts the new one and moves the old directory aside.", a.converged},
		{"Plan again on both: the consent left in the configuration does nothing.", a.clean},
		{"Search all that Terraform wrote for the private keys.", a.searched},
	} {
		if err := s.step(one.what, one.do); err != nil {
			return err
		}
	}
	return nil
}

func (a *authorityDemo) start() (err error) {
	if a.first, err = a.controller("first"); err != nil {
		return err
	}
	a.second, err = a.controller("second")
	return err
}

func (a *authorityDemo) controller(name string) (*controller, error) {
	own := *a.stage
	own.directory = filepath.Join(a.directory, name)
	if err := os.Mkdir(own.directory, 0o700); err != nil {
		return nil, err
	}
	// Beside Terraform's directories, not in them: private keys are no part of what it writes.
	host := &controller{name: name, stateDir: a.directory + "." + name + ".state", stage: &own}
	if err := a.configure(host, ""); err != nil {
		return nil, err
	}
	var err error
	host.terraform, err = newTerraform(&own, own.directory)
	a.say("%s controller: state_dir %s", name, host.stateDir)
	return host, err
}

func (a *authorityDemo) configure(host *controller, argument string) error {
	if argument != "" {
		a.say("%s", argument)
		argument = "  " + argument + "\n"
	}
	return host.stage.write("main.tf", fmt.Sprintf(
		authorityConfiguration, wirecerttest.Deployment, host.stateDir, a.store, argument))
}

// change plans a change on the host, applies it, and returns the fingerprint the host holds then.
func (a *authorityDemo) change(host *controller, outcome string) (string, error) {
	if _, err := host.terraform.plan(planChanges); err != nil {
		return "", err
	}
	if err := host.terraform.apply(); err != nil {
		return "", err
	}
	state, err := host.terraform.state(authorityAddress)
	if err != nil {
		return "", err
	}
	holds, err := a.holds(host)
	if err != nil {
		return "", err
	}
	a.say("%s controller holds %s, outcome %s", host.name, holds, state["outcome"])
	return holds, errors.Join(
		expect(state["fingerprint"] == holds, "the state names another authority than the host holds"),
		expect(state["published_fingerprint"] == holds, "another authority is published"),
		expect(state["outcome"] == outcome, "the outcome is not "+outcome))
}

// holds reads the directory itself, and remembers its private key for the search at the end: the
// scalar, and the line of the file that holds it.
func (a *authorityDemo) holds(host *controller) (string, error) {
	held, err := wirecert.Read(host.stateDir, wirecerttest.Deployment)
	if err != nil || held.Authority == nil {
		return "", errors.Join(err, expect(held.Authority != nil, "the host holds no authority"))
	}
	// The scalar is the secret; the rest of the block is the public key, which certificates show.
	block, _ := pem.Decode(held.Authority.Files()[wirecert.KeyName])
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return "", err
	}
	scalar, err := key.Bytes()
	if err != nil {
		return "", err
	}
	a.keys = append(a.keys, scalar, bytes.Split(pem.EncodeToMemory(block), []byte("\n"))[1])
	return held.Authority.Info().Fingerprint, nil
}

func (a *authorityDemo) mint() (err error) {
	a.old, err = a.change(a.first, "minted")
	return err
}

func (a *authorityDemo) adopt() error {
	got, err := a.change(a.second, "adopted")
	return errors.Join(err, expect(got == a.old, "the second controller adopted another authority"))
}

func (a *authorityDemo) clean() error {
	for _, host := range []*controller{a.first, a.second} {
		if _, err := host.terraform.plan(planEmpty); err != nil {
			return err
		}
	}
	return nil
}

func (a *authorityDemo) rotated() (err error) {
	_, a.new, err = wirecerttest.Rotate(a.ctx, a.first.stateDir, wirecerttest.Deployment)
	if err != nil {
		return err
	}
	return a.refusal(a.first, "Refusing to replace the published authority")
}

// refusal plans, and expects an error that names both fingerprints.
func (a *authorityDemo) refusal(host *controller, summary string) error {
	said, err := host.terraform.plan(planRefused)
	return errors.Join(err, expect(mention(said, "error", summary, a.old, a.new),
		"the refusal does not name both fingerprints"))
}

func (a *authorityDemo) published() error {
	if err := a.configure(a.first, fmt.Sprintf("allow_replacing_published = %q", a.old)); err != nil {
		return err
	}
	got, err := a.change(a.first, "published")
	return errors.Join(err, expect(got == a.new, "the first controller holds another authority"))
}

func (a *authorityDemo) behind() error {
	return a.refusal(a.second, "Refusing to replace the local authority")
}

func (a *authorityDemo) converged() error {
	if err := a.configure(a.second, fmt.Sprintf("allow_replacing_local = %q", a.old)); err != nil {
		return err
	}
	got, err := a.change(a.second, "adopted")
	if err != nil {
		return err
	}
	aside, err := filepath.Glob(filepath.Join(a.second.stateDir, "ca.superseded-*"))
	if err == nil && len(aside) == 1 {
		a.say("the old directory is kept: %s", filepath.Base(aside[0]))
	}
	return errors.Join(err, expect(got == a.new, "the controllers did not converge"),
		expect(len(aside) == 1, "the old directory is gone"))
}

func (a *authorityDemo) searched() error {
	if err := expect(len(a.keys) > 4, "no private key was seen"); err != nil {
		return err
	}
	files, err := acctest.Leaks(a.directory, a.keys)
	if err != nil {
		return err
	}
	a.say("No line of a private key is in any of %d files, raw, in hexadecimal or in base64.", files)
	return nil
}
