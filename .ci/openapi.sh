#!/bin/sh
# Validates the OpenAPI documents of the given binary, and their forms for client generators, with a validator that shares no code with it, and every example in
# them against its schema.
#
#   .ci/openapi.sh target/debug/sandbox
set -eu

binary=${1:?usage: $0 BINARY}
cd "$(dirname "$0")/.."
venv=target/openapi-venv
if ! "$venv/bin/python" -c 'import openapi_spec_validator' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet openapi-spec-validator==0.9.0 jsonschema==4.26.0 rfc3339-validator==0.1.4
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$binary" openapi >"$out/product.json"
"$binary" openapi --control >"$out/control.json"
"$binary" openapi --client >"$out/client.json"
"$binary" openapi --client --openapi 3.0 >"$out/client-3.0.json"
"$binary" openapi --control --openapi 3.0 >"$out/control-3.0.json"
"$venv/bin/openapi-spec-validator" "$out"/*.json
"$venv/bin/python" .ci/openapi_examples.py "$out/product.json" "$out/control.json" "$out/client.json"
