#!/usr/bin/env bash
# Builds the packages around a binary, installs them and uses them: packaging/build.sh and packaging/test.sh. Installs buildah, podman and
# runc where apt and root are available; without buildah the container image is "not run".
#
#   .ci/packages.sh target/release/sandbox
set -euo pipefail
exec </dev/null

binary="$(realpath "${1:?usage: $0 BINARY}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages="$(realpath -m "${CARGO_TARGET_DIR:-target}/ci/packages")"
mkdir -p "$packages"
if ! { command -v buildah && command -v podman && command -v runc; } >/dev/null && [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    timeout 120 apt-get -o DPkg::Lock::Timeout=60 install --yes --quiet=2 --no-install-recommends buildah podman runc >"$packages.apt.log" 2>&1 || true
fi
packaging/build.sh --quick --binary "$binary" --out "$packages"
packaging/test.sh "$packages"
