# A new gossip key once a year.
#
# The rotation comes with the first apply after the year is over, and its plan warns. Nothing happens
# between two applies, so run one regularly, at a time when the cluster can bear it: until the last agent
# has the new key, agents with the new one and agents with the old one cannot hear each other.
#
# To rotate today:
#
#   terraform apply -replace=time_rotating.yearly

terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = {
      source = "billetdev/billet"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.13"
    }
  }
}

variable "kubeconfig" {
  description = "Kubeconfig of the cluster."
  type        = string
}

variable "context" {
  description = "Context of the kubeconfig. By default the current one."
  type        = string
  default     = null
}

variable "namespace" {
  description = "Namespace that Antrea runs in."
  type        = string
  default     = "kube-system"
}

provider "billet" {
  kubernetes = {
    config_path    = var.kubeconfig
    config_context = var.context
  }
}

# The year begins when this is applied first. Do not set rfc3339: with a fixed beginning the resource is
# made anew by every apply once the first year is over, under the same id, and nothing is rotated.
resource "time_rotating" "yearly" {
  rotation_years = 1
}

resource "billet_memberlist_secret" "antrea" {
  namespace = var.namespace

  # The id is the time at which the year began. Its first value rotates nothing, so this can be added
  # to a Secret with keys in use. Do not pin primary_key_fingerprint beside it: a pin refuses rotations.
  rotate_when_changed = {
    year = time_rotating.yearly.id
  }
}

output "primary_key" {
  description = "Fingerprint of this year's key."
  value       = billet_memberlist_secret.antrea.primary_key_fingerprint
}

output "next_rotation" {
  description = "The first apply after this time rotates."
  value       = time_rotating.yearly.rotation_rfc3339
}
