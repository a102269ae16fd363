variable "gossip_keys" {
  description = "The keys as the Secret holds them: one per line."
  type        = string
  sensitive   = true
}

# A fingerprint reveals nothing usable.
output "primary_key" {
  value = nonsensitive(provider::billet::memberlist_key_fingerprints(var.gossip_keys)[0])
}
