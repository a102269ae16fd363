package wireshare

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// parseDocument reads the JSON object token by token. The standard decoder would let the last of
// two equal keys win, ignore unknown fields and match names in any case, so two readers could see
// two authorities in one document. Errors of the decoder are dropped, because they quote.
func parseDocument(body []byte) (wireDocument, error) {
	if len(body) > MaxDocument {
		return wireDocument{}, malformed("it is larger than 1 MiB")
	}
	if !utf8.Valid(body) {
		return wireDocument{}, malformed("it is not UTF-8")
	}
	var doc wireDocument
	dec := json.NewDecoder(bytes.NewReader(body))
	seen, err := parseObject(dec, func(key string) error {
		switch key {
		case "deployment":
			return parseString(dec, &doc.Deployment)
		case "fingerprint":
			return parseString(dec, &doc.Fingerprint)
		case "published_at":
			return parseString(dec, &doc.PublishedAt)
		case "files":
			return parseFiles(dec, &doc)
		}
		return malformed("it has a field this version does not know; upgrade this version")
	})
	if err != nil {
		return wireDocument{}, err
	}
	if seen != 4 {
		return wireDocument{}, malformed(
			"it lacks one of the fields deployment, fingerprint, published_at and files")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return wireDocument{}, malformed("something follows the object")
	}
	return doc, nil
}

func parseFiles(dec *json.Decoder, doc *wireDocument) error {
	doc.Files = map[string]string{}
	_, err := parseObject(dec, func(name string) error {
		var text string
		if err := parseString(dec, &text); err != nil {
			return err
		}
		doc.Files[name] = text
		return nil
	})
	return err
}

// parseObject reads an object, calls value for every key, refuses a key that comes twice, and
// returns the number of keys.
func parseObject(dec *json.Decoder, value func(key string) error) (int, error) {
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return 0, malformed("it is not a JSON object where one must be")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return 0, malformed("it is not valid JSON")
		}
		if seen[key] {
			return 0, malformed("a key appears twice")
		}
		seen[key] = true
		if err := value(key); err != nil {
			return 0, err
		}
	}
	if token, err := dec.Token(); err != nil || token != json.Delim('}') {
		return 0, malformed("it is not valid JSON")
	}
	return len(seen), nil
}

func parseString(dec *json.Decoder, into *string) error {
	token, err := dec.Token()
	text, ok := token.(string)
	if err != nil || !ok {
		return malformed("a field is not a string")
	}
	*into = text
	return nil
}
