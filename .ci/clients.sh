#!/usr/bin/env bash
# Runs the tests of each client in clients/ against a binary; then the recipes of docs/clients.md for generated clients: generate,
# compile, and make the calls of clients/generated/. A toolchain that is missing is installed where apt and root
# are available. A language without its toolchain counts as "not run", never as passed. The output ends with a table.
#
#   .ci/clients.sh target/release/sandbox
#   .ci/clients.sh target/release/sandbox go java     # only these
set -euo pipefail
exec </dev/null

binary="$(realpath "${1:?usage: $0 BINARY [LANGUAGE…]}")"
[[ -x "$binary" && ! -d "$binary" ]] || { echo "$binary is no program" >&2; exit 2; }
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT="$PWD"
readonly WORK="$(realpath -m "${CARGO_TARGET_DIR:-target}/clients")"
readonly LANGUAGES=(javascript python go ruby php java
    generated_typescript generated_python generated_go generated_java)
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
    # Another command can hold the lock, and the package lists can be missing.
    local install=(apt-get -o DPkg::Lock::Timeout=120 install --yes --quiet=2 --no-install-recommends)
    read -ra packages <<<"$1"
    export DEBIAN_FRONTEND=noninteractive
    timeout 400 "${install[@]}" "${packages[@]}" >"$WORK/apt.log" 2>&1 ||
        { apt-get --quiet=2 update && timeout 400 "${install[@]}" "${packages[@]}"; } >"$WORK/apt.log" 2>&1 || true
}

