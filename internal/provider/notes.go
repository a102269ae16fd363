package provider

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Private state keeps what the state does not show and the next call has to know. Anyone can read it,
// so that nothing secret goes there.
const (
	// credentialsNote: the resource's own connection has write-only credentials, which no refresh
	// and no destroy can know.
	credentialsNote = "credentials_write_only"
	// unreadNote: the last refresh could not look, since the cluster or the account was not known. It
	// lives as long as the plan, so that apply plans as that plan did.
	unreadNote = "unread"
	// destroysNote names what a destroy of the present state would delete. Terraform plans a replacement
	// in two calls, first for the object that is there and then for a new one, and passes private state
	// from the first to the second: only so does the second know what the first would delete.
	destroysNote = "destroys"
)

type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func note(ctx context.Context, private privateWriter, name string, value bool) diag.Diagnostics {
	if value {
		return private.SetKey(ctx, name, []byte("true"))
	}
	return private.SetKey(ctx, name, nil) // takes it away
}

func isNoted(ctx context.Context, private privateReader, name string) (bool, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, name)
	return string(value) == "true", diags
}

// noteDestroys notes the id of what a destroy would delete, or that it would delete nothing.
func noteDestroys(ctx context.Context, private privateWriter, id string, deletes bool) diag.Diagnostics {
	if !deletes {
		return private.SetKey(ctx, destroysNote, nil)
	}
	return private.SetKey(ctx, destroysNote, []byte(strconv.Quote(id)))
}

// destroysSame says that this create belongs to a replacement that would delete the very object which
// it is about to adopt.
func destroysSame(ctx context.Context, private privateReader, id string) (bool, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, destroysNote)
	return string(value) == strconv.Quote(id), diags
}
