#!/usr/bin/env bash
# Installs the packages that packaging/build.sh made, each into a fresh place below a temporary folder, and uses them from there. Changes nothing of the machine.
# The tests of wheel and npm fetch nothing; pytest is downloaded once, before. A missing tool counts as "not run", never as passed.
#
#   packaging/test.sh DIR
set -euo pipefail
# The interpreter itself, not the script of a version manager, which waits for a lock after each installation.
if command -v python3 >/dev/null; then PATH="$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH"; fi
exec </dev/null

packages="$(realpath "${1:?usage: $0 DIR}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT="$PWD" CACHE="$(realpath -m "${CARGO_TARGET_DIR:-target}/packaging")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
started=()
stop_servers() { for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; done; }
# The packages must find the program themselves.
for name in $(compgen -v SANDBOX_ || true); do unset "$name"; done
mkdir -p "$CACHE"

now() { date +%s%3N; }
seconds() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }
refuses() { if "$@"; then echo "did not fail: $*" && return 1; fi; }
one() { compgen -G "$packages/$1" | head -1; }

# Serves with this command, reads a list of employees, and stops the server, which must end with 0.
serve() {
    local log="$work/serve.log" server url answer
    : >"$log"
    "$@" --seed 42 --port 0 --quiet >"$log" 2>&1 &
    server=$!
    started+=("$server")
    for _ in $(seq 100); do
        grep -q 'listening on' "$log" && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    url="$(sed -n 's/^listening on //p' "$log")"
    [[ -n "$url" ]] || { cat "$log" && return 1; }
    answer="$(curl --silent --fail --max-time 10 --header 'Authorization: Bearer test' "$url/api/business/employees?per_page=1")"
    [[ "$answer" == *'"meta":{"total":75,"page":1}'* ]]
    kill "$server"
    wait "$server"
    refuses curl --silent --max-time 2 "$url/_sandbox/health" # no process of it is left
}

# The texts name a crate, a font and a script that the program contains.
has_licences() { local name; for name in '^hyper [0-9]' '^fonts$' '^preact$' 'Mozilla Public License Version 2.0'; do grep -q "$name" "$1"; done; }

test_checksums() { (cd "$packages" && sha256sum --quiet --check SHA256SUMS && [[ "$(wc -l <SHA256SUMS)" == "$(find . -name 'finance*' -type f | wc -l)" ]]); }

test_wheel() {
    local begin
    python3 -m venv --without-pip "$work/venv" # pip's own installation takes longer than everything else
    local pip=(python3 -m pip --python "$work/venv/bin/python" --quiet --disable-pip-version-check)
    begin="$(now)"
    "${pip[@]}" install --no-index --find-links "$CACHE/wheels" pytest "$(one 'finance_sandbox-*.whl')"
    mkdir "$work/python" && cp packaging/tests/test_first.py "$work/python"
    (cd "$work/python" && "$work/venv/bin/python" -m pytest -q -p no:cacheprovider)
    echo "$(seconds $(($(now) - begin))) s from pip install to the first passing test"
    has_licences "$work"/venv/lib/python*/site-packages/finance_sandbox-*.dist-info/licenses/LICENSE-THIRD-PARTY
    serve "$work/venv/bin/sandbox"
    "${pip[@]}" uninstall --yes finance-sandbox
    [[ ! -e "$work/venv/bin/sandbox" ]]
}

test_npm() {
    local begin
    mkdir "$work/node" && printf '{"private":true}\n' >"$work/node/package.json"
    cp packaging/tests/first.test.mjs "$work/node"
    cd "$work/node"
    begin="$(now)"
    # A file for each of the two packages, so no registry is used.
    npm install --silent --no-audit --no-fund --offline --ignore-scripts --cache "$work/npm-cache" "$(one 'finance-sandbox-*-*-*.tgz')" "$(one 'finance-sandbox-[0-9]*.tgz')"
    node --test .
    echo "$(seconds $(($(now) - begin))) s from npm install to the first passing test"
    [[ "$(npx --offline sandbox --version)" == sandbox\ * ]]
    has_licences node_modules/finance-sandbox-*/LICENSE-THIRD-PARTY
    serve node_modules/.bin/sandbox
    # The launcher names the missing package if npm did not install that of the platform.
    rm -r node_modules/finance-sandbox-*
    refuses node_modules/.bin/sandbox --version 2>"$work/missing"
    grep -q 'is not installed' "$work/missing"
}

