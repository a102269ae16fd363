# namespace/name, or the namespace alone
terraform import billet_memberlist_secret.antrea kube-system/antrea-memberlist-keys
