package connect

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Secrets are the Secrets of one namespace. The methods have the signatures of client-go's typed
// client. Errors are *RequestError, and *ClusterRefusedError from the methods that write.
type Secrets struct {
	c         *Cluster
	namespace string
}

const secretsResource = "secrets"

// Secrets returns the Secrets of a namespace.
func (c *Cluster) Secrets(namespace string) *Secrets {
	return &Secrets{c: c, namespace: namespace}
}

func (s *Secrets) operation(verb, name string) operation {
	return operation{
		verb: verb, resource: secretsResource, namespace: s.namespace, name: name,
		read: verb == "get" || verb == "list" || verb == "watch", watch: verb == "watch",
	}
}

func (s *Secrets) request(method string) *rest.Request {
	return s.c.request(method, secretsResource).Namespace(s.namespace)
}

// Get reads one Secret with one GET.
func (s *Secrets) Get(
	ctx context.Context, name string, options metav1.GetOptions,
) (*corev1.Secret, error) {
	return s.single(ctx, s.operation("get", name), func() *rest.Request {
		return s.request(http.MethodGet).Name(name).VersionedParams(&options, s.c.params)
	})
}

// Create writes a new Secret, after the guard.
func (s *Secrets) Create(
	ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions,
) (*corev1.Secret, error) {
	return s.write(ctx, "create", secret, func(body *corev1.Secret) *rest.Request {
		return s.request(http.MethodPost).VersionedParams(&options, s.c.params).Body(body)
	})
}

// Update replaces a Secret, after the guard. Its resourceVersion makes the server refuse it when
// somebody else wrote in between.
func (s *Secrets) Update(
	ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions,
) (*corev1.Secret, error) {
	return s.write(ctx, "update", secret, func(body *corev1.Secret) *rest.Request {
		return s.request(http.MethodPut).Name(secret.Name).
			VersionedParams(&options, s.c.params).Body(body)
	})
}

// Delete removes a Secret, after the guard.
func (s *Secrets) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	if err := s.c.CheckAllowed(ctx); err != nil {
		return err
	}
	return s.c.do(ctx, s.operation("delete", name), func(ctx context.Context, x *exchange) error {
		body, err := x.success(s.request(http.MethodDelete).Name(name).Body(&options).Do(ctx))
		if err != nil {
			return err
		}
		return x.deleted(body, s.namespace, name)
	})
}

func (s *Secrets) write(
	ctx context.Context, verb string, secret *corev1.Secret,
	request func(*corev1.Secret) *rest.Request,
) (*corev1.Secret, error) {
	if err := s.c.CheckAllowed(ctx); err != nil {
		return nil, err
	}
	op := s.operation(verb, secret.Name)
	for _, data := range secret.Data {
		op.secrets = append(op.secrets, string(data))
	}
	for _, text := range secret.StringData {
		op.secrets = append(op.secrets, text)
	}
	body := secret.DeepCopy()
	return s.single(ctx, op, func() *rest.Request { return request(body) })
}

// single runs an operation whose answer is the Secret that it names.
func (s *Secrets) single(
	ctx context.Context, op operation, request func() *rest.Request,
) (*corev1.Secret, error) {
	var found *corev1.Secret
	err := s.c.do(ctx, op, func(ctx context.Context, x *exchange) error {
		body, err := x.success(request().Do(ctx))
		if err != nil {
			return err
		}
		found = &corev1.Secret{}
		return x.decode(body, "Secret", s.namespace, op.name, found)
	})
	if err != nil {
		return nil, err
	}
	found.TypeMeta = metav1.TypeMeta{} // as client-go's typed client does
	return found, nil
}

// List reads the Secrets that the selectors choose. A role that is limited by resourceNames allows
// it only with the field selector metadata.name=NAME.
func (s *Secrets) List(
	ctx context.Context, options metav1.ListOptions,
) (*corev1.SecretList, error) {
	var found *corev1.SecretList
	err := s.c.do(ctx, s.operation("list", selectedName(options)),
		func(ctx context.Context, x *exchange) error {
			request := s.request(http.MethodGet).VersionedParams(&options, s.c.params)
			body, err := x.success(request.Do(ctx))
			if err != nil {
				return err
			}
			if err := x.kindOf(body, "SecretList"); err != nil {
				return err
			}
			found = &corev1.SecretList{}
			if json.Unmarshal(body, found) != nil {
				return x.answerError("not a valid SecretList")
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	found.TypeMeta = metav1.TypeMeta{}
	return found, nil
}

// Watch reports the changes of the Secrets that the selectors choose until ctx is done, the server
// ends it or Stop is called. request_timeout does not apply.
func (s *Secrets) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	var found watch.Interface
	err := s.c.do(ctx, s.operation("watch", selectedName(options)),
		func(ctx context.Context, x *exchange) error {
			request := s.request(http.MethodGet).VersionedParams(&options, s.c.params)
			if options.TimeoutSeconds != nil {
				request = request.Timeout(time.Duration(*options.TimeoutSeconds) * time.Second)
			}
			stream, err := request.Watch(ctx)
			if err == nil && x.err == nil {
				found = stream
				return nil
			}
			return x.noWatch(stream, err)
		})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// noWatch is the error of a watch that did not start. client-go makes an empty watch of some lost
// connections, which would look like a watch that ended well, and leaves the body of an answer open
// that is not a stream.
func (x *exchange) noWatch(stream watch.Interface, err error) error {
	if stream != nil {
		stream.Stop()
	}
	if x.err != nil {
		return x.err
	}
	if x.status == http.StatusOK && x.body != nil {
		_ = x.body.Close()
		return x.answerError("a body that is not a stream of events")
	}
	return err
}

func selectedName(options metav1.ListOptions) string {
	selector, err := fields.ParseSelector(options.FieldSelector)
	if err != nil {
		return ""
	}
	name, _ := selector.RequiresExactMatch("metadata.name")
	return name
}
