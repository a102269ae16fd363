package wireshare_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

// B1: the five files arrive byte for byte.
func TestADocumentCarriesTheFilesByteForByte(t *testing.T) {
	old := newPair(t, wirecerttest.Options{})
	a := newAuthority(t, wirecerttest.Options{Replaces: old.Fingerprint}, &old)
	doc, err := wireshare.DecodeDocument(encode(t, a), deployment)
	must(t, err)
	if !doc.Authority.Files().Equal(a.Files()) || len(a.Files()) != 5 {
		t.Error("the files changed on the way")
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); doc.PublishedAt != want {
		t.Errorf("published at %s, want %s", doc.PublishedAt, want)
	}
}

// C8: CRLF is carried as it is and changes no fact.
func TestCRLFTravelsByteForByteAndIsTheSameAuthority(t *testing.T) {
	p := newPair(t, wirecerttest.Options{})
	files := wirecerttest.Files(deployment, p, nil)
	for name, data := range files {
		files[name] = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	a, err := wirecert.CheckFiles(files, deployment, func(n string) string { return n })
	must(t, err)
	doc, err := wireshare.DecodeDocument(encode(t, a), deployment)
	must(t, err)
	if !doc.Authority.Files().Equal(files) {
		t.Error("the line endings changed on the way")
	}
	if doc.Authority.Info() != whole(t, p, nil).Info() {
		t.Error("line endings show as a difference")
	}
}

func TestADocumentSaysItsDeploymentAndNothingElseDoes(t *testing.T) {
	body := encode(t, newAuthority(t, wirecerttest.Options{}, nil))
	if got, err := wireshare.DeploymentOf(body); err != nil || got != deployment {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range [][]byte{nil, []byte("hunter2"), append(body[:len(body):len(body)], "hunter2"...),
		bytes.Replace(body, []byte(deployment), []byte("hunter2"), 1)} {
		got, err := wireshare.DeploymentOf(bad)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestWhiteSpaceAndKeyOrderDoNotMatter(t *testing.T) {
	a := newAuthority(t, wirecerttest.Options{}, nil)
	var fields map[string]any
	must(t, json.Unmarshal(encode(t, a), &fields))
	body, err := json.MarshalIndent(fields, "\n ", "\t\r")
	must(t, err)
	_, err = wireshare.DecodeDocument(append([]byte(" \n"), append(body, "\r\n\t "...)...), deployment)
	must(t, err)
}

// edit changes one document's JSON.
type edit func(body string) string

func swap(old, new string) edit {
	return func(body string) string { return strings.Replace(body, old, new, 1) }
}

// field replaces the value of a field, or of a file, or removes it with a nil value.
func field(path string, value any) edit {
	return func(body string) string {
		var doc map[string]any
		if err := json.Unmarshal([]byte(body), &doc); err != nil {
			panic(err)
		}
		in := doc
		name, inner, nested := strings.Cut(path, "/")
		if nested {
			in, name = doc[name].(map[string]any), inner
		}
		if in[name] = value; value == nil {
			delete(in, name)
		}
		out, err := json.Marshal(doc)
		if err != nil {
			panic(err)
		}
		return string(out)
	}
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// B1, C1, C3, C5, C6: each refusal of a document, none of which quotes it.
func TestADocumentIsReadStrictly(t *testing.T) {
	p, old := newPair(t, wirecerttest.Options{}), newPair(t, wirecerttest.Options{})
	foreign := strings.Repeat("f", 32)
	strange := newPair(t, wirecerttest.Options{Deployment: foreign})
	a := whole(t, p, &old)
	valid := string(encode(t, a))
	for name, c := range map[string]struct {
		edit edit
		want error
	}{
		"empty":        {func(string) string { return "" }, wireshare.ErrDocument},
		"no JSON":      {func(string) string { return "plain text" }, wireshare.ErrDocument},
		"an array":     {func(s string) string { return "[" + s + "]" }, wireshare.ErrDocument},
		"a string":     {func(s string) string { return `"x"` }, wireshare.ErrDocument},
		"null":         {func(s string) string { return "null" }, wireshare.ErrDocument},
		"cut short":    {func(s string) string { return s[:len(s)-1] }, wireshare.ErrDocument},
		"twice":        {func(s string) string { return s + s }, wireshare.ErrDocument},
		"text after":   {func(s string) string { return s + " x" }, wireshare.ErrDocument},
		"a brace more": {func(s string) string { return s + "}" }, wireshare.ErrDocument},
		"a byte order mark": {func(s string) string { return "\xef\xbb\xbf" + s },
			wireshare.ErrDocument},
		"not UTF-8": {swap(`"deployment"`, "\"deploy\xffment\""), wireshare.ErrDocument},
		"a duplicate field": {swap(`{"deployment"`, `{"deployment":"`+deployment+
			`","deployment"`), wireshare.ErrDocument},
		"a duplicate file": {swap(`"files":{`, `"files":{"ca.crt":"",`), wireshare.ErrDocument},
		"a duplicate field in other letters": {swap(`{"deployment"`, `{"Deployment":"`+
			deployment+`","deployment"`), wireshare.ErrDocument},
		"a field in capital letters": {swap(`"files"`, `"FILES"`), wireshare.ErrDocument},
		"an unknown field":           {field("version", "2"), wireshare.ErrDocument},
		"no deployment":              {field("deployment", nil), wireshare.ErrDocument},
		"no fingerprint":             {field("fingerprint", nil), wireshare.ErrDocument},
		"no published_at":            {field("published_at", nil), wireshare.ErrDocument},
		"no files":                   {field("files", nil), wireshare.ErrDocument},
		"files is a list":            {field("files", []string{"x"}), wireshare.ErrDocument},
		"files is empty":             {field("files", map[string]string{}), wirecert.ErrIncomplete},
		"deployment is a number":     {field("deployment", 1), wireshare.ErrDocument},
		"fingerprint is null":        {swap(`"`+p.Fingerprint+`"`, "null"), wireshare.ErrDocument},
		"published_at is a number":   {field("published_at", 1700000000), wireshare.ErrDocument},
		"published_at is no time":    {field("published_at", "yesterday"), wireshare.ErrDocument},
		"a file is an object":        {field("files/ca.crt", map[string]int{}), wireshare.ErrDocument},
		"a file is null":             {swap(`"ca.crt":"`, `"ca.crt":null,"x":"`), wireshare.ErrDocument},
		"a file is not base64":       {field("files/ca.crt", "*"), wireshare.ErrDocument},
		"a file is URL base64": {field("files/authority-created", "-_-_"),
			wireshare.ErrDocument},
		"a file is base64 without padding": {field("files/authority-created",
			strings.TrimRight(b64(deployment+"\n\n"), "=")), wireshare.ErrDocument},
		"a file is base64 in lines": {field("files/authority-created",
			b64(deployment)[:8]+"\n"+b64(deployment)[8:]), wireshare.ErrDocument},
		"another deployment": {field("deployment", foreign), wirecert.ErrDeployment},
		"no deployment id":   {field("deployment", "production"), wirecert.ErrDeployment},
		"another fingerprint": {field("fingerprint", old.Fingerprint),
			wireshare.ErrDocument},
		"a fingerprint with a space": {field("fingerprint", p.Fingerprint+" "),
			wireshare.ErrDocument},
		"an unknown file": {field("files/ca.srl", b64("1")), wirecert.ErrUnknownFile},
		"a path for a name": {field("files/../ca.key", b64("1")),
			wirecert.ErrUnknownFile},
		"no key":         {field("files/ca.key", nil), wirecert.ErrIncomplete},
		"an empty key":   {field("files/ca.key", ""), wirecert.ErrPEM},
		"no certificate": {field("files/ca.crt", nil), wirecert.ErrIncomplete},
		"no marker":      {field("files/authority-created", nil), wirecert.ErrNoMarker},
		"an empty marker": {field("files/authority-created", ""),
			wirecert.ErrDeployment},
		"a marker of another": {field("files/authority-created", b64(foreign+"\n")),
			wirecert.ErrDeployment},
		"half a previous pair": {field("files/ca-previous.key", nil), wirecert.ErrIncomplete},
		"another key":          {field("files/ca.key", b64(string(old.KeyPEM))), wirecert.ErrKeyMismatch},
		"a second certificate": {field("files/ca.crt", b64(string(p.CertificatePEM)+
			string(old.CertificatePEM))), wirecert.ErrPEM},
		"a previous pair of another deployment": {func(s string) string {
			s = field("files/ca-previous.key", b64(string(strange.KeyPEM)))(s)
			return field("files/ca-previous.crt", b64(string(strange.CertificatePEM)))(s)
		}, wirecert.ErrDeployment},
		"more than 1 MiB": {func(s string) string {
			return s + strings.Repeat(" ", wireshare.MaxDocument)
		}, wireshare.ErrDocument},
	} {
		t.Run(name, func(t *testing.T) {
			body := c.edit(valid)
			if body == valid {
				t.Fatal("the edit changed nothing")
			}
			_, err := wireshare.DecodeDocument([]byte(body), deployment)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			noContent(t, err.Error(), a, strange.KeyPEM)
		})
	}
}

// T6: noContent fails if the text holds the scalar of one of the authority's private keys, or of
// another, in any of the spellings in which it travels. It is in the first line of the PEM body;
// the lines after it repeat the public key, which certificates hold, too.
func noContent(t *testing.T, text string, a *wirecert.Authority, more ...[]byte) {
	t.Helper()
	files := a.Files()
	for _, secret := range append(more, files[wirecert.KeyName], files[wirecert.PreviousKeyName]) {
		if len(secret) == 0 {
			continue
		}
		line := strings.Split(string(secret), "\n")[1]
		for _, spelt := range []string{
			line[12:48], b64(line)[:48], b64(b64(line))[:48], b64(string(secret))[44:100],
		} {
			if strings.Contains(text, spelt) {
				t.Error("the text holds a private key")
			}
		}
	}
}

func FuzzDecodeDocument(f *testing.F) {
	old := newPair(f, wirecerttest.Options{})
	valid := encode(f, newAuthority(f, wirecerttest.Options{Replaces: old.Fingerprint}, &old))
	f.Add(valid)
	f.Add([]byte(`{"deployment":"","files":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := wireshare.DecodeDocument(body, deployment)
		if err != nil {
			return
		}
		again, err := wireshare.EncodeDocument(doc.Authority, deployment, doc.PublishedAt)
		must(t, err)
		back, err := wireshare.DecodeDocument(again, deployment)
		must(t, err)
		if !back.Authority.Files().Equal(doc.Authority.Files()) {
			t.Error("an accepted document does not survive writing it")
		}
	})
}
