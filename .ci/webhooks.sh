#!/bin/sh
# Checks webhook signatures against the `standardwebhooks` packages of PyPI and npm, which share no code with the binary:
# they verify its deliveries, and `sandbox listen` checks their signatures.
#
#   .ci/webhooks.sh target/debug/sandbox
set -eu

binary=${1:?usage: $0 BINARY}
case $binary in */*) binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary") ;; esac
cd "$(dirname "$0")/.."
venv=target/webhooks-venv
if ! "$venv/bin/python" -c 'import standardwebhooks' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check standardwebhooks==1.1.0
fi
npm=target/webhooks-npm
if [ ! -d "$npm/node_modules/standardwebhooks" ]; then
    npm install --prefix "$npm" --silent --no-audit --no-fund --no-save standardwebhooks@1.1.1
fi

deliveries=$(mktemp)
trap 'rm -f "$deliveries"' EXIT
"$venv/bin/python" .ci/webhooks_verify.py "$binary" "$deliveries"
node .ci/webhooks_verify.mjs "$binary" "$deliveries" "$npm"
