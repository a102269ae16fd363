package wireshare_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// withdrawing is a memory that deletes, and counts it.
type withdrawing struct {
	memory
	deletes int
	// before runs before a deletion.
	before func(m *memory)
}

func (w *withdrawing) Delete(_ context.Context, read wireshare.Version) error {
	w.deletes++
	if w.before != nil {
		w.before(&w.memory)
	}
	if w.version() != read {
		return wireshare.ErrChanged
	}
	w.body = nil
	return nil
}

func TestWithdrawDeletesTheAuthorityItWasToldToAndNoOther(t *testing.T) {
	a, b := newAuthority(t, wirecerttest.Options{}, nil), newAuthority(t, wirecerttest.Options{}, nil)
	other := newPair(t, wirecerttest.Options{Deployment: strings.Repeat("f", 32)})
	for _, test := range []struct {
		name    string
		body    []byte
		before  func(*memory)
		want    error
		deletes int
		names   []string
	}{
		{name: "the one", body: encode(t, a), deletes: 1},
		{name: "nothing", deletes: 0},
		{name: "another one", body: encode(t, b), want: wireshare.ErrChanged,
			names: []string{a.Info().Fingerprint, b.Info().Fingerprint}},
		{name: "no document", body: []byte("{}"), want: wireshare.ErrPublishedUnreadable},
		{name: "of another deployment", want: wireshare.ErrPublishedUnreadable,
			body: []byte(strings.ReplaceAll(string(encode(t, a)), deployment, other.Certificate.Subject.Organization[0]))},
		{name: "changed after the look", body: encode(t, a), want: wireshare.ErrChanged, deletes: 1,
			before: func(m *memory) { m.set(encode(t, b)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &withdrawing{before: test.before}
			if test.body != nil {
				store.set(test.body)
			}
			err := wireshare.Withdraw(t.Context(), store, deployment, a.Info().Fingerprint)
			if !errors.Is(err, test.want) || store.deletes != test.deletes {
				t.Errorf("%d deletions, %v", store.deletes, err)
			}
			for _, name := range test.names {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s is not in %v", name, err)
				}
			}
			if kept := store.body != nil; kept != (test.want != nil) {
				t.Errorf("published: %t", kept)
			}
		})
	}
}

func TestWithdrawStopsWhenItIsCancelled(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	store := &withdrawing{}
	store.set(encode(t, a))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := wireshare.Withdraw(ctx, store, deployment, a.Info().Fingerprint)
	if !errors.Is(err, context.Canceled) || store.deletes != 0 {
		t.Errorf("%d deletions, %v", store.deletes, err)
	}
}
