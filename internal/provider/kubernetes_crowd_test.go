package provider

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// barrier holds requests back until a number of them is there at once. A client that lets fewer
// through is one that waits for itself; then the deadline ends it.
type barrier struct {
	mu      sync.Mutex
	waiting int
	count   int
	open    chan struct{}
}

const barrierDeadline = 60 * time.Second

func newBarrier(count int) *barrier { return &barrier{count: count, open: make(chan struct{})} }

func (b *barrier) hold(method string) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != method {
			return false
		}
		b.mu.Lock()
		if b.waiting++; b.waiting == b.count {
			close(b.open)
		}
		b.mu.Unlock()
		select {
		case <-b.open:
		case <-time.After(barrierDeadline):
		}
		return false
	}
}

func (b *barrier) passed(t *testing.T, what string) {
	t.Helper()
	select {
	case <-b.open:
	default:
		t.Errorf("never %d %s at once, but %d in all", b.count, what, b.waiting)
	}
}

// throttle answers the first request for each path with 429 and Retry-After.
type throttle struct {
	mu    sync.Mutex
	asked map[string][]time.Time
}

const throttleWait = time.Second

func newThrottle() *throttle { return &throttle{asked: map[string][]time.Time{}} }

func (s *throttle) once(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.URL.Path] = append(s.asked[r.URL.Path], time.Now())
	if len(s.asked[r.URL.Path]) > 1 {
		return false
	}
	w.Header().Set("Retry-After", "1")
	status(http.StatusTooManyRequests, "TooManyRequests", "")(w, r)
	return true
}

// obeyed fails unless each path was asked again, and none before the wait was over.
func (s *throttle) obeyed(t *testing.T, paths int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) != paths {
		t.Errorf("%d paths were asked for, want %d", len(s.asked), paths)
	}
	for path, times := range s.asked {
		if len(times) < 2 || times[1].Sub(times[0]) < throttleWait {
			t.Errorf("%s: asked at %v", path, times)
		}
	}
}
