package keys

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// DefaultName is the Secret that Antrea's agents read.
	DefaultName = "antrea-memberlist-keys"
	// DefaultNamespace is where Antrea runs unless told otherwise.
	DefaultNamespace = "kube-system"

	dataEntry = "keys"
)

// SecretClient is the access to the Secrets of one namespace. A clientset's
// CoreV1().Secrets(namespace) is one, and so is a REST client that knows core/v1 alone.
type SecretClient interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Secret, error)
	Create(ctx context.Context, secret *corev1.Secret, opts metav1.CreateOptions) (*corev1.Secret, error)
	Update(ctx context.Context, secret *corev1.Secret, opts metav1.UpdateOptions) (*corev1.Secret, error)
	List(ctx context.Context, opts metav1.ListOptions) (*corev1.SecretList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Live is what a read of the Secret found. It holds no key material.
type Live struct {
	// Exists is false when the API server positively has no such Secret.
	Exists bool
	UID    types.UID
	// Fingerprints name the keys in file order; empty when there is no key.
	Fingerprints []string
	// PrimaryBits is the length of the primary key in bits; 0 without a key.
	PrimaryBits         int
	Labels, Annotations map[string]string
}

// Primary is the fingerprint of the key that agents encrypt with, or "" when there is no key.
func (l Live) Primary() string { return primary(l.Fingerprints) }

// Read looks at the Secret live, with one GET and nothing else. A Secret that is positively not
// there is Live{}; one that only a person can put right is an error that wraps ErrInvalidSecret,
// beside a Live that says it exists; any failure to read is an error, never an absence.
func Read(ctx context.Context, client SecretClient, namespace, name string) (Live, error) {
	live, _, err := Reveal(ctx, client, namespace, name)
	return live, err
}

// Reveal is Read that also returns the keys themselves, for whoever hands them on. They are nil
// when there is none, and with every error.
func Reveal(ctx context.Context, client SecretClient, namespace, name string) (Live, [][]byte, error) {
	secret, keys, err := get(ctx, client, namespace, name)
	return liveOf(secret, keys), keys, err
}

// get returns the Secret and its keys; both are nil when it does not exist, keys alone when it
// holds none.
func get(ctx context.Context, client SecretClient, namespace, name string) (*corev1.Secret, [][]byte, error) {
	secret, err := client.Get(ctx, name, metav1.GetOptions{})
	if isAbsent(err, name) {
		return nil, nil, nil
	}
	if err == nil {
		err = check(secret, namespace, name)
	}
	if err != nil {
		return nil, nil, &RequestError{Verb: "get", Namespace: namespace, Name: name, Err: err}
	}
	keys, err := keysOf(secret)
	return secret, keys, err
}

func check(secret *corev1.Secret, namespace, name string) error {
	if secret == nil || secret.Name != name || secret.Namespace != namespace {
		return errNotTheSecret
	}
	return nil
}

// keysOf returns the keys of a Secret, nil when the entry is missing or zero bytes long.
func keysOf(secret *corev1.Secret) ([][]byte, error) {
	data := secret.Data[dataEntry]
	if len(data) > 0 {
		keys, err := ParseKeys(data)
		if err != nil {
			return nil, fmt.Errorf("%w: data entry %q of %s/%s: %w",
				ErrInvalidSecret, dataEntry, secret.Namespace, secret.Name, err)
		}
		return keys, nil
	}
	if secret.Immutable != nil && *secret.Immutable {
		return nil, fmt.Errorf("%w: %s/%s is immutable and has no data entry %q",
			ErrInvalidSecret, secret.Namespace, secret.Name, dataEntry)
	}
	return nil, nil
}

func liveOf(secret *corev1.Secret, keys [][]byte) Live {
	if secret == nil {
		return Live{}
	}
	live := Live{
		Exists: true, UID: secret.UID, Fingerprints: Fingerprints(keys),
		Labels: secret.Labels, Annotations: secret.Annotations,
	}
	if len(keys) > 0 {
		live.PrimaryBits = 8 * len(keys[0])
	}
	return live
}

// isAbsent tells the API server's own "this Secret does not exist" from every other 404: one for
// the namespace, and one from a proxy or load balancer, which client-go dresses up as NotFound
// with the name of the Secret asked for.
func isAbsent(err error, name string) bool {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.ErrStatus.Details
	return status.ErrStatus.Code == http.StatusNotFound && details != nil &&
		details.Kind == "secrets" && details.Name == name &&
		!apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
