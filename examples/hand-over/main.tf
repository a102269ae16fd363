# Hands the published authority to a controller that is being provisioned and cannot reach the store. The
# private keys go from the store through Terraform's memory to that host. They are in no state and no
# plan. A host that can reach the store needs none of this: billet_wire_authority adopts it there.
terraform {
  required_version = ">= 1.10"

  required_providers {
    billet = { source = "billetdev/billet" }
  }
}

variable "deployment" {
  description = "Id of the billet deployment."
  type        = string
}

variable "published" {
  description = "File in which the authority is published."
  type        = string
}

variable "remote" {
  description = "Command that runs a command on the new host, such as `ssh root@controller-b`."
  type        = string
}

variable "state_dir" {
  description = "State directory of billet on the new host."
  type        = string
  default     = "/var/lib/billet"
}

# What may be shown of it.
data "billet_wire_authority" "published" {
  deployment = var.deployment
  source     = "published"
  store      = { file = { path = var.published } }
}

ephemeral "billet_wire_authority" "published" {
  deployment = var.deployment
  source     = "published"
  store      = { file = { path = var.published } }
}

# It runs once for each new host. What is published later is for that host's own billet to take.
resource "terraform_data" "hand_over" {
  triggers_replace = [var.remote, var.state_dir]

  input = data.billet_wire_authority.published.fingerprint
  lifecycle { ignore_changes = [input] }

  provisioner "local-exec" {
    command = "${path.module}/hand-over.sh"

    environment = {
      REMOTE    = var.remote
      STATE_DIR = var.state_dir
      # One line for each file: its name, and its text in base64.
      FILES = join("", [
        for name, text in ephemeral.billet_wire_authority.published.files :
        "${name} ${base64encode(text)}\n"
      ])
    }
  }
}

output "authority" {
  description = "Fingerprint of the authority that was handed over."
  value       = terraform_data.hand_over.output
}
