package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/billetdev/terraform-provider-billet/internal/keys"
)

// release is the resource helm_release. Only its Create does something: it looks.
type release struct{ client kubernetes.Interface }

type releaseModel struct {
	ID         types.String `tfsdk:"id"`
	Name       types.String `tfsdk:"name"`
	Repository types.String `tfsdk:"repository"`
	Chart      types.String `tfsdk:"chart"`
	Version    types.String `tfsdk:"version"`
	Namespace  types.String `tfsdk:"namespace"`
	Wait       types.Bool   `tfsdk:"wait"`
}

func (*release) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "helm_release"
}

func (*release) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{
			stringplanmodifier.UseStateForUnknown(),
		}},
		"name":       schema.StringAttribute{Required: true},
		"repository": schema.StringAttribute{Optional: true},
		"chart":      schema.StringAttribute{Required: true},
		"version":    schema.StringAttribute{Optional: true},
		"namespace":  schema.StringAttribute{Required: true},
		"wait":       schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
	}}
}

func (r *release) Configure(
	_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse,
) {
	if req.ProviderData == nil {
		return // validation, without a provider
	}
	client, ok := req.ProviderData.(kubernetes.Interface)
	if !ok {
		resp.Diagnostics.AddError("No client", fmt.Sprintf("This is a %T.", req.ProviderData))
		return
	}
	r.client = client
}

// Create fails unless the Secret is there with keys that agents read.
func (r *release) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan releaseModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if r.client == nil {
		resp.Diagnostics.AddError("No cluster", "The provider block has no kubernetes.")
		return
	}
	secret, err := r.client.CoreV1().Secrets(plan.Namespace.ValueString()).Get(
		ctx, keys.DefaultName, metav1.GetOptions{})
	if err != nil {
		resp.Diagnostics.AddError("Antrea would start without gossip keys", err.Error())
		return
	}
	if _, err := keys.ParseKeys(secret.Data["keys"]); err != nil {
		resp.Diagnostics.AddError("Antrea would start with bad gossip keys", err.Error())
		return
	}
	plan.ID = plan.Name
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// Read leaves the state as it is.
func (*release) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update notes what was planned.
func (*release) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete has nothing to delete.
func (*release) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
