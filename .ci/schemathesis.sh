#!/bin/sh
# Runs schemathesis against a served sandbox. It makes calls from the OpenAPI document and checks each answer against
# the document: no 5xx, and no status, content type or body that the document does not allow.
#
#   .ci/schemathesis.sh target/release/sandbox [SECONDS]
#
# The configuration and its reasons are in .ci/schemathesis.toml.
set -eu

binary=${1:?usage: $0 BINARY [SECONDS]}
seconds=${2:-120}
cd "$(dirname "$0")/.."
venv=target/schemathesis-venv
if ! "$venv/bin/python" -c 'import schemathesis' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet schemathesis==4.32.5
fi

out=$(mktemp -d)
# Its standard input is a pipe that this script holds open, so that the server ends with the script, even after `kill -9`.
mkfifo "$out/stdin"
"$binary" --seed 42 --port 0 --port-file "$out/port" --quiet --exit-with-stdin <"$out/stdin" >"$out/serve.log" 2>&1 &
server=$!
exec 3>"$out/stdin"
trap 'kill "$server" 2>/dev/null; rm -rf "$out"' EXIT
while [ ! -s "$out/port" ]; do
    kill -0 "$server" || { cat "$out/serve.log" >&2; exit 1; }
    sleep 0.2
done
url="http://127.0.0.1:$(cat "$out/port")"

check() {
    "$venv/bin/schemathesis" --config-file .ci/schemathesis.toml run "$url/$1" --phases "$2" --max-time "$3" --no-color 3>&-
}
check openapi.json examples,coverage,fuzzing "$seconds"
check openapi.json stateful "$((seconds / 3))"
check _sandbox/openapi.json examples,coverage,fuzzing "$((seconds / 3))"
kill -0 "$server" # it is still there
