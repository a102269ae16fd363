# The keys go to a program and stay nowhere. What starts it anew is their fingerprint, which may be in
# the state.
ephemeral "billet_memberlist_keys" "antrea" {
  namespace = "kube-system"
}

data "billet_memberlist_secret" "antrea" {
  namespace = "kube-system"
}

resource "terraform_data" "escrow" {
  triggers_replace = data.billet_memberlist_secret.antrea.fingerprints

  provisioner "local-exec" {
    command     = "printf '%s' \"$KEYS\" | gpg --encrypt --recipient ops@example.com --yes --output keys.gpg"
    environment = { KEYS = ephemeral.billet_memberlist_keys.antrea.text }
  }
}
