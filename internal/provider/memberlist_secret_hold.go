package provider

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// holdReports are what a Provisioner has to say while it holds the Secret, each thing once.
type holdReports struct {
	mu   sync.Mutex
	errs []error
	seen map[string]bool
}

func (r *holdReports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if text := err.Error(); !r.seen[text] {
		r.seen[text] = true
		r.errs = append(r.errs, err)
	}
}

// hold watches the Secret for the duration and puts the same keys back where they are pruned. The keys
// are ensured by then, so that nothing here is an error, not even an interrupt. It returns the UID of
// the last Secret that was made anew, or "".
func hold(
	ctx context.Context, provisioner *keys.Provisioner, duration types.String, reports *holdReports,
) string {
	length, err := time.ParseDuration(duration.ValueString())
	if err != nil || length <= 0 {
		return "" // validation refuses what is not a duration
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	provisioner.Run(ctx)
	reports.mu.Lock()
	defer reports.mu.Unlock()
	uid := ""
	for _, err := range reports.errs {
		var restored *keys.RestoredError
		if errors.As(err, &restored) && restored.Deleted {
			uid = string(restored.UID)
		}
	}
	return uid
}

func (r *holdReports) warnings(model memberlistSecretModel) diag.Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	var diags diag.Diagnostics
	for _, err := range r.errs {
		diags.Append(heldWarning(model, err))
	}
	return diags
}
