// Package acctest runs the real parts that the tests and the demo need: a Kubernetes control plane,
// Terraform, and what reads them independently of the provider.
package acctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy records the request, never a body.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// Cluster is a real kube-apiserver with its etcd, on loopback, with RBAC on.
type Cluster struct {
	// Config authenticates as an administrator.
	Config *rest.Config
	// Admin is a client for looking at the cluster independently of the provider.
	Admin kubernetes.Interface

	environment *envtest.Environment
	auditLog    string
	directory   string
}

// StartCluster starts a control plane, which takes a few seconds, and minutes where its programs
// have to be built first. The caller stops it.
func StartCluster() (*Cluster, error) {
	assets, err := controlPlaneAssets()
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "billet-controlplane-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{directory: directory, auditLog: filepath.Join(directory, "audit.log")}
	policy := filepath.Join(directory, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	c.environment = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		// Only the control plane: no CRDs, no webhooks.
		DownloadBinaryAssets:     false,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  30 * time.Second,
	}
	c.environment.ControlPlane.GetAPIServer().Configure().
		Append("audit-policy-file", policy).
		Append("audit-log-path", c.auditLog).
		Append("audit-log-mode", "blocking-strict")
	if c.Config, err = c.environment.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), os.RemoveAll(directory))
	}
	c.Config.QPS = -1
	if c.Admin, err = kubernetes.NewForConfig(c.Config); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Stop ends the control plane and removes what it wrote.
func (c *Cluster) Stop() error {
	return errors.Join(c.environment.Stop(), os.RemoveAll(c.directory))
}

// shared is the one control plane of a test binary.
var shared struct {
	sync.Mutex
	cluster *Cluster
}

// SharedCluster returns the one control plane of this test binary, started when first asked for.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		cluster, err := StartCluster()
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = cluster
	}
	return shared.cluster
}

// Main runs the tests of a package and then stops what they shared. It is for TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	stopMoto()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
			code = max(code, 1)
		}
	}
	return code
}

// Namespace makes a namespace for one test.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	made, err := c.Admin.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// controlPlaneAssets returns the directory with kube-apiserver and etcd, built if need be.
func controlPlaneAssets() (string, error) {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return assets, nil
	}
	root := Root()
	assets := filepath.Join(root, ".cache", "controlplane")
	build := exec.Command(filepath.Join(root, "tools", "controlplane", "build.sh"), assets)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building the control plane: %w", err)
	}
	return assets, nil
}

// Root is the top directory of the project.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	root, _, _ := strings.Cut(filepath.ToSlash(file), "/internal/acctest/")
	return root
}
