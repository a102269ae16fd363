package parameterstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

func TestTheCallsOfEachOperation(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	if _, version, err := store.ReadAuthority(t.Context()); version != "" ||
		!errors.Is(err, wireshare.ErrNoAuthority) {
		t.Errorf("absent: %q, %v", version, err)
	}
	wantCalls(t, b, "GetParameter")
	b.proxy.Forget()
	if err := store.SwapAuthority(t.Context(), document("A"), ""); err != nil {
		t.Fatal(err)
	}
	wantCalls(t, b, "PutParameter", "GetParameter")
	b.proxy.Forget()
	body, read, err := store.ReadAuthority(t.Context())
	if err != nil || string(body) != string(document("A")) {
		t.Errorf("read: %v", err)
	}
	wantCalls(t, b, "GetParameter")
	b.proxy.Forget()
	if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
		t.Fatal(err)
	}
	wantCalls(t, b, "GetParameter", "PutParameter", "GetParameter")
	wantHistory(t, b, document("A"), document("B"))
}

// S8, S9, S10: what billet's own reader and writer expect, and no other tier ever.
func TestTheParameterIsTheOneThatBilletUses(t *testing.T) {
	for _, key := range []string{"", "alias/billet"} {
		b := newBench(t)
		store := b.store(t, func(c *Config) { c.KMSKeyID = key })
		puts := 0
		b.proxy.Inject(moto.Fault{Operation: "PutParameter",
			Act: func(x *moto.Exchange) moto.Answer {
				puts++
				overwrite := strings.Contains(string(x.Request), `"Overwrite":true`)
				if x.Input("Tier") != "Intelligent-Tiering" || x.Input("Type") != "SecureString" ||
					x.Input("KeyId") != key || overwrite != (puts > 1) ||
					x.Input("Name") != b.prefix+"/node-wire-authority" {
					t.Errorf("put %d: tier %s, type %s, key %s, overwrite %v", puts,
						x.Input("Tier"), x.Input("Type"), x.Input("KeyId"), overwrite)
				}
				return x.Forward()
			}})
		publish(t, store, document("A"))
		publish(t, store, document("B"))
		if puts != 2 {
			t.Errorf("%d puts", puts)
		}
	}
}

// K1, S11, S18
func TestAFailedReadIsNeverNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault moto.Fault
		kind  awscall.Kind
		words string
		tries int
	}{
		{"throttled for ever", moto.Throttle("GetParameter", 0), awscall.Throttled,
			"Rate exceeded", 6},
		{"unavailable for ever", moto.Unavailable("GetParameter", 0), awscall.Unavailable,
			"Service is unavailable", 6},
		{"denied", moto.Deny("GetParameter"), awscall.Denied, "kms:Decrypt", 1},
		{"key denied", moto.DenyKMS("GetParameter"), awscall.Denied,
			"Access to KMS is not allowed", 1},
		{"key unusable", moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Refusal(400, "InvalidKeyId", "no such key")
		}}, awscall.Key, "no such key", 1},
		{"another thing not found", moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Refusal(400, "ParameterVersionNotFound", "no such version")
		}}, awscall.Other, "no such version", 1},
		{"cut connections", moto.LoseRequest("GetParameter", 0), awscall.NoAnswer, "EOF", 6},
		{"404 of a proxy", moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 404, Body: []byte("<html>not found</html>")}
		}}, awscall.NoAnswer, "404", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			store := b.store(t)
			publish(t, store, document("A"))
			b.proxy.Forget()
			b.proxy.Inject(test.fault)
			_, _, err := store.ReadAuthority(t.Context())
			var failure *awscall.Error
			if !errors.As(err, &failure) || errors.Is(err, wireshare.ErrNoAuthority) ||
				failure.Kind != test.kind || !strings.Contains(err.Error(), test.words) ||
				!strings.Contains(err.Error(), b.prefix) {
				t.Errorf("got %v", err)
			}
			wantCalls(t, b, strings.Fields(strings.Repeat("GetParameter ", test.tries))...)
		})
	}
}

