package secretsmanagerstore

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/billetdev/terraform-provider-billet/internal/acctest/moto"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare"
	"github.com/billetdev/terraform-provider-billet/internal/wireshare/awscall"
)

// At most four calls beyond the read.
func TestTheCallsOfAPublish(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrange func(*testing.T, *bench)
		calls   []string
	}{
		{"absent", func(*testing.T, *bench) {},
			[]string{"DescribeSecret", "CreateSecret", "GetSecretValue"}},
		{"empty", func(t *testing.T, b *bench) { emptySecret(t, b) }, // S3
			[]string{"DescribeSecret", "PutSecretValue", "UpdateSecretVersionStage",
				"GetSecretValue"}},
		{"published", func(t *testing.T, b *bench) { publish(t, b.store(t), document("A")) },
			[]string{"PutSecretValue", "UpdateSecretVersionStage", "UpdateSecretVersionStage",
				"GetSecretValue"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			test.arrange(t, b)
			store := b.store(t)
			_, read, err := store.ReadAuthority(t.Context())
			if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
				t.Fatal(err)
			}
			b.proxy.Forget()
			if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
				t.Fatal(err)
			}
			wantCalls(t, b, test.calls...)
			if b.current(t) != string(document("B")) || b.holder(t, pendingStage) != "" {
				t.Errorf("stages: %v", b.versions(t))
			}
		})
	}
}

func TestCreateCarriesTheKeyTheDescriptionAndTheTags(t *testing.T) {
	b := newBench(t)
	store := b.store(t, func(c *Config) {
		c.KMSKeyID, c.Description = "alias/billet", "node-wire authority"
		c.DefaultTags = map[string]string{"team": "ci", "env": "dev"}
		c.Tags = map[string]string{"env": "prod"}
	})
	publish(t, store, document("A"))
	described, err := b.direct.DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: &b.name})
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{}
	for _, tag := range described.Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	if aws.ToString(described.KmsKeyId) != "alias/billet" ||
		aws.ToString(described.Description) != "node-wire authority" ||
		!maps.Equal(tags, map[string]string{"team": "ci", "env": "prod"}) {
		t.Errorf("key %v, description %v, tags %v", described.KmsKeyId, described.Description, tags)
	}
}

// A, then B, then A again: three versions, because A's first one may be on its way out.
func TestADocumentPublishedAgainLaterIsAVersionOfItsOwn(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	first := publish(t, store, document("A"))
	second := publish(t, store, document("B"))
	third := publish(t, store, document("A"))
	if first == third || first == second || b.current(t) != string(document("A")) {
		t.Errorf("versions %q, %q, %q", first, second, third)
	}
	stages := b.versions(t)
	if len(stages) != 3 || !slices.Contains(stages[string(second)], "AWSPREVIOUS") {
		t.Errorf("stages: %v", stages)
	}
}

func TestAPublishFromAnOldReadWritesNothingThatCounts(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	old := publish(t, store, document("A"))
	publish(t, store, document("B"))
	for _, read := range []wireshare.Version{old, "", "no-such-version-0123456789abcdef0123"} {
		err := store.SwapAuthority(t.Context(), document("C"), read)
		if !errors.Is(err, wireshare.ErrChanged) {
			t.Errorf("from %q: %v", read, err)
		}
		if b.current(t) != string(document("B")) || b.holder(t, pendingStage) != "" {
			t.Errorf("from %q: stages %v", read, b.versions(t))
		}
	}
}

// Each call of each way to publish loses its response once, after the server acted. B4: no
// second version.
func TestALostResponseIsNoticedByNobody(t *testing.T) {
	for _, way := range []string{"absent", "empty", "published"} {
		for _, operation := range []string{
			"DescribeSecret", "CreateSecret", "PutSecretValue", "UpdateSecretVersionStage",
			"GetSecretValue",
		} {
			for _, skip := range []int{0, 1} {
				t.Run(way+"/"+operation+strings.Repeat("/second", skip), func(t *testing.T) {
					b := newBench(t)
					store := b.store(t)
					want := 1
					read := wireshare.Version("")
					switch way {
					case "empty":
						emptySecret(t, b)
					case "published":
						read = publish(t, store, document("A"))
						want = 2
					}
					lost := moto.LoseResponse(operation, 1)
					lost.Skip = skip
					b.proxy.Inject(lost)
					if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
						t.Fatal(err)
					}
					if b.current(t) != string(document("B")) || len(b.versions(t)) != want ||
						b.holder(t, pendingStage) != "" {
						t.Errorf("stages: %v", b.versions(t))
					}
				})
			}
		}
	}
}

