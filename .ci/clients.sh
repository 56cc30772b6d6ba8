#!/usr/bin/env bash
# Runs the tests of each client in clients/ against a binary. A toolchain that is missing is installed where apt and root
# are available. A language without its toolchain counts as "not run", never as passed. The output ends with a table.
#
#   .ci/clients.sh target/release/sandbox
#   .ci/clients.sh target/release/sandbox go java     # only these
set -euo pipefail
exec </dev/null

binary="$(realpath "${1:?usage: $0 BINARY [LANGUAGE…]}")"
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT="$PWD"
readonly WORK="$(realpath -m "${CARGO_TARGET_DIR:-target}/clients")"
readonly LANGUAGES=(javascript python go ruby php java)
export SANDBOX_BIN="$binary"
mkdir -p "$WORK"
declare -A result

# Has these commands and files, or installs these Debian packages.
have() {
    local packages="$1" thing
    shift
    for thing in "$@"; do
        [[ -e "$thing" ]] || command -v "$thing" >/dev/null || { install_packages "$packages"; break; }
    done
    for thing in "$@"; do
        [[ -e "$thing" ]] || command -v "$thing" >/dev/null || { echo "$thing is missing" >&2; return 1; }
    done
}

install_packages() {
    [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null || return 0
    echo "installing $1"
    # Another command of this machine may hold the lock; the lists of packages may be missing.
    local install=(apt-get -o DPkg::Lock::Timeout=120 install --yes --quiet=2 --no-install-recommends)
    read -ra packages <<<"$1"
    export DEBIAN_FRONTEND=noninteractive
    timeout 400 "${install[@]}" "${packages[@]}" >"$WORK/apt.log" 2>&1 ||
        { apt-get --quiet=2 update && timeout 400 "${install[@]}" "${packages[@]}"; } >"$WORK/apt.log" 2>&1 || true
}

# Each function tests one language. Its toolchain is there.
test_javascript() {
    (cd clients/javascript && node --test test/)
    if ! [[ -x "$WORK/npm/node_modules/.bin/tsc" ]]; then
        npm install --prefix "$WORK/npm" --silent --no-audit --no-fund --no-save typescript@5.9.3 @types/node@18.19.130 || true
    fi
    [[ -x "$WORK/npm/node_modules/.bin/tsc" ]] || { echo 'types: not run (no TypeScript)'; return 0; }
    "$WORK/npm/node_modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext \
        --types node --typeRoots "$WORK/npm/node_modules/@types" clients/javascript/test/types.ts
}

test_python() {
    cd clients/python
    PYTHONPATH="$PWD/src" PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -p no:cacheprovider -p finance_sandbox.pytest_plugin tests
}

test_go() {
    cd clients/go
    # Nothing is fetched and no C compiler is needed. `-count=1` does not repeat an earlier result.
    export CGO_ENABLED=0 GOPROXY=off GOFLAGS=-mod=mod GOCACHE="$WORK/go"
    test -z "$(gofmt -l .)"
    go vet ./...
    go test -count=1 ./...
}

test_ruby() {
    cd clients/ruby
    ruby -w -I "$PWD/lib" test/twelve_steps_test.rb
    rspec -I "$PWD/lib" test/world_spec.rb
}

test_php() {
    cd clients/php
    phpunit --do-not-cache-result
}

test_java() {
    cd clients/java
    local classes="$WORK/java" jars
    rm -rf "$classes"
    jars="$(printf '%s:' /usr/share/java/{junit-jupiter*,junit-platform-{commons,engine,launcher,console},opentest4j*,apiguardian-api*,picocli*,univocity-parsers*}.jar)"
    find src -name '*.java' >"$WORK/java.files"
    javac -Xlint:all -Werror --release 17 -cp "$jars" -d "$classes" "@$WORK/java.files"
    java -cp "$jars$classes" org.junit.platform.console.ConsoleLauncher --disable-banner --disable-ansi-colors \
        --scan-classpath "$classes" --details=tree --details-theme=ascii | tee "$WORK/java.log" || true
    awk '/ tests successful/ { passed = $2 } / tests failed/ { failed = $2 }
        END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }' "$WORK/java.log"
}

prepare() {
    case $1 in
        javascript) have nodejs node && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' ;;
        python)
            have python3 python3 || return 1
            python="$WORK/venv/bin/python"
            "$python" -c 'import pytest' 2>/dev/null || {
                python3 -m venv "$WORK/venv" && "$WORK/venv/bin/pip" install --quiet --disable-pip-version-check pytest==8.4.2
            } || { python=python3; install_packages python3-pytest; }
            "$python" -c 'import pytest'
            ;;
        go) have golang-go go gofmt ;;
        ruby) have 'ruby ruby-minitest ruby-rspec' ruby rspec && ruby -e 'require "minitest"' ;;
        php) have 'php-cli php-curl phpunit' php phpunit && php -r 'exit(function_exists("curl_init") ? 0 : 1);' ;;
        java) have 'openjdk-17-jdk-headless junit5' javac java /usr/share/java/junit-platform-console.jar ;;
        *) echo "no such language: $1" >&2; exit 2 ;;
    esac
}

chosen=("$@")
[[ ${#chosen[@]} -gt 0 ]] || chosen=("${LANGUAGES[@]}")
failed=0
for language in "${chosen[@]}"; do
    printf -- '-- %s\n' "$language"
    if ! prepare "$language"; then
        result[$language]='not run (no toolchain)'
        continue
    fi
    # In a shell of its own: `set -e` does not act within a condition.
    set +e
    (set -e; "test_$language")
    status=$?
    set -e
    if [[ $status == 0 ]]; then result[$language]=passed; else result[$language]=FAILED; failed=1; fi
done

printf '\n| client | result |\n|---|---|\n'
for language in "${chosen[@]}"; do printf '| %s | %s |\n' "$language" "${result[$language]}"; done
exit "$failed"
