package connect

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// grant is the credential of one attempt at one request.
type grant struct {
	authorization Secret           // the header's value, unset for none
	pair          *tls.Certificate // from an exec program; nil: that of the transport, if any
	expires       time.Time        // zero: not known
	generation    int              // of the exec program: each run is a new one
}

// granter gives the credential of the next attempt.
type granter interface {
	// grant returns a credential. refused, if not nil, is the grant that the server has just
	// answered with 401: it is not returned again.
	grant(ctx context.Context, refused *grant) (*grant, error)
	// renews reports whether there is anything to gain from asking again after a 401.
	renews() bool
}

// fixed is a token, a user with a password, a client certificate, or nothing at all.
type fixed struct{ g grant }

func (f fixed) grant(context.Context, *grant) (*grant, error) { return &f.g, nil }
func (f fixed) renews() bool                                  { return false }

// fileToken is a token in a file that somebody else renews, such as the kubelet. It is read for
// each attempt: the file is small, and a cached token is a refused one.
type fileToken struct{ path string }

func (f fileToken) grant(context.Context, *grant) (*grant, error) {
	token, err := readTokenFile(f.path)
	if err != nil {
		return nil, err
	}
	return &grant{authorization: NewSecret("Bearer " + token), expires: tokenExpiry(token)}, nil
}

// renews: the file may have been written between the read and the answer.
func (f fileToken) renews() bool { return true }

var errTokenFile = errors.New("the token file holds no usable token")

func readTokenFile(path string) (string, error) {
	data, err := readCapped(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if checkToken(token).found() {
		return "", errTokenFile
	}
	return token, nil
}

func newGranter(c *credential, e *endpoint, o opener) granter {
	switch {
	case c.exec != nil:
		return newExecGranter(c.exec, e, o)
	case c.tokenFile != "":
		return fileToken{c.tokenFile}
	case c.token.IsSet():
		token := strings.TrimSpace(c.token.Reveal())
		return fixed{grant{
			authorization: NewSecret("Bearer " + token), expires: tokenExpiry(token),
		}}
	case c.username != "":
		both := c.username + ":" + c.password.Reveal()
		encoded := base64.StdEncoding.EncodeToString([]byte(both))
		return fixed{grant{authorization: NewSecret("Basic " + encoded)}}
	case c.pair != nil && c.pair.Leaf != nil:
		return fixed{grant{expires: c.pair.Leaf.NotAfter}}
	}
	return fixed{}
}

// tokenExpiry reads the time from a token that is a JWT; zero for any other. A program that printed
// the token runs again after it. For other tokens it decides nothing: the clocks may differ, and
// the server knows best. It lets the error after a 401 say that the token has expired, and when.
func tokenExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0).UTC()
}
