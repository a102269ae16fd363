locals {
  deployment = "0123456789abcdef0123456789abcdef"
}

data "billet_wire_authority" "host" {
  deployment = local.deployment
  source     = "local"
  state_dir  = "/var/lib/billet"
}

data "billet_wire_authority" "store" {
  deployment = local.deployment
  source     = "published"
  store      = { secrets_manager = { secret_id = "billet/node-wire-authority" } }
}

check "same_authority" {
  # Two that are absent are equal, too.
  assert {
    condition     = data.billet_wire_authority.host.exists && data.billet_wire_authority.store.exists
    error_message = "This host or the store holds no authority."
  }

  assert {
    condition     = data.billet_wire_authority.host.fingerprint == data.billet_wire_authority.store.fingerprint
    error_message = "This host and the store hold different authorities."
  }
}
