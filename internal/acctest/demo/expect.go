package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// expect is nil if what a step claims is so.
func expect(so bool, otherwise string) error {
	if so {
		return nil
	}
	return errors.New(otherwise)
}

// expectFile fails for a file that is missing or empty: a search that read nothing proves nothing.
func expectFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return expect(info.Size() > 0, fmt.Sprintf("%s is empty", path))
}

// mention says whether one diagnostic of the severity holds all the texts.
func mention(said []diagnostic, severity string, texts ...string) bool {
	for _, one := range said {
		all := one.Severity == severity
		for _, text := range texts {
			all = all && strings.Contains(one.Summary+"\n"+one.Detail, text)
		}
		if all {
			return true
		}
	}
	return false
}