// The client gives up: every response is lost, to the last attempt.
func TestResponsesLostForEverAreSettledByDescribeSecret(t *testing.T) {
	for _, operation := range []string{
		"CreateSecret", "PutSecretValue", "UpdateSecretVersionStage",
	} {
		b := newBench(t)
		store := b.store(t)
		read := wireshare.Version("")
		if operation != "CreateSecret" {
			read = publish(t, store, document("A"))
		}
		b.proxy.Inject(moto.LoseResponse(operation, 0))
		if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if b.current(t) != string(document("B")) {
			t.Errorf("%s: another document", operation)
		}
	}
}

// B4: what became of the request is not known, so nothing is claimed.
func TestAPublishThatCannotBeSettledFails(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	b.proxy.Inject(moto.LoseResponse("UpdateSecretVersionStage", 0),
		moto.Unavailable("DescribeSecret", 0))
	err := store.SwapAuthority(t.Context(), document("B"), read)
	var failure *awscall.Error
	if !errors.As(err, &failure) || errors.Is(err, wireshare.ErrChanged) {
		t.Fatalf("got %v", err)
	}
	for _, call := range []string{"UpdateSecretVersionStage", "DescribeSecret"} {
		if !strings.Contains(err.Error(), call) {
			t.Errorf("%q does not name %s", err, call)
		}
	}
}

// K1, S11, S18: a publish that fails leaves what is published as it was.
func TestAFailedPublishLeavesTheValue(t *testing.T) {
	for _, operation := range []string{"PutSecretValue", "UpdateSecretVersionStage"} {
		for _, fault := range []moto.Fault{
			moto.Throttle(operation, 0), moto.Unavailable(operation, 0), moto.Deny(operation),
			moto.DenyKMS(operation), moto.LoseRequest(operation, 0),
		} {
			b := newBench(t)
			store := b.store(t)
			read := publish(t, store, document("A"))
			b.proxy.Inject(fault)
			err := store.SwapAuthority(t.Context(), document("B"), read)
			var failure *awscall.Error
			if !errors.As(err, &failure) || failure.Call != operation {
				t.Errorf("%s: %v", operation, err)
			}
			if b.current(t) != string(document("A")) {
				t.Errorf("%s: the value changed", operation)
			}
			b.proxy.Heal()
			publish(t, store, document("C"))
			if b.holder(t, pendingStage) != "" {
				t.Errorf("%s: the pending stage stays: %v", operation, b.versions(t))
			}
		}
	}
}

// S4
func TestReadingBackWaitsForTheWriteToShow(t *testing.T) {
	for _, fault := range []moto.Fault{
		moto.NotFound("GetSecretValue", 2), moto.StaleRead("GetSecretValue", 1),
		moto.StaleRead("GetSecretValue", 3),
	} {
		for _, published := range []bool{true, false} {
			b := newBench(t)
			store := b.store(t)
			_, read, err := store.ReadAuthority(t.Context())
			if published {
				read, err = publish(t, store, document("A")), nil
			}
			if err != nil && !errors.Is(err, wireshare.ErrNoAuthority) {
				t.Fatal(err)
			}
			b.proxy.Inject(fault)
			if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
				t.Error(err)
			}
		}
	}
}

