// Package parameterstore publishes to one parameter of the AWS Systems Manager Parameter Store:
// PREFIX/node-wire-authority, the parameter that billet itself reads and writes when its identity
// backend is aws-ssm, so both can share it.
//
// The service has no conditional overwrite. The first publish is safe (Overwrite=false). A later
// one compares the version just before and just after the write; a writer that comes in between
// is overwritten, and reported. Where two hosts publish, Secrets Manager is the better store.
//
// The tier is always Intelligent-Tiering: the service moves the parameter up in place when the
// document outgrows 4,096 bytes, never down, and nothing is deleted or created anew.
package parameterstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// SizeLimit is how long a document can be, in bytes: what the service takes in the Advanced tier.
const SizeLimit = 8_192

// API are the calls the store makes. *ssm.Client has them.
type API interface {
	GetParameter(context.Context, *ssm.GetParameterInput,
		...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
	PutParameter(context.Context, *ssm.PutParameterInput,
		...func(*ssm.Options)) (*ssm.PutParameterOutput, error)
	DeleteParameter(context.Context, *ssm.DeleteParameterInput,
		...func(*ssm.Options)) (*ssm.DeleteParameterOutput, error)
}

// Store is one parameter. It implements wireshare.ConditionalStore. Its Versions are the parameter
// version and when that was written: a parameter deleted and made anew counts from 1 again.
type Store struct {
	client API
	config Config
	name   string
	site   awscall.Site
	sleep  awscall.Sleep
}

var _ wireshare.ConditionalStore = (*Store)(nil)

// New returns the store. It makes no call; a fault of config is what every operation answers.
func New(client API, config Config) *Store {
	sleep := config.Sleep
	if sleep == nil {
		sleep = awscall.Pause
	}
	return &Store{
		client: client, config: config, name: config.Name(), sleep: sleep,
		site: awscall.Site{Subject: subject(config), Needs: permissions},
	}
}

// GetAuthority returns the published document, or wireshare.ErrNoAuthority.
func (s *Store) GetAuthority(ctx context.Context) ([]byte, error) {
	body, _, err := s.ReadAuthority(ctx)
	return body, err
}

// publishAttempts is how often PutAuthority, which may replace anything, starts again because
// another writer was faster.
const publishAttempts = 5

// PutAuthority publishes body in place of whatever is published.
func (s *Store) PutAuthority(ctx context.Context, body []byte) error {
	var lost error
	for range publishAttempts {
		_, read, err := s.ReadAuthority(ctx)
		if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
			return err
		}
		lost = s.SwapAuthority(ctx, body, read)
		var overwritten *OverwrittenError
		if errors.As(lost, &overwritten) {
			return nil // replacing whatever is there is what the caller wants
		}
		if !errors.Is(lost, wireshare.ErrChanged) {
			return lost
		}
	}
	return lost
}

// ReadAuthority returns the document and its Version, in one call.
func (s *Store) ReadAuthority(ctx context.Context) ([]byte, wireshare.Version, error) {
	if err := s.config.Validate(); err != nil {
		return nil, "", err
	}
	found, err := s.get(ctx, 0)
	if err != nil {
		return nil, "", err
	}
	if found == nil {
		return nil, "", wireshare.ErrNoAuthority
	}
	return []byte(found.body), found.version(), nil
}

// parameter is one version of the parameter.
type parameter struct {
	body     string
	number   int64
	modified int64 // microseconds since 1970
}

func (p *parameter) version() wireshare.Version {
	if p == nil {
		return ""
	}
	return wireshare.Version(fmt.Sprintf("%d@%d", p.number, p.modified))
}

// get reads the parameter, or the version of it with that number if it is not 0. It returns nil
// when there is none, which only ParameterNotFound says.
func (s *Store) get(ctx context.Context, number int64) (*parameter, error) {
	name := s.name
	if number != 0 {
		name += ":" + strconv.FormatInt(number, 10)
	}
	decrypt := true
	output, err := s.client.GetParameter(ctx, &ssm.GetParameterInput{
		Name: &name, WithDecryption: &decrypt,
	})
	if err != nil {
		failure := s.site.Fail("GetParameter", err, nil)
		if isNotFound(failure) {
			return nil, nil
		}
		return nil, failure
	}
	found := output.Parameter
	switch {
	case found == nil || found.Value == nil || found.Version < 1 ||
		!strings.EqualFold(text(found.Name), s.name):
		return nil, fmt.Errorf("GetParameter on %s: the answer is not about this parameter",
			s.site.Subject)
	case found.Type != types.ParameterTypeSecureString:
		return nil, &TypeError{Subject: s.site.Subject, Type: string(found.Type)}
	}
	read := &parameter{body: *found.Value, number: found.Version}
	if found.LastModifiedDate != nil {
		read.modified = found.LastModifiedDate.UnixMicro()
	}
	return read, nil
}

func text(pointer *string) string {
	if pointer == nil {
		return ""
	}
	return *pointer
}

// CheckPublish reports, for a plan, why a document of size bytes could not be published. It makes
// no call: nothing but the size and the prefix can be judged without writing.
func (s *Store) CheckPublish(_ context.Context, size int) error {
	if err := s.config.Validate(); err != nil {
		return err
	}
	if size > SizeLimit {
		return &SizeError{Subject: s.site.Subject, Size: size, Limit: SizeLimit}
	}
	return nil
}
