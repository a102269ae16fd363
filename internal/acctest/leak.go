package acctest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// spellings are the ways in which a key could stand in a text: raw, hexadecimal, in base64 as in
// the Secret, and each of these in base64 once more at any offset.
func spellings(key []byte) [][]byte {
	plain := [][]byte{key, []byte(hex.EncodeToString(key)),
		bytes.TrimRight([]byte(base64.StdEncoding.EncodeToString(key)), "=")}
	all := append([][]byte(nil), plain...)
	for _, text := range plain {
		for offset := range 3 {
			// The characters at both ends depend on what stands beside the text.
			shifted := append(make([]byte, offset), text...)
			encoded := base64.StdEncoding.EncodeToString(shifted)
			all = append(all, []byte(encoded[4:len(encoded)-4]))
		}
	}
	return all
}

// Leaks searches every file that Terraform wrote under the directory, plan files unpacked, for the
// keys. It returns how many files it read.
func Leaks(directory string, keys [][]byte) (files int, err error) {
	err = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := search(path, content, keys); err != nil || !strings.HasSuffix(path, ".tfplan") {
			return err
		}
		return searchArchive(path, content, keys)
	})
	return files, err
}

func searchArchive(path string, content []byte, keys [][]byte) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, member := range archive.File {
		reader, err := member.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(reader)
		if err := errors.Join(err, reader.Close()); err != nil {
			return err
		}
		if err := search(path+"/"+member.Name, text, keys); err != nil {
			return err
		}
	}
	return nil
}

func search(path string, content []byte, keys [][]byte) error {
	for _, key := range keys {
		for _, spelling := range spellings(key) {
			if bytes.Contains(content, spelling) {
				return fmt.Errorf("there is key material in %s", path)
			}
		}
	}
	return nil
}
