# Before: the Secret was made with the kubernetes provider, which has its keys in the state.
#
#   resource "kubernetes_secret_v1" "memberlist" {
#     metadata {
#       name      = "antrea-memberlist-keys"
#       namespace = "kube-system"
#     }
#     data = { keys = "${random_bytes.key.base64}\n" }
#   }
#
# After: the same Secret with its fingerprint in the state. The plan that moves it is empty.

terraform {
  required_version = ">= 1.8"
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}

variable "kubeconfig" {
  type    = string
  default = "~/.kube/config"
}

variable "namespace" {
  description = "Namespace that Antrea runs in."
  type        = string
  default     = "kube-system"
}

provider "billet" {
  kubernetes = { config_path = var.kubeconfig }
}

resource "billet_memberlist_secret" "memberlist" {
  namespace = var.namespace
}

moved {
  from = kubernetes_secret_v1.memberlist
  to   = billet_memberlist_secret.memberlist
}

output "primary_key_fingerprint" {
  value = billet_memberlist_secret.memberlist.primary_key_fingerprint
}
