package wireshare_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// plainStore is the first interface and nothing more: what billet itself passes.
type plainStore struct{ m *memory }

func (s plainStore) GetAuthority(ctx context.Context) ([]byte, error) {
	return s.m.GetAuthority(ctx)
}

func (s plainStore) PutAuthority(ctx context.Context, body []byte) error {
	if s.m.swap != nil {
		return s.m.swap(s.m, body)
	}
	return s.m.PutAuthority(ctx, body)
}

// B1
func TestPublishThenAdoptCarriesARotationToAnEmptyHost(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	store, dir := plainStore{&memory{}}, t.TempDir()
	must(t, wireshare.Publish(t.Context(), store, install(t, a), deployment))
	got, err := wireshare.Adopt(t.Context(), store, dir, deployment, false)
	if err != nil || got != wireshare.AdoptedInstalled {
		t.Fatalf("%s, %v", got, err)
	}
	if !local(t, dir).Files().Equal(a.Files()) {
		t.Error("the files changed on the way")
	}
	before := tree(t, dir)
	got, err = wireshare.Adopt(t.Context(), store, dir, deployment, true)
	if err != nil || got != wireshare.AdoptedAlreadyHeld {
		t.Errorf("again: %s, %v", got, err)
	}
	sameTree(t, before, tree(t, dir))
}

func TestPublishReplacesWhateverIsPublished(t *testing.T) {
	a, b := newAuthority(t, wirecerttest.Options{}, nil), newAuthority(t,
		wirecerttest.Options{}, nil)
	for name, body := range map[string][]byte{
		"nothing": nil, "another authority": encode(t, b), "text": []byte("text"),
	} {
		store := plainStore{&memory{body: body}}
		must(t, wireshare.Publish(t.Context(), store, install(t, a), deployment))
		doc, err := wireshare.DecodeDocument(store.m.body, deployment)
		must(t, err)
		if !doc.Authority.Files().Equal(a.Files()) {
			t.Errorf("%s is still published", name)
		}
	}
}

// B4: no second version with the same content.
func TestPublishDoesNotRepeatWhatIsPublished(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	store := plainStore{&memory{body: encode(t, a)}}
	must(t, wireshare.Publish(t.Context(), store, install(t, a), deployment))
	if store.m.puts != 0 {
		t.Error("published again")
	}
}

// B1, C1, C7
func TestPublishRefusesWhatIsNotWholeAndWritesNothing(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	expired := newAuthority(t, wirecerttest.Options{
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}, nil)
	without := func(name string) wirecert.Files {
		files := a.Files()
		delete(files, name)
		return files
	}
	for name, c := range map[string]struct {
		files wirecert.Files
		want  error
	}{
		"nothing":                 {nil, wireshare.ErrNothingToPublish},
		"no key":                  {without(wirecert.KeyName), wirecert.ErrIncomplete},
		"no previous key":         {without(wirecert.PreviousKeyName), wirecert.ErrIncomplete},
		"no previous certificate": {without(wirecert.PreviousCertificateName), wirecert.ErrIncomplete},
		"no marker":               {without(wirecert.MarkerName), wirecert.ErrNoMarker},
		"expired":                 {expired.Files(), wireshare.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, wirecerttest.Write(dir, c.files))
			before := tree(t, dir)
			store := plainStore{&memory{}}
			err := wireshare.Publish(t.Context(), store, dir, deployment)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			sameTree(t, before, tree(t, dir))
			if store.m.puts != 0 {
				t.Error("something was published")
			}
		})
	}
}

func TestPublishWithoutAnAnswerIsAnError(t *testing.T) {
	store := plainStore{&memory{swap: func(*memory, []byte) error { return errUnreachable }}}
	a := newAuthority(t, wirecerttest.Options{}, nil)
	err := wireshare.Publish(t.Context(), store, install(t, a), deployment)
	if !errors.Is(err, wireshare.ErrPublishUnknown) || !errors.Is(err, errUnreachable) {
		t.Errorf("error %v", err)
	}
}

