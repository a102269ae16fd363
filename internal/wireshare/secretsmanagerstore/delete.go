package secretsmanagerstore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Delete schedules the deletion of the secret, if AWSCURRENT is still at expected, and otherwise
// returns an error that wraps wireshare.ErrChanged. The recovery window is never skipped. A secret
// that is gone or already scheduled is a success. The service has no conditional deletion: a
// publish between the check and the call is deleted too, and can be restored.
func (s *Store) Delete(ctx context.Context, expected wireshare.Version) error {
	if err := s.config.Validate(); err != nil {
		return err
	}
	found, err := s.describe(ctx)
	switch {
	case err != nil:
		return err
	case !found.exists || found.scheduled != nil:
		return nil
	case found.replica != nil:
		return found.replica
	case found.current == "" || found.current != string(expected):
		return fmt.Errorf("%w: the current version of %s is %q, not %q, so the secret stays",
			wireshare.ErrChanged, s.site.Subject, found.current, string(expected))
	}
	days := int64(s.config.RecoveryDays)
	if days == 0 {
		days = defaultRecovery
	}
	_, err = s.client.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{
		SecretId: &s.config.SecretID, RecoveryWindowInDays: &days,
	})
	if err == nil {
		return nil
	}
	failure := s.site.Fail("DeleteSecret", err, nil)
	settling, cancel := awscall.Settling(ctx)
	defer cancel()
	// A repeated call whose first answer was lost is refused although it was carried out.
	found, err = s.describe(settling)
	if err == nil && (!found.exists || found.scheduled != nil) {
		return nil
	}
	return failure
}
