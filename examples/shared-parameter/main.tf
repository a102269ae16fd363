# One parameter for billet and Terraform. With the identity backend
#
#   server.identity.backend: aws-ssm
#
# billet keeps its authority in PREFIX/node-wire-authority of the Parameter Store. Given the same
# prefix and the same key, this resource reads and writes that very parameter: whatever the one
# publishes, the other adopts.

terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = {
      source = "billetdev/billet"
    }
  }
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

variable "prefix" {
  description = "The prefix that billet is configured with."
  type        = string
  default     = "/billet/prod"
}

provider "billet" {
  aws = {
    region              = "eu-west-1"
    allowed_account_ids = ["123456789012"]
  }
}

resource "billet_wire_authority" "this" {
  deployment = var.deployment
  state_dir  = var.state_dir

  store = {
    ssm_parameter = {
      prefix = var.prefix
      # Each publish names its key anew. Without one the account's own for the Parameter Store is
      # used, so give the one that billet is configured with, if any.
      # kms_key_id = "alias/billet"
    }
  }

  # billet makes the first authority. This host adopts it, or publishes the one it has.
  mint_if_absent = false
}

output "fingerprint" {
  value = billet_wire_authority.this.fingerprint
}
