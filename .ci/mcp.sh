#!/usr/bin/env bash
# Tests the tools for language models with the official inspector: its command line lists and calls them over HTTP and over standard input and
# output, in both families of revisions. Counts the tokens of the list. If a tool is missing, the tests are reported as not run, never as passed.
#
#   .ci/mcp.sh target/release/sandbox
set -euo pipefail
exec </dev/null

binary="$(realpath "${1:?usage: $0 BINARY}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
npm="$(realpath -m "${CARGO_TARGET_DIR:-target}/mcp-npm")"
readonly INSPECTOR=2.12.0 TOKENIZER=4.0.0 MOST_TOKENS=3000
failed=0

not_run() {
    printf 'mcp: not run (%s)\n0 passed, 0 failed\n' "$1"
    # Fails on a machine that has to have the tools.
    [[ -z "${SANDBOX_CI_STRICT:-}" ]]
    exit
}

command -v node >/dev/null && command -v npm >/dev/null || not_run 'no node with npm'
if [[ ! -d "$npm/node_modules/@modelcontextprotocol/inspector" || ! -d "$npm/node_modules/gpt-tokenizer" ]]; then
    npm install --prefix "$npm" --silent --no-audit --no-fund --no-save --ignore-scripts \
        "@modelcontextprotocol/inspector@$INSPECTOR" "gpt-tokenizer@$TOKENIZER" || not_run 'the inspector could not be installed'
fi

work="$(mktemp -d)"
"$binary" --seed 42 --port 0 --port-file "$work/port" --quiet --exit-with-stdin < <(exec sleep 600) >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
while [[ ! -s "$work/port" ]]; do
    kill -0 "$server"
    sleep 0.1
done
url="http://127.0.0.1:$(<"$work/port")/_sandbox/mcp"

result() { # NAME OK DETAIL
    printf '%-4s %-34s %s\n' "$2" "$1" "$3"
    [[ "$2" == ok ]] || failed=$((failed + 1))
}

inspect() { # TRANSPORT ERA FLAG…
    local transport="$1" era="$2"
    shift 2
    local target=("$binary" mcp)
    [[ "$transport" == http ]] && target=("$url" --transport http --header 'Authorization: Bearer inspector')
    timeout 60 "$npm/node_modules/.bin/mcp-inspector" --cli "${target[@]}" --protocol-era "$era" --format json "$@" 2>"$work/stderr"
}

# CHECK is JavaScript about `got`, the printed answer.
check() { # NAME CHECK
    if node -e '
        const fs = require("fs");
        const printed = fs.readFileSync(process.argv[1], "utf8");
        const got = JSON.parse(printed);
        const result = got.result ?? got;
        const tools = JSON.parse(fs.readFileSync("fixtures/mcp-tools.json", "utf8")).tools;
        const text = () => JSON.parse(result.content[0].text);
        const names = (list) => list.map((tool) => tool.name + tool.description).join();
        if (!eval(process.argv[2])) process.exit(1);
    ' "$work/out" "$2" 2>>"$work/stderr"; then
        result "$1" ok ''
    else
        result "$1" FAIL "$(head -c 600 "$work/out") $(head -c 600 "$work/stderr")"
    fi
}

for transport in http stdio; do
    for era in legacy modern; do
        inspect "$transport" "$era" --method tools/list >"$work/out" || true
        check "$transport $era list" 'names(result.tools) === names(tools)'
        inspect "$transport" "$era" --method tools/call --tool-name find_operation --tool-arg query='run payroll' >"$work/out" || true
        check "$transport $era find" 'text().operations[0].operation === "runPayroll"'
        inspect "$transport" "$era" --method tools/call --tool-name call_operation --tool-arg operation=listEmployees >"$work/out" || true
        check "$transport $era call" 'text().body.meta.total === 75'
        inspect "$transport" "$era" --method tools/call --tool-name describe_operation --tool-arg operation=../reset >"$work/out" || true
        check "$transport $era hostile" 'result.isError === true'
    done
done

tokens="$(node -e '
    const { encode } = require(process.argv[1] + "/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js");
    const { tools } = JSON.parse(require("fs").readFileSync("fixtures/mcp-tools.json", "utf8"));
    process.stdout.write(String(encode(JSON.stringify({ tools })).length));
' "$npm")"
if [[ "$tokens" -le "$MOST_TOKENS" ]]; then ok=ok; else ok=FAIL; fi
result 'tokens of the list' "$ok" "$tokens of $MOST_TOKENS"

printf '%s failed\n' "$failed"
[[ "$failed" == 0 ]]
