package keys

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	kubetesting "k8s.io/client-go/testing"
)

func rotating() Terms {
	return Terms{Accepted: Fingerprint(keyW), Rotate: true, PlannedWrite: true}
}

func TestApply_rotates_to_one_new_key_with_the_read_resourceVersion(t *testing.T) {
	before := secretWith(line(keyW) + line(keyV))
	before.Data["other"], before.UID = []byte("theirs"), "uid"
	f := newFixture(Options{}, before)
	result, err := f.provisioner.Apply(t.Context(), rotating())
	if err != nil || result.Action != Rotate || result.Made != MadeRotation {
		t.Fatalf("%+v, %v", result, err)
	}
	stored := f.stored(t)
	found, err := ParseKeys(stored.Data["keys"])
	if err != nil || len(found) != 1 || slices.Contains([]string{Fingerprint(keyW), Fingerprint(keyV)}, result.Live.Primary()) ||
		Fingerprint(found[0]) != result.Live.Primary() {
		t.Errorf("%d keys, primary %s, %v; want one new key", len(found), result.Live.Primary(), err)
	}
	if string(stored.Data["other"]) != "theirs" || stored.UID != "uid" {
		t.Error("more than the keys was changed")
	}
	if want := []string{"get", "update"}; !slices.Equal(f.verbs(), want) {
		t.Errorf("requests %v, want %v", f.verbs(), want)
	}
	update := f.Actions()[1].(kubetesting.UpdateAction).GetObject().(*corev1.Secret)
	if update.ResourceVersion != "7" {
		t.Errorf("the update carries resourceVersion %q", update.ResourceVersion)
	}
}

// What was seen last is what a rotation leaves behind, and not what it writes.
func TestApply_that_has_seen_the_keys_rotates_to_others(t *testing.T) {
	f := newFixture(Options{}, secretWith(line(keyW)))
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := f.provisioner.Apply(t.Context(), rotating())
	if err != nil || result.Live.Primary() == Fingerprint(keyW) {
		t.Errorf("%+v, %v", result, err)
	}
	if err := f.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, DefaultName); err != nil {
		t.Fatal(err)
	}
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := ParseKeys(f.stored(t).Data["keys"]); err != nil || Fingerprint(found[0]) != result.Live.Primary() {
		t.Errorf("after a deletion the rotated key is not what is put back: %v", err)
	}
}

// R3: a conflict is decided on anew. What the winner of the race left decides.
func TestApply_that_lost_a_race_rotates_no_key_but_the_reviewed_one(t *testing.T) {
	for name, test := range map[string]struct {
		left   string
		verbs  []string
		change bool
	}{
		"somebody edited a label":      {line(keyW), []string{"get", "update", "get", "update"}, false},
		"somebody rotated the key":     {line(keyV), []string{"get", "update", "get"}, true},
		"the answer was lost, no more": {line(keyX), []string{"get", "update", "get"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(Options{SuppliedKeys: [][]byte{keyX}}, secretWith(line(keyW)))
				f.once("update", func() (bool, runtime.Object, error) {
					left := secretWith(test.left)
					left.Labels = map[string]string{"theirs": "yes"}
					return true, nil, errors.Join(f.Tracker().Update(
						corev1.SchemeGroupVersion.WithResource("secrets"), left, namespace),
						apierrors.NewConflict(resource, DefaultName, nil))
				})
				terms := rotating()
				terms.Planned, terms.PlannedWrite = Fingerprint(keyX), false
				result, err := f.provisioner.Apply(t.Context(), terms)
				var changed *ChangedError
				if errors.As(err, &changed) != test.change || !test.change && (err != nil || result.Action != Rotate) {
					t.Errorf("%+v, %v", result, err)
				}
				if !slices.Equal(f.verbs(), test.verbs) {
					t.Errorf("requests %v, want %v", f.verbs(), test.verbs)
				}
				if got := f.stored(t); got.Labels["theirs"] != "yes" || test.change && string(got.Data["keys"]) != test.left {
					t.Error("what the other writer left is gone")
				}
			})
		})
	}
}

// A watch that is denied is no watch: whoever relies on it hears of it. In real time, for client-go
// keeps the time of its last error for the whole process.
func TestRun_reports_that_it_may_not_watch(t *testing.T) {
	for _, verb := range []string{"list", "watch"} {
		said := make(chan error, 100)
		f := newFixture(Options{Report: func(err error) { said <- err }}, secretWith(line(keyW)))
		denied := apierrors.NewForbidden(resource, DefaultName, errors.New("RBAC"))
		if verb == "list" {
			f.fail("list", denied)
		} else {
			f.PrependWatchReactor("secrets", func(kubetesting.Action) (bool, watch.Interface, error) {
				return true, nil, denied
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		done := make(chan struct{})
		go func() { f.provisioner.Run(ctx); close(done) }()
		var request *RequestError
		select {
		case err := <-said:
			if !errors.As(err, &request) || request.Verb != verb || !apierrors.IsForbidden(err) {
				t.Errorf("%s denied, reported %v", verb, err)
			}
		case <-done:
			t.Errorf("%s denied, and nothing reported", verb)
		}
		cancel()
		<-done
	}
}
