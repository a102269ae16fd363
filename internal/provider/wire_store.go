package provider

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/filestore"
)

type storeModel struct {
	File types.Object `tfsdk:"file"`
}

type fileStoreModel struct {
	Path types.String `tfsdk:"path"`
}

var (
	fileStoreTypes = map[string]attr.Type{"path": types.StringType}
	storeTypes     = map[string]attr.Type{"file": types.ObjectType{AttrTypes: fileStoreTypes}}
)

func storeAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Required: true,
		MarkdownDescription: "Where the authority is published. Changing it publishes to the new store " +
			"and leaves the old one as it is.",
		Attributes: map[string]schema.Attribute{
			"file": schema.SingleNestedAttribute{
				Required:            true,
				MarkdownDescription: "A file that the hosts share.",
				Attributes: map[string]schema.Attribute{
					"path": schema.StringAttribute{
						Required: true, Validators: []validator.String{isAbsolutePath()},
						MarkdownDescription: "An absolute path, or one that begins with `~/`. The file holds " +
							"private keys: it is written with mode 0600.",
					},
				},
			},
		},
	}
}

func fileStore(path string) types.Object {
	file := types.ObjectValueMust(fileStoreTypes, map[string]attr.Value{"path": types.StringValue(path)})
	return types.ObjectValueMust(storeTypes, map[string]attr.Value{"file": file})
}

// openStore returns the store, or nil while its place is not known.
func openStore(ctx context.Context, object types.Object) wireshare.ConditionalStore {
	var store storeModel
	var file fileStoreModel
	options := basetypes.ObjectAsOptions{UnhandledUnknownAsEmpty: true, UnhandledNullAsEmpty: true}
	if object.As(ctx, &store, options).HasError() || store.File.As(ctx, &file, options).HasError() ||
		file.Path.ValueString() == "" {
		return nil
	}
	return filestore.New(expandHome(file.Path.ValueString()))
}

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

func isAbsolutePath() validator.String {
	return textValidator{"a path that names one place", func(path string) []string {
		if !filepath.IsAbs(expandHome(path)) {
			return []string{"it has to be absolute, or to begin with ~/"}
		}
		return nil
	}}
}

func isDeployment() validator.String {
	return textValidator{"a deployment id", func(id string) []string {
		if err := wirecert.CheckDeployment(id); err != nil {
			return []string{err.Error()}
		}
		return nil
	}}
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
