package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/billetdev/terraform-provider-billet/internal/acctest"
)

// part is one thing that the demo shows, made of steps.
type part struct {
	title string
	play  func(*stage) error
}

// stage is what a part has to play on.
type stage struct {
	ctx context.Context
	out io.Writer
	// directory is the part's own, empty at the start.
	directory string
	// mirror holds the provider, for acctest.NewTerraform.
	mirror string
	// cluster waits for the control plane, which is being built or started meanwhile.
	cluster func(context.Context) (*acctest.Cluster, error)

	steps int
}

// step says what comes, does it, and puts what it was about before an error.
func (s *stage) step(what string, do func() error) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.steps++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.steps, what)
	if err := do(); err != nil {
		return fmt.Errorf("step %d, %s: %w", s.steps, what, err)
	}
	return nil
}

// say prints one line of what a step saw.
func (s *stage) say(format string, arguments ...any) {
	fmt.Fprintf(s.out, "   "+format+"\n", arguments...)
}

// write puts a file into the part's directory.
func (s *stage) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.directory, name), []byte(text), 0o600)
}

// quote prints a text of Terraform's, wrapped and marked as such.
func (s *stage) quote(text string) {
	const width = 88
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				s.say("| %s", line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		s.say("| %s", line)
	}
}
