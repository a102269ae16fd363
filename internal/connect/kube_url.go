package connect

import (
	"net/url"
	"strconv"
	"strings"
)

// fault is a problem and its cure before it is known which setting it is of. The zero fault is no
// fault.
type fault struct{ problem, cure string }

func (f fault) found() bool { return f.problem != "" }

const hostCure = `Write it as "https://HOST[:PORT][/PATH]"`

// parseServer reads the address of an API server. An address without a scheme is https: plain
// http has to be asked for, since credentials travel with each request. The errors of net/url
// quote the whole text, so none of them is passed on.
func parseServer(text string) (*url.URL, fault) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	server, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fault{"is not a valid URL", hostCure}
	case server.Scheme != "https" && server.Scheme != "http":
		return nil, fault{"has a scheme that is neither https nor http", hostCure}
	case server.User != nil:
		return nil, fault{"has a user or password inside the URL",
			"Take it out of the URL and use a credential of its own"}
	case server.Hostname() == "" || !validPort(server):
		return nil, fault{"names no host, or has an invalid port", hostCure}
	case server.RawQuery != "" || server.Fragment != "":
		return nil, fault{"has a query or a fragment", hostCure}
	}
	return server, fault{}
}

const proxyCure = `Write it as "http://HOST:PORT", "https://HOST:PORT" or "socks5://HOST:PORT"`

// parseProxy reads the address of a proxy, which may carry the proxy's own user and password.
func parseProxy(text string) (*url.URL, fault) {
	proxy, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fault{"is not a valid URL", proxyCure}
	case proxy.Scheme != "http" && proxy.Scheme != "https" && proxy.Scheme != "socks5":
		return nil, fault{"has a scheme that is not http, https or socks5", proxyCure}
	case proxy.Hostname() == "" || !validPort(proxy):
		return nil, fault{"names no host, or has an invalid port", proxyCure}
	}
	return proxy, fault{}
}

func validPort(address *url.URL) bool {
	if address.Port() == "" {
		return !strings.HasSuffix(address.Host, ":")
	}
	port, err := strconv.ParseUint(address.Port(), 10, 16)
	return err == nil && port > 0
}
