//go:build !windows

package wirecert_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/billetdev/terraform-provider-billet/internal/wirecert"
	"github.com/billetdev/terraform-provider-billet/internal/wirecert/wirecerttest"
)

func observe(t *testing.T, dir string) (wirecert.State, error) {
	t.Helper()
	return wirecert.Observe(t.Context(), dir, deployment)
}

// C13
func TestADirectoryWithoutAnAuthorityIsAbsentAndStaysAsItIs(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"missing":   os.Remove,
		"empty":     func(string) error { return nil },
		"empty ca":  func(d string) error { return os.Mkdir(d+"/ca", 0o755) },
		"lock only": func(d string) error { return os.WriteFile(d+"/ca.lock", nil, 0o600) },
		"an id": func(d string) error {
			return os.WriteFile(d+"/deployment-id", []byte(deployment+"\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "D")
			must(t, os.Mkdir(dir, 0o700))
			must(t, prepare(dir))
			before := tree(t, parent)
			state, err := observe(t, dir)
			must(t, err)
			if state.Authority != nil || state.Marker || state.Interrupted {
				t.Errorf("found %+v", state)
			}
			same(t, before, tree(t, parent))
		})
	}
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for p, text := range before {
		if after[p] != text {
			t.Errorf("%s changed", p)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s was created", p)
		}
	}
}

func TestAMarkerWithoutAnAuthorityIsReported(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/authority-created", []byte(deployment+"\n"), 0o644))
	state, err := observe(t, dir)
	must(t, err)
	if state.Authority != nil || !state.Marker {
		t.Errorf("found %+v", state)
	}
}

// B3
func TestLeftoversAreNamed(t *testing.T) {
	dir, p := minted(t)
	for _, name := range []string{"ca.key.new", ".billet-tmp123", "notes.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, "ca", name), []byte("x"), 0o644))
	}
	state, err := observe(t, dir)
	must(t, err)
	want := []string{".billet-tmp123", "ca.key.new", "notes.txt"}
	if !slices.Equal(state.Leftovers, want) {
		t.Errorf("leftovers %q, want %q", state.Leftovers, want)
	}
	if !state.Authority.Files().Equal(wirecerttest.Files(deployment, p, nil)) {
		t.Error("something else than the allowlist is carried")
	}
}

// B3
func TestANewKeyBesideAnOldCertificateIsAMismatch(t *testing.T) {
	dir, _ := minted(t)
	must(t, os.WriteFile(dir+"/ca/ca.key", pair(t, wirecerttest.Options{}).KeyPEM, 0o600))
	_, err := observe(t, dir)
	if !errors.Is(err, wirecert.ErrKeyMismatch) || !strings.Contains(err.Error(), dir+"/ca/ca.key") {
		t.Errorf("got %v", err)
	}
}

// C1, C6, C11: every fault of the directory is named, hangs nothing and changes nothing.
func TestWhatIsNotAWholeAuthorityIsRefusedAndStaysAsItIs(t *testing.T) {
	rm := func(name string) func(string) error {
		return func(d string) error { return os.Remove(filepath.Join(d, name)) }
	}
	chmod := func(mode fs.FileMode) func(string) error {
		return func(d string) error { return os.Chmod(d+"/ca/ca.key", mode) }
	}
	for name, c := range map[string]struct {
		prepare func(dir string) error
		want    error
		names   string
	}{
		"only the key":         {rm("ca/ca.crt"), wirecert.ErrIncomplete, "/ca/ca.crt"},
		"only the certificate": {rm("ca/ca.key"), wirecert.ErrIncomplete, "/ca/ca.key"},
		"zero-byte key": {func(d string) error { return os.Truncate(d+"/ca/ca.key", 0) },
			wirecert.ErrPEM, "/ca/ca.key"},
		"half a previous pair": {rm("ca/ca-previous.key"), wirecert.ErrIncomplete,
			"/ca/ca-previous.key"},
		"no marker":      {rm("authority-created"), wirecert.ErrNoMarker, "/authority-created"},
		"group readable": {chmod(0o640), wirecert.ErrKeyExposed, "chmod 600 "},
		"world readable": {chmod(0o644), wirecert.ErrKeyExposed, "chmod 600 "},
		"another id": {func(d string) error {
			return os.WriteFile(d+"/deployment-id", []byte(strings.Repeat("e", 32)+"\n"), 0o644)
		}, wirecert.ErrDeployment, strings.Repeat("e", 32)},
		"marker of another": {func(d string) error {
			return os.WriteFile(d+"/authority-created", []byte(strings.Repeat("e", 32)), 0o644)
		}, wirecert.ErrDeployment, deployment},
		"ca is a link": {func(d string) error {
			return errors.Join(os.Rename(d+"/ca", d+"/real"), os.Symlink("real", d+"/ca"))
		}, wirecert.ErrSymlink, "/ca"},
		"ca is a file": {func(d string) error {
			return errors.Join(os.RemoveAll(d+"/ca"), os.WriteFile(d+"/ca", nil, 0o600))
		}, wirecert.ErrNotDirectory, "/ca"},
		"the lock is a link": {func(d string) error {
			return os.Symlink("elsewhere", d+"/ca.lock")
		}, wirecert.ErrSymlink, "/ca.lock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rotated(t, dir)
			must(t, c.prepare(dir))
			before := tree(t, dir)
			_, err := observe(t, dir)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("got %v, want %v naming %s", err, c.want, c.names)
			}
			same(t, before, tree(t, dir))
		})
	}
}

