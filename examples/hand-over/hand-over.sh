#!/bin/sh
# Sends $FILES to the host that $REMOTE runs commands on, and installs them there below $STATE_DIR.
# Nothing is ever written over an authority, and one appears whole or not at all.
set -eu
printf '%s' "$FILES" | $REMOTE "
    set -eu
    umask 077
    mkdir -p '$STATE_DIR'
    cd '$STATE_DIR'
    if [ -e ca ] || [ -e authority-created ]; then
        echo '$STATE_DIR has, or had, an authority: nothing was written' >&2
        exit 1
    fi
    incoming=\$(mktemp -d ./incoming.XXXXXX)
    trap 'rm -rf \"\$incoming\"' EXIT
    mkdir \"\$incoming/ca\"
    while read -r name text; do
        case \$name in
        ca*.key) mode=600 to=ca ;;
        ca*.crt) mode=644 to=ca ;;
        *) mode=644 to=. ;;
        esac
        printf '%s' \"\$text\" | base64 -d >\"\$incoming/\$to/\$name\"
        chmod \"\$mode\" \"\$incoming/\$to/\$name\"
    done
    mv \"\$incoming/ca\" ca
    mv \"\$incoming/authority-created\" authority-created
"
