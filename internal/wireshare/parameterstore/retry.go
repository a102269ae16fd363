package parameterstore

import (
	"errors"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// retryUpdates adds TooManyUpdates, which the SDK does not know, to what is sent again.
func retryUpdates(o *ssm.Options) {
	o.Retryer = retry.AddWithErrorCodes(o.Retryer, codeTooManyUpdates)
}

// retryRefused lets only those requests be sent again that the service surely did not carry out.
// An overwrite is not idempotent: sent again after a lost response it makes a second version of
// the same content, and hides whose the first one was.
func retryRefused(o *ssm.Options) {
	retryUpdates(o)
	if full, ok := o.Retryer.(aws.RetryerV2); ok {
		o.Retryer = refusedOnly{full}
	}
}

type refusedOnly struct{ aws.RetryerV2 }

// IsErrorRetryable implements aws.Retryer.
func (r refusedOnly) IsErrorRetryable(err error) bool {
	return refused(err) && r.RetryerV2.IsErrorRetryable(err)
}

// refused reports whether the request surely was not carried out: it was throttled, or no
// connection came about.
func refused(err error) bool {
	code := awscall.Code(err)
	if _, throttled := retry.DefaultThrottleErrorCodes[code]; throttled ||
		code == codeTooManyUpdates {
		return true
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() == http.StatusTooManyRequests {
		return true
	}
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}
