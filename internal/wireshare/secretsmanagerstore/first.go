package secretsmanagerstore

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

// first publishes where nothing is published. CreateSecret with the value is safe against another
// writer: the service lets one create the name.
func (p *publication) first(ctx context.Context) error {
	found, err := p.describe(ctx)
	switch {
	case err != nil:
		return err
	case found.refusal() != nil:
		return found.refusal()
	case found.current == p.version:
		return p.confirm(ctx)
	case found.current != "":
		return p.lost(found.current)
	case found.exists:
		return p.replace(ctx)
	case isARN(p.config.SecretID):
		return &AbsentError{Subject: p.site.Subject}
	}
	emptied, err := p.create(ctx)
	switch {
	case err != nil:
		return err
	case emptied:
		return p.replace(ctx)
	}
	return p.confirm(ctx)
}

// create makes the secret with the value. emptied means that somebody else made it meanwhile,
// without a value.
func (p *publication) create(ctx context.Context) (emptied bool, err error) {
	input := &secretsmanager.CreateSecretInput{
		Name: &p.config.SecretID, SecretString: &p.body, ClientRequestToken: &p.version,
	}
	if p.config.KMSKeyID != "" {
		input.KmsKeyId = &p.config.KMSKeyID
	}
	if p.config.Description != "" {
		input.Description = &p.config.Description
	}
	tags := p.config.tags()
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		input.Tags = append(input.Tags, types.Tag{Key: &key, Value: &value})
	}
	_, err = p.client.CreateSecret(ctx, input)
	if err == nil {
		return false, nil
	}
	failure := p.site.Fail("CreateSecret", err, []byte(p.body))
	found, err := p.settle(ctx, failure)
	switch {
	case err != nil:
		return false, err
	case found.current == p.version:
		return false, nil
	case found.exists && failure.Code == codeExists && ctx.Err() == nil:
		return true, nil
	}
	return false, failure
}
