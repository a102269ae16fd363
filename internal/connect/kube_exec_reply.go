package connect

import (
	"encoding/json"
	"fmt"
	"time"

	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
)

// readReply reads what a credential program printed. The problem never quotes it.
func readReply(stdout *capped, version string) (*grant, string) {
	if stdout.over {
		return nil, fmt.Sprintf("its reply is larger than %d bytes", stdout.limit)
	}
	return parseReply(stdout.kept.Bytes(), version)
}

func parseReply(data []byte, version string) (*grant, string) {
	var reply clientauthv1.ExecCredential
	if len(data) == 0 {
		return nil, "it printed nothing on its standard output"
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, "its standard output is not one ExecCredential in JSON"
	}
	switch {
	case reply.Kind != execKind:
		return nil, fmt.Sprintf("its reply is not of kind %s", execKind)
	case checkExecVersion(reply.APIVersion).found():
		return nil, "its reply is of a version that is not supported, and " + version +
			" was asked for"
	case reply.APIVersion != version:
		return nil, fmt.Sprintf("its reply is of version %s, and %s was asked for; "+
			"set the version that the program speaks", reply.APIVersion, version)
	case reply.Status == nil:
		return nil, "its reply has no status, so no credential"
	}
	return readStatus(reply.Status)
}

func readStatus(status *clientauthv1.ExecCredentialStatus) (*grant, string) {
	cert, key := status.ClientCertificateData, status.ClientKeyData
	found := &grant{}
	switch {
	case status.Token == "" && cert == "" && key == "":
		return nil, "its reply has neither a token nor a client certificate"
	case (cert == "") != (key == ""):
		return nil, "its reply has one of client certificate and client key without the other"
	}
	if status.Token != "" {
		if checkToken(status.Token).found() {
			return nil, "the token in its reply has a character that cannot stand in one"
		}
		found.authorization = NewSecret("Bearer " + status.Token)
		found.expires = tokenExpiry(status.Token)
	}
	if cert != "" {
		pair, ofCert, ofKey := clientPair(cert, key)
		switch {
		case ofCert.found():
			return nil, "the client certificate in its reply " + ofCert.problem
		case ofKey.found():
			return nil, "the client key in its reply " + ofKey.problem
		}
		found.pair = pair
		found.expires = earlier(found.expires, pair.Leaf.NotAfter)
	}
	if status.ExpirationTimestamp != nil {
		found.expires = status.ExpirationTimestamp.UTC()
	}
	return found, ""
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
