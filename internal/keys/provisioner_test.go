package keys

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
)

const namespace = "kube-system"

var (
	keyW     = bytes.Repeat([]byte("w"), 32)
	keyV     = bytes.Repeat([]byte("v"), 16)
	keyX     = bytes.Repeat([]byte("x"), 24)
	resource = schema.GroupResource{Resource: "secrets"}
)

func secretWith(data string) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: DefaultName, ResourceVersion: "7"},
	}
	if data != "" {
		secret.Data = map[string][]byte{"keys": []byte(data)}
	}
	return secret
}

func line(key []byte) string { return base64.StdEncoding.EncodeToString(key) + "\n" }

// fixture is a fake API server that records what it was asked.
type fixture struct {
	*fake.Clientset
	provisioner *Provisioner
}

func newFixture(options Options, objects ...runtime.Object) *fixture {
	clientset := fake.NewClientset(objects...)
	client := clientset.CoreV1().Secrets(namespace)
	return &fixture{clientset, NewProvisionerWith(client, namespace, options)}
}

func (f *fixture) verbs() []string {
	var verbs []string
	for _, action := range f.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	return verbs
}

func (f *fixture) stored(t *testing.T) *corev1.Secret {
	t.Helper()
	object, err := f.Tracker().Get(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*corev1.Secret)
}

// once answers the next request with the verb by act, before the tracker sees it.
func (f *fixture) once(verb string, act func() (bool, runtime.Object, error)) {
	done := false
	f.PrependReactor(verb, "secrets", func(kubetesting.Action) (bool, runtime.Object, error) {
		if done {
			return false, nil, nil
		}
		done = true
		return act()
	})
}

func (f *fixture) fail(verb string, err error) {
	f.PrependReactor(verb, "secrets", func(kubetesting.Action) (bool, runtime.Object, error) {
		return true, nil, err
	})
}

func TestEnsureSecret_creates_an_Opaque_Secret_that_nobody_owns(t *testing.T) {
	f := newFixture(Options{Metadata: Metadata{Labels: map[string]string{"team": "net"}}})
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := f.stored(t)
	keys, err := ParseKeys(got.Data["keys"])
	if err != nil || len(keys) != 1 || len(keys[0]) != 32 || len(got.Data) != 1 {
		t.Errorf("%d keys, %d entries (%v), want one key of 32 bytes", len(keys), len(got.Data), err)
	}
	if got.Type != corev1.SecretTypeOpaque || len(got.OwnerReferences) != 0 ||
		!maps.Equal(got.Labels, map[string]string{"app": "antrea", "team": "net"}) { // G9
		t.Errorf("type %q, owners %v, labels %v", got.Type, got.OwnerReferences, got.Labels)
	}
}

// G1
func TestApply_losing_the_create_race_reports_the_winners_key(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{})
		f.once("create", func() (bool, runtime.Object, error) {
			return true, nil, errors.Join(f.Tracker().Add(secretWith(line(keyW))),
				apierrors.NewAlreadyExists(resource, DefaultName))
		})
		result, err := f.provisioner.Apply(t.Context(), Terms{})
		if err != nil || result.Live.Primary() != Fingerprint(keyW) || result.Made != MadeNothing {
			t.Errorf("%+v, %v; want the key of the winner", result, err)
		}
		if f.provisioner.last.primary() != Fingerprint(keyW) {
			t.Error("the key that lost is remembered")
		}
		if want := []string{"get", "create", "get"}; !slices.Equal(f.verbs(), want) {
			t.Errorf("requests %v, want %v", f.verbs(), want)
		}
	})
}

// G1, variants
func TestApply_after_a_lost_race_decides_on_what_is_there(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{})
		f.once("create", func() (bool, runtime.Object, error) {
			return true, nil, errors.Join(f.Tracker().Add(secretWith("garbage")),
				apierrors.NewAlreadyExists(resource, DefaultName))
		})
		_, err := f.provisioner.Apply(t.Context(), Terms{})
		if !errors.Is(err, ErrInvalidSecret) || string(f.stored(t).Data["keys"]) != "garbage" {
			t.Errorf("%v, want ErrInvalidSecret and the data untouched", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{})
		f.fail("create", apierrors.NewAlreadyExists(resource, DefaultName))
		_, err := f.provisioner.Apply(t.Context(), Terms{})
		if !errors.Is(err, ErrRace) || len(f.Actions()) != 2*attempts {
			t.Errorf("%v after %d requests, want ErrRace after %d", err, len(f.Actions()), 2*attempts)
		}
	})
}

