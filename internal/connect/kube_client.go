package connect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// Cluster is the client of one cluster. It knows the Secrets and the one namespace of the guard,
// and nothing else of the API: client-go's clientset registers every group there is and makes the
// program half as large again. It is safe for concurrent use.
type Cluster struct {
	rest     *rest.RESTClient
	params   runtime.ParameterCodec
	granter  granter
	target   string
	identity string
	usesExec bool
	timeout  time.Duration
	pause    func(context.Context, time.Duration) error
	hidden   []Secret // secrets of the connection that no message may repeat
	guard    guard
}

func newCluster(k Kubernetes, e *endpoint, c *credential, o opener) (*Cluster, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(corev1.SchemeGroupVersion,
		&corev1.Secret{}, &corev1.SecretList{}, &corev1.Namespace{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.NewRESTClient(e.server, "/api/v1", rest.ClientContentConfig{
		ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON,
		GroupVersion: corev1.SchemeGroupVersion,
		Negotiator:   runtime.NewClientNegotiator(codecs, corev1.SchemeGroupVersion),
		// No rate limiter: 30 resources at once are 30 requests at once, and the server is the
		// one who knows whether that is too many.
	}, nil, &http.Client{
		Transport: newSender(e, c, o),
		// A redirect would carry the credential to wherever the answer says.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{
		rest: client, params: runtime.NewParameterCodec(scheme), granter: newGranter(c, e, o),
		target: e.target, identity: c.describe, usesExec: c.exec != nil,
		timeout: k.RequestTimeout, pause: o.pause, guard: newGuard(k.AllowedClusterUIDs),
		hidden: []Secret{c.token, c.password},
	}
	if e.via != nil {
		password, _ := e.via.User.Password()
		cluster.hidden = append(cluster.hidden, NewSecret(password))
	}
	if cluster.timeout == 0 {
		cluster.timeout = DefaultRequestTimeout
	}
	return cluster, nil
}

// Format implements fmt.Formatter: a client holds credentials, so printers show the target alone.
func (c *Cluster) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.target) }

// Target says which cluster this is, for messages: the context and its kubeconfig, and the
// address. It holds no credential.
func (c *Cluster) Target() string { return c.target }

// Identity says which configured credential is used, for messages. Who the user is only the server
// knows: its answer 403 names the user.
func (c *Cluster) Identity() string { return c.identity }
