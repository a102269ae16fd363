package acctest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

var canary = [][]byte{[]byte("0123456789abcdefGHIJKLMNOPQRSTUV")}

func TestAKeyIsFoundInEachSpelling(t *testing.T) {
	text := base64.StdEncoding.EncodeToString(canary[0])
	for name, content := range map[string]string{
		"raw":                         "x" + string(canary[0]) + "y",
		"hexadecimal":                 hex.EncodeToString(canary[0]),
		"base64":                      `{"keys": "` + text + `"}`,
		"base64 twice":                base64.StdEncoding.EncodeToString([]byte(text)),
		"base64 twice at an offset":   base64.StdEncoding.EncodeToString([]byte("k" + text + "\n")),
		"base64 twice at another one": base64.StdEncoding.EncodeToString([]byte("kk" + text + "\n")),
		"raw inside base64":           base64.StdEncoding.EncodeToString([]byte("k" + string(canary[0]) + "z")),
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			write(t, filepath.Join(directory, "trace.log"), []byte(content))
			if _, err := Leaks(directory, canary); err == nil {
				t.Error("not found")
			}
		})
	}
}

func TestAKeyIsFoundInsideASavedPlan(t *testing.T) {
	var plan bytes.Buffer
	archive := zip.NewWriter(&plan)
	member, err := archive.Create("tfplan")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := member.Write(bytes.Repeat(canary[0], 20)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	write(t, filepath.Join(directory, "1.tfplan"), plan.Bytes())
	if _, err := Leaks(directory, canary); err == nil {
		t.Error("not found")
	}
}

func TestFingerprintsAreNoLeak(t *testing.T) {
	directory := t.TempDir()
	sum := sha256.Sum256(canary[0])
	fingerprint := "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
	write(t, filepath.Join(directory, "terraform.tfstate"), []byte(fingerprint))
	if files, err := Leaks(directory, canary); err != nil || files != 1 {
		t.Errorf("%d files read, %v", files, err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