func TestApply_whose_answer_is_lost_reports_its_own_key_as_created(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Options{})
		done := false
		f.PrependReactor("create", "secrets", func(a kubetesting.Action) (bool, runtime.Object, error) {
			if done {
				return false, nil, nil
			}
			done = true
			return true, nil, errors.Join(f.Tracker().Add(a.(kubetesting.CreateAction).GetObject()),
				io.ErrUnexpectedEOF)
		})
		result, err := f.provisioner.Apply(t.Context(), Terms{})
		if err != nil || result.Made != MadeSecret || result.Action != Provide {
			t.Errorf("%+v, %v; want the Secret reported as made", result, err)
		}
		if want := []string{"get", "create", "get"}; !slices.Equal(f.verbs(), want) {
			t.Errorf("requests %v, want %v: the key must not be written twice", f.verbs(), want)
		}
	})
}

// R3
func TestApply_filling_a_Secret_that_somebody_else_edits(t *testing.T) {
	conflict := apierrors.NewConflict(resource, DefaultName, errors.New("changed"))
	edits := map[string]struct {
		edit func(f *fixture) error
		made Made
		want string
	}{
		"keys added: theirs count": {func(f *fixture) error {
			return f.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), secretWith(line(keyW)), namespace)
		}, MadeNothing, Fingerprint(keyW)},
		"another entry added: it stays": {func(f *fixture) error {
			secret := secretWith("")
			secret.Data = map[string][]byte{"other": []byte("x")}
			return f.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), secret, namespace)
		}, MadeEntry, ""},
		"deleted: created anew": {func(f *fixture) error {
			return f.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, DefaultName)
		}, MadeSecret, ""},
	}
	for name, test := range edits {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(Options{}, secretWith(""))
				f.once("update", func() (bool, runtime.Object, error) {
					return true, nil, errors.Join(test.edit(f), conflict)
				})
				result, err := f.provisioner.Apply(t.Context(), Terms{})
				if err != nil || result.Made != test.made {
					t.Fatalf("%+v, %v; want made=%d", result, err, test.made)
				}
				if test.want != "" && result.Live.Primary() != test.want {
					t.Errorf("primary %s, want %s", result.Live.Primary(), test.want)
				}
				if name[0] == 'a' && string(f.stored(t).Data["other"]) != "x" {
					t.Error("the other entry is gone")
				}
			})
		})
	}
}

// G9
func TestApply_fills_that_one_entry_and_nothing_else(t *testing.T) {
	before := secretWith("")
	before.Type = "example.com/own"
	before.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	before.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "x"}
	before.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: "d", UID: "u"}}
	before.Finalizers = []string{"example.com/f"}
	before.Data = map[string][]byte{"other": []byte("x"), "keys": {}}
	f := newFixture(Options{}, before.DeepCopy())
	result, err := f.provisioner.Apply(t.Context(), Terms{})
	if err != nil || result.Made != MadeEntry {
		t.Fatalf("%+v, %v", result, err)
	}
	after := f.stored(t)
	if _, err := ParseKeys(after.Data["keys"]); err != nil {
		t.Error(err)
	}
	after.Data["keys"] = nil
	before.Data["keys"] = nil
	after.ManagedFields = nil
	if after.String() != before.String() {
		t.Errorf("became %s, want %s", after, before)
	}
}

func TestApply_writes_nothing_over_what_a_person_has_to_fix(t *testing.T) {
	immutable := secretWith("")
	immutable.Immutable = new(true)
	for name, secret := range map[string]*corev1.Secret{
		"white space only":        secretWith(" \n\t"),
		"a bad second key":        secretWith(line(keyW) + "AAAA"),
		"immutable without a key": immutable,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(Options{}, secret)
			err := f.provisioner.EnsureSecret(t.Context())
			if !errors.Is(err, ErrInvalidSecret) || !slices.Equal(f.verbs(), []string{"get"}) {
				t.Errorf("%v after %v", err, f.verbs())
			}
		})
	}
}

// K1: only the API server's own "no such Secret" means absent.
func TestEnsureSecret_takes_no_failure_to_read_for_an_absence(t *testing.T) {
	html := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, DefaultName, "<html>", 0, true)
	for name, failure := range map[string]error{
		"401":                        apierrors.NewUnauthorized("expired"),
		"403":                        apierrors.NewForbidden(resource, DefaultName, errors.New("rbac")),
		"429":                        apierrors.NewTooManyRequests("slow down", 1),
		"500":                        apierrors.NewInternalError(errors.New("etcd")),
		"503":                        apierrors.NewServiceUnavailable("down"),
		"504":                        apierrors.NewTimeoutError("slow", 1),
		"no answer":                  io.ErrUnexpectedEOF,
		"deadline":                   context.DeadlineExceeded,
		"404 of a load balancer":     html,
		"404 of the namespace":       apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namespace),
		"404 of another Secret":      apierrors.NewNotFound(resource, "other"),
		"404 without any details":    &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}},
		"an answer that is no error": nil,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(Options{})
			f.PrependReactor("get", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) {
				return true, &corev1.Secret{}, failure
			})
			err := f.provisioner.EnsureSecret(t.Context())
			var request *RequestError
			if !errors.As(err, &request) || request.Verb != "get" || !slices.Equal(f.verbs(), []string{"get"}) {
				t.Errorf("%v after %v, want a *RequestError and no write", err, f.verbs())
			}
			if failure != nil && !errors.Is(err, failure) {
				t.Errorf("%v does not wrap the failure", err)
			}
		})
	}
}

