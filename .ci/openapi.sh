#!/bin/sh
# Validates both OpenAPI documents of the given binary with a validator that shares no code with it, and every example in
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
"$venv/bin/openapi-spec-validator" "$out/product.json" "$out/control.json"
"$venv/bin/python" .ci/openapi_examples.py "$out/product.json" "$out/control.json"
