# Every Secret named antrea-memberlist-keys, in all namespaces.
list "billet_memberlist_secret" "all" {
  provider = billet
}

# The one in a namespace.
list "billet_memberlist_secret" "antrea" {
  provider = billet

  config {
    namespace = "kube-system"
  }
}
