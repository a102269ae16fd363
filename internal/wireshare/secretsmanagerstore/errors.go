package secretsmanagerstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// Error codes of the service that the store decides by.
const (
	codeNotFound         = "ResourceNotFoundException"
	codeInvalidRequest   = "InvalidRequestException"
	codeInvalidParameter = "InvalidParameterException"
	codeExists           = "ResourceExistsException"
)

// permissions names what each call takes, for the error that says one is missing. A key of the
// account's own (aws/secretsmanager) needs none of its own.
var permissions = map[string]string{
	"GetSecretValue": "secretsmanager:GetSecretValue on the secret, and kms:Decrypt on its key " +
		"if that is a customer managed one",
	"DescribeSecret": "secretsmanager:DescribeSecret on the secret",
	"CreateSecret": "secretsmanager:CreateSecret, secretsmanager:TagResource if tags are set, " +
		"and kms:GenerateDataKey and kms:Decrypt on a customer managed key",
	"PutSecretValue": "secretsmanager:PutSecretValue on the secret, and kms:GenerateDataKey and " +
		"kms:Decrypt on its key if that is a customer managed one",
	"UpdateSecretVersionStage": "secretsmanager:UpdateSecretVersionStage on the secret",
	"DeleteSecret":             "secretsmanager:DeleteSecret on the secret",
}

func subject(config Config) string {
	if config.Region == "" || isARN(config.SecretID) {
		return fmt.Sprintf("secret %q", config.SecretID)
	}
	return fmt.Sprintf("secret %q in region %s", config.SecretID, config.Region)
}

// ScheduledError says that the secret is in its recovery window: it is neither absent nor
// readable, and nothing may take its name.
type ScheduledError struct {
	// Subject names the secret; SecretID is what the restore call takes.
	Subject, SecretID, Region string
	// Date is the DeletedDate of the service.
	Date time.Time
}

// Error names the date and the call that restores the secret.
func (e *ScheduledError) Error() string {
	region := ""
	if e.Region != "" {
		region = " --region " + e.Region
	}
	return fmt.Sprintf("%s is scheduled for deletion (%s) and was left alone. To keep it: "+
		"aws secretsmanager restore-secret --secret-id '%s'%s",
		e.Subject, e.Date.UTC().Format(time.RFC3339), e.SecretID, region)
}

// BinaryError says that the secret holds SecretBinary, which no publisher of authorities writes.
type BinaryError struct{ Subject string }

// Error names the secret and the cure.
func (e *BinaryError) Error() string {
	return e.Subject + " is stored as binary (SecretBinary) and was left alone. Publish to " +
		"another secret, or have the value stored as text (SecretString)"
}

// ReplicaError says that the secret here is a replica, which answers reads only.
type ReplicaError struct{ Subject, PrimaryRegion string }

// Error names the region to publish in.
func (e *ReplicaError) Error() string {
	return fmt.Sprintf("%s is a replica: adopting from it works, publishing to it does not. "+
		"Publish in its primary region %s", e.Subject, e.PrimaryRegion)
}

// SizeError says that the document is longer than the service takes.
type SizeError struct {
	Subject     string
	Size, Limit int // bytes
}

// Error names both sizes and what makes a document small.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the document of %d bytes does not fit %s, which takes %d. An authority "+
		"with ECDSA keys is about 3,000 bytes even during a rotation", e.Size, e.Subject, e.Limit)
}

// AbsentError says that the secret named by an ARN does not exist: only the service makes ARNs,
// so it cannot be created either.
type AbsentError struct{ Subject string }

// Error names the cure.
func (e *AbsentError) Error() string {
	return e.Subject + " does not exist, and a secret cannot be created by its ARN. Give a name " +
		"to have it created, or create it first"
}

func codeOf(err error) string {
	var failure *awscall.Error
	if !errors.As(err, &failure) {
		return ""
	}
	return failure.Code
}

func isNotFound(err error) bool { return codeOf(err) == codeNotFound }

// explainable reports whether DescribeSecret can say more about err: each of these codes stands
// for several states of the secret.
func explainable(err error) bool {
	switch codeOf(err) {
	case codeNotFound, codeInvalidRequest, codeInvalidParameter:
		return true
	}
	return false
}
