package connect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// maxKubeconfig bounds a kubeconfig, and each file that it names, in bytes.
const maxKubeconfig = 10 << 20

// files are the kubeconfigs to read and the setting that names them.
type files struct {
	paths []string
	at    place
	// skipMissing is for KUBECONFIG alone: kubectl skips those of its files that are missing.
	// A path that was written for this provider has to exist.
	skipMissing bool
	inConfig    bool // named by the configuration and not by the environment
}

// kubeconfigs finds which files to read, nil when none is named. Neither ~/.kube/config nor any
// other place is a default.
func (k Kubernetes) kubeconfigs(env environment) *files {
	list := func(variable string) []string {
		var paths []string
		for _, path := range filepath.SplitList(env.get(variable)) {
			if path != "" {
				paths = append(paths, path)
			}
		}
		return paths
	}
	one := env.get("KUBE_CONFIG_PATH")
	many, kubectls := list("KUBE_CONFIG_PATHS"), list("KUBECONFIG")
	switch {
	case k.ConfigPath != "":
		return &files{paths: []string{k.ConfigPath}, at: place{attribute: attrPath}, inConfig: true}
	case len(k.ConfigPaths) > 0:
		return &files{paths: k.ConfigPaths, at: place{attribute: attrPaths}, inConfig: true}
	case one != "":
		return &files{
			paths: []string{one}, at: place{attribute: attrPath, variable: "KUBE_CONFIG_PATH"},
		}
	case len(many) > 0:
		return &files{
			paths: many, at: place{attribute: attrPaths, variable: "KUBE_CONFIG_PATHS"},
		}
	case len(kubectls) > 0 && env.get("KUBE_HOST") == "":
		// KUBECONFIG is there for kubectl, so it does not mix with an address that is there for
		// this provider: its credential would travel to a host that it was not made for.
		return &files{
			paths: kubectls, at: place{attribute: attrPaths, variable: "KUBECONFIG"},
			skipMissing: true,
		}
	}
	return nil
}

// load reads and merges the files as kubectl does: the first file that has an entry counts, entries
// are never mixed, relative paths are relative to the file that they stand in.
func (f *files) load(env environment) (*clientcmdapi.Config, *SettingError) {
	merged := clientcmdapi.NewConfig()
	read := 0
	for _, path := range f.paths {
		path, wrong := expandHome(path, env)
		if wrong.found() {
			return nil, f.at.err(wrong)
		}
		one, err := readKubeconfig(path)
		if err != nil {
			if f.skipMissing && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, f.unreadable(path, err)
		}
		read++
		merge(merged, one)
	}
	if read == 0 {
		return nil, f.at.err(fault{
			"no file of the list exists: " + strings.Join(f.paths, ", "), "Correct the paths"})
	}
	return merged, nil
}

func (f *files) unreadable(path string, err error) *SettingError {
	problem, cure := "cannot be read", "Check the permissions of the file"
	var invalid *invalidKubeconfig
	var inPath *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem, cure = "does not exist", "Correct the path"
	case errors.Is(err, errDirectory):
		problem, cure = "is a directory", "Give the path of a file"
	case errors.Is(err, errTooLarge):
		problem, cure = err.Error(), "Give the path of a kubeconfig"
	case errors.As(err, &invalid):
		problem, cure = invalid.Error(), ""
	case errors.As(err, &inPath):
		problem += ": " + inPath.Err.Error()
	}
	fault := f.at.err(fault{"the kubeconfig " + path + " " + problem, cure})
	fault.cause = err
	return fault
}

var (
	errDirectory = errors.New("is a directory")
	errTooLarge  = fmt.Errorf("is larger than %d MiB", maxKubeconfig>>20)
)

// invalidKubeconfig stands for the error of the YAML and JSON parsers, which quote what they read.
type invalidKubeconfig struct{ line string }

func (e *invalidKubeconfig) Error() string {
	text := "is not a kubeconfig: it cannot be parsed, or has two entries of one name"
	if e.line != "" {
		text += " (" + e.line + ")"
	}
	return text
}

var yamlLine = regexp.MustCompile(`\bline [0-9]+\b`)

func readKubeconfig(path string) (*clientcmdapi.Config, error) {
	data, err := readCapped(path)
	if err != nil {
		return nil, err
	}
	one, err := clientcmd.Load(data)
	if err != nil {
		return nil, &invalidKubeconfig{line: yamlLine.FindString(err.Error())}
	}
	for _, cluster := range one.Clusters {
		cluster.LocationOfOrigin = path
	}
	for _, user := range one.AuthInfos {
		user.LocationOfOrigin = path
	}
	for _, context := range one.Contexts {
		context.LocationOfOrigin = path
	}
	return one, clientcmd.ResolveLocalPaths(one)
}

func readCapped(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errDirectory
	}
	data, err := io.ReadAll(io.LimitReader(file, maxKubeconfig+1))
	if err == nil && len(data) > maxKubeconfig {
		return nil, errTooLarge
	}
	return data, err
}

func merge(into, from *clientcmdapi.Config) {
	if into.CurrentContext == "" {
		into.CurrentContext = from.CurrentContext
	}
	keepFirst(into.Clusters, from.Clusters)
	keepFirst(into.AuthInfos, from.AuthInfos)
	keepFirst(into.Contexts, from.Contexts)
}

func keepFirst[T any](into, from map[string]T) {
	for name, entry := range from {
		if _, there := into[name]; !there {
			into[name] = entry
		}
	}
}

// expandHome replaces a leading "~" by the home directory that the environment names.
func expandHome(path string, env environment) (string, fault) {
	rest, tilde := strings.CutPrefix(path, "~")
	if !tilde || (rest != "" && !os.IsPathSeparator(rest[0])) {
		return path, fault{}
	}
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	home := env.get(variable)
	if home == "" {
		return "", fault{`the path starts with "~" and ` + variable + " is not set",
			"Write the path in full"}
	}
	return filepath.Join(home, rest), fault{}
}
