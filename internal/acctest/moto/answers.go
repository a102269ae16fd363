package moto

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Limits of the services that moto does not enforce, in bytes.
const (
	secretLimit            = 65_536
	standardParameterLimit = 4_096
	advancedParameterLimit = 8_192
)

// respond makes a fault of one fixed answer.
func respond(operation string, times int, answer Answer) Fault {
	return Fault{Operation: operation, Times: times, Act: func(*Exchange) Answer { return answer }}
}

// Throttle answers ThrottlingException, times times (0: for ever).
func Throttle(operation string, times int) Fault {
	return respond(operation, times,
		Refusal(http.StatusBadRequest, "ThrottlingException", "Rate exceeded"))
}

// ThrottleAfter answers status 429 with a Retry-After of that many whole seconds.
func ThrottleAfter(operation string, times int, seconds string) Fault {
	answer := Refusal(http.StatusTooManyRequests, "ThrottlingException", "Rate exceeded")
	answer.Header.Set("Retry-After", seconds)
	return respond(operation, times, answer)
}

// TooManyUpdates is the throttling of SSM that the SDK does not retry by itself.
func TooManyUpdates(times int) Fault {
	return respond("PutParameter", times, Refusal(http.StatusBadRequest, "TooManyUpdates",
		"There are concurrent updates for a resource that supports one update at a time."))
}

// Unavailable answers status 503.
func Unavailable(operation string, times int) Fault {
	return respond(operation, times, Refusal(http.StatusServiceUnavailable,
		"ServiceUnavailable", "Service is unavailable"))
}

// Deny answers AccessDeniedException as a missing permission of the caller does.
func Deny(operation string) Fault {
	return respond(operation, 0, Refusal(http.StatusBadRequest, "AccessDeniedException",
		"User: arn:aws:iam::123456789012:user/test is not authorized to perform: "+
			operation+" because no identity-based policy allows the action"))
}

// DenyKMS answers AccessDeniedException as a missing permission on the key does: the code is the
// same, only the text differs.
func DenyKMS(operation string) Fault {
	return respond(operation, 0, Refusal(http.StatusBadRequest, "AccessDeniedException",
		"Access to KMS is not allowed"))
}

// NotFound answers times times that there is no such thing, in the code of the service.
func NotFound(operation string, times int) Fault {
	code := "ResourceNotFoundException"
	if strings.Contains(operation, "Parameter") {
		code = "ParameterNotFound"
	}
	return respond(operation, times,
		Refusal(http.StatusBadRequest, code, "not found (yet)"))
}

// StaleRead repeats the answer of the same request from before, times times. A request without a
// past passes.
func StaleRead(operation string, times int) Fault {
	return Fault{
		Operation: operation, Times: times,
		Act: func(x *Exchange) Answer {
			if answer, found := x.Previous(); found {
				return answer
			}
			return x.Forward()
		},
	}
}

// LoseResponse has the request carried out and cuts the connection instead of answering.
func LoseResponse(operation string, times int) Fault {
	return Fault{Operation: operation, Times: times, Act: func(x *Exchange) Answer {
		x.Forward()
		x.Lose()
		return Answer{}
	}}
}

// LoseRequest cuts the connection before the request is carried out.
func LoseRequest(operation string, times int) Fault {
	return Fault{Operation: operation, Times: times, Act: func(x *Exchange) Answer {
		x.Lose()
		return Answer{}
	}}
}

// HoldThenCommit keeps one request until the channel is closed, and carries it out then, also
// when its client has gone. The channel reached is closed when the request arrives.
func HoldThenCommit(operation string, reached chan<- struct{}, release <-chan struct{}) Fault {
	return Fault{Operation: operation, Times: 1, Act: func(x *Exchange) Answer {
		close(reached)
		<-release
		return x.Forward()
	}}
}

// The two texts by which the service refuses a call on a secret in its recovery window.
const (
	MarkedDeleted = "You can't perform this operation on the secret because it was marked " +
		"for deletion."
	AlreadyScheduled = "You can't create this secret because a secret with this name is " +
		"already scheduled for deletion."
)

// ScheduledForDeletion makes every secret look as in its recovery window: DescribeSecret carries
// the date, each other call is an InvalidRequestException with the text.
func ScheduledForDeletion(date time.Time, text string) []Fault {
	faults := []Fault{{Operation: "DescribeSecret", Act: func(x *Exchange) Answer {
		return x.Forward().Edit(func(object map[string]any) {
			object["DeletedDate"] = date.Unix()
		})
	}}}
	for _, operation := range []string{
		"GetSecretValue", "CreateSecret", "PutSecretValue", "UpdateSecretVersionStage",
		"DeleteSecret",
	} {
		faults = append(faults, respond(operation, 0,
			Refusal(http.StatusBadRequest, "InvalidRequestException", text)))
	}
	return faults
}

// Replica makes every secret look as a replica of one in the region primary.
func Replica(primary string) []Fault {
	faults := []Fault{{Operation: "DescribeSecret", Act: func(x *Exchange) Answer {
		return x.Forward().Edit(func(object map[string]any) {
			object["PrimaryRegion"] = primary
		})
	}}}
	for _, operation := range []string{
		"PutSecretValue", "UpdateSecretVersionStage", "DeleteSecret",
	} {
		faults = append(faults, respond(operation, 0, Refusal(http.StatusBadRequest,
			"InvalidParameterException", "Operation not permitted on a replica secret. "+
				"Call must be made in primary secret's region.")))
	}
	return faults
}

// SizeLimits enforces the sizes that the services enforce.
func SizeLimits() []Fault {
	tooLarge := func(operation, field string, limit func(*Exchange) int, code string) Fault {
		return Fault{
			Operation: operation,
			When:      func(x *Exchange) bool { return len(x.Input(field)) > limit(x) },
			Act: func(*Exchange) Answer {
				return Refusal(http.StatusBadRequest, code, "the value is too long")
			},
		}
	}
	secret := func(*Exchange) int { return secretLimit }
	parameter := func(x *Exchange) int {
		if x.Input("Tier") == "" || x.Input("Tier") == "Standard" {
			return standardParameterLimit
		}
		return advancedParameterLimit
	}
	return []Fault{
		tooLarge("CreateSecret", "SecretString", secret, "ValidationException"),
		tooLarge("PutSecretValue", "SecretString", secret, "ValidationException"),
		tooLarge("PutParameter", "Value", parameter, "ValidationException"),
	}
}

// EchoInput answers a ValidationException that quotes the whole request, as a careless server or
// a proxy on the way does.
func EchoInput(operation string) Fault {
	return Fault{Operation: operation, Act: func(x *Exchange) Answer {
		text, err := json.Marshal(string(x.Request))
		if err != nil {
			panic(err)
		}
		return Refusal(http.StatusBadRequest, "ValidationException",
			"Value "+string(text)+" at 'value' failed to satisfy constraint; was "+
				x.Input("SecretString")+x.Input("Value"))
	}}
}
