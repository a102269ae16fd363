# The memberlist Secrets of a fleet: one provider block, one resource, any number of clusters.
#
#   terraform apply -var kubeconfig=~/.kube/fleet -var-file=clusters.tfvars
#
# A cluster that is added to the variable gets its Secret; one that is taken out keeps it, since
# destroy forgets a Secret and deletes nothing.

terraform {
  required_providers {
    billet = {
      source = "billetdev/billet"
    }
  }
}

variable "kubeconfig" {
  description = "Kubeconfig with a context for each cluster that has one."
  type        = string
}

variable "clusters" {
  description = "The clusters by name, each reached by a context or by an address."
  type = map(object({
    # A context of the kubeconfig. Null for a cluster with an address of its own.
    context = optional(string)

    # Or the address, the CA (PEM), and a program that prints a short-lived credential, such as
    # ["aws", "eks", "get-token", "--cluster-name", "production"]. No credential is in the state:
    # the program runs again for each run of Terraform.
    host  = optional(string)
    ca    = optional(string)
    login = optional(list(string))

    # UID of the namespace kube-system, which no two clusters share:
    #   kubectl get namespace kube-system -o jsonpath={.metadata.uid}
    # A context that came to mean another cluster is refused before the first write.
    uid = optional(string)

    # The namespace that Antrea runs in.
    namespace = optional(string, "kube-system")
  }))
}

# No cluster here: a resource without a `kubernetes` object of its own is an error, and nothing is
# taken from ~/.kube/config or from the pod that this runs in.
provider "billet" {}

resource "billet_memberlist_secret" "fleet" {
  for_each = var.clusters

  namespace = each.value.namespace

  # All settings of one cluster. They take the place of the provider's as a whole.
  kubernetes = {
    config_path    = each.value.context == null ? null : var.kubeconfig
    config_context = each.value.context

    host                   = each.value.host
    cluster_ca_certificate = each.value.ca
    exec = each.value.login == null ? null : {
      api_version = "client.authentication.k8s.io/v1"
      command     = each.value.login[0]
      args        = slice(each.value.login, 1, length(each.value.login))
    }

    allowed_cluster_uids = each.value.uid == null ? null : [each.value.uid]
  }
}

# Another key in each cluster is as it should be. The same key in two of them would be a copy of a
# Secret, which lets the agents of one cluster join the gossip of the other.
check "no_key_is_shared" {
  assert {
    condition     = length(distinct(values(billet_memberlist_secret.fleet)[*].primary_key_fingerprint)) == length(var.clusters)
    error_message = "Two clusters have the same primary key."
  }
}

output "fingerprints" {
  description = "Fingerprint of each cluster's primary key."
  value       = { for name, secret in billet_memberlist_secret.fleet : name => secret.primary_key_fingerprint }
}