// K11
func TestApply_says_what_the_namespace_is(t *testing.T) {
	terminating := apierrors.NewForbidden(resource, DefaultName, errors.New("being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for want, failure := range map[error]error{
		ErrNamespaceMissing:     apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namespace),
		ErrNamespaceTerminating: terminating,
	} {
		f := newFixture(Options{})
		f.fail("create", failure)
		_, err := f.provisioner.Apply(t.Context(), Terms{})
		if !errors.Is(err, want) || !slices.Equal(f.verbs(), []string{"get", "create"}) {
			t.Errorf("%v after %v, want %v at once", err, f.verbs(), want)
		}
	}
}

func TestApply_changes_metadata_without_the_keys(t *testing.T) {
	text := "  " + line(keyW) + "\r\n"
	before := secretWith(text)
	before.Labels = map[string]string{"mine": "old", "foreign": "x", "gone": "y"}
	f := newFixture(Options{Metadata: Metadata{
		Labels: map[string]string{"mine": "new"}, RemoveLabels: []string{"gone"},
	}}, before)
	if _, err := f.provisioner.Apply(t.Context(), Terms{Accepted: Fingerprint(keyW)}); err != nil {
		t.Fatal(err)
	}
	after := f.stored(t)
	if string(after.Data["keys"]) != text || after.ResourceVersion == "" ||
		!maps.Equal(after.Labels, map[string]string{"mine": "new", "foreign": "x"}) {
		t.Errorf("data %q, labels %v", after.Data["keys"], after.Labels)
	}
	f.ClearActions()
	if _, err := f.provisioner.Apply(t.Context(), Terms{}); err != nil || !slices.Equal(f.verbs(), []string{"get"}) {
		t.Errorf("%v after %v, want no second write", err, f.verbs())
	}
}

func TestEnsureSecret_puts_a_deleted_Secret_back_with_the_keys_it_saw(t *testing.T) {
	f := newFixture(Options{SuppliedKeys: [][]byte{keyV}}, secretWith(line(keyW)+line(keyV)))
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, DefaultName); err != nil {
		t.Fatal(err)
	}
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := string(f.stored(t).Data["keys"]), line(keyW)+line(keyV); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEnsureSecret_creates_with_the_supplied_keys(t *testing.T) {
	f := newFixture(Options{SuppliedKeys: [][]byte{keyV, keyW}})
	if err := f.provisioner.EnsureSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(f.stored(t).Data["keys"]); got != line(keyV)+line(keyW) {
		t.Error("the supplied keys are not what is stored")
	}
}

func TestApply_gives_up_when_its_context_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFixture(Options{})
		f.once("create", func() (bool, runtime.Object, error) {
			cancel()
			return true, nil, context.Canceled
		})
		_, err := f.provisioner.Apply(ctx, Terms{})
		if !errors.Is(err, context.Canceled) || !slices.Equal(f.verbs(), []string{"get", "create"}) {
			t.Errorf("%v after %v", err, f.verbs())
		}
	})
}

func TestDelete_deletes_the_Secret_with_this_UID_and_no_other(t *testing.T) {
	f := newFixture(Options{}, secretWith(line(keyW)))
	client := f.CoreV1().Secrets(namespace)
	if err := Delete(t.Context(), client, namespace, DefaultName, "the-uid"); err != nil {
		t.Fatal(err)
	}
	options := f.Actions()[0].(kubetesting.DeleteAction).GetDeleteOptions()
	if options.Preconditions == nil || *options.Preconditions.UID != "the-uid" {
		t.Errorf("preconditions %v", options.Preconditions)
	}
	if err := Delete(t.Context(), client, namespace, DefaultName, "the-uid"); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	f.fail("delete", apierrors.NewConflict(resource, DefaultName, errors.New("uid")))
	var request *RequestError
	if err := Delete(t.Context(), client, namespace, DefaultName, "u"); !errors.As(err, &request) || request.Verb != "delete" {
		t.Errorf("a conflict is not an error: %v", err)
	}
}
