package parameterstore

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// SwapAuthority publishes body if the parameter is still at read (with the zero Version: if there
// still is none). Otherwise the error wraps wireshare.ErrChanged and nothing was written, except
// that an *OverwrittenError says that something was. Three calls when nothing goes wrong, two for
// a first publish.
//
// nil means that the parameter was seen to hold body. An error that wraps wireshare.ErrNotConfirmed
// means that the service accepted it and does not show it yet.
func (s *Store) SwapAuthority(ctx context.Context, body []byte, read wireshare.Version) error {
	if err := s.CheckPublish(ctx, len(body)); err != nil {
		return err
	}
	if len(body) == 0 || !utf8.Valid(body) {
		return fmt.Errorf("%s takes text only: the document is empty or not UTF-8",
			s.site.Subject)
	}
	p := &publication{Store: s, body: string(body)}
	if read == "" {
		return p.first(ctx)
	}
	return p.overwrite(ctx, read)
}

// publication is one publish under way.
type publication struct {
	*Store
	body string
}

// put is one PutParameter. It returns the number of the version it wrote.
func (p *publication) put(
	ctx context.Context, overwrite bool, again func(*ssm.Options),
) (int64, *awscall.Error) {
	input := &ssm.PutParameterInput{
		Name: &p.name, Value: &p.body, Overwrite: &overwrite,
		Type: types.ParameterTypeSecureString, Tier: types.ParameterTierIntelligentTiering,
	}
	if p.config.KMSKeyID != "" {
		input.KeyId = &p.config.KMSKeyID
	}
	output, err := p.client.PutParameter(ctx, input, again)
	if err != nil {
		return 0, p.site.Fail("PutParameter", err, []byte(p.body))
	}
	return output.Version, nil
}

// first publishes where nothing is published: the service refuses if a parameter is there. A
// request sent again after a lost response is refused although it won, so whose value is there
// decides.
func (p *publication) first(ctx context.Context) error {
	number, failure := p.put(ctx, false, retryUpdates)
	if failure == nil {
		return p.confirm(ctx, number)
	}
	settling, cancel := awscall.Settling(ctx)
	defer cancel()
	found, err := p.get(settling, 0)
	var plain *TypeError
	switch {
	case errors.As(err, &plain):
		return fmt.Errorf("%w: %w", wireshare.ErrChanged, plain)
	case err != nil:
		return fmt.Errorf("%w; whether it took effect could not be found out: %w", failure, err)
	case found == nil:
		return failure
	case found.body == p.body:
		return nil
	}
	return fmt.Errorf("%w: there was no %s, now it is at version %d",
		wireshare.ErrChanged, p.site.Subject, found.number)
}

// overwriteAttempts is how often an overwrite starts whose answer was lost and that turned out not
// to have been carried out.
const overwriteAttempts = 4

// overwrite looks, writes, and looks at the number that the write got.
func (p *publication) overwrite(ctx context.Context, read wireshare.Version) error {
	before, err := p.get(ctx, 0)
	if err != nil {
		return err
	}
	if before.version() != read {
		return p.moved(read, before)
	}
	for attempt := 1; ; attempt++ {
		number, failure := p.put(ctx, true, retryRefused)
		if failure == nil {
			return p.compare(ctx, before, number)
		}
		done, err := p.settle(ctx, before, failure)
		if done || err != nil {
			return err
		}
		if attempt == overwriteAttempts {
			failure.Attempts = attempt
			return failure
		}
		if err := p.sleep(ctx, awscall.Delays()[attempt]); err != nil {
			return errors.Join(failure, err)
		}
	}
}

// settle asks, after a failed overwrite, what the parameter holds. done means that it holds body.
// Neither an error nor done means that the write was not carried out and may be tried again.
func (p *publication) settle(
	ctx context.Context, before *parameter, failure *awscall.Error,
) (done bool, err error) {
	interrupted := ctx.Err() != nil
	ctx, cancel := awscall.Settling(ctx)
	defer cancel()
	found, err := p.get(ctx, 0)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w; whether it took effect could not be found out: %w",
			failure, err)
	case found != nil && found.body == p.body && found.version() != before.version():
		return true, p.between(ctx, before, found.number)
	case found.version() != before.version():
		return false, p.moved(before.version(), found)
	case interrupted || failure.Kind != awscall.NoAnswer && failure.Kind != awscall.Unavailable:
		return false, failure
	}
	return false, nil
}

// compare judges the number that the write got: the next one, or somebody was in between.
func (p *publication) compare(ctx context.Context, before *parameter, number int64) error {
	if err := p.between(ctx, before, number); err != nil {
		return err
	}
	return p.confirm(ctx, number)
}

// between reports the other writer's version between before and number, the version of body.
func (p *publication) between(ctx context.Context, before *parameter, number int64) error {
	if number <= before.number {
		return &OverwrittenError{Subject: p.site.Subject, Lost: before.number, Now: number,
			cause: fmt.Errorf("%w (the parameter was deleted)", wireshare.ErrChanged)}
	}
	for other := number - 1; other > before.number; other-- {
		found, err := p.get(ctx, other)
		// A version of the same content is this publish itself, written twice because an answer
		// was lost and an old one was read.
		if err == nil && found != nil && found.body == p.body {
			continue
		}
		return &OverwrittenError{Subject: p.site.Subject, Lost: other, Now: number,
			cause: wireshare.ErrChanged}
	}
	return nil
}

// moved says that another writer was faster and nothing was written.
func (p *publication) moved(read wireshare.Version, now *parameter) error {
	if now == nil {
		return fmt.Errorf("%w: %s is gone, it was at version %s",
			wireshare.ErrChanged, p.site.Subject, read)
	}
	return fmt.Errorf("%w: %s was at version %s, now it is at %s",
		wireshare.ErrChanged, p.site.Subject, read, now.version())
}

// confirm reads until the version with that number is shown. A smaller number, or nothing yet, is
// an old answer and no drift.
func (p *publication) confirm(ctx context.Context, number int64) error {
	last := errors.New("it is not shown yet")
	for _, delay := range append(awscall.Delays(), -1) {
		found, err := p.get(ctx, 0)
		switch {
		case err != nil:
			return p.unconfirmed(number, err)
		case found != nil && found.number == number && found.body == p.body:
			return nil
		case found != nil && found.number >= number:
			return fmt.Errorf("%w: %s was published as version %d, and version %d replaced it",
				wireshare.ErrChanged, p.site.Subject, number, found.number)
		case found != nil:
			last = fmt.Errorf("version %d is still shown", found.number)
		}
		if delay < 0 {
			break
		}
		if err := p.sleep(ctx, delay); err != nil {
			return p.unconfirmed(number, err)
		}
	}
	return p.unconfirmed(number, last)
}

func (p *publication) unconfirmed(number int64, cause error) error {
	return fmt.Errorf("%w: version %d of %s was written; nothing more needs to be done than to "+
		"read again: %w", wireshare.ErrNotConfirmed, number, p.site.Subject, cause)
}
