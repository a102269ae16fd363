package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// secretReader looks at the Secret, and changes it, as someone other than the provider: nothing of
// the provider's code is in it. It remembers the keys that were in use.
type secretReader struct {
	admin        kubernetes.Interface
	keys         [][]byte
	fingerprints []string
}

// seen is what the Secret holds, without its key.
type seen struct {
	uid                  types.UID
	version, fingerprint string
	bits                 int
}

const secretName = "antrea-memberlist-keys"

func (r *secretReader) secrets() typedcorev1.SecretInterface {
	return r.admin.CoreV1().Secrets("kube-system")
}

func (r *secretReader) exists(ctx context.Context) (bool, error) {
	_, err := r.secrets().Get(ctx, secretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (r *secretReader) read(ctx context.Context) (seen, error) {
	secret, err := r.secrets().Get(ctx, secretName, metav1.GetOptions{})
	if err != nil {
		return seen{}, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(string(secret.Data["keys"]), "\n"))
	if err != nil {
		return seen{}, fmt.Errorf("the Secret does not hold one key in base64")
	}
	return seen{secret.UID, secret.ResourceVersion, r.remember(key), 8 * len(key)}, nil
}

func (r *secretReader) remember(key []byte) string {
	sum := sha256.Sum256(key)
	fingerprint := "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
	if last := len(r.fingerprints) - 1; last < 0 || r.fingerprints[last] != fingerprint {
		r.fingerprints, r.keys = append(r.fingerprints, fingerprint), append(r.keys, key)
	}
	return fingerprint
}

// rotate puts another key into the Secret and returns its fingerprint.
func (r *secretReader) rotate(ctx context.Context) (string, error) {
	secret, err := r.secrets().Get(ctx, secretName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	secret.Data["keys"] = []byte(base64.StdEncoding.EncodeToString(key) + "\n")
	_, err = r.secrets().Update(ctx, secret, metav1.UpdateOptions{})
	return r.remember(key), err
}

// remove deletes the Secret and returns the fingerprint of the key that is lost with it.
func (r *secretReader) remove(ctx context.Context) (string, error) {
	last, err := r.read(ctx)
	if err != nil {
		return "", err
	}
	return last.fingerprint, r.secrets().Delete(ctx, secretName, metav1.DeleteOptions{})
}
