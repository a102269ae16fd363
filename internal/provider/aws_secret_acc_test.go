package provider

import (
	"context"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

// What a test does to the secret of its cloud behind the provider's back.

// described is what the service says of the secret.
func (c *cloud) described() *secretsmanager.DescribeSecretOutput {
	c.t.Helper()
	output, err := c.secrets.DescribeSecret(context.Background(),
		&secretsmanager.DescribeSecretInput{SecretId: &c.name})
	if err != nil {
		c.t.Fatal(err)
	}
	return output
}

// at is the version that carries the stage, "" if none does.
func (c *cloud) at(stage string) string {
	c.t.Helper()
	for version, stages := range c.described().VersionIdsToStages {
		if slices.Contains(stages, stage) {
			return version
		}
	}
	return ""
}

// empty makes the secret without a value.
func (c *cloud) empty() {
	c.t.Helper()
	_, err := c.secrets.CreateSecret(context.Background(), &secretsmanager.CreateSecretInput{Name: &c.name})
	if err != nil {
		c.t.Fatal(err)
	}
}

// put adds a version under the stage and returns it.
func (c *cloud) put(value, stage string) string {
	c.t.Helper()
	output, err := c.secrets.PutSecretValue(context.Background(), &secretsmanager.PutSecretValueInput{
		SecretId: &c.name, SecretString: &value, VersionStages: []string{stage},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return *output.VersionId
}

// move takes the stage from one version to another; "" is none.
func (c *cloud) move(stage, from, to string) {
	c.t.Helper()
	input := &secretsmanager.UpdateSecretVersionStageInput{SecretId: &c.name, VersionStage: &stage}
	if from != "" {
		input.RemoveFromVersionId = &from
	}
	if to != "" {
		input.MoveToVersionId = &to
	}
	if _, err := c.secrets.UpdateSecretVersionStage(context.Background(), input); err != nil {
		c.t.Fatal(err)
	}
}

// firstCurrent answers as the service does where moto fails: AWSCURRENT is moved without a version to
// take it from when no version carries it.
func (c *cloud) firstCurrent() moto.Fault {
	return moto.Fault{
		Operation: "UpdateSecretVersionStage",
		When: func(x *moto.Exchange) bool {
			return x.Input("VersionStage") == "AWSCURRENT" && x.Input("RemoveFromVersionId") == ""
		},
		Act: func(x *moto.Exchange) moto.Answer {
			scratch := c.put("scratch", "AWSCURRENT")
			c.move("AWSCURRENT", scratch, x.Input("MoveToVersionId"))
			return moto.Answer{Status: http.StatusOK, Body: []byte("{}")}
		},
	}
}
