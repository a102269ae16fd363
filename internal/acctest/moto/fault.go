package moto

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
)

// Fault is what the proxy does to the requests of one operation.
type Fault struct {
	// Operation is the call, such as "GetSecretValue"; empty means each.
	Operation string
	// Skip lets this many matching requests pass first.
	Skip int
	// Times is how often the fault acts; 0 means for ever.
	Times int
	// When, if set, chooses among the requests; those it refuses do not count.
	When func(*Exchange) bool
	// Act is what happens.
	Act Action

	seen int
}

// Action answers one request. It may forward it first, and it may call Exchange.Lose.
type Action func(*Exchange) Answer

// take returns the action if the fault is for x and not used up. The proxy holds its lock.
func (f *Fault) take(x *Exchange) Action {
	if f.Operation != "" && f.Operation != x.Operation {
		return nil
	}
	if f.When != nil && !f.When(x) {
		return nil
	}
	f.seen++
	if f.seen <= f.Skip || f.Times > 0 && f.seen > f.Skip+f.Times {
		return nil
	}
	return f.Act
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Exchange is one request on its way through the proxy.
type Exchange struct {
	Operation string
	// Request is the body as it was sent.
	Request []byte
	Header  http.Header
	Path    string
	// Context ends when the client goes away.
	Context context.Context

	proxy    *Proxy
	incoming *http.Request
}

// Forward has the server carry the request out and returns its answer.
func (x *Exchange) Forward() Answer { return x.proxy.forward(x) }

// Lose cuts the connection without a response. It does not return.
func (x *Exchange) Lose() { panic(http.ErrAbortHandler) }

// Input returns the field of the JSON request, "" when it is absent or not text.
func (x *Exchange) Input(field string) string {
	var input map[string]any
	if json.Unmarshal(x.Request, &input) != nil {
		return ""
	}
	text, _ := input[field].(string)
	return text
}

// Previous returns the answer that the same request got last time.
func (x *Exchange) Previous() (Answer, bool) {
	x.proxy.mu.Lock()
	defer x.proxy.mu.Unlock()
	answer, found := x.proxy.last[x.key()]
	return answer, found
}

func (x *Exchange) key() string { return x.Operation + "\x00" + string(x.Request) }

func (x *Exchange) respond(act Action) Answer {
	if act == nil {
		return x.Forward()
	}
	return act(x)
}

// Refusal is an error of the JSON protocols, with the status they use.
func Refusal(status int, code, message string) Answer {
	body, err := json.Marshal(map[string]string{"__type": code, "message": message})
	if err != nil {
		panic(err)
	}
	return Answer{Status: status, Body: body, Header: http.Header{
		"Content-Type": {"application/x-amz-json-1.1"},
	}}
}

// Edit changes the JSON object of a good answer.
func (a Answer) Edit(change func(object map[string]any)) Answer {
	var object map[string]any
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &object) != nil {
		return a
	}
	change(object)
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	a.Body = body
	return a
}

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

func encodeCertificate(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}
