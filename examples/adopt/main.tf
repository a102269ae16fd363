# Takes over the Secret that antrea-controller made, if it holds the key that was agreed on.
#
# First have the fingerprint from somebody who may read the Secret, and not from a plan of this:
#
#   kubectl -n kube-system get secret antrea-memberlist-keys -o jsonpath='{.data.keys}' |
#     base64 -d | head -n 1 | base64 -d | openssl dgst -sha256 -binary | base64 | tr -d =
#
#   terraform apply -var kubeconfig=~/.kube/config -var primary_key=SHA256:...
#
# Nothing is written to the cluster: `get` on this one Secret is enough. If another key is there the plan
# refuses and names both. If the Secret is not there it refuses, too, and makes none.

terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = {
      source = "billetdev/billet"
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

variable "primary_key" {
  description = "Fingerprint of the primary key that was agreed on: SHA256: and what the command above prints."
  type        = string
  nullable    = false
}

provider "billet" {
  kubernetes = {
    config_path    = var.kubeconfig
    config_context = var.context
  }
}

# It may stay: once the Secret is in the state it does nothing. Without it the first apply adopts the
# Secret all the same, and the plan shows a create instead of an import.
import {
  to = billet_memberlist_secret.antrea
  id = "${var.namespace}/antrea-memberlist-keys"
}

resource "billet_memberlist_secret" "antrea" {
  namespace               = var.namespace
  primary_key_fingerprint = var.primary_key
}

# The pin covers the primary key, the one that Antrea's agents use today. A gossip cluster may also accept
# what is encrypted with any other key it is given, so one that nobody knows of deserves a warning.
check "one_key" {
  assert {
    condition = alltrue([
      for fingerprint in billet_memberlist_secret.antrea.live_key_fingerprints :
      provider::billet::same_fingerprint(var.primary_key, fingerprint)
    ])
    error_message = "The Secret holds other keys beside ${var.primary_key}."
  }
}

output "origin" {
  description = "imported: somebody else made the keys, and no destroy will ever delete them."
  value       = billet_memberlist_secret.antrea.origin
}
