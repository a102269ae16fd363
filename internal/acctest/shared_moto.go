package acctest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

// sharedMoto is the one moto server of a test binary.
var sharedMoto struct {
	sync.Mutex
	server *moto.Server
}

// SharedMoto returns the one moto server of this test binary, started when first asked for. Main
// stops it.
func SharedMoto(t testing.TB) *moto.Server {
	t.Helper()
	sharedMoto.Lock()
	defer sharedMoto.Unlock()
	if sharedMoto.server == nil {
		server, err := moto.Start(context.Background(), os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		sharedMoto.server = server
	}
	return sharedMoto.server
}

func stopMoto() {
	sharedMoto.Lock()
	defer sharedMoto.Unlock()
	if sharedMoto.server != nil {
		sharedMoto.server.Close()
	}
}
