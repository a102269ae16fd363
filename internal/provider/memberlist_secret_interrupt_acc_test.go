package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// T8: the API server has made the Secret and its answer does not come before the interrupt. Terraform
// ends soon, and the next apply adopts what is there: one key, and no second write.
func TestAccMemberlistSecret_an_interrupted_create_is_adopted_by_the_next_apply(t *testing.T) {
	w := newWorld(t)
	gate := w.cluster.Gate(t)
	account := w.cluster.Account(t, w.namespace, "interrupted", acctest.AnySecret)
	ctx, cancel := context.WithCancel(t.Context())
	gate.Answers(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		var secret corev1.Secret
		if err := json.NewDecoder(r.Body).Decode(&secret); err != nil {
			t.Error(err)
		}
		if _, err := w.cluster.Admin.CoreV1().Secrets(w.namespace).Create(
			context.WithoutCancel(ctx), &secret, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		cancel()
		<-r.Context().Done() // the client went away
		return true
	})
	s := newSession(t, gated(gate, "token = \""+account.Token+"\"")+w.testResource(""))
	began := time.Now()
	if _, err := s.terraform.Run(ctx, "apply", "-auto-approve"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the apply was not interrupted: %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it ended after %s", took)
	}
	before := w.secret()
	gate.Answers(nil)
	gate.Forget()
	s.apply(0)
	s.plan(empty)
	w.unchanged(before)
	if n := wrote(gate); n != 0 {
		t.Errorf("%d writes after the interrupt", n)
	}
}
