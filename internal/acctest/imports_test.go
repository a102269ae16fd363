package acctest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/billetdev/terraform-provider-billet"

// importRule forbids the packages under From to import what begins with one of Deny, or is one of
// Exactly. Tests of those packages may; what they import is not in the provider.
type importRule struct {
	from          []string
	except        []string
	deny, exactly []string
}

// Imports run one way: main, provider, then connect, keys and wireshare, then wirecert.
var importRules = map[string]importRule{
	"only the provider knows Terraform": {
		from:   []string{"internal"},
		except: []string{"internal/provider", "internal/acctest"},
		deny:   []string{"github.com/hashicorp/terraform-plugin", module + "/internal/provider"},
	},
	"keys knows client-go, no clientset, and no package of the project": {
		from: []string{"internal/keys"},
		deny: []string{module + "/internal/connect", module + "/internal/wire", "github.com/aws/",
			"k8s.io/client-go/kubernetes"},
	},
	"wirecert knows neither network nor cloud, and nothing above it": {
		from:    []string{"internal/wirecert"},
		exactly: []string{"net", "net/http"},
		deny: []string{module + "/internal/wireshare", module + "/internal/keys",
			module + "/internal/connect", "k8s.io/", "sigs.k8s.io/", "github.com/aws/"},
	},
	"wireshare knows neither keys nor Kubernetes": {
		from: []string{"internal/wireshare"},
		deny: []string{module + "/internal/keys", module + "/internal/connect", "k8s.io/", "sigs.k8s.io/"},
	},
	"only the stores of wireshare know a cloud": {
		from: []string{"internal/wireshare"},
		except: []string{"internal/wireshare/secretsmanagerstore", "internal/wireshare/parameterstore",
			"internal/wireshare/awscall"},
		deny: []string{"github.com/aws/"},
	},
	"the provider carries nothing of the tests": {
		from:    []string{"", "internal"},
		except:  []string{"internal/acctest", "internal/wirecert/wirecerttest"},
		exactly: []string{"k8s.io/client-go/kubernetes", "testing"},
		deny:    []string{module + "/internal/acctest", "github.com/hashicorp/memberlist"},
	},
}

// listed is one package as `go list` tells it.
type listed struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "./...")
	list.Dir = Root()
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, one)
	}
}

// within says whether the import path is one of the directories of the module, or below one.
func within(importPath string, directories []string) bool {
	for _, directory := range directories {
		full := strings.TrimSuffix(module+"/"+directory, "/")
		if importPath == full || directory != "" && strings.HasPrefix(importPath, full+"/") {
			return true
		}
	}
	return false
}

func (r importRule) forbids(from, imported string) bool {
	if !within(from, r.from) || within(from, r.except) {
		return false
	}
	for _, name := range r.exactly {
		if imported == name {
			return true
		}
	}
	for _, prefix := range r.deny {
		if strings.HasPrefix(imported, prefix) {
			return true
		}
	}
	return false
}

func TestImportsRunOneWay(t *testing.T) {
	packages := listPackages(t)
	for name, rule := range importRules {
		t.Run(name, func(t *testing.T) {
			reached := false
			for _, one := range packages {
				reached = reached || within(one.ImportPath, rule.from)
				for _, imported := range one.Imports {
					if rule.forbids(one.ImportPath, imported) {
						t.Errorf("%s imports %s", one.ImportPath, imported)
					}
				}
			}
			if !reached {
				t.Errorf("no package in %v: the rule guards nothing", rule.from)
			}
		})
	}
}

func TestAForbiddenImportIsFound(t *testing.T) {
	for _, c := range []struct{ rule, from, imported string }{
		{"only the provider knows Terraform", "internal/keys", "github.com/hashicorp/terraform-plugin-log/tflog"},
		{"keys knows client-go, no clientset, and no package of the project", "internal/keys",
			module + "/internal/wirecert"},
		{"wirecert knows neither network nor cloud, and nothing above it", "internal/wirecert/safefile", "net"},
		{"wireshare knows neither keys nor Kubernetes", "internal/wireshare/filestore", "k8s.io/api/core/v1"},
		{"only the stores of wireshare know a cloud", "internal/wireshare", "github.com/aws/smithy-go"},
		{"the provider carries nothing of the tests", "", module + "/internal/acctest"},
	} {
		from := strings.TrimSuffix(module+"/"+c.from, "/")
		if !importRules[c.rule].forbids(from, c.imported) {
			t.Errorf("%s: %s may import %s", c.rule, from, c.imported)
		}
	}
}
