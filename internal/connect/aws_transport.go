package connect

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"golang.org/x/net/http/httpproxy"
)

// httpClient builds the client that every call goes through, those for credentials too.
func (o *awsOpening) httpClient() *awshttp.BuildableClient {
	proxies := o.proxies()
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		if t.TLSClientConfig == nil {
			t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		t.TLSClientConfig.InsecureSkipVerify = o.settings.Insecure
		// The transport asks for the proxy before it looks up or dials anything, so this is the
		// one place that no request gets around.
		t.Proxy = func(request *http.Request) (*url.URL, error) {
			if err := o.guard.check(request); err != nil {
				return nil, err
			}
			if linkLocal(request.URL) {
				return nil, nil
			}
			return proxies(request.URL)
		}
		if o.tune != nil {
			o.tune(t)
		}
	})
}

// linkLocal reports whether the address is a metadata service of this machine: its answers are
// credentials, which no proxy may see.
func linkLocal(address *url.URL) bool {
	host, err := netip.ParseAddr(address.Hostname())
	return err == nil && (host.IsLinkLocalUnicast() || host.IsPrivate() && host.Is6())
}

// proxies are the attributes, and the usual variables for each that is not set.
func (o *awsOpening) proxies() func(*url.URL) (*url.URL, error) {
	choose := func(attribute string, variables ...string) string {
		for _, variable := range variables {
			if attribute == "" {
				attribute = o.env.get(variable)
			}
		}
		return attribute
	}
	config := httpproxy.Config{
		HTTPProxy:  choose(o.settings.HTTPProxy, "HTTP_PROXY", "http_proxy"),
		HTTPSProxy: choose(o.settings.HTTPSProxy, "HTTPS_PROXY", "https_proxy"),
		NoProxy:    choose(o.settings.NoProxy, "NO_PROXY", "no_proxy"),
	}
	return config.ProxyFunc()
}

// caBundle returns the PEM of the authorities, nil if none are configured. The SDK would read
// AWS_CA_BUNDLE by itself, with an error that names neither the variable nor the file.
func (o *awsOpening) caBundle() (io.Reader, error) {
	path, variable := o.settings.CustomCABundle, ""
	if path == "" && !o.settings.Insecure {
		variable = "AWS_CA_BUNDLE"
		path = o.env.get(variable)
	}
	if path == "" {
		return nil, nil
	}
	wrong := func(problem string, cause error) error {
		return &SettingError{
			Attribute: "custom_ca_bundle", Variable: variable, Problem: problem,
			Cure: "It is the path of a file with certificates in PEM", cause: cause,
		}
	}
	path, found := expandHome(path, o.env)
	if found.found() {
		return nil, wrong(found.problem, nil)
	}
	bundle, err := os.ReadFile(path)
	if err != nil {
		return nil, wrong("cannot be read: "+err.Error(), err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(bundle) {
		return nil, wrong(path+" holds no certificate", nil)
	}
	return bytes.NewReader(bundle), nil
}