func TestAnswersAboutSomethingElseAreErrors(t *testing.T) {
	for _, body := range []string{`{}`, `{"Parameter":{}}`,
		`{"Parameter":{"Name":"/other","Type":"SecureString","Value":"x","Version":1}}`} {
		b := newBench(t)
		b.proxy.Inject(moto.Fault{Act: func(*moto.Exchange) moto.Answer {
			return moto.Answer{Status: 200, Body: []byte(body)}
		}})
		if _, _, err := b.store(t).ReadAuthority(t.Context()); err == nil ||
			errors.Is(err, wireshare.ErrNoAuthority) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// S10
func TestAParameterMadeElsewhereMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrange func(*testing.T, *bench)
		check   func(error) bool
		history []byte
	}{
		{"with the same bytes", func(t *testing.T, b *bench) {
			publish(t, b.other(), document("A"))
		}, func(err error) bool { return err == nil }, document("A")},
		{"with another document", func(t *testing.T, b *bench) {
			publish(t, b.other(), document("W"))
		}, func(err error) bool { return errors.Is(err, wireshare.ErrChanged) }, document("W")},
		{"as plain text", func(t *testing.T, b *bench) {
			plainParameter(t, b, "plain")
		}, func(err error) bool {
			var plain *TypeError
			return errors.Is(err, wireshare.ErrChanged) && errors.As(err, &plain)
		}, []byte("plain")},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			test.arrange(t, b)
			err := b.store(t).SwapAuthority(t.Context(), document("A"), "")
			if !test.check(err) {
				t.Errorf("got %v", err)
			}
			wantHistory(t, b, test.history)
		})
	}
}

func TestAPlainParameterIsNeitherReadNorOverwritten(t *testing.T) {
	b := newBench(t)
	plainParameter(t, b, string(document("A")))
	store := b.store(t)
	var plain *TypeError
	if _, _, err := store.ReadAuthority(t.Context()); !errors.As(err, &plain) {
		t.Errorf("read: %v", err)
	}
	if err := store.PutAuthority(t.Context(), document("B")); !errors.As(err, &plain) {
		t.Errorf("publish: %v", err)
	}
	wantHistory(t, b, document("A"))
}

func TestALaterPublishFromAnOldReadWritesNothing(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	old := publish(t, store, document("A"))
	publish(t, store, document("B"))
	for _, read := range []wireshare.Version{old, "", "7@7"} {
		if err := store.SwapAuthority(t.Context(), document("C"), read); !errors.Is(err,
			wireshare.ErrChanged) {
			t.Errorf("from %q: %v", read, err)
		}
	}
	wantHistory(t, b, document("A"), document("B"))
}

// A parameter deleted and made anew has the old number again.
func TestAParameterMadeAnewIsAnotherVersion(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	old := publish(t, store, document("A"))
	if err := store.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := store.SwapAuthority(t.Context(), document("B"), old); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("while gone: %v", err)
	}
	again := publish(t, b.other(), document("W"))
	if old == again || !strings.HasPrefix(string(again), "1@") {
		t.Errorf("versions %q and %q", old, again)
	}
	if err := store.SwapAuthority(t.Context(), document("B"), old); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("after: %v", err)
	}
	wantHistory(t, b, document("W"))
}

// The limit of the service's interface: a writer between the look and the write is overwritten,
// and reported with both version numbers.
func TestAWriterInBetweenIsReported(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	b.proxy.Inject(moto.Fault{Operation: "PutParameter", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			publish(t, b.other(), document("W"))
			return x.Forward()
		}})
	err := store.SwapAuthority(t.Context(), document("B"), read)
	var overwritten *OverwrittenError
	if !errors.Is(err, wireshare.ErrChanged) || !errors.As(err, &overwritten) ||
		overwritten.Lost != 2 || overwritten.Now != 3 {
		t.Errorf("got %v", err)
	}
	wantHistory(t, b, document("A"), document("W"), document("B"))
}

// The write failed, and another writer was faster meanwhile: it is not tried again.
func TestAWriterBeforeAFailedWriteIsReported(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	b.proxy.Inject(moto.Fault{Operation: "PutParameter", Times: 1,
		Act: func(*moto.Exchange) moto.Answer {
			publish(t, b.other(), document("W"))
			return moto.Refusal(503, "ServiceUnavailable", "Service is unavailable")
		}})
	err := store.SwapAuthority(t.Context(), document("B"), read)
	var overwritten *OverwrittenError
	if !errors.Is(err, wireshare.ErrChanged) || errors.As(err, &overwritten) {
		t.Errorf("got %v", err)
	}
	wantHistory(t, b, document("A"), document("W"))
}

func TestADeletionInBetweenIsReported(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	publish(t, store, document("A"))
	read := publish(t, store, document("B"))
	b.proxy.Inject(moto.Fault{Operation: "PutParameter", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			if err := b.other().Delete(t.Context(), read); err != nil {
				t.Error(err)
			}
			return x.Forward()
		}})
	if err := store.SwapAuthority(t.Context(), document("C"), read); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

func TestAWriterRightAfterIsReported(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	b.proxy.Inject(moto.Fault{Operation: "PutParameter", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			answer := x.Forward()
			publish(t, b.other(), document("W"))
			return answer
		}})
	if err := store.SwapAuthority(t.Context(), document("B"), read); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("got %v", err)
	}
	wantHistory(t, b, document("A"), document("B"), document("W"))
}

