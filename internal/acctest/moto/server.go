// Package moto runs the real moto server for tests, and puts a proxy of the tests in front of it
// that answers what the service would and moto does not: throttling, denials, a replica, a stale
// read, and above all a request that was carried out and whose response was lost.
//
// Start one Server per test binary, in TestMain, and take one Proxy per test: the proxies keep
// the faults and the request counts of tests apart. Tests share the server's accounts, so they
// choose unique names.
package moto

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// startLimit bounds the wait for the server's first answer. It starts in half a second; a loaded
// machine that compiles at the same time takes several.
const startLimit = 60 * time.Second

// Server is one running moto server.
type Server struct {
	// URL is the server itself, without a proxy, such as http://127.0.0.1:36979.
	URL string

	stop func()
}

// Start runs moto_server from PATH or, when there is none, from a virtual environment that it
// makes under .cache/moto of the module, saying so on progress (nil: silence). The caller closes
// the Server; on Unix it also ends with the test binary.
func Start(ctx context.Context, progress io.Writer) (*Server, error) {
	command, err := command(ctx, progress)
	if err != nil {
		return nil, err
	}
	command.Args = append(command.Args, "-H", "127.0.0.1", "-p", "0")
	return run(ctx, command)
}

// Close ends the server and waits for it. Calling it twice is harmless.
func (s *Server) Close() { s.stop() }

// listening matches the line by which the server names its port.
var listening = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

func run(ctx context.Context, command *exec.Cmd) (*Server, error) {
	stderr, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	program := command.Path
	stop, err := startTied(command)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	server := &Server{stop: sync.OnceFunc(stop)}
	address := make(chan string, 1)
	go watch(stderr, address)
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	select {
	case url, named := <-address:
		if !named {
			server.Close()
			return nil, fmt.Errorf("%s ended before it named its port", program)
		}
		server.URL = url
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("%s named no port: %w", program, ctx.Err())
	}
	if err := ready(ctx, server.URL); err != nil {
		server.Close()
		return nil, err
	}
	return server, nil
}

// watch reads the server's log to its end, so that the server never blocks on a full pipe. It
// sends the address when the log names it, and closes the channel when the log ends.
func watch(log io.Reader, address chan<- string) {
	defer close(address)
	lines := bufio.NewScanner(log)
	for named := false; lines.Scan(); {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil && !named {
			named = true
			address <- found[1]
		}
	}
	_, _ = io.Copy(io.Discard, log)
}

func ready(ctx context.Context, url string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet,
			strings.TrimSuffix(url, "/")+"/moto-api/data.json", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(response.Status)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("moto does not answer: %w (last: %w)", ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
