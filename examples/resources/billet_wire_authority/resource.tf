# The same configuration on both controllers of a pair: the first one makes and publishes the
# authority, the second one adopts it.
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
