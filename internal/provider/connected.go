package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// What every kind of object gets from the provider. The framework has a Configure of its own for
// each kind, and calls it also before the provider was configured, during validation: connections
// stay nil then.

type connectedResource struct{ connections *connections }

func (c *connectedResource) Configure(
	_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse,
) {
	c.connections, _ = req.ProviderData.(*connections)
}

type connectedDataSource struct{ connections *connections }

func (c *connectedDataSource) Configure(
	_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse,
) {
	c.connections, _ = req.ProviderData.(*connections)
}

type connectedEphemeral struct{ connections *connections }

func (c *connectedEphemeral) Configure(
	_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse,
) {
	c.connections, _ = req.ProviderData.(*connections)
}