// B4: no second version of the same content, on either way to publish, however often the response
// is lost.
func TestALostResponseIsNoticedByNobody(t *testing.T) {
	for _, first := range []bool{true, false} {
		for _, operation := range []string{"PutParameter", "GetParameter"} {
			for _, times := range []int{1, 3} {
				b := newBench(t)
				store := b.store(t)
				read, want := wireshare.Version(""), [][]byte{document("B")}
				if !first {
					read = publish(t, store, document("A"))
					want = [][]byte{document("A"), document("B")}
				}
				b.proxy.Inject(moto.LoseResponse(operation, times))
				if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
					t.Errorf("first %v, %s: %v", first, operation, err)
				}
				wantHistory(t, b, want...)
			}
		}
	}
}

// The response of the write is lost and the read that settles it is old: written twice, and still
// a success, because the version in between is this publish's own.
func TestAnOwnVersionInBetweenIsNoOtherWriter(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	stale := moto.StaleRead("GetParameter", 1)
	stale.Skip = 1
	b.proxy.Inject(moto.LoseResponse("PutParameter", 1), stale)
	if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
		t.Error(err)
	}
	wantHistory(t, b, document("A"), document("B"), document("B"))
}

// S18
func TestShortFailuresAreNotNoticed(t *testing.T) {
	for _, fault := range []moto.Fault{
		moto.Throttle("PutParameter", 3), moto.TooManyUpdates(3),
		moto.ThrottleAfter("PutParameter", 3, "0"), moto.Unavailable("PutParameter", 3),
		moto.LoseRequest("PutParameter", 3), moto.Throttle("GetParameter", 3),
	} {
		for _, first := range []bool{true, false} {
			b := newBench(t)
			store := b.store(t)
			read, want := wireshare.Version(""), 1
			if !first {
				read, want = publish(t, store, document("A")), 2
			}
			b.proxy.Inject(fault)
			if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
				t.Errorf("first %v: %v", first, err)
			}
			if got := len(b.history(t)); got != want {
				t.Errorf("first %v: %d versions", first, got)
			}
		}
	}
}

// S18, K1, S11
func TestAFailedPublishLeavesTheValue(t *testing.T) {
	for _, test := range []struct {
		fault moto.Fault
		kind  awscall.Kind
	}{
		{moto.Throttle("PutParameter", 0), awscall.Throttled},
		{moto.TooManyUpdates(0), awscall.Throttled},
		{moto.Unavailable("PutParameter", 0), awscall.Unavailable},
		{moto.LoseRequest("PutParameter", 0), awscall.NoAnswer},
		{moto.Deny("PutParameter"), awscall.Denied},
		{moto.DenyKMS("PutParameter"), awscall.Denied},
	} {
		for _, first := range []bool{true, false} {
			b := newBench(t)
			store := b.store(t)
			read, want := wireshare.Version(""), 0
			if !first {
				read, want = publish(t, store, document("A")), 1
			}
			b.proxy.Forget()
			b.proxy.Inject(test.fault)
			err := store.SwapAuthority(t.Context(), document("B"), read)
			var failure *awscall.Error
			if !errors.As(err, &failure) || failure.Call != "PutParameter" ||
				failure.Kind != test.kind {
				t.Errorf("first %v: %v", first, err)
				continue
			}
			if test.kind == awscall.Throttled && failure.Attempts != 6 {
				t.Errorf("%d attempts in the error", failure.Attempts)
			}
			if len(b.history(t)) != want || b.proxy.Count("PutParameter") > 6 {
				t.Errorf("first %v: %d puts", first, b.proxy.Count("PutParameter"))
			}
		}
	}
}

// S4
func TestReadingBackWaitsForTheWriteToShow(t *testing.T) {
	for _, fault := range []moto.Fault{
		moto.NotFound("GetParameter", 2), moto.StaleRead("GetParameter", 1),
		moto.StaleRead("GetParameter", 3),
	} {
		for _, first := range []bool{true, false} {
			b := newBench(t)
			store := b.store(t)
			read := wireshare.Version("")
			if !first {
				read = publish(t, store, document("A"))
				fault.Skip = 1 // the look before the write
			}
			b.proxy.Inject(fault)
			if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
				t.Error(err)
			}
		}
	}
}

