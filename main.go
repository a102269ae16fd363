// Terraform-provider-billet provisions shared secrets before the software that needs them.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/billetdev/terraform-provider-billet/internal/provider"
)

// version is set by the build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve to a debugger, and print how Terraform reaches it")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: "registry.terraform.io/billetdev/billet", Debug: *debug, ProtocolVersion: 6,
	})
	if err != nil {
		log.Fatal(err)
	}
}