unpack() { mkdir "$1" && tar -C "$1" --strip-components=1 -xzf "$(one 'finance-sandbox-*-*-*.tar.gz')" && cd "$1"; }

test_archive() {
    unpack "$work/archive"
    [[ -s man/sandbox.1 && -s man/sandbox-scenario-test.1 && -s LICENSE-MIT && -s LICENSE-APACHE ]]
    has_licences LICENSE-THIRD-PARTY
    bash -c 'source completions/sandbox.bash && complete -p sandbox'
    serve ./sandbox
}

# In a folder that dpkg treats as an empty machine. Its dependencies are taken from this machine.
test_deb() {
    local root="$work/root" dpkg
    mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} && touch "$root/var/lib/dpkg/status"
    dpkg=(dpkg --root="$root" --log=/dev/null --force-not-root --force-depends)
    "${dpkg[@]}" --install "$(one 'finance-sandbox_*.deb')" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log" && return 1; }
    [[ "$(dpkg-query --admindir="$root/var/lib/dpkg" --show --showformat '${Status}' finance-sandbox)" == 'install ok installed' ]]
    [[ -s "$root/usr/share/man/man1/sandbox.1.gz" && -s "$root/usr/share/bash-completion/completions/sandbox" ]]
    has_licences "$root/usr/share/doc/finance-sandbox/copyright"
    serve "$root/usr/bin/sandbox"
    "${dpkg[@]}" --remove finance-sandbox >"$work/dpkg.log" 2>&1
    [[ -z "$(find "$root" -not -type d -not -path '*/var/lib/dpkg/*')" ]]
}

test_sbom() {
    python3 - "$(one '*.cdx.json')" "$ROOT" "$HOME" "$(hostname)" <<'PY'
import json, sys
file, *private = sys.argv[1:]
text = open(file, encoding="utf-8").read()
sbom = json.loads(text)
assert sbom["metadata"]["component"]["name"] == "finance-sandbox"
names = {one["name"] for one in sbom["components"]}
assert {"hyper", "serde_json", "clap", "mimalloc"} <= names and not {"proptest", "stats_alloc"} & names, names
assert all(one["hashes"] and one["licenses"][0]["expression"] for one in sbom["components"])
refs = {one["bom-ref"] for one in sbom["components"]} | {sbom["metadata"]["component"]["bom-ref"]}
assert {one["ref"] for one in sbom["dependencies"]} == refs
assert not [one for one in (*private, "file://", "registry+") if one in text], "the SBOM names this machine"
print(len(names), "crates")
PY
}

