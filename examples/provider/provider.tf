terraform {
  required_providers {
    billet = {
      source = "billetdev/billet"
    }
  }
}

provider "billet" {
  kubernetes = {
    config_path    = "~/.kube/config"
    config_context = "production"
  }
}
