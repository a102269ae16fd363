# The Secret exists before Antrea is installed or upgraded.
resource "billet_memberlist_secret" "antrea" {
  namespace = "kube-system"

  annotations = {
    # Argo CD leaves it alone.
    "argocd.argoproj.io/sync-options" = "Prune=false"
  }
}

output "primary_key" {
  description = "Fingerprint of the key that every agent must share."
  value       = billet_memberlist_secret.antrea.primary_key_fingerprint
}