# The steps of the GitHub action, in order, as the runner would run them: the wheel comes from DIR.
test_action() {
    local folder="$ROOT/.github/actions/sandbox" step
    export RUNNER_TEMP="$work/runner" GITHUB_ACTION_PATH="$folder" GITHUB_OUTPUT="$work/output" GITHUB_ENV="$work/env" GITHUB_PATH="$work/path"
    export SANDBOX_ACTION_VERSION='' SANDBOX_ACTION_BINARY='' SANDBOX_ACTION_SEED=42 SANDBOX_ACTION_ARGS='--clock manual'
    export PIP_NO_INDEX=1 PIP_FIND_LINKS="$packages" PIP_DISABLE_PIP_VERSION_CHECK=1
    mkdir "$RUNNER_TEMP"
    run_action() { while read -r step; do bash -euo pipefail -c "$step" || return 1; done < <(sed -n 's/^ *run: //p' "$folder/action.yml"); }
    run_action
    local url pid
    url="$(sed -n 's/^url=//p' "$GITHUB_OUTPUT")"
    pid="$(sed -n 's/^SANDBOX_PID=//p' "$GITHUB_ENV")"
    started+=("$pid")
    [[ "$(sed -n 's/^SANDBOX_URL=//p' "$GITHUB_ENV")" == "$url" ]]
    curl --silent --fail --header 'Authorization: Bearer test' "$url/_sandbox/clock" | grep -q manual
    "$(cat "$GITHUB_PATH")/sandbox" --version
    # With a program instead of a version, twice, while the first server runs. The flags change the address.
    local seed host=127.0.0.1
    [[ "$OSTYPE" != linux* ]] || host=127.0.0.2 # macOS has no such address
    cp "$(cat "$GITHUB_PATH")/sandbox" "$work/sandbox"
    SANDBOX_ACTION_BINARY="$work/sandbox" SANDBOX_ACTION_ARGS="--base-path /sb --host $host"
    for seed in 7 8; do
        SANDBOX_ACTION_SEED=$seed
        run_action
        started+=("$(sed -n 's/^SANDBOX_PID=//p' "$GITHUB_ENV" | tail -1)")
        url="$(sed -n 's/^url=//p' "$GITHUB_OUTPUT" | tail -1)"
        [[ "$url" == "http://$host:"*/sb ]]
        curl --silent --fail --header 'Authorization: Bearer test' "$url/_sandbox/info" | grep -q "\"seed\":$seed,"
        grep -qF "listening on $url" "$(sed -n 's/^SANDBOX_LOG_FILE=//p' "$GITHUB_ENV" | tail -1)"
    done
    kill "$pid"
    # It does not start, which fails the step and shows the log.
    SANDBOX_ACTION_ARGS='--clock sundial'
    refuses run_action >"$work/action.log" 2>&1
    grep -q 'invalid value .sundial.' "$work/action.log"
}

test_image() {
    [[ "$(id -u)" == 0 ]] || { echo 'image: not run (needs root)' && return 77; }
    unpack "$work/image"
    "$ROOT/packaging/container/image.sh" sandbox .
    "$ROOT/packaging/container/start.sh" finance-sandbox.tar
}

passed=0 failed=0 not_run=0
# run NAME PATTERN TOOL…: the test of a package, if the package and the tools are there.
run() {
    local name="$1" pattern="$2" tool status=0
    shift 2
    [[ -z "$pattern" || -n "$(one "$pattern")" ]] || set -- "the package" "$@"
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$name: not run ($tool is missing)" && not_run=$((not_run + 1)) && return; }
    done
    printf -- '-- %s\n' "$name"
    local begin
    begin="$(now)"
    set +e # in a shell of its own: `set -e` does not act within a condition
    (trap stop_servers EXIT && set -e && "test_$name")
    status=$?
    set -e
    case $status in
        0) passed=$((passed + 1)) && echo "$name: passed in $(seconds $(($(now) - begin))) s" ;;
        77) not_run=$((not_run + 1)) ;;
        *) failed=$((failed + 1)) && echo "$name: FAILED" ;;
    esac
}

if command -v python3 >/dev/null && ! compgen -G "$CACHE/wheels/pytest-*" >/dev/null; then
    python3 -m pip download --quiet --disable-pip-version-check --dest "$CACHE/wheels" pytest==8.4.2 || true
fi
run checksums SHA256SUMS sha256sum
run wheel 'finance_sandbox-*.whl' python3 curl
run npm 'finance-sandbox-[0-9]*.tgz' npm node curl
run archive 'finance-sandbox-*-*-*.tar.gz' tar curl
run deb 'finance-sandbox_*.deb' dpkg curl
run sbom '*.cdx.json' python3
run action 'finance_sandbox-*.whl' python3 curl
run image 'finance-sandbox-*-*-*.tar.gz' buildah python3 curl
echo "$passed passed, $failed failed, $not_run not run"
[[ $failed == 0 ]]
