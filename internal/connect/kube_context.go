package connect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// selection is the entries of a kubeconfig that a context names.
type selection struct {
	files       *files
	contextName string
	clusterName string
	userName    string
	origin      string // the file that the context stands in
	cluster     *clientcmdapi.Cluster
	user        *clientcmdapi.AuthInfo // nil: the context names no user
}

// choose finds the context, the cluster and the user. Nothing that is missing is made up: client-go
// would go on with http://localhost:8080 or with the pod's account.
func (k Kubernetes) choose(
	env environment, f *files, config *clientcmdapi.Config,
) (*selection, *SettingError) {
	pick := func(own, attribute, variable string) value {
		chosen := value{own, place{attribute: attribute}}
		first(&chosen, env.value(attribute, variable))
		return chosen
	}
	context := pick(k.ConfigContext, attrContext, "KUBE_CTX")
	cluster := pick(k.ConfigContextCluster, attrCluster, "KUBE_CTX_CLUSTER")
	user := pick(k.ConfigContextAuthInfo, attrAuthInfo, "KUBE_CTX_AUTH_INFO")
	if context.text == "" {
		context = value{config.CurrentContext, f.at}
	}
	s := &selection{files: f, contextName: context.text}
	entry, there := config.Contexts[context.text]
	switch {
	case there:
		s.origin = entry.LocationOfOrigin
		first(&cluster, value{entry.Cluster, place{f.at.attribute, f.at.variable, s.context()}})
		first(&user, value{entry.AuthInfo, place{f.at.attribute, f.at.variable, s.context()}})
	case context.text != "":
		return nil, context.at.err(fault{
			fmt.Sprintf("there is no context %q in %s", context.text, f.list()),
			known("The contexts are", config.Contexts)})
	case cluster.text == "":
		return nil, f.at.err(fault{f.list() + " has no current context",
			known("Choose one with config_context. The contexts are", config.Contexts)})
	}
	return s, s.entries(config, cluster, user)
}

func (s *selection) entries(config *clientcmdapi.Config, cluster, user value) *SettingError {
	s.clusterName, s.userName = cluster.text, user.text
	if s.clusterName == "" {
		at := place{s.files.at.attribute, s.files.at.variable, s.context()}
		return at.err(fault{"it names no cluster", "Correct the kubeconfig"})
	}
	if s.cluster = config.Clusters[s.clusterName]; s.cluster == nil {
		return cluster.at.err(fault{
			fmt.Sprintf("there is no cluster %q in %s", s.clusterName, s.files.list()),
			known("The clusters are", config.Clusters)})
	}
	if s.userName == "" {
		return nil
	}
	if s.user = config.AuthInfos[s.userName]; s.user == nil {
		return user.at.err(fault{
			fmt.Sprintf("there is no user %q in %s", s.userName, s.files.list()),
			known("The users are", config.AuthInfos)})
	}
	return nil
}

// context, clusterEntry and userEntry are how messages call the entries.
func (s *selection) context() string {
	if s.contextName == "" {
		return fmt.Sprintf("cluster %q of %s", s.clusterName, s.files.list())
	}
	return fmt.Sprintf("context %q of %s", s.contextName, s.origin)
}

func (s *selection) clusterEntry() place {
	return place{s.files.at.attribute, s.files.at.variable,
		fmt.Sprintf("cluster %q of %s", s.clusterName, s.cluster.LocationOfOrigin)}
}

func (s *selection) userEntry() place {
	return place{s.files.at.attribute, s.files.at.variable,
		fmt.Sprintf("user %q of %s", s.userName, s.user.LocationOfOrigin)}
}

func (f *files) list() string { return strings.Join(f.paths, ", ") }

const maxNames = 20

// known lists the names of the entries that there are, at most a screen of them.
func known[T any](intro string, entries map[string]T) string {
	names := slices.Sorted(maps.Keys(entries))
	if len(names) == 0 {
		return "There is none in it"
	}
	more := ""
	if len(names) > maxNames {
		more = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return intro + " " + strings.Join(names, ", ") + more
}
