# antrea-controller makes the Secret when it starts.
data "billet_memberlist_secret" "antrea" {
  namespace = "kube-system"
  wait_for  = "2m"
}

check "gossip_keys" {
  assert {
    condition     = data.billet_memberlist_secret.antrea.valid
    error_message = "The gossip keys: ${coalesce(data.billet_memberlist_secret.antrea.problem, "valid")}."
  }
}