// S4: after the bound the error says that the write was accepted.
func TestAWriteThatNeverShowsIsReportedAsAccepted(t *testing.T) {
	for _, fault := range []moto.Fault{
		moto.NotFound("GetSecretValue", 0), moto.StaleRead("GetSecretValue", 0),
		moto.Deny("GetSecretValue"),
	} {
		b := newBench(t)
		store := b.store(t)
		read := publish(t, store, document("A"))
		b.proxy.Inject(fault)
		err := store.SwapAuthority(t.Context(), document("B"), read)
		if !errors.Is(err, wireshare.ErrNotConfirmed) {
			t.Errorf("got %v", err)
		}
		if b.slept.Load() > int64(20e9) {
			t.Errorf("waited %d ns", b.slept.Load())
		}
		b.proxy.Heal()
		if body, _, err := store.ReadAuthority(t.Context()); err != nil ||
			string(body) != string(document("B")) {
			t.Errorf("read again: %v", err)
		}
	}
}

// Somebody publishes between the move and the read-back.
func TestAValueReplacedAtOnceIsReported(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	other := New(b.direct, Config{SecretID: b.name, Region: region, Sleep: b.sleep})
	b.proxy.Inject(moto.Fault{Operation: "GetSecretValue", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			publish(t, other, document("C"))
			return x.Forward()
		}})
	err := store.SwapAuthority(t.Context(), document("B"), read)
	if !errors.Is(err, wireshare.ErrChanged) || b.current(t) != string(document("C")) {
		t.Errorf("got %v", err)
	}
}

// The label is put on another writer's version meanwhile; the loser leaves it there.
func TestALoserLeavesAnotherWritersPendingStage(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	old := publish(t, store, document("A"))
	publish(t, store, document("B"))
	value := "in the making"
	var other string
	b.proxy.Inject(moto.Fault{Operation: "UpdateSecretVersionStage", Times: 1,
		Act: func(x *moto.Exchange) moto.Answer {
			put, err := b.direct.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{
				SecretId: &b.name, SecretString: &value, VersionStages: []string{pendingStage},
			})
			if err != nil {
				t.Error(err)
				return x.Forward()
			}
			other = *put.VersionId
			return x.Forward()
		}})
	if err := store.SwapAuthority(t.Context(), document("C"), old); !errors.Is(err,
		wireshare.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if b.holder(t, pendingStage) != other {
		t.Errorf("stages: %v", b.versions(t))
	}
}

func TestTwoWritersOfTheSameBytesBothSucceed(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	read := publish(t, store, document("A"))
	for range 2 {
		if err := store.SwapAuthority(t.Context(), document("B"), read); err != nil {
			t.Error(err)
		}
	}
	if len(b.versions(t)) != 2 {
		t.Errorf("stages: %v", b.versions(t))
	}
}

// S13
func TestAReplicaIsReadAndNotWritten(t *testing.T) {
	b := newBench(t)
	const replicaRegion = "us-west-2"
	value := string(document("A"))
	if _, err := b.direct.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: &b.name, SecretString: &value,
		AddReplicaRegions: []types.ReplicaRegionType{{Region: aws.String(replicaRegion)}},
	}); err != nil {
		t.Fatal(err)
	}
	described, err := b.direct.DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: &b.name})
	if err != nil {
		t.Fatal(err)
	}
	replicaARN := strings.Replace(*described.ARN, region, replicaRegion, 1)
	store := New(clientOf(t, b.proxy.URL, replicaRegion),
		Config{SecretID: replicaARN, Region: replicaRegion, Sleep: b.sleep})
	body, read, err := store.ReadAuthority(t.Context())
	if err != nil || string(body) != value {
		t.Fatalf("read: %v", err)
	}
	for call, err := range map[string]error{
		"CheckPublish":  store.CheckPublish(t.Context(), 1),
		"SwapAuthority": store.SwapAuthority(t.Context(), document("B"), read),
		"Delete":        store.Delete(t.Context(), read),
	} {
		var replica *ReplicaError
		if !errors.As(err, &replica) || replica.PrimaryRegion != region {
			t.Errorf("%s: %v", call, err)
		}
	}
	if b.current(t) != value || len(b.versions(t)) != 1 {
		t.Error("something was written")
	}
}

