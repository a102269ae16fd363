#!/usr/bin/env bash
# Builds the kube-apiserver and etcd that the tests and the demo run against, from their Go
# modules, into the directory given (default: .cache/controlplane at the top of the project).
# Prints nothing and takes no time when they are there already.
#
# KUBEBUILDER_ASSETS, if set, wins: people who have setup-envtest need no build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -z "${KUBEBUILDER_ASSETS:-}" ] || exit 0

version=$(sed -n 's|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' "$here/go.mod")
out=${1:-$here/../../.cache/controlplane}
# What was built is named by what it was built from, so that a new version is built anew.
stamp="$out/built-from-$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" | cksum | tr ' ' -)"
[ ! -e "$stamp" ] || exit 0

mkdir -p "$out"
# Two builds at once (make -j, a test run beside a demo) wait for each other.
exec 9>"$out/.lock"
if command -v flock >/dev/null; then flock 9; fi
[ ! -e "$stamp" ] || exit 0

cd "$here"
export CGO_ENABLED=0 GOFLAGS=-mod=readonly

build() { # build NAME PACKAGE LDFLAGS
    local total started counted finished
    total=$(go list -deps "$2" | wc -l)
    started=$SECONDS
    echo "controlplane: building $1 from its Go module ($total packages). Once; $4 on two cores." >&2
    counted=$(mktemp) finished=$(mktemp)
    (
        while [ -e "$finished" ]; do
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
                sleep 1
                [ -e "$finished" ] || exit 0
            done
            echo "controlplane: $1: $(grep -c '^[a-z]' "$counted" || true) packages compiled," \
                "$((SECONDS - started)) s" >&2
        done
    ) &
    if ! go build -v -trimpath -ldflags "-s -w $3" -o "$out/$1.tmp" "$2" 2>"$counted"; then
        rm -f "$finished"
        tail -n 20 "$counted" >&2
        return 1
    fi
    rm -f "$finished"
    mv "$out/$1.tmp" "$out/$1"
    rm -f "$counted"
    echo "controlplane: $1 built in $((SECONDS - started)) s" >&2
}

build etcd go.etcd.io/etcd/server/v3 "" "about a minute"
# Without the version, clients that check for skew refuse to talk to it.
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver \
    "-X k8s.io/component-base/version.gitVersion=$version" "about 7 minutes"

rm -f "$out"/built-from-*
touch "$stamp"
