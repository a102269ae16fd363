package connect

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
)

// S15
func TestALazyAccountIsOpenedOnFirstUseAndOnce(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	settings := static(proxy.URL)
	settings.DefaultTags = map[string]string{"team": "net"}
	lazy := NewLazyAccount(settings, os.LookupEnv, testUserAgent)
	if tags := lazy.DefaultTags(); tags["team"] != "net" || len(lazy.Unknown()) != 0 {
		t.Errorf("tags %v, unknown %v", tags, lazy.Unknown())
	}
	if calls := proxy.Calls(); len(calls) != 0 {
		t.Errorf("asked %v before the first use", calls)
	}
	accounts := make([]*Account, 30)
	var using sync.WaitGroup
	for i := range accounts {
		using.Go(func() {
			account, err := lazy.Open(t.Context())
			if err != nil {
				t.Error(err)
			}
			accounts[i] = account
		})
	}
	using.Wait()
	if len(slices.Compact(accounts)) != 1 || !slices.Equal(proxy.Calls(), []string{"GetCallerIdentity"}) {
		t.Errorf("asked %v", proxy.Calls())
	}
}

func TestALazyAccountDoesNotKeepAnError(t *testing.T) {
	bareMachine(t)
	proxy := awsProxy(t)
	settings := static(proxy.URL)
	settings.MaxRetries = new(int)
	lazy := NewLazyAccount(settings, os.LookupEnv, testUserAgent)
	proxy.Inject(moto.LoseRequest("GetCallerIdentity", 1))
	if account, err := lazy.Open(t.Context()); err == nil || account != nil {
		t.Errorf("got %v, %v", account != nil, err)
	}
	if account, err := lazy.Open(t.Context()); err != nil || account.ID() != "123456789012" {
		t.Errorf("got %v", err)
	}
}

func TestALazyAccountNamesWhatIsUnknown(t *testing.T) {
	settings := static("")
	settings.Unknown = []string{"assume_role[1].role_arn"}
	lazy := NewLazyAccount(settings, os.LookupEnv, testUserAgent)
	if !slices.Equal(lazy.Unknown(), settings.Unknown) {
		t.Errorf("unknown %v", lazy.Unknown())
	}
	_, err := lazy.Open(t.Context())
	wantFault(t, err, "assume_role[1].role_arn", "")
}