func TestAPrimaryThatNamesItsOwnRegionIsNoReplica(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	publish(t, store, document("A"))
	b.proxy.Inject(moto.Fault{Operation: "DescribeSecret",
		Act: func(x *moto.Exchange) moto.Answer {
			return x.Forward().Edit(func(o map[string]any) { o["PrimaryRegion"] = region })
		}})
	if err := store.CheckPublish(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// S8
func TestSizesAreAnsweredBeforeTheCall(t *testing.T) {
	b := newBench(t)
	b.proxy.Inject(moto.SizeLimits()...)
	store := b.store(t)
	read := publish(t, store, []byte(strings.Repeat("x", SizeLimit)))
	b.proxy.Forget()
	var size *SizeError
	long := []byte(strings.Repeat("x", SizeLimit+1))
	for call, err := range map[string]error{
		"SwapAuthority": store.SwapAuthority(t.Context(), long, read),
		"CheckPublish":  store.CheckPublish(t.Context(), len(long)),
	} {
		if !errors.As(err, &size) || size.Size != len(long) || size.Limit != SizeLimit {
			t.Errorf("%s: %v", call, err)
		}
	}
	wantCalls(t, b)
	for _, body := range [][]byte{nil, {0xff, 0xfe}} {
		if err := store.SwapAuthority(t.Context(), body, read); err == nil {
			t.Errorf("%v was taken", body)
		}
	}
	wantCalls(t, b)
}

func TestCheckPublishAllowsWhatPublishCanDo(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	if err := store.CheckPublish(t.Context(), 1); err != nil {
		t.Errorf("absent: %v", err)
	}
	wantCalls(t, b, "DescribeSecret")
	publish(t, store, document("A"))
	if err := store.CheckPublish(t.Context(), SizeLimit); err != nil {
		t.Errorf("published: %v", err)
	}
	absent := b.store(t, func(c *Config) {
		c.SecretID = "arn:aws:secretsmanager:" + region + ":123456789012:secret:nothing-AbCdE1"
	})
	var none *AbsentError
	if err := absent.CheckPublish(t.Context(), 1); !errors.As(err, &none) {
		t.Errorf("absent by ARN: %v", err)
	}
	if err := absent.SwapAuthority(t.Context(), document("A"), ""); !errors.As(err, &none) {
		t.Errorf("absent by ARN: %v", err)
	}
}

func TestDeleteSchedulesWithARecoveryWindow(t *testing.T) {
	b := newBench(t)
	store := b.store(t, func(c *Config) { c.RecoveryDays = 7 })
	old := publish(t, store, document("A"))
	version := publish(t, store, document("B"))
	for _, wrong := range []wireshare.Version{old, ""} {
		if err := store.Delete(t.Context(), wrong); !errors.Is(err, wireshare.ErrChanged) {
			t.Errorf("expecting %q: %v", wrong, err)
		}
	}
	if b.proxy.Count("DeleteSecret") != 0 {
		t.Fatal("a deletion was requested")
	}
	b.proxy.Inject(moto.LoseResponse("DeleteSecret", 1), moto.Fault{Operation: "DeleteSecret",
		Act: func(x *moto.Exchange) moto.Answer {
			if x.Input("ForceDeleteWithoutRecovery") != "" ||
				!strings.Contains(string(x.Request), `"RecoveryWindowInDays":7`) {
				t.Errorf("request %s", x.Request)
			}
			return x.Forward()
		}})
	if err := store.Delete(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	deleted, err := b.direct.DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: &b.name})
	if err != nil || deleted.DeletedDate == nil {
		t.Errorf("not scheduled: %v", err)
	}
	if err := store.Delete(t.Context(), version); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := newBench(t).store(t).Delete(t.Context(), version); err != nil {
		t.Errorf("absent: %v", err)
	}
}

func TestADeniedDeletionIsAnError(t *testing.T) {
	b := newBench(t)
	store := b.store(t)
	version := publish(t, store, document("A"))
	b.proxy.Inject(moto.Deny("DeleteSecret"))
	var failure *awscall.Error
	if err := store.Delete(t.Context(), version); !errors.As(err, &failure) ||
		failure.Kind != awscall.Denied {
		t.Errorf("got %v", err)
	}
}
