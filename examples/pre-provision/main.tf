# The gossip keys exist before Antrea does.
#
# antrea-controller makes the Secret itself if it finds none, with a key that nobody chose or saw. Here
# it finds the Secret, and every agent starts with that key. The chart is released only after the
# Secret is in the cluster; destroy removes the release first and leaves the Secret.

terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = {
      source = "billetdev/billet"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
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
  description = "Namespace that Antrea runs in: the chart and the Secret belong together."
  type        = string
  default     = "kube-system"
}

variable "antrea_version" {
  description = "Version of Antrea's chart. The gossip keys are read from 2.7.0 on."
  type        = string
  default     = "2.7.0"
}

variable "hold_for" {
  description = "How long apply puts the Secret back if something prunes it. Needs list and watch on it."
  type        = string
  default     = "0s"
}

# Both providers have to mean the same cluster.
provider "billet" {
  kubernetes = {
    config_path    = var.kubeconfig
    config_context = var.context
  }
}

provider "helm" {
  kubernetes = {
    config_path    = var.kubeconfig
    config_context = var.context
  }
}

resource "billet_memberlist_secret" "antrea" {
  namespace = var.namespace

  # No GitOps tool made this Secret, so one that prunes has to be told to keep it.
  annotations = {
    "argocd.argoproj.io/sync-options"   = "Prune=false" # Argo CD
    "kustomize.toolkit.fluxcd.io/prune" = "disabled"    # Flux
  }

  hold_for = var.hold_for
}

resource "helm_release" "antrea" {
  name       = "antrea"
  repository = "https://charts.antrea.io"
  chart      = "antrea"
  version    = var.antrea_version
  namespace  = var.namespace
  wait       = true

  # Nothing of the release refers to the Secret, so the order has to be spelled out. It also makes the
  # release wait until hold_for is over.
  depends_on = [billet_memberlist_secret.antrea]
}

output "primary_key" {
  description = "Fingerprint of the key that every agent starts with."
  value       = billet_memberlist_secret.antrea.primary_key_fingerprint
}