# Each function tests one language, with its toolchain installed.
test_javascript() {
    (cd clients/javascript && node --test test/)
    if ! [[ -x "$WORK/npm/node_modules/.bin/tsc" ]]; then
        npm install --prefix "$WORK/npm" --silent --no-audit --no-fund --no-save \
            @hey-api/openapi-ts@0.95.0 typescript@5.9.3 @types/node@18.19.130 || true
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
    ruby -w -I "$PWD/lib" test/cases_test.rb
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

# A folder with the recipe, the document for clients beside it, and a server, which ends with this script.
recipe() {
    rm -rf "$WORK/generated/$1"
    mkdir -p "$WORK/generated"
    cp -r "clients/generated/$1" "$WORK/generated/$1"
    cd "$WORK/generated/$1"
}

start_server() {
    [[ -z "${url:-}" ]] || return 0
    mkdir -p "$WORK/generated"
    "$binary" openapi --client >"$WORK/generated/client.json"
    "$binary" openapi --client --openapi 3.0 >"$WORK/generated/client-3.0.json"
    "$binary" openapi --client --openapi 3.0 --domain payments >"$WORK/generated/payments-3.0.json"
    rm -f "$WORK/port"
    exec {held}> >(exec "$binary" --port 0 --port-file "$WORK/port" --quiet --exit-with-stdin >/dev/null)
    local attempt
    for attempt in $(seq 300); do [[ ! -s "$WORK/port" ]] || break; sleep 0.1; done
    [[ -s "$WORK/port" ]] || { echo "$binary does not serve" >&2; exit 1; }
    url="http://127.0.0.1:$(<"$WORK/port")"
}

# `generate GENERATOR OPTIONS…`, with openapi-generator, of `$document` if it is set.
generate() {
    local generator="$1" options="$2"
    shift 2
    java -jar "$jar" generate -g "$generator" -i "../${document:-client-3.0.json}" -o generated "--additional-properties=$options" "$@" \
        --global-property apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false >generate.log 2>&1 ||
        { tail -20 generate.log >&2; return 1; }
}

test_generated_typescript() {
    recipe typescript
    ln -s "$WORK/npm/node_modules" node_modules
    node_modules/.bin/openapi-ts >generate.log
    node_modules/.bin/tsc
    node out/flow.js "$url"
}

test_generated_python() {
    recipe python
    "$WORK/venv/bin/openapi-python-client" generate --path ../client.json --config config.yml --meta none --output-path sandbox_client >generate.log 2>&1
    # The generated base class itself is not strict.
    "$WORK/venv/bin/mypy" --strict --follow-imports=silent --cache-dir="$WORK/mypy" flow.py
    "$WORK/venv/bin/python" flow.py "$url"
}

test_generated_go() {
    recipe go
    export CGO_ENABLED=0 GOPROXY=off GOFLAGS=-mod=mod GOCACHE="$WORK/go"
    generate go packageName=sandboxclient,isGoSubmodule=false,withGoMod=false,enumClassPrefix=true
    mkdir flow
    mv flow.go flow/main.go
    mv generated/*.go .
    go vet . ./flow
    go run ./flow "$url"
    # The document of one domain.
    rm -rf generated
    document=payments-3.0.json generate go packageName=payments,isGoSubmodule=false,withGoMod=false,enumClassPrefix=true
    mkdir payments
    mv generated/*.go payments/
    go vet ./payments
}

test_generated_java() {
    recipe java
    local names=invokerPackage=sandboxclient,apiPackage=sandboxclient.api,modelPackage=sandboxclient.model
    generate java "$names,openApiNullable=false,hideGenerationTimestamp=true,containerDefaultToNull=true,annotationLibrary=none,documentationProvider=none,enumUnknownDefaultCase=true" --library native
    # The generator's own jar has Jackson.
    find generated/src/main javax Flow.java -name '*.java' >files
    javac -nowarn -proc:none --release 17 -cp "$jar" -d classes @files
    java -cp "$jar:classes" Flow "$url"
}

# Kills the test runner of a language while it runs, without a chance to clean up. The program must then end, too. A copy of the
# program, so that no other process has its path.
kill_runner() {
    local copy="$WORK/killed/$1" file pid attempt runner
    mkdir -p "$WORK/killed"
    cp "$binary" "$copy"
    setsid bash -c 'cd "$1" && source "$2" && set -e && "test_$3"' _ "$ROOT" <(declare -p WORK ROOT; declare -p python 2>/dev/null || true; declare -f "test_$1"; echo "export SANDBOX_BIN='$copy'") "$1" >"$copy.log" 2>&1 &
    runner=$!
    disown "$runner" # the shell does not report its end
    for attempt in $(seq 600); do
        [[ -n "$(running "$copy")" ]] && break
        kill -0 "$runner" 2>/dev/null || { echo "no program was started by $1" >&2; return 1; }
        sleep 0.1
    done
    # Every process of the session but the program itself.
    for file in /proc/[0-9]*; do
        pid="${file#/proc/}"
        [[ "$(cut -d' ' -f6 "$file/stat" 2>/dev/null)" != "$runner" || "$(readlink "$file/exe")" == "$copy" ]] || kill -KILL "$pid" 2>/dev/null || true
    done
    for attempt in $(seq 50); do
        [[ -n "$(running "$copy")" ]] || { echo "$1: no process remains after the runner is killed"; return 0; }
        sleep 0.1
    done
    echo "$1: a process remains after the runner is killed" >&2
    kill -KILL $(running "$copy")
    return 1
}

# The processes of this program, without those that have ended.
running() {
    local exe
    for exe in /proc/[0-9]*/exe; do
        [[ "$(readlink "$exe" 2>/dev/null)" != "$1" ]] || { exe="${exe#/proc/}" && echo "${exe%/exe}"; }
    done
}

pip_install() { "$WORK/venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }

prepare() {
    case $1 in
        generated_*)
            start_server
            [[ -x "$WORK/venv/bin/python" ]] || python3 -m venv "$WORK/venv" || return 1
            ;;&
        generated_typescript)
            [[ -x "$WORK/npm/node_modules/.bin/openapi-ts" ]] || npm install --prefix "$WORK/npm" --silent --no-audit --no-fund --no-save \
                @hey-api/openapi-ts@0.95.0 typescript@5.9.3 @types/node@18.19.130
            ;;
        generated_python)
            [[ -x "$WORK/venv/bin/openapi-python-client" && -x "$WORK/venv/bin/mypy" ]] || pip_install openapi-python-client==0.29.1 mypy
            ;;
        generated_go | generated_java)
            if [[ $1 == generated_go ]]; then have golang-go go; else have openjdk-17-jdk-headless javac; fi || return 1
            have openjdk-17-jre-headless java || return 1
            jar="$(find "$WORK/venv/lib" -name openapi-generator.jar)"
            [[ -n "$jar" ]] || pip_install openapi-generator-cli==7.26.0 || return 1
            jar="$(find "$WORK/venv/lib" -name openapi-generator.jar)"
            [[ -n "$jar" ]]
            ;;
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
    # In a subshell, because `set -e` has no effect within a condition.
    set +e
    (set -e; "test_$language" && { [[ $language == generated_* || ! -d /proc/self ]] || kill_runner "$language"; })
    status=$?
    set -e
    if [[ $status == 0 ]]; then result[$language]=passed; else result[$language]=FAILED; failed=1; fi
done

printf '\n| client | result |\n|---|---|\n'
declare -A count=([passed]=0 [FAILED]=0 [not]=0)
for language in "${chosen[@]}"; do
    printf '| %s | %s |\n' "$language" "${result[$language]}"
    count[${result[$language]%% *}]=$((count[${result[$language]%% *}] + 1))
done
printf '\n%s passed, %s failed, %s not run\n' "${count[passed]}" "${count[FAILED]}" "${count[not]}"
exit "$failed"
