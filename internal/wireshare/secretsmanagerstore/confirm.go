package secretsmanagerstore

import (
	"context"
	"fmt"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// strangerLimit is how often the read-back may find a version that is neither ours nor the
// replaced one before it counts as another writer's. One such read can be an old answer.
const strangerLimit = 3

// confirm reads AWSCURRENT until it is our version. The replaced version, or no value yet, is an
// old answer and no drift.
func (p *publication) confirm(ctx context.Context) error {
	strangers := 0
	var last error
	for _, delay := range append(awscall.Delays(), -1) {
		_, version, err := p.value(ctx)
		switch {
		case err == nil && version == p.version:
			return nil
		case err == nil && version == p.from:
			last = fmt.Errorf("version %s is still shown", version)
		case err == nil:
			strangers++
			if strangers == strangerLimit {
				return p.lost(version)
			}
			last = fmt.Errorf("version %s is shown", version)
		case isNotFound(err):
			last = err
		default:
			return p.unconfirmed(err)
		}
		if delay < 0 {
			break
		}
		if err := p.sleep(ctx, delay); err != nil {
			return p.unconfirmed(err)
		}
	}
	return p.unconfirmed(last)
}

func (p *publication) unconfirmed(cause error) error {
	return fmt.Errorf("%w: version %s of %s was written; nothing more needs to be done than to "+
		"read again: %w", wireshare.ErrNotConfirmed, p.version, p.site.Subject, cause)
}
