package connect

import (
	"bytes"
	"strings"
)

// capped keeps the first bytes and remembers that there were more. The buffer is not embedded: its
// ReadFrom, which io.Copy prefers to Write, knows no limit.
type capped struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.over || c.kept.Len()+len(p) > c.limit {
		c.over = true
		return len(p), nil
	}
	return c.kept.Write(p)
}

// tail keeps the last bytes: what a program says last is why it failed.
type tail struct {
	kept  []byte
	limit int
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append([]byte(nil), t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(string(t.kept), "")
}

// printable takes out what would drive a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || (r >= 0x7f && r < 0xa0)) {
			return -1
		}
		return r
	}, text)
}
