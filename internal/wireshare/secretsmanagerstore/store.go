// Package secretsmanagerstore publishes to a secret of AWS Secrets Manager.
//
// What is published is the version that carries the stage AWSCURRENT, always asked for by that
// name: a remembered version id goes stale when somebody moves the stage. A publish puts the new
// version under a stage of this package's own and then moves AWSCURRENT, naming the version it
// must be taken from; the service refuses that when another writer was faster.
//
// Two limits. The first version put into a secret without one gets AWSCURRENT by itself, so two
// writers that find the same empty secret are told apart only after their puts. And the service
// promises eventual consistency, not linearizability: the store reads each write back.
//
// The version of a writer that lost stays in the secret without a stage. The service removes such
// versions in its own time; until then the secret holds the losing document too.
package secretsmanagerstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// SizeLimit is how long a document can be, in bytes. The service takes no longer value.
const SizeLimit = 65_536

const (
	// currentStage is the service's name for the version that counts.
	currentStage = "AWSCURRENT"
	// pendingStage holds the version of a publish under way. One name for all writers, because a
	// secret carries 20 stages at most. Losing it to another writer does no harm: AWSCURRENT is
	// moved by version id.
	pendingStage = "BILLET_PENDING"
)

// API are the calls the store makes. *secretsmanager.Client has them.
type API interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput,
		...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
	DescribeSecret(context.Context, *secretsmanager.DescribeSecretInput,
		...func(*secretsmanager.Options)) (*secretsmanager.DescribeSecretOutput, error)
	CreateSecret(context.Context, *secretsmanager.CreateSecretInput,
		...func(*secretsmanager.Options)) (*secretsmanager.CreateSecretOutput, error)
	PutSecretValue(context.Context, *secretsmanager.PutSecretValueInput,
		...func(*secretsmanager.Options)) (*secretsmanager.PutSecretValueOutput, error)
	UpdateSecretVersionStage(context.Context, *secretsmanager.UpdateSecretVersionStageInput,
		...func(*secretsmanager.Options)) (*secretsmanager.UpdateSecretVersionStageOutput, error)
	DeleteSecret(context.Context, *secretsmanager.DeleteSecretInput,
		...func(*secretsmanager.Options)) (*secretsmanager.DeleteSecretOutput, error)
}

// Store is one secret. It implements wireshare.ConditionalStore; its Versions are version ids.
type Store struct {
	client API
	config Config
	site   awscall.Site
	sleep  awscall.Sleep
}

var _ wireshare.ConditionalStore = (*Store)(nil)

// New returns the store. It makes no call; a fault of config is what every operation answers.
func New(client API, config Config) *Store {
	sleep := config.Sleep
	if sleep == nil {
		sleep = awscall.Pause
	}
	return &Store{client: client, config: config, sleep: sleep, site: awscall.Site{
		Subject: subject(config), Needs: permissions,
	}}
}

// GetAuthority returns the published document, or wireshare.ErrNoAuthority.
func (s *Store) GetAuthority(ctx context.Context) ([]byte, error) {
	body, _, err := s.ReadAuthority(ctx)
	return body, err
}

// publishAttempts is how often PutAuthority, which may replace anything, starts again because
// another writer was faster.
const publishAttempts = 5

// PutAuthority publishes body in place of whatever is published.
func (s *Store) PutAuthority(ctx context.Context, body []byte) error {
	var lost error
	for range publishAttempts {
		_, read, err := s.ReadAuthority(ctx)
		if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
			return err
		}
		if lost = s.SwapAuthority(ctx, body, read); !errors.Is(lost, wireshare.ErrChanged) {
			return lost
		}
	}
	return lost
}

// visibleAttempts is how often a read asks again for a value that DescribeSecret says is there.
const visibleAttempts = 3

// ReadAuthority returns the document at AWSCURRENT and its version id, in one call. Only when the
// service answers that it has no such value a DescribeSecret follows, because that answer means
// four things: no secret, a secret without a value, one with a pending value only, and, at times,
// a value too new to be seen. An error is never wireshare.ErrNoAuthority unless the first three.
func (s *Store) ReadAuthority(ctx context.Context) ([]byte, wireshare.Version, error) {
	if err := s.config.Validate(); err != nil {
		return nil, "", err
	}
	for attempt := 1; ; attempt++ {
		body, version, err := s.value(ctx)
		if err == nil {
			return body, wireshare.Version(version), nil
		}
		if !explainable(err) {
			return nil, "", err
		}
		found, describeErr := s.describe(ctx)
		switch {
		case describeErr != nil:
			return nil, "", fmt.Errorf("%w; what it means could not be found out: %w",
				err, describeErr)
		case found.scheduled != nil:
			return nil, "", found.scheduled
		case !isNotFound(err):
			return nil, "", err
		case found.current == "":
			return nil, "", wireshare.ErrNoAuthority
		case attempt == visibleAttempts:
			return nil, "", err
		}
		if err := s.sleep(ctx, awscall.Delays()[attempt-1]); err != nil {
			return nil, "", err
		}
	}
}

// value is one GetSecretValue.
func (s *Store) value(ctx context.Context) (body []byte, version string, err error) {
	stage := currentStage
	output, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{
		SecretId: &s.config.SecretID, VersionStage: &stage,
	})
	if err != nil {
		return nil, "", s.site.Fail("GetSecretValue", err, nil)
	}
	if isARN(s.config.SecretID) && text(output.ARN) != s.config.SecretID {
		return nil, "", &ConfigError{"secret_id", fmt.Sprintf(
			"a partial ARN: the service found %s by it", text(output.ARN)),
			"Give that full ARN, or the plain name"}
	}
	switch {
	case output.SecretString == nil:
		return nil, "", &BinaryError{Subject: s.site.Subject}
	case text(output.VersionId) == "":
		return nil, "", fmt.Errorf("GetSecretValue on %s: the answer names no version",
			s.site.Subject)
	}
	return []byte(*output.SecretString), *output.VersionId, nil
}

func text(pointer *string) string {
	if pointer == nil {
		return ""
	}
	return *pointer
}
