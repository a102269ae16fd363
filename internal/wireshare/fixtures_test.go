package wireshare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
)

const deployment = wirecerttest.Deployment

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newPair(t testing.TB, o wirecerttest.Options) wirecerttest.Pair {
	t.Helper()
	p, err := wirecerttest.NewPair(o)
	must(t, err)
	return p
}

// whole returns a checked authority.
func whole(
	t testing.TB, current wirecerttest.Pair, previous *wirecerttest.Pair,
) *wirecert.Authority {
	t.Helper()
	a, err := wirecert.CheckFiles(wirecerttest.Files(deployment, current, previous), deployment,
		func(name string) string { return name })
	must(t, err)
	return a
}

func newAuthority(
	t testing.TB, o wirecerttest.Options, previous *wirecerttest.Pair,
) *wirecert.Authority {
	t.Helper()
	return whole(t, newPair(t, o), previous)
}

func encode(t testing.TB, a *wirecert.Authority) []byte {
	t.Helper()
	body, err := wireshare.EncodeDocument(a, deployment, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	must(t, err)
	return body
}

// install writes the authority into a new state directory; nil leaves it empty.
func install(t testing.TB, a *wirecert.Authority) string {
	t.Helper()
	dir := t.TempDir()
	if a != nil {
		must(t, wirecerttest.Write(dir, a.Files()))
	}
	return dir
}

// memory is a store in memory that counts its calls and can be told to misbehave.
type memory struct {
	mu          sync.Mutex
	body        []byte
	revision    int
	reads, puts int
	// beforeRead and beforeSwap run before the call that carries the number, counted from 1.
	beforeRead, beforeSwap func(m *memory, n int)
	// swap answers in place of the store, after which the body is as it left it.
	swap func(m *memory, body []byte) error
}

var errUnreachable = errors.New("the store cannot be reached")

func (m *memory) GetAuthority(ctx context.Context) ([]byte, error) {
	body, _, err := m.ReadAuthority(ctx)
	return body, err
}

func (m *memory) PutAuthority(_ context.Context, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(body)
	return nil
}

func (m *memory) ReadAuthority(ctx context.Context) ([]byte, wireshare.Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	m.reads++
	if m.beforeRead != nil {
		m.beforeRead(m, m.reads)
	}
	if m.body == nil {
		return nil, "", wireshare.ErrNoAuthority
	}
	return m.body, m.version(), nil
}

func (m *memory) SwapAuthority(_ context.Context, body []byte, read wireshare.Version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.beforeSwap != nil {
		m.beforeSwap(m, m.puts+1)
	}
	if m.version() != read {
		return fmt.Errorf("memory: %w", wireshare.ErrChanged)
	}
	if m.swap != nil {
		m.puts++
		return m.swap(m, body)
	}
	m.set(body)
	return nil
}

// set is what another writer does, too.
func (m *memory) set(body []byte) {
	m.puts++
	m.body = body
	m.revision++
}

func (m *memory) version() wireshare.Version {
	if m.body == nil {
		return ""
	}
	return wireshare.Version(fmt.Sprint(m.revision))
}

// privateKeys returns the bytes of each private key of the state directory.
func privateKeys(t *testing.T, dir string) [][]byte {
	t.Helper()
	var keys [][]byte
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".key" {
			return err
		}
		data, err := os.ReadFile(path)
		keys = append(keys, data)
		return err
	}))
	return keys
}

// keysKept makes sure that each key that was on the host still is, if only moved aside.
func keysKept(t *testing.T, dir string, before [][]byte, where string) {
	t.Helper()
	now := privateKeys(t, dir)
	for _, key := range before {
		found := false
		for _, other := range now {
			found = found || bytes.Equal(key, other)
		}
		if !found {
			t.Errorf("%s: a private key is lost", where)
		}
	}
}