// rotated writes an authority in the middle of a rotation, without a lock file.
func rotated(t *testing.T, dir string) {
	t.Helper()
	old := pair(t, wirecerttest.Options{})
	next := pair(t, wirecerttest.Options{Replaces: old.Fingerprint})
	must(t, wirecerttest.Write(dir, wirecerttest.Files(deployment, next, &old)))
}

// In place of each file: everything that is not a regular file is refused without being opened; a
// hard link is a regular file.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	kinds := map[string]struct {
		make func(path string) error
		want error
	}{
		"FIFO": {func(p string) error { return syscall.Mkfifo(p, 0o600) }, wirecert.ErrNotRegular},
		"socket": {func(p string) error {
			// The name may be longer than a socket's address can be.
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Base(p)})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return errors.Join(l.Close(), os.Rename(filepath.Base(p), p))
		}, wirecert.ErrNotRegular},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, wirecert.ErrNotRegular},
		"symlink": {func(p string) error { return os.Symlink(p+".kept", p) },
			wirecert.ErrSymlink},
		"dangling symlink": {func(p string) error { return os.Symlink("nowhere", p) },
			wirecert.ErrSymlink},
		"1 MiB and 1": {func(p string) error {
			return os.WriteFile(p, make([]byte, 1<<20+1), 0o600)
		}, wirecert.ErrTooLarge},
		"hard link": {func(p string) error { return os.Link(p+".kept", p) }, nil},
	}
	t.Chdir(t.TempDir())
	for kind, c := range kinds {
		for _, name := range append(wirecert.Names(), "ca.lock") {
			if name == "ca.lock" && kind == "1 MiB and 1" {
				continue // it is never read
			}
			t.Run(kind+" at "+name, func(t *testing.T) {
				dir := t.TempDir()
				rotated(t, dir)
				path := wirecert.Path(dir, name)
				if name == "ca.lock" {
					path = wirecert.LockPath(dir)
					must(t, os.WriteFile(path, nil, 0o600))
				}
				must(t, os.Rename(path, path+".kept"))
				must(t, c.make(path))
				before := statTree(t, dir)
				state, err := observe(t, dir)
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				if err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("%v does not name %s", err, path)
				}
				if err == nil && state.Authority == nil {
					t.Error("the authority was not read")
				}
				if after := statTree(t, dir); !slices.Equal(before, after) {
					t.Error("the directory changed")
				}
			})
		}
	}
}

func statTree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		list = append(list, p+info.Mode().String()+info.ModTime().String())
		return nil
	}))
	return list
}

func TestALinkHigherUpIsFineAndOneThatLeadsNowhereIsAnError(t *testing.T) {
	dir, p := minted(t)
	links := t.TempDir()
	must(t, os.Symlink(dir, links+"/D"))
	must(t, os.Symlink(links+"/unmounted", links+"/gone"))
	state, err := observe(t, links+"/D")
	must(t, err)
	if state.Authority.Info().Fingerprint != p.Fingerprint {
		t.Error("read something else")
	}
	for _, d := range []string{links + "/gone", links + "/gone/below"} {
		if _, err := observe(t, d); !errors.Is(err, wirecert.ErrNotDirectory) {
			t.Errorf("%s: got %v", d, err)
		}
	}
}

// C11: "cannot read" is never "absent". Root may read everything, so an ordinary user looks.
func TestWhatThisUserMayNotReadIsAnErrorAndNeverAbsent(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"key 0000":        func(d string) error { return os.Chmod(d+"/ca/ca.key", 0) },
		"certificate 000": func(d string) error { return os.Chmod(d+"/ca/ca.crt", 0) },
		"marker 0000":     func(d string) error { return os.Chmod(d+"/authority-created", 0) },
		"ca not searchable": func(d string) error {
			return os.Chmod(d+"/ca", 0o600)
		},
		"ca not readable": func(d string) error { return os.Chmod(d+"/ca", 0o300) },
		"D not searchable": func(d string) error {
			return os.Chmod(d, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(openDir(t), "D")
			_, err := wirecerttest.Mint(dir, wirecerttest.Options{})
			must(t, err)
			as := nobody(t, dir)
			must(t, prepare(dir))
			t.Cleanup(func() {
				_ = os.Chmod(dir, 0o700)
				_ = os.Chmod(dir+"/ca", 0o700)
			})
			out, err := runChild(t, "observe", dir, nil, as)
			if err == nil || !strings.Contains(out, "permission denied") ||
				!strings.Contains(out, dir) {
				t.Errorf("said %q, %v", out, err)
			}
		})
	}
}

