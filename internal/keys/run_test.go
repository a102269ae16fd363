package keys

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubetesting "k8s.io/client-go/testing"
)

// reports collects what a loop reports.
type reports struct {
	mu   sync.Mutex
	errs []error
}

func (r *reports) add(err error) { r.mu.Lock(); r.errs = append(r.errs, err); r.mu.Unlock() }

func (r *reports) all() []error { r.mu.Lock(); defer r.mu.Unlock(); return slices.Clone(r.errs) }

// running starts Run in a bubble of fake time and hands over while it runs.
func running(t *testing.T, f *fixture, during func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.provisioner.Run(ctx); close(done) }()
	settle()
	during(ctx)
	cancel()
	<-done
	settle()
}

// settle lets informers and queues catch up; time is fake in a bubble.
func settle() {
	for range 3 {
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
	}
}

func TestRun_puts_back_the_same_keys_and_reports_it(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said reports
		f := newFixture(Options{Report: said.add}, secretWith(line(keyW)))
		client := f.CoreV1().Secrets(namespace)
		running(t, f, func(ctx context.Context) {
			if err := client.Delete(ctx, DefaultName, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			settle()
			if got := string(f.stored(t).Data["keys"]); got != line(keyW) {
				t.Fatalf("after the deletion: %q", got)
			}
			emptied := f.stored(t).DeepCopy()
			emptied.Data = nil
			if _, err := client.Update(ctx, emptied, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			settle()
			if got := string(f.stored(t).Data["keys"]); got != line(keyW) {
				t.Fatalf("after the emptying: %q", got)
			}
		})
		var deleted []bool
		for _, err := range said.all() {
			var restored *RestoredError
			if !errors.As(err, &restored) || restored.Fingerprint != Fingerprint(keyW) {
				t.Fatalf("reported %v", err)
			}
			deleted = append(deleted, restored.Deleted)
		}
		if !slices.Equal(deleted, []bool{true, false}) {
			t.Errorf("reported deletions %v, want one, and then an emptied Secret", deleted)
		}
	})
}

func TestRun_watches_this_one_Secret_only(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{}, secretWith(line(keyW)))
		running(t, f, func(context.Context) {})
		seen := 0
		for _, action := range f.Actions() {
			var restrictions kubetesting.ListRestrictions
			switch action := action.(type) {
			case kubetesting.ListAction:
				restrictions = action.GetListRestrictions()
			case kubetesting.WatchAction:
				restrictions.Fields = action.GetWatchRestrictions().Fields
			default:
				continue
			}
			seen++
			if got := restrictions.Fields.String(); got != "metadata.name="+DefaultName {
				t.Errorf("%s with field selector %q", action.GetVerb(), got) // R1
			}
		}
		if seen < 2 {
			t.Errorf("%d LIST and WATCH requests seen", seen)
		}
	})
}

func TestRun_retries_a_failure_from_5_seconds_to_a_minute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said reports
		var when []time.Duration
		f := newFixture(Options{Report: said.add})
		start := time.Now()
		f.PrependReactor("get", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) {
			when = append(when, time.Since(start).Round(time.Second))
			return true, nil, apierrors.NewInternalError(errors.New("etcd"))
		})
		running(t, f, func(context.Context) { time.Sleep(4 * time.Minute) })
		want := []time.Duration{0, 5, 15, 35, 75, 135, 195}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(when, want) || len(said.all()) != len(want) {
			t.Errorf("tried at %v and reported %d, want %v", when, len(said.all()), want)
		}
	})
}

func TestRun_waits_for_a_change_of_invalid_data(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said reports
		f := newFixture(Options{Report: said.add}, secretWith("garbage"))
		running(t, f, func(ctx context.Context) {
			time.Sleep(10 * time.Minute)
			gets := 0
			for _, verb := range f.verbs() {
				if verb == "get" {
					gets++
				}
			}
			if gets > 2 { // once at the start, once for the first event
				t.Errorf("%d reads of data that did not change", gets)
			}
			if _, err := f.CoreV1().Secrets(namespace).Update(ctx, secretWith(line(keyW)), metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			settle()
			if f.provisioner.seen() != Fingerprint(keyW) {
				t.Error("the repaired Secret was not looked at")
			}
		})
		for _, err := range said.all() {
			if !errors.Is(err, ErrInvalidSecret) {
				t.Errorf("reported %v", err)
			}
		}
	})
}

func TestWatch_delivers_keys_and_their_changes_only(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{})
		client := f.CoreV1().Secrets(namespace)
		var got []string
		stop := make(chan struct{})
		NewSecretWatcher(client, namespace).Watch(stop, func(keys [][]byte) {
			got = append(got, Fingerprint(keys[0]))
			keys[0][0] ^= 1 // a receiver may do as it likes with its copy
		})
		update := func(secret *corev1.Secret) {
			t.Helper()
			settle()
			if _, err := client.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		settle()
		if _, err := client.Create(t.Context(), secretWith(""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		update(secretWith(line(keyW)))
		labelled := secretWith("  " + line(keyW))
		labelled.Labels = map[string]string{"a": "b"}
		update(labelled)
		update(secretWith("garbage"))
		update(secretWith(line(keyV)))
		settle()
		if err := client.Delete(t.Context(), DefaultName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		close(stop)
		settle()
		if want := []string{Fingerprint(keyW), Fingerprint(keyV)}; !slices.Equal(got, want) {
			t.Errorf("delivered %v, want %v", got, want)
		}
	})
}
