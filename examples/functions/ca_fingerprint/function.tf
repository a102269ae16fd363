variable "certificate" {
  description = "The certificate that a node trusts, PEM."
  type        = string
}

output "trusted_authority" {
  value = provider::billet::ca_fingerprint(var.certificate)
}