func TestAnObserverNeedsNoWriteAccessAndLeavesEverythingAsItIs(t *testing.T) {
	dir := filepath.Join(openDir(t), "D")
	p, err := wirecerttest.Mint(dir, wirecerttest.Options{})
	must(t, err)
	as := nobody(t, dir)
	must(t, os.Chmod(dir+"/ca", 0o500))
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o700)
		_ = os.Chmod(dir+"/ca", 0o700)
	})
	before := tree(t, dir)
	out, err := runChild(t, "observe", dir, nil, as)
	if err != nil || strings.TrimSpace(out) != p.Fingerprint {
		t.Errorf("said %q, %v", out, err)
	}
	same(t, before, tree(t, dir))
}

// C14
func TestOneChangeBetweenTwoReadsIsReadAgain(t *testing.T) {
	dir, _ := minted(t)
	next := pair(t, wirecerttest.Options{})
	once := sync.OnceFunc(func() {
		must(t, os.WriteFile(dir+"/ca/ca.key", next.KeyPEM, 0o600))
		must(t, os.WriteFile(dir+"/ca/ca.crt", next.CertificatePEM, 0o644))
	})
	state, err := wirecert.ObserveBetween(t.Context(), dir, deployment, once)
	must(t, err)
	if got := state.Authority.Info().Fingerprint; got != next.Fingerprint {
		t.Errorf("read %s, want the next generation %s", got, next.Fingerprint)
	}
}

// C14
func TestAChangeBetweenEveryTwoReadsIsChangingAndNoCorruption(t *testing.T) {
	dir, p := minted(t)
	pairs := []wirecerttest.Pair{p, pair(t, wirecerttest.Options{})}
	i := 0
	_, err := wirecert.ObserveBetween(t.Context(), dir, deployment, func() {
		i++
		must(t, os.WriteFile(dir+"/ca/ca.key", pairs[i%2].KeyPEM, 0o600))
	})
	if !errors.Is(err, wirecert.ErrChanging) || errors.Is(err, wirecert.ErrKeyMismatch) {
		t.Errorf("got %v", err)
	}
}

// C14: a mixed pair that stands for a moment, as between a writer's two renames, is waited out.
func TestAMixedPairThatStandsForAMomentIsNoCorruption(t *testing.T) {
	dir, _ := minted(t)
	next := pair(t, wirecerttest.Options{})
	must(t, os.WriteFile(dir+"/ca/ca.key", next.KeyPEM, 0o600))
	reads := 0
	state, err := wirecert.ObserveBetween(t.Context(), dir, deployment, func() {
		if reads++; reads == 8 {
			must(t, os.WriteFile(dir+"/ca/ca.crt", next.CertificatePEM, 0o644))
		}
	})
	must(t, err)
	if state.Authority.Info().Fingerprint != next.Fingerprint {
		t.Error("read something else")
	}
}

// C14: so is an absence, where a writer has been: it may be about to name the next generation.
func TestAnAbsenceThatStandsForAMomentIsNoFirstDay(t *testing.T) {
	dir, p := minted(t)
	must(t, os.WriteFile(dir+"/ca.lock", nil, 0o600))
	for _, name := range []string{"ca", "authority-created"} {
		must(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+".aside")))
	}
	reads := 0
	state, err := wirecert.ObserveBetween(t.Context(), dir, deployment, func() {
		if reads++; reads == 8 {
			for _, name := range []string{"authority-created", "ca"} {
				must(t, os.Rename(filepath.Join(dir, name+".aside"), filepath.Join(dir, name)))
			}
		}
	})
	must(t, err)
	if state.Authority == nil || state.Authority.Info().Fingerprint != p.Fingerprint {
		t.Errorf("found %+v", state)
	}
}

// C14
func TestARealWriterLoopNeverShowsAMixedPairOrCorruption(t *testing.T) {
	dir, _ := minted(t)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			_, _, err := wirecerttest.Rotate(t.Context(), dir, deployment)
			if err == nil {
				err = wirecerttest.Retire(t.Context(), dir)
			}
			if err != nil {
				done <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	whole := 0
	for range 200 {
		state, err := observe(t, dir)
		switch {
		case errors.Is(err, wirecert.ErrChanging):
		case err != nil:
			t.Errorf("got %v", err)
		case state.Authority == nil:
			t.Error("an authority in rotation was taken for none")
		default:
			whole++
			i := state.Authority.Info()
			if i.PreviousFingerprint != "" && i.Replaces != i.PreviousFingerprint {
				t.Errorf("mixed generations: replaces %s, previous %s", i.Replaces,
					i.PreviousFingerprint)
			}
		}
	}
	close(stop)
	must(t, <-done)
	if whole == 0 {
		t.Error("no observation ever succeeded")
	}
	t.Logf("%d of 200 observations succeeded", whole)
}
