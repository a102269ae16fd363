package connect

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/json"
)

// SecretName is what a list tells of one Secret.
type SecretName struct{ Namespace, Name, UID string }

// namesOnly asks for metadata in place of the objects: no data of a Secret crosses the wire.
const namesOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// listPage is how many Secrets one request asks for.
const listPage = 500

// nameList is what is read of a PartialObjectMetadataList. Annotations are left out: kubectl keeps
// whole Secrets in one.
type nameList struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			UID       string `json:"uid"`
		} `json:"metadata"`
	} `json:"items"`
}

// SecretsNamed lists the Secrets of this name in one namespace, or in all for "", and stops at limit
// unless that is 0. Errors are *RequestError.
func (c *Cluster) SecretsNamed(
	ctx context.Context, namespace, name string, limit int64,
) ([]SecretName, error) {
	var found []SecretName
	options := metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(), Limit: listPage,
	}
	for {
		page, err := c.namesPage(ctx, namespace, name, options)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			found = append(found, SecretName(item.Metadata))
			if limit > 0 && int64(len(found)) >= limit {
				return found, nil
			}
		}
		if options.Continue = page.Metadata.Continue; options.Continue == "" {
			return found, nil
		}
	}
}

func (c *Cluster) namesPage(
	ctx context.Context, namespace, name string, options metav1.ListOptions,
) (*nameList, error) {
	page := new(nameList)
	op := operation{verb: "list", resource: secretsResource, namespace: namespace, name: name, read: true}
	err := c.do(ctx, op, func(ctx context.Context, x *exchange) error {
		request := c.request(http.MethodGet, secretsResource).Namespace(namespace).
			SetHeader("Accept", namesOnly).VersionedParams(&options, c.params)
		body, err := x.success(request.Do(ctx))
		if err != nil {
			return err
		}
		if err := x.kindIn(body, "meta.k8s.io/v1", "PartialObjectMetadataList"); err != nil {
			return err
		}
		*page = nameList{}
		if json.Unmarshal(body, page) != nil {
			return x.answerError("not a valid PartialObjectMetadataList")
		}
		return nil
	})
	return page, err
}
