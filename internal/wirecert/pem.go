package wirecert

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"strings"
)

// block is the one PEM block of a file.
type block struct {
	kind string
	der  []byte
}

// pemHeaders is the refusal of a block with headers, which an encrypted key has.
const pemHeaders = "it carries PEM headers"

// strictPEM returns the one PEM block in data. Blank lines around it, CRLF and white space at the
// end of a line are fine; anything else is refused, because a second key or certificate can hide
// there, and because a decoder that skips a corrupt first block would read another one. The
// refusal says what is wrong and quotes nothing.
func strictPEM(data []byte) (block, string) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return block{}, "it starts with a byte order mark; save it without"
	}
	lines := pemLines(data)
	if len(lines) == 0 {
		return block{}, "it is empty"
	}
	kind, ok := boundary(lines[0], "BEGIN")
	if !ok {
		return block{}, explainFirstLine(lines[0])
	}
	var body strings.Builder
	for i, line := range lines[1:] {
		if end, ok := boundary(line, "END"); ok {
			return finish(kind, end, body.String(), lines[i+2:], data)
		}
		if reason := bodyLine(line); reason != "" {
			return block{}, reason
		}
		body.WriteString(line)
	}
	return block{}, "its END line is missing"
}

// pemLines splits data into lines without the white space at their ends and without the blank
// lines at either end of the file.
func pemLines(data []byte) []string {
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// boundary returns the type in a BEGIN or END line.
func boundary(line, word string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "-----"+word+" ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "-----")
}

func bodyLine(line string) string {
	switch {
	case line == "":
		return "there is a blank line inside the block"
	case strings.Contains(line, ":"):
		return pemHeaders
	case strings.HasPrefix(line, "-----"):
		return "another block begins before its END line"
	case strings.TrimSpace(line) != line:
		return "its lines are indented"
	}
	return ""
}

func finish(kind, end, body string, rest []string, data []byte) (block, string) {
	if end != kind {
		return block{}, "its BEGIN and END lines differ"
	}
	if len(rest) > 0 {
		return block{}, "something follows the first block"
	}
	der, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil || len(der) == 0 {
		return block{}, "its body is not base64"
	}
	// billet reads with the standard decoder, so what is accepted here must decode there.
	std, _ := pem.Decode(data)
	if std == nil || std.Type != kind || !bytes.Equal(std.Bytes, der) {
		return block{}, "the standard decoder does not read it"
	}
	return block{kind: kind, der: der}, ""
}

func explainFirstLine(line string) string {
	switch {
	case strings.Contains(line, `\n`):
		return `it holds a literal backslash-n in place of line breaks`
	case strings.HasPrefix(line, "-----BEGIN ") && strings.Contains(line, "-----END "):
		return "it is all on one line; the line breaks were lost"
	case strings.HasPrefix(strings.TrimSpace(line), "-----BEGIN "):
		return "its lines are indented"
	}
	return "something stands before the BEGIN line, or it is not PEM"
}
