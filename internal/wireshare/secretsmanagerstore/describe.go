package secretsmanagerstore

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// state is what DescribeSecret says about the secret.
type state struct {
	exists    bool
	scheduled *ScheduledError // nil unless in its recovery window
	replica   *ReplicaError   // nil unless a replica
	current   string          // the version at AWSCURRENT, "" if none is
	versions  map[string][]string
}

// describe asks for the state. A secret that does not exist is a state, not an error.
func (s *Store) describe(ctx context.Context) (state, error) {
	output, err := s.client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{
		SecretId: &s.config.SecretID,
	})
	if err != nil {
		failure := s.site.Fail("DescribeSecret", err, nil)
		if isNotFound(failure) {
			return state{}, nil
		}
		return state{}, failure
	}
	found := state{exists: true, versions: output.VersionIdsToStages}
	for version, stages := range output.VersionIdsToStages {
		if slices.Contains(stages, currentStage) {
			found.current = version
		}
	}
	if output.DeletedDate != nil {
		found.scheduled = &ScheduledError{
			Subject: s.site.Subject, SecretID: s.config.SecretID,
			Region: s.config.Region, Date: *output.DeletedDate,
		}
	}
	// The service names the primary region of a primary secret, too.
	if parsed, ok := parseARN(text(output.ARN)); ok && text(output.PrimaryRegion) != "" &&
		*output.PrimaryRegion != parsed.region {
		found.replica = &ReplicaError{
			Subject: s.site.Subject, PrimaryRegion: *output.PrimaryRegion,
		}
	}
	return found, nil
}

// refusal is why nothing can be written in this state, nil if it can.
func (found state) refusal() error {
	switch {
	case found.scheduled != nil:
		return found.scheduled
	case found.replica != nil:
		return found.replica
	}
	return nil
}

// CheckPublish reports, for a plan, why a document of size bytes could not be published: its
// size, the recovery window, a replica, an ARN of no secret. It writes nothing and makes one call,
// or none when the size or the configuration is the reason. A binary value is not looked for: the
// read that every plan begins with refuses it.
func (s *Store) CheckPublish(ctx context.Context, size int) error {
	if err := s.config.Validate(); err != nil {
		return err
	}
	if err := s.checkSize(size); err != nil || s.config.Writable {
		return err
	}
	found, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if !found.exists && isARN(s.config.SecretID) {
		return &AbsentError{Subject: s.site.Subject}
	}
	return found.refusal()
}

func (s *Store) checkSize(size int) error {
	if size > SizeLimit {
		return &SizeError{Subject: s.site.Subject, Size: size, Limit: SizeLimit}
	}
	return nil
}
