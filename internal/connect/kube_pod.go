package connect

import (
	"net"
	"path/filepath"
)

// podDirectory is where a pod finds the credential of its service account.
const podDirectory = "/var/run/secrets/kubernetes.io/serviceaccount"

// podLayer is the cluster that this process runs in, used only when in_cluster asks for it.
func podLayer(env environment, directory string) (layer, *SettingError) {
	at := place{attribute: attrInCluster}
	host, port := env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return layer{}, at.err(fault{"this process does not run in a pod: " +
			"KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
			"Remove in_cluster, and set host or config_path"})
	}
	tokenFile := filepath.Join(directory, "token")
	caFile := filepath.Join(directory, "ca.crt")
	if _, err := readTokenFile(tokenFile); err != nil {
		at.entry = tokenFile
		return layer{}, fileFault(at, err)
	}
	ca, err := readCapped(caFile)
	if err != nil {
		at.entry = caFile
		return layer{}, fileFault(at, err)
	}
	return layer{
		server: value{"https://" + net.JoinHostPort(host, port), at},
		ca:     value{string(ca), place{attribute: attrInCluster, entry: caFile}},
		credential: func() (*credential, *SettingError) {
			return &credential{describe: "the service account of the pod", tokenFile: tokenFile}, nil
		},
	}, nil
}
