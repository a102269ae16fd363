package keys

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// attempts bounds how often one call decides anew after it lost a race.
	attempts = 6
	// firstPause is the time before the second attempt; it doubles with every further one.
	firstPause = 100 * time.Millisecond
)

// Options are what a Provisioner may be told beside the namespace. The zero value is Antrea's own
// Secret with one generated key.
type Options struct {
	// Name of the Secret; DefaultName if empty.
	Name string
	// Metadata is put on the Secret whenever Apply or EnsureSecret finds it different.
	Metadata Metadata
	// SuppliedKeys are written where a key is missing, in place of a generated one.
	SuppliedKeys [][]byte
	// Report receives what Run has to say: a failure, or a *RestoredError. By default it goes to
	// slog's default logger as an error.
	Report func(error)
}

// Provisioner keeps the Secret of one namespace. It is safe for concurrent use.
type Provisioner struct {
	client          SecretClient
	namespace, name string
	metadata        Metadata
	report          func(error)
	generate        func() ([]byte, error)

	// mu makes the calls of one Provisioner take turns: two that find nothing must not both write.
	mu sync.Mutex
	// last are the keys seen last: what a lost key is restored from.
	last *keyring
	// supplied take their place as long as none were seen.
	supplied *keyring
	// changes tell who changed the Secret while Run watches it.
	changes changes
}

// NewProvisioner keeps Antrea's own Secret in the namespace.
func NewProvisioner(client SecretClient, namespace string) *Provisioner {
	return NewProvisionerWith(client, namespace, Options{})
}

// NewProvisionerWith is NewProvisioner with options.
func NewProvisionerWith(client SecretClient, namespace string, options Options) *Provisioner {
	p := &Provisioner{
		client: client, namespace: namespace, name: options.Name, metadata: options.Metadata,
		report: options.Report, generate: GenerateKey, supplied: newKeyring(options.SuppliedKeys),
	}
	if p.name == "" {
		p.name = DefaultName
	}
	if p.report == nil {
		p.report = func(err error) { logError(p.namespace, p.name, err) }
	}
	return p
}

func logError(namespace, name string, err error) {
	slog.Error("memberlist keys", "secret", namespace+"/"+name, "error", err)
}

// Made is what a call brought into being.
type Made int

const (
	// MadeNothing means that the keys were there.
	MadeNothing Made = iota
	// MadeSecret means that the Secret did not exist and this call created it.
	MadeSecret
	// MadeEntry means that the Secret existed without keys and this call filled it.
	MadeEntry
	// MadeRotation means that the Secret had keys and this call put others over them.
	MadeRotation
)

// Result says what one call did to the keys, and what the Secret holds after it.
type Result struct {
	Action Action
	Made   Made
	Live   Live
	// By is the field manager that changed the Secret last before this call wrote to it, since it was
	// last in order; "" when managedFields do not tell.
	By string
}

// EnsureSecret makes sure that the Secret holds keys. It reads live: valid keys are remembered and
// nothing is written; where the Secret or its keys are missing it writes the keys seen last, else
// the supplied ones, else one new key. A Secret that only a person can put right is an error that
// wraps ErrInvalidSecret. It stays as it is then, and also after any failure to read it.
func (p *Provisioner) EnsureSecret(ctx context.Context) error {
	_, err := p.Apply(ctx, Terms{})
	return err
}

// Apply does what Decide says of the Secret as it is now. Losing a race is not an error: what the
// winner left in the Secret is decided on, and after six lost races the error wraps ErrRace. The
// errors of Decide come back as they are, those of a request as a *RequestError; for a namespace
// that cannot hold the Secret it wraps ErrNamespaceMissing or ErrNamespaceTerminating.
func (p *Provisioner) Apply(ctx context.Context, terms Terms) (Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sent offer
	var lost error
	for attempt := range attempts {
		if err := pause(ctx, attempt, lost); err != nil {
			return Result{}, err
		}
		secret, found, err := get(ctx, p.client, p.namespace, p.name)
		if err != nil {
			return Result{}, err
		}
		result, err := p.step(ctx, secret, found, terms, &sent)
		if err == nil || !isLostRace(err, p.name) {
			return result, err
		}
		lost = err
	}
	return Result{}, fmt.Errorf("%w: %s/%s, %d attempts, the last one: %w",
		ErrRace, p.namespace, p.name, attempts, lost)
}

// pause waits before every attempt but the first, as long as ctx lasts.
func pause(ctx context.Context, attempt int, lost error) error {
	if attempt == 0 {
		return nil
	}
	timer := time.NewTimer(firstPause << (attempt - 1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w, after %w", context.Cause(ctx), lost)
	case <-timer.C:
		return nil
	}
}

// offer is the write that a call has sent, for the case that its answer is lost.
type offer struct {
	keys   *keyring
	action Action
	made   Made
}

// step decides on the Secret as it was just read, and does it.
func (p *Provisioner) step(
	ctx context.Context, secret *corev1.Secret, found [][]byte, terms Terms, sent *offer,
) (Result, error) {
	live := liveOf(secret, found)
	if secret != nil {
		p.changes.note(secret)
	}
	if sent.made != MadeNothing && slices.Equal(live.Fingerprints, sent.keys.fingerprints()) {
		// The write had gone through although its answer said otherwise or was lost.
		p.last = newKeyring(found)
		return Result{Action: sent.action, Made: sent.made, Live: live}, nil
	}
	action, err := Decide(live.Fingerprints, p.atHand(terms).fingerprints(), terms)
	if err != nil {
		return Result{}, err
	}
	if !action.Writes() {
		p.last = newKeyring(found)
		p.changes.inOrder(secret)
		live, err := p.putMetadata(ctx, secret, live)
		return Result{Action: action, Live: live}, err
	}
	if action == Rotate && secret.Immutable != nil && *secret.Immutable {
		return Result{}, fmt.Errorf("%w: %s/%s is immutable, and its keys cannot be rotated",
			ErrInvalidSecret, p.namespace, p.name)
	}
	if sent.keys.empty() {
		if sent.keys, err = p.keysToWrite(terms); err != nil {
			return Result{}, err
		}
	}
	sent.action = action
	return p.write(ctx, secret, sent)
}

// atHand are the keys to write that need not be generated. What was seen last is what a rotation is
// to leave behind.
func (p *Provisioner) atHand(terms Terms) *keyring {
	if terms.Rotate || p.last.empty() {
		return p.supplied
	}
	return p.last
}

// keysToWrite are the keys at hand, else one new key. It is not remembered before it is stored: a
// key that loses a race is one that nobody uses.
func (p *Provisioner) keysToWrite(terms Terms) (*keyring, error) {
	if keys := p.atHand(terms); !keys.empty() {
		return keys, nil
	}
	key, err := p.generate()
	if err != nil {
		return nil, err
	}
	return newKeyring([][]byte{key}), nil
}
