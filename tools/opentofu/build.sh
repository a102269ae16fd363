#!/usr/bin/env bash
# Builds the OpenTofu that `make test-tofu` runs the acceptance tests under, from its Go module, as
# `tofu` in the directory given (default: .cache/opentofu at the top of the project). Prints nothing
# and takes no time when it is there already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
package=github.com/opentofu/opentofu

version=$(sed -n "s|^\t$package v\([0-9.]*\).*|\1|p" "$here/go.mod")
out=${1:-$here/../../.cache/opentofu}
stamp="$out/built-from-$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" | cksum | tr ' ' -)"
[ ! -e "$stamp" ] || exit 0

mkdir -p "$out"
# Two builds at once wait for each other.
exec 9>"$out/.lock"
if command -v flock >/dev/null; then flock 9; fi
[ ! -e "$stamp" ] || exit 0

cd "$here"
export CGO_ENABLED=0 GOFLAGS=-mod=readonly
total=$(go list -deps "$package/cmd/tofu" | wc -l)
echo "opentofu: building OpenTofu $version from its Go module ($total packages). Once;" \
    "about 3 minutes on two cores." >&2
# The compiler names each package when it begins; anything else it prints is an error. Without the
# linker's flag the program calls itself a development build.
go build -v -trimpath -ldflags "-s -w -X $package/version.dev=no" -o "$out/tofu.tmp" "$package/cmd/tofu" 2>&1 |
    awk '/[ :]/ { print; next } ++n % 200 == 0 { print "opentofu: " n " packages compiled" }' >&2
mv "$out/tofu.tmp" "$out/tofu"
echo "opentofu: built in $SECONDS s" >&2

rm -f "$out"/built-from-*
touch "$stamp"
