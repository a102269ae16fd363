package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/billetdev/terraform-provider-billet/internal/connect"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/parameterstore"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/secretsmanagerstore"
)

// The kinds of store, by the names of their objects.
const (
	secretsManager = "secrets_manager"
	ssmParameter   = "ssm_parameter"
	inFile         = "file"
)

// storePlaces names the attribute of each kind that says where.
var storePlaces = map[string]string{secretsManager: "secret_id", ssmParameter: "prefix", inFile: "path"}

// storeField is the object that says where the authority is published.
func storeField(description string) field {
	region := field{description: "Region, in place of the provider's."}
	return field{
		kind: kindObject, required: true, description: description,
		objectChecks: []validator.Object{exactlyOneStore{}},
		fields: map[string]field{
			secretsManager: {kind: kindObject, description: "A secret of AWS Secrets Manager.", fields: map[string]field{
				"secret_id": {required: true, checks: []validator.String{isSecretID()},
					description: "Name or full ARN of the secret. By name it is created when it is missing. The " +
						"region of an ARN counts, unless `region` is set."},
				"kms_key_id": {description: "Key of a secret that is created here; without it the account's own " +
					"for Secrets Manager. It is not applied to a secret that exists."},
				"description": {description: "Description of a secret that is created here. It is not applied to " +
					"a secret that exists."},
				"tags": {kind: kindTextMap, description: "Tags of a secret that is created here, beside the " +
					"provider's `default_tags`. They are not applied to a secret that exists."},
				"region": region,
			}},
			ssmParameter: {kind: kindObject, description: "The parameter PREFIX/node-wire-authority of AWS Systems " +
				"Manager, a SecureString: what billet itself reads with the identity backend `aws-ssm`.",
				fields: map[string]field{
					"prefix": {required: true, checks: []validator.String{isPrefix()},
						description: "Path above the parameter, such as `/billet`."},
					"kms_key_id": {description: "Key of each publish; without it the account's own for Parameter " +
						"Store. Give the one that billet is configured with."},
					"region": region,
				}},
			inFile: {kind: kindObject, description: "A file that the hosts share.", fields: map[string]field{
				"path": {required: true, checks: []validator.String{isAbsolutePath()},
					description: "An absolute path, or one that begins with `~/`. The file holds private keys: it " +
						"is written with mode 0600."},
			}},
		},
	}
}

var storeTypes = attrTypes(storeField("").fields)

// storeAt is the store of the kind with nothing but its place set.
func storeAt(kind, place string) types.Object {
	values := map[string]attr.Value{}
	for name, attrType := range storeTypes {
		one := attrType.(types.ObjectType)
		if name != kind {
			values[name] = types.ObjectNull(one.AttrTypes)
			continue
		}
		inner := map[string]attr.Value{}
		for attribute, textType := range one.AttrTypes {
			inner[attribute] = types.StringNull()
			if m, ok := textType.(types.MapType); ok {
				inner[attribute] = types.MapNull(m.ElemType)
			}
		}
		inner[storePlaces[kind]] = types.StringValue(place)
		values[name] = types.ObjectValueMust(one.AttrTypes, inner)
	}
	return types.ObjectValueMust(storeTypes, values)
}

// store is a configured store in plain values.
type store struct {
	kind, place, region string
	kmsKeyID            string
	description         string
	tags                map[string]string
	// known is false while anything of the above is not.
	known bool
	// published says that the resource has published there before, so that it can.
	published bool
}

func storeOf(value types.Object) store {
	if value.IsUnknown() {
		return store{}
	}
	for kind, place := range storePlaces {
		one, ok := value.Attributes()[kind].(types.Object)
		if !ok || one.IsNull() {
			continue
		}
		if !isKnown(value) {
			return store{kind: kind}
		}
		text := func(name string) string {
			value, _ := one.Attributes()[name].(types.String)
			return value.ValueString()
		}
		s := store{
			kind: kind, place: text(place), region: text("region"), kmsKeyID: text("kms_key_id"),
			description: text("description"), known: true,
		}
		if tags, ok := one.Attributes()["tags"].(types.Map); ok {
			s.tags = texts(tags)
		}
		if kind == inFile {
			s.place = expandHome(s.place)
		}
		return s
	}
	return store{}
}

// same says that both name one place, however they publish there.
func (s store) same(other store) bool {
	return s.known && other.known && s.kind == other.kind && s.place == other.place && s.region == other.region
}

// unknownFor names the provider's attributes that keep the store from being reached for now.
func (c *connections) unknownFor(s store) []string {
	if c == nil || s.kind == inFile {
		return nil
	}
	return c.aws.Unknown()
}

// open returns the store. One that cannot be reached answers every call with the reason: nothing ever
// takes that for an empty one.
func (c *connections) open(ctx context.Context, s store) wireshare.Withdrawer {
	if s.kind == inFile {
		return filestore.New(s.place)
	}
	if c == nil {
		return unreachable{errNotConfigured}
	}
	account, err := c.aws.Open(ctx)
	if err != nil {
		var setting *connect.SettingError
		if errors.As(err, &setting) && setting.Attribute != "" {
			err = fmt.Errorf("provider attribute aws.%w", err)
		}
		return unreachable{err}
	}
	region := s.region
	if region == "" && s.kind == secretsManager {
		region = secretsmanagerstore.RegionOf(s.place)
	}
	if region == "" {
		region = account.Region()
	}
	if s.kind == ssmParameter {
		return parameterstore.New(account.SSM(region), parameterstore.Config{
			Prefix: s.place, KMSKeyID: s.kmsKeyID, Region: region,
		})
	}
	return secretsmanagerstore.New(account.SecretsManager(region), secretsmanagerstore.Config{
		SecretID: s.place, KMSKeyID: s.kmsKeyID, Description: s.description,
		Tags: s.tags, DefaultTags: c.aws.DefaultTags(), Region: region, CallerAccount: account.ID(),
		Writable: s.published,
	})
}

// publishChecker is a store that can say, before anything is written, why it would refuse a document
// of size bytes.
type publishChecker interface {
	CheckPublish(ctx context.Context, size int) error
}

// unreachable is a store that cannot be opened.
type unreachable struct{ err error }

func (u unreachable) GetAuthority(context.Context) ([]byte, error) { return nil, u.err }
func (u unreachable) PutAuthority(context.Context, []byte) error   { return u.err }
func (u unreachable) ReadAuthority(context.Context) ([]byte, wireshare.Version, error) {
	return nil, "", u.err
}
func (u unreachable) SwapAuthority(context.Context, []byte, wireshare.Version) error { return u.err }
func (u unreachable) Delete(context.Context, wireshare.Version) error                { return u.err }

// expandHome replaces a leading "~/". Without a home directory the path stays, and is refused
// further down because it is not absolute.
func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// exactlyOneStore counts an unknown store as one that is set.
type exactlyOneStore struct{}

func (exactlyOneStore) Description(context.Context) string {
	return "exactly one of secrets_manager, ssm_parameter and file"
}
func (v exactlyOneStore) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v exactlyOneStore) ValidateObject(
	ctx context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse,
) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	set := 0
	for kind := range storePlaces {
		if one, ok := req.ConfigValue.Attributes()[kind].(basetypes.ObjectValue); ok && !one.IsNull() {
			set++
		}
	}
	if set != 1 {
		resp.Diagnostics.AddAttributeError(req.Path, "Exactly one store has to be set",
			fmt.Sprintf("%d are set. Set %s.", set, v.Description(ctx)))
	}
}
