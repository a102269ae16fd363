// Package connect turns the provider's settings into clients.
//
// The Kubernetes half takes the kubernetes object, the environment and kubeconfig files, decides
// which setting counts, and gives a client that knows the Secrets of core/v1. It never goes
// anywhere that was not named: not to localhost, not to the user's own kubeconfig, not to the
// account of the pod that it happens to run in.
package connect
