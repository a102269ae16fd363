package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
)

// call is a function of strings that computes and reads nothing. What it refuses is an error of the
// argument at fault, and says nothing of its content.
type call struct {
	name       string
	definition function.Definition
	run        func(arguments []string) (result any, err *function.FuncError)
}

func (c call) Metadata(
	_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse,
) {
	resp.Name = c.name
}

func (c call) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = c.definition
}

func (c call) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	arguments := make([]string, len(c.definition.Parameters))
	for i := range arguments {
		if resp.Error = req.Arguments.GetArgument(ctx, i, &arguments[i]); resp.Error != nil {
			return
		}
	}
	result, err := c.run(arguments)
	if err != nil {
		resp.Error = err
		return
	}
	resp.Error = resp.Result.Set(ctx, result)
}

func argumentError(argument int64, err error) *function.FuncError {
	return function.NewArgumentFuncError(argument, err.Error())
}

func textParameter(name, description string) function.Parameter {
	return function.StringParameter{Name: name, MarkdownDescription: description}
}

func newMemberlistKeyFingerprints() function.Function {
	return call{name: "memberlist_key_fingerprints", definition: function.Definition{
		Summary: "Fingerprints of memberlist keys",
		MarkdownDescription: "Names each key of a text without revealing it, in the order of the text: the " +
			"first is the primary key. A fingerprint is `SHA256:` and the unpadded base64 of SHA-256 over " +
			"the decoded key. A text that Antrea's agents would not read is an error, which tells the " +
			"index of the key and nothing of its content.",
		Parameters: []function.Parameter{textParameter("text", "The `keys` entry of the Secret: one key per "+
			"line, in base64 with padding, of 16, 24 or 32 bytes.")},
		Return: function.ListReturn{ElementType: types.StringType},
	}, run: func(arguments []string) (any, *function.FuncError) {
		parsed, err := keys.ParseKeys([]byte(arguments[0]))
		if err != nil {
			return nil, argumentError(0, err)
		}
		return keys.Fingerprints(parsed), nil
	}}
}

func newCAFingerprint() function.Function {
	return call{name: "ca_fingerprint", definition: function.Definition{
		Summary: "Fingerprint of a certificate's public key",
		MarkdownDescription: "The fingerprint of a certificate as `billet_wire_authority` tells it: `SHA256:` " +
			"and the unpadded base64 of SHA-256 over its SubjectPublicKeyInfo, so that a certificate issued " +
			"anew for the same key has the same one.",
		Parameters: []function.Parameter{textParameter("pem", "One certificate in PEM, with nothing but "+
			"blank lines around it.")},
		Return: function.StringReturn{},
	}, run: func(arguments []string) (any, *function.FuncError) {
		print, err := wirecert.CertificateFingerprint([]byte(arguments[0]))
		if err != nil {
			return nil, argumentError(0, err)
		}
		return print, nil
	}}
}

func newSameFingerprint() function.Function {
	return call{name: "same_fingerprint", definition: function.Definition{
		Summary: "Whether two fingerprints are the same",
		MarkdownDescription: "Compares two fingerprints exactly, for base64 is case-sensitive, but for the " +
			"white space around them. A text in another form, such as hexadecimal or without `SHA256:`, is " +
			"an error and never a mere difference.",
		Parameters: []function.Parameter{
			textParameter("a", "A fingerprint."), textParameter("b", "Another one."),
		},
		Return: function.BoolReturn{},
	}, run: func(arguments []string) (any, *function.FuncError) {
		var parsed [2]string
		for i, argument := range arguments {
			var err error
			if parsed[i], err = wirecert.ParseFingerprint(argument); err != nil {
				return nil, argumentError(int64(i), err)
			}
		}
		return parsed[0] == parsed[1], nil
	}}
}
