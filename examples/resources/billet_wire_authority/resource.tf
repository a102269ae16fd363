# On the host that has the authority, or is to make the first one. Every other host of the deployment has
# the same configuration with mint_if_absent = false, and adopts what this one publishes.
resource "billet_wire_authority" "this" {
  deployment = "0123456789abcdef0123456789abcdef"
  state_dir  = "/var/lib/billet"

  store = {
    file = { path = "/mnt/shared/billet/node-wire-authority.json" }
  }
}

output "trust_bundle" {
  value = billet_wire_authority.this.trust_bundle_pem
}
