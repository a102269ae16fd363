variable "expected" {
  description = "Fingerprint of the primary key, as somebody wrote it down."
  type        = string
}

resource "billet_memberlist_secret" "antrea" {}

output "as_expected" {
  value = provider::billet::same_fingerprint(
    var.expected, billet_memberlist_secret.antrea.primary_key_fingerprint
  )
}
