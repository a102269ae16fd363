package keys

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// write stores the offered keys: in a new Secret, or in that one entry of the one that was read.
func (p *Provisioner) write(ctx context.Context, secret *corev1.Secret, sent *offer) (Result, error) {
	var stored *corev1.Secret
	var err error
	if secret == nil {
		sent.made = MadeSecret
		stored, err = p.create(ctx, sent.keys)
	} else {
		sent.made = MadeEntry
		if sent.action == Rotate {
			sent.made = MadeRotation
		}
		secret = secret.DeepCopy()
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[dataEntry] = FormatKeys(sent.keys.reveal())
		p.metadata.put(secret)
		stored, err = p.update(ctx, secret)
	}
	if err != nil {
		return Result{}, err
	}
	// What the API server stored counts, not what was sent: a webhook may have changed it.
	keys, err := keysOf(stored)
	if err != nil {
		return Result{}, err
	}
	p.last = newKeyring(keys)
	by := p.changes.wrote(stored)
	return Result{Action: sent.action, Made: sent.made, Live: liveOf(stored, keys), By: by}, nil
}

// create sends no owner reference: the key must outlive whatever created it.
func (p *Provisioner) create(ctx context.Context, keys *keyring) (*corev1.Secret, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.namespace, Name: p.name,
			Labels: map[string]string{"app": "antrea"},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{dataEntry: FormatKeys(keys.reveal())},
	}
	p.metadata.put(secret)
	stored, err := p.client.Create(ctx, secret, metav1.CreateOptions{})
	return stored, p.failed("create", stored, err)
}

// update carries the read resourceVersion and UID, so that it fails where somebody else wrote.
func (p *Provisioner) update(ctx context.Context, secret *corev1.Secret) (*corev1.Secret, error) {
	stored, err := p.client.Update(ctx, secret, metav1.UpdateOptions{})
	return stored, p.failed("update", stored, err)
}

func (p *Provisioner) failed(verb string, stored *corev1.Secret, err error) error {
	if err == nil {
		err = check(stored, p.namespace, p.name)
	}
	if err != nil {
		return &RequestError{verb, p.namespace, p.name, explainNamespace(err)}
	}
	return nil
}

// putMetadata brings labels and annotations in line, if they are not. The keys stay as they are.
func (p *Provisioner) putMetadata(ctx context.Context, secret *corev1.Secret, live Live) (Live, error) {
	secret = secret.DeepCopy()
	if !p.metadata.put(secret) {
		return live, nil
	}
	stored, err := p.update(ctx, secret)
	if err != nil {
		return live, err
	}
	keys, err := keysOf(stored)
	return liveOf(stored, keys), err
}

// SecretDeleter deletes Secrets of one namespace, with client-go's signature.
type SecretDeleter interface {
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

// Delete deletes the Secret with this UID and no other. One that is gone already is no error; one
// that somebody else made in its place is a *RequestError with a conflict, and stays.
func Delete(ctx context.Context, client SecretDeleter, namespace, name string, uid types.UID) error {
	err := client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err == nil || isAbsent(err, name) {
		return nil
	}
	return &RequestError{"delete", namespace, name, err}
}
