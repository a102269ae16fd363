package parameterstore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Delete deletes the parameter if it is still at expected, and otherwise returns an error that
// wraps wireshare.ErrChanged. A parameter that is gone is a success. The service deletes at once
// and without a way back, and has no conditional deletion: a publish between the check and the
// call is deleted too.
func (s *Store) Delete(ctx context.Context, expected wireshare.Version) error {
	if err := s.config.Validate(); err != nil {
		return err
	}
	found, err := s.get(ctx, 0)
	switch {
	case err != nil:
		return err
	case found == nil:
		return nil
	case found.version() != expected:
		return fmt.Errorf("%w: %s is at version %s, not %q, so it stays",
			wireshare.ErrChanged, s.site.Subject, found.version(), string(expected))
	}
	_, err = s.client.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: &s.name}, retryUpdates)
	if err == nil {
		return nil
	}
	failure := s.site.Fail("DeleteParameter", err, nil)
	// A repeated call whose first answer was lost finds nothing to delete.
	settling, cancel := awscall.Settling(ctx)
	defer cancel()
	if found, err = s.get(settling, 0); err == nil && found == nil {
		return nil
	}
	return failure
}
