# An active/passive pair of controllers that share one authority through AWS Secrets Manager.
#
# Apply this on both hosts, each with its own state, with active = true on the active one only. The
# active controller makes the authority, or publishes the one that it has. The passive controller
# adopts it: when it is promoted, it presents a certificate that the fleet already trusts.
#
# Plan both regularly. A plan that is not empty says that the two are about to drift apart.

terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = {
      source = "billetdev/billet"
    }
  }
}

variable "active" {
  description = "Whether this host is the active controller."
  type        = bool
}

variable "deployment" {
  description = "Id of the deployment, as in STATE_DIR/deployment-id."
  type        = string
}

variable "state_dir" {
  description = "State directory of billet on this host."
  type        = string
  default     = "/var/lib/billet"
}

provider "billet" {
  aws = {
    region = "eu-west-1"

    # A wrong profile is refused before anything is written.
    allowed_account_ids = ["123456789012"]

    default_tags = {
      service = "billet"
    }
  }
}

resource "billet_wire_authority" "this" {
  deployment = var.deployment
  state_dir  = var.state_dir

  store = {
    secrets_manager = {
      secret_id   = "billet/${var.deployment}/node-wire-authority"
      description = "Node-wire authority of the billet deployment ${var.deployment}"
      # kms_key_id = "alias/billet" # a key of your own, as long as both hosts may use it
    }
  }

  # Only one host may make the first authority, and only that host publishes what billet rotates.
  mint_if_absent    = var.active
  publish_rotations = var.active
}

output "fingerprint" {
  description = "The same on both hosts, unless one of them is behind."
  value       = billet_wire_authority.this.fingerprint
}

output "trust_bundle" {
  description = "What nodes have to trust; public."
  value       = billet_wire_authority.this.trust_bundle_pem
}