// C1, B1
func TestAdoptWritesNothingWhenItDoesNotAdopt(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a, b := whole(t, old, nil), newAuthority(t, wirecerttest.Options{}, nil)
	next := newPair(t, wirecerttest.Options{Replaces: old.Fingerprint})
	rotated, retired := whole(t, next, &old), whole(t, next, nil)
	again := newAuthority(t, wirecerttest.Options{Key: old.Key}, nil)
	expired := newAuthority(t, wirecerttest.Options{
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}, nil)
	half := a.Files()
	delete(half, wirecert.KeyName)
	const nothing, held = wireshare.AdoptedNothing, wireshare.AdoptedAlreadyHeld
	doc := func(a *wirecert.Authority) []byte { return encode(t, a) }
	late, behind, reissued := wireshare.ErrExpired, wireshare.ErrLocalBehind, wireshare.ErrReissued
	for name, c := range map[string]struct {
		local   wirecert.Files
		body    []byte
		replace bool
		want    wireshare.Adopted
		err     error
	}{
		"nothing is published":              {nil, nil, false, nothing, nil},
		"nothing is published, replace":     {a.Files(), nil, true, nothing, nil},
		"a different one":                   {a.Files(), doc(b), false, nothing, wireshare.ErrDiffer},
		"a rotation":                        {a.Files(), doc(rotated), false, nothing, behind},
		"a re-issued one":                   {a.Files(), doc(again), false, nothing, reissued},
		"the same and more":                 {rotated.Files(), doc(retired), true, held, nil},
		"the same and less":                 {retired.Files(), doc(rotated), true, held, nil},
		"half of the published one":         {half, doc(a), true, nothing, wirecert.ErrIncomplete},
		"text":                              {nil, []byte("text"), true, nothing, wireshare.ErrDocument},
		"an expired one":                    {nil, doc(expired), true, nothing, late},
		"an expired one over a different":   {a.Files(), doc(expired), true, nothing, late},
		"the same, expired, with no action": {expired.Files(), doc(expired), false, held, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.local != nil {
				must(t, wirecerttest.Write(dir, c.local))
			}
			before := tree(t, dir)
			store := plainStore{&memory{body: c.body}}
			got, err := wireshare.Adopt(t.Context(), store, dir, deployment, c.replace)
			if got != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("%s, %v; want %s, %v", got, err, c.want, c.err)
			}
			sameTree(t, before, tree(t, dir))
			if store.m.puts != 0 || !bytes.Equal(store.m.body, c.body) {
				t.Error("the store was written")
			}
		})
	}
}

func TestAdoptNamesBothWhenItRefuses(t *testing.T) {
	a, b := newAuthority(t, wirecerttest.Options{}, nil), newAuthority(t,
		wirecerttest.Options{}, nil)
	store := plainStore{&memory{body: encode(t, b)}}
	_, err := wireshare.Adopt(t.Context(), store, install(t, a), deployment, false)
	refusal(t, err, wireshare.ErrDiffer, a, b)
}

func TestAdoptWithReplaceMovesTheLocalOneAside(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	mine := whole(t, old, nil)
	next := newPair(t, wirecerttest.Options{Replaces: old.Fingerprint})
	p, again := newPair(t, wirecerttest.Options{}), newPair(t, wirecerttest.Options{Key: old.Key})
	for name, c := range map[string]struct{ local, published *wirecert.Authority }{
		"a stranger":                      {mine, newAuthority(t, wirecerttest.Options{}, nil)},
		"a rotation":                      {mine, whole(t, next, &old)},
		"a rotation back":                 {whole(t, next, &old), mine},
		"a re-issued one":                 {mine, whole(t, again, nil)},
		"the same, other generation gone": {whole(t, next, &old), whole(t, next, &p)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := install(t, c.local)
			keys := privateKeys(t, dir)
			store := plainStore{&memory{body: encode(t, c.published)}}
			got, err := wireshare.Adopt(t.Context(), store, dir, deployment, true)
			if err != nil || got != wireshare.AdoptedInstalled {
				t.Fatalf("%s, %v", got, err)
			}
			if !local(t, dir).Files().Equal(c.published.Files()) {
				t.Errorf("holds %s", local(t, dir))
			}
			keysKept(t, dir, keys, "after replacing")
		})
	}
}
