# Plan this every night. It reads, and can write nothing. Each check that fails is a warning of the plan,
# and so is a failure to read: the exit code tells neither, so README.md alarms on the warnings.
terraform {
  required_version = ">= 1.8"

  required_providers {
    billet = { source = "billetdev/billet" }
  }
}

variable "kubeconfig" {
  description = "Kubeconfig of a user who is bound to the Role in role.yaml."
  type        = string
}

variable "namespace" {
  description = "Namespace that Antrea runs in."
  type        = string
  default     = "kube-system"
}

variable "primary_key" {
  description = "Fingerprint of the primary gossip key that was agreed on."
  type        = string
}

variable "deployment" {
  description = "Id of the billet deployment."
  type        = string
}

variable "published" {
  description = "File in which the authority is published."
  type        = string
}

variable "authority" {
  description = "Fingerprint of the authority that was agreed on."
  type        = string
}

provider "billet" {
  kubernetes = { config_path = var.kubeconfig }
}

check "gossip_key" {
  data "billet_memberlist_secret" "antrea" {
    namespace = var.namespace
  }

  assert {
    condition     = data.billet_memberlist_secret.antrea.valid
    error_message = "DRIFT gossip keys: ${coalesce(data.billet_memberlist_secret.antrea.problem, "valid")}"
  }

  assert {
    condition = data.billet_memberlist_secret.antrea.valid ? provider::billet::same_fingerprint(
      var.primary_key, data.billet_memberlist_secret.antrea.primary_key_fingerprint
    ) : false
    error_message = "DRIFT gossip keys: the primary key is not ${var.primary_key}"
  }
}

check "authority" {
  data "billet_wire_authority" "published" {
    deployment = var.deployment
    source     = "published"
    store      = { file = { path = var.published } }
  }

  assert {
    condition = data.billet_wire_authority.published.exists ? provider::billet::same_fingerprint(
      var.authority, data.billet_wire_authority.published.fingerprint
    ) : false
    error_message = "DRIFT authority: published is not ${var.authority}"
  }

  assert {
    condition = data.billet_wire_authority.published.exists ? timecmp(
      data.billet_wire_authority.published.not_after, timeadd(plantimestamp(), "4320h")
    ) > 0 : false
    error_message = "DRIFT authority: less than 180 days are left, or none is published"
  }
}