// S4
func TestAWriteThatNeverShowsIsReportedAsAccepted(t *testing.T) {
	for _, fault := range []moto.Fault{
		moto.NotFound("GetParameter", 0), moto.StaleRead("GetParameter", 0),
		moto.Deny("GetParameter"),
	} {
		b := newBench(t)
		store := b.store(t)
		read := publish(t, store, document("A"))
		fault.Skip = 1
		b.proxy.Inject(fault)
		err := store.SwapAuthority(t.Context(), document("B"), read)
		if !errors.Is(err, wireshare.ErrNotConfirmed) || b.slept.Load() > int64(20e9) {
			t.Errorf("got %v", err)
		}
		b.proxy.Heal()
		if body, err := store.GetAuthority(t.Context()); err != nil ||
			string(body) != string(document("B")) {
			t.Errorf("read again: %v", err)
		}
	}
}

// B4
func TestAPublishThatCannotBeSettledFails(t *testing.T) {
	for _, first := range []bool{true, false} {
		b := newBench(t)
		store := b.store(t)
		read := wireshare.Version("")
		denied := moto.Deny("GetParameter")
		if !first {
			read = publish(t, store, document("A"))
			denied.Skip = 1
		}
		b.proxy.Inject(moto.LoseResponse("PutParameter", 0), denied)
		err := store.SwapAuthority(t.Context(), document("B"), read)
		if err == nil || errors.Is(err, wireshare.ErrChanged) ||
			!strings.Contains(err.Error(), "PutParameter") ||
			!strings.Contains(err.Error(), "GetParameter") {
			t.Errorf("got %v", err)
		}
	}
}

// S8
func TestSizesAreAnsweredBeforeTheCall(t *testing.T) {
	b := newBench(t)
	b.proxy.Inject(moto.SizeLimits()...)
	store := b.store(t)
	publish(t, store, document("A"))
	read := publish(t, store, []byte(strings.Repeat("x", SizeLimit)))
	b.proxy.Forget()
	long := []byte(strings.Repeat("x", SizeLimit+1))
	for call, err := range map[string]error{
		"SwapAuthority": store.SwapAuthority(t.Context(), long, read),
		"CheckPublish":  store.CheckPublish(t.Context(), len(long)),
	} {
		var size *SizeError
		if !errors.As(err, &size) || size.Size != len(long) || size.Limit != SizeLimit ||
			!strings.Contains(err.Error(), "8193") {
			t.Errorf("%s: %v", call, err)
		}
	}
	for _, body := range [][]byte{nil, {0xff, 0xfe}} {
		if err := store.SwapAuthority(t.Context(), body, read); err == nil {
			t.Errorf("%v was taken", body)
		}
	}
	wantCalls(t, b)
	if got := len(b.history(t)); got != 2 {
		t.Errorf("%d versions", got)
	}
}

func TestDeleteDeletesOnlyWhatWasRead(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	old := publish(t, store, document("A"))
	version := publish(t, store, document("B"))
	for _, wrong := range []wireshare.Version{old, ""} {
		if err := store.Delete(t.Context(), wrong); !errors.Is(err, wireshare.ErrChanged) {
			t.Errorf("expecting %q: %v", wrong, err)
		}
	}
	if b.proxy.Count("DeleteParameter") != 0 {
		t.Fatal("a deletion was requested")
	}
	b.proxy.Inject(moto.LoseResponse("DeleteParameter", 1))
	for range 2 {
		if err := store.Delete(t.Context(), version); err != nil {
			t.Error(err)
		}
	}
	if b.history(t) != nil {
		t.Error("it is still there")
	}
	version = publish(t, store, document("C"))
	b.proxy.Inject(moto.Deny("DeleteParameter"))
	var failure *awscall.Error
	if err := store.Delete(t.Context(), version); !errors.As(err, &failure) ||
		failure.Kind != awscall.Denied {
		t.Errorf("denied: %v", err)
	}
}

// T6
func TestNoErrorTextHoldsTheDocument(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	b.proxy.Inject(moto.EchoInput("PutParameter"))
	err := store.SwapAuthority(t.Context(), document("B"), "")
	if err == nil {
		t.Fatal("no error")
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), "S2V5TWF0ZXJpYWw") {
			t.Errorf("the text holds the document: %T", err)
		}
	}
}

// What billet itself would do with the parameter: read it decrypted.
func TestBilletReadsWhatIsPublished(t *testing.T) {
	b := newBench(t)
	publish(t, b.store(t), document("A"))
	name, decrypt := b.prefix+"/node-wire-authority", true
	output, err := b.direct.GetParameter(t.Context(),
		&ssm.GetParameterInput{Name: &name, WithDecryption: &decrypt})
	if err != nil || aws.ToString(output.Parameter.Value) != string(document("A")) ||
		output.Parameter.Type != types.ParameterTypeSecureString {
		t.Errorf("got %v", err)
	}
}
