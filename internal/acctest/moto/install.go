package moto

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// requirement is what the virtual environment holds: the line of releases the tests were written
// against.
const requirement = "moto[server]==5.2.*"

// command finds the server, or makes it.
func command(ctx context.Context, progress io.Writer) (*exec.Cmd, error) {
	if path, err := exec.LookPath("moto_server"); err == nil {
		return exec.Command(path), nil
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	python, err := install(ctx, filepath.Join(root, ".cache"), progress)
	if err != nil {
		return nil, fmt.Errorf("moto_server is not on PATH and could not be installed: %w", err)
	}
	return exec.Command(python, "-m", "moto.server"), nil
}

// install returns the interpreter of the virtual environment cache/moto, making it first if it is
// not there. It is built beside its place and renamed when whole, so an interrupted run leaves
// nothing that looks finished, and a lock lets the test binaries of one run share one download.
func install(ctx context.Context, cache string, progress io.Writer) (string, error) {
	if progress == nil {
		progress = io.Discard
	}
	place := filepath.Join(cache, "moto")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(place + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(interpreter(place)); err == nil {
		return interpreter(place), nil
	}
	fmt.Fprintf(progress, "moto_server is not on PATH: installing %s into %s\n",
		requirement, place)
	building := place + ".new"
	if err := os.RemoveAll(building); err != nil {
		return "", err
	}
	if err := build(ctx, building, progress); err != nil {
		return "", err
	}
	if err := os.RemoveAll(place); err != nil {
		return "", err
	}
	return interpreter(place), os.Rename(building, place)
}

func build(ctx context.Context, directory string, progress io.Writer) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("Python 3 is needed: %w", err)
	}
	steps := [][]string{
		{python, "-m", "venv", directory},
		{interpreter(directory), "-m", "pip", "install", "--quiet",
			"--disable-pip-version-check", requirement},
	}
	for _, step := range steps {
		command := exec.CommandContext(ctx, step[0], step[1:]...)
		command.Stdout, command.Stderr = progress, progress
		if err := command.Run(); err != nil {
			return fmt.Errorf("%v: %w", step, err)
		}
	}
	return nil
}

func interpreter(environment string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(environment, "Scripts", "python.exe")
	}
	return filepath.Join(environment, "bin", "python")
}

// moduleRoot is the directory of go.mod above the test binary's working directory.
func moduleRoot() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return "", errors.New("no go.mod above the working directory")
		}
		directory = parent
	}
}
