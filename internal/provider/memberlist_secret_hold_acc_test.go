package provider

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// meanwhile does something to the Secret once it exists, while Terraform runs.
func (w *world) meanwhile(act func(*corev1.Secret) error) <-chan error {
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() {
		defer cancel()
		secrets := w.cluster.Admin.CoreV1().Secrets(w.namespace)
		for {
			secret, err := secrets.Get(ctx, keys.DefaultName, metav1.GetOptions{})
			switch {
			case err == nil:
				time.Sleep(time.Second) // let apply get from the create to the watch
				done <- act(secret)
				return
			case !apierrors.IsNotFound(err):
				done <- err
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return done
}

func TestAccMemberlistSecret_puts_a_pruned_Secret_back_while_it_holds_it(t *testing.T) {
	w := newWorld(t)
	secrets := w.cluster.Admin.CoreV1().Secrets(w.namespace)
	for name, test := range map[string]struct {
		act  func(*corev1.Secret) error
		says []string
	}{
		"deleted": {func(secret *corev1.Secret) error {
			return secrets.Delete(context.Background(), secret.Name, metav1.DeleteOptions{})
		}, []string{"was deleted", print("a"), "managedFields do not tell"}},
		"emptied": {func(secret *corev1.Secret) error {
			secret.Data, secret.Labels = nil, map[string]string{"janitor": "was-here"}
			_, err := secrets.Update(context.Background(), secret, metav1.UpdateOptions{FieldManager: "janitor"})
			return err
		}, []string{"had lost its keys", print("a"), `field manager "janitor"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, w.config(wo("a")+`hold_for = "6s"`))
			done := w.meanwhile(test.act)
			printed := s.apply(0)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			wants(t, printed, append([]string{"The Secret was put back while apply held it"}, test.says...)...)
			if err := w.holdsKeys("a")(nil); err != nil {
				t.Error(err)
			}
			if got := s.attributes(address)["uid"]; got != string(w.secret().UID) {
				t.Errorf("the state has UID %v, the Secret %s", got, w.secret().UID)
			}
			s.plan(empty)
			w.remove()
		})
	}
}

// The keys are ensured before anything is held, so that a watch which is denied costs a warning.
func TestAccMemberlistSecret_says_what_holding_needs(t *testing.T) {
	w := newWorld(t)
	w.put(line("a"))
	w.kubeconfig = w.cluster.Limited(t, "holder-"+w.namespace, w.namespace, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{keys.DefaultName},
		Verbs: []string{"get"},
	})
	s := newSession(t, w.config(`hold_for = "2s"`))
	printed := s.apply(0)
	wants(t, printed, "The Secret could not be watched", "are ensured", "list", "verbs: [get, list, watch]")
	w.cluster.PasteRole(t, printed)
	if printed := s.apply(0); says("could not be watched").MatchString(printed) {
		t.Errorf("with that role: %s", printed)
	}
}

// T8: the keys are ensured before the Secret is held, so that an interrupt ends the hold and loses nothing.
func TestAccMemberlistSecret_an_interrupted_hold_keeps_what_was_ensured(t *testing.T) {
	w := newWorld(t)
	s := newSession(t, w.config(wo("a")+`hold_for = "10m"`))
	ctx, cancel := context.WithCancel(t.Context())
	done := w.meanwhile(func(*corev1.Secret) error { cancel(); return nil })
	began := time.Now()
	if _, err := s.terraform.Run(ctx, "apply", "-auto-approve"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the apply was not interrupted: %v", err)
	}
	if err := <-done; err != nil || time.Since(began) > time.Minute {
		t.Errorf("%v, after %s", err, time.Since(began))
	}
	before := w.secret()
	wantsNot(t, s.state(), "tainted")
	s.plan(empty)
	w.unchanged(before)
}

func TestAccMemberlistSecret_holds_nothing_by_itself(t *testing.T) {
	w := newWorld(t)
	before := w.put(line("a"))
	run(t, resource.TestStep{
		Config: w.config(""), ConfigStateChecks: []statecheck.StateCheck{live(print("a"))},
		Check: func(*terraform.State) error {
			if got := w.secret(); got.ResourceVersion != before.ResourceVersion {
				return fmt.Errorf("the Secret was written")
			}
			return nil
		},
	})
	run(t, resource.TestStep{
		Config: w.config(`hold_for = "soon"`), ExpectError: says("Invalid value", "a duration"),
	})
}
