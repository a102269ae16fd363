package secretsmanagerstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// SwapAuthority publishes body if AWSCURRENT is still at read (with the zero Version: if there
// still is no published value). Otherwise the error wraps wireshare.ErrChanged. Two writers of the
// same bytes from the same state share a version, and both succeed.
//
// nil means that AWSCURRENT was seen at this document's version. An error that wraps
// wireshare.ErrNotConfirmed means that the service accepted it and does not show it yet.
func (s *Store) SwapAuthority(ctx context.Context, body []byte, read wireshare.Version) error {
	if err := s.config.Validate(); err != nil {
		return err
	}
	if err := s.checkSize(len(body)); err != nil {
		return err
	}
	if len(body) == 0 || !utf8.Valid(body) {
		return fmt.Errorf("%s takes text only: the document is empty or not UTF-8",
			s.site.Subject)
	}
	p := &publication{
		Store: s, body: string(body), from: string(read), version: versionID(body, string(read)),
	}
	if read == "" {
		return p.first(ctx)
	}
	return p.replace(ctx)
}

// versionID derives the request token, which becomes the version id, from the exact bytes and the
// version they replace: a repeated request finds its own version and cannot write a second one.
// Without the replaced version a document published again later (A, B, then A) would name the old
// version, which the service may be removing. The hash tells nothing about the document, which
// holds random keys.
func versionID(body []byte, from string) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "billet publish\x00%s\x00", from)
	hash.Write(body)
	return hex.EncodeToString(hash.Sum(nil))
}

// publication is one publish under way.
type publication struct {
	*Store
	body    string
	version string // of body
	from    string // the version that AWSCURRENT must be taken from, "" if it must be nowhere
}

// replace is the compare-and-swap: put under the stage of our own, move AWSCURRENT, clean up,
// read back. Four calls when nothing goes wrong.
func (p *publication) replace(ctx context.Context) error {
	stages, err := p.put(ctx)
	if err != nil {
		return err
	}
	// The service gives AWSCURRENT by itself to the first version of a secret. It ignores a put
	// of a version that exists, which then has the stages it had.
	if !slices.Contains(stages, currentStage) {
		err = p.move(ctx)
	}
	if slices.Contains(stages, pendingStage) {
		p.unlabel(ctx)
	}
	if err != nil {
		return err
	}
	return p.confirm(ctx)
}

// put stores the version and returns its stages.
func (p *publication) put(ctx context.Context) ([]string, error) {
	output, err := p.client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: &p.config.SecretID, SecretString: &p.body,
		ClientRequestToken: &p.version, VersionStages: []string{pendingStage},
	})
	if err == nil {
		return output.VersionStages, nil
	}
	failure := p.site.Fail("PutSecretValue", err, []byte(p.body))
	found, err := p.settle(ctx, failure)
	if err != nil {
		return nil, err
	}
	// The put may have been carried out although its answer was lost. Go on only if the caller
	// still waits: the move is the step that counts.
	if stages, stored := found.versions[p.version]; stored && ctx.Err() == nil {
		return stages, nil
	}
	p.unlabelIfStored(ctx, found)
	return nil, failure
}

// move takes AWSCURRENT from the replaced version to ours. Without a version to take it from, the
// service refuses if any has it.
func (p *publication) move(ctx context.Context) error {
	stage := currentStage
	input := &secretsmanager.UpdateSecretVersionStageInput{
		SecretId: &p.config.SecretID, VersionStage: &stage, MoveToVersionId: &p.version,
	}
	if p.from != "" {
		input.RemoveFromVersionId = &p.from
	}
	_, err := p.client.UpdateSecretVersionStage(ctx, input)
	if err == nil {
		return nil
	}
	failure := p.site.Fail("UpdateSecretVersionStage", err, []byte(p.body))
	// A repeated call whose first answer was lost is refused although it won, so the refusal
	// itself decides nothing: where AWSCURRENT is does. An old answer of DescribeSecret is
	// possible when the service has just refused because AWSCURRENT moved; ask again then.
	for _, delay := range append(awscall.Delays()[:visibleAttempts], -1) {
		found, err := p.settle(ctx, failure)
		switch {
		case err != nil:
			return err
		case found.current == p.version:
			return nil
		case failure.Code != codeInvalidParameter || delay < 0:
			return failure
		}
		if err := p.sleep(ctx, delay); err != nil {
			return errors.Join(failure, err)
		}
	}
	return failure
}

// settle asks, after a failed call, where AWSCURRENT is. It returns the state when that is our
// version or still the replaced one, and an error when publishing has become impossible.
func (p *publication) settle(ctx context.Context, failure *awscall.Error) (state, error) {
	ctx, cancel := awscall.Settling(ctx)
	defer cancel()
	found, err := p.describe(ctx)
	switch {
	case err != nil:
		return state{}, fmt.Errorf("%w; whether it took effect could not be found out: %w",
			failure, err)
	case found.current == p.version:
		return found, nil
	case found.refusal() != nil:
		return state{}, found.refusal()
	case found.current != p.from:
		return state{}, p.lost(found.current)
	}
	return found, nil
}

// lost says that another writer was faster. Version ids say nothing about a document.
func (p *publication) lost(current string) error {
	if current == "" {
		return fmt.Errorf("%w: %s has no current version any more, it was %s",
			wireshare.ErrChanged, p.site.Subject, p.from)
	}
	if p.from == "" {
		return fmt.Errorf("%w: %s had no current version, now it is %s",
			wireshare.ErrChanged, p.site.Subject, current)
	}
	return fmt.Errorf("%w: the current version of %s was %s, now it is %s",
		wireshare.ErrChanged, p.site.Subject, p.from, current)
}

// unlabel takes the pending stage from our version. By naming the version it cannot take the
// stage from another writer's. Failing is harmless and not reported: the next publish takes the
// stage along, and a stage that stays changes nothing about what is published.
func (p *publication) unlabel(ctx context.Context) {
	ctx, cancel := awscall.Settling(ctx)
	defer cancel()
	stage := pendingStage
	_, _ = p.client.UpdateSecretVersionStage(ctx, &secretsmanager.UpdateSecretVersionStageInput{
		SecretId: &p.config.SecretID, VersionStage: &stage, RemoveFromVersionId: &p.version,
	})
}

func (p *publication) unlabelIfStored(ctx context.Context, found state) {
	if slices.Contains(found.versions[p.version], pendingStage) {
		p.unlabel(ctx)
	}
}
