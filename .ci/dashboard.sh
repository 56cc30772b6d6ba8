#!/usr/bin/env bash
# Tests the dashboard in Debian's Chromium, driven by puppeteer-core, with axe-core for accessibility. Chromium is installed
# where apt and root are available. If a tool is missing, the tests are reported as not run, never as passed.
#
#   .ci/dashboard.sh target/release/sandbox
#   .ci/dashboard.sh target/debug/sandbox --shots DIR     # writes screenshots as well
set -euo pipefail
exec </dev/null

binary="$(realpath "${1:?usage: $0 BINARY [--shots DIR]}")"
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
npm="$(realpath -m "${CARGO_TARGET_DIR:-target}/dashboard-npm")"
readonly PUPPETEER=24.43.1 AXE=4.14.1

not_run() {
    printf 'dashboard: not run (%s)\n0 passed, 0 failed\n' "$1"
    # Fails on a machine that has to have the tools.
    [[ -z "${SANDBOX_CI_STRICT:-}" ]]
    exit
}

command -v node >/dev/null && command -v npm >/dev/null || not_run 'no node with npm'
find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
chromium="$(find_chromium)"
if [[ -z "$chromium" && "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    install=(apt-get -o DPkg::Lock::Timeout=120 install --yes --quiet=2 --no-install-recommends chromium)
    timeout 400 "${install[@]}" >/dev/null 2>&1 || { apt-get --quiet=2 update && timeout 400 "${install[@]}"; } >/dev/null 2>&1 || true
    chromium="$(find_chromium)"
fi
[[ -n "$chromium" ]] || not_run 'no Chromium'
if [[ ! -d "$npm/node_modules/puppeteer-core" || ! -d "$npm/node_modules/axe-core" ]]; then
    PUPPETEER_SKIP_DOWNLOAD=1 npm install --prefix "$npm" --silent --no-audit --no-fund --no-save --ignore-scripts \
        "puppeteer-core@$PUPPETEER" "axe-core@$AXE" || not_run 'puppeteer-core and axe-core could not be installed'
fi
exec node .ci/dashboard.mjs --binary "$binary" --modules "$npm" --chromium "$chromium" "$@"
