#!/usr/bin/env bash
# The step "Start": starts the program, waits until it answers, and exports its address. If it does not start, prints its log and fails.
set -euo pipefail

{ read -r folder && read -r scripts; } <"$RUNNER_TEMP/finance-sandbox.paths"
log="$folder/sandbox.log"
program="$scripts/sandbox"
: >"$log" # the program below may open it later than the first look
read -ra args <<<"${SANDBOX_ACTION_ARGS:-}"
# bash 3.2, which macOS has, takes an empty array for an unset variable. The program stays alive after this step. The runner ends it with the job.
nohup "$program" --seed "$SANDBOX_ACTION_SEED" --port 0 ${args[@]+"${args[@]}"} >"$log" 2>&1 </dev/null &
pid=$!

for _ in $(seq 150); do
    # The flags can change the host and the base path of the address.
    url="$(sed -n 's/^listening on //p' "$log" | tr -d '\r')"
    if [[ "$url" =~ ^http://(.*):([0-9]+)(/.*)?$ ]] &&
        "$program" healthcheck --host "${BASH_REMATCH[1]}" --port "${BASH_REMATCH[2]}" ${BASH_REMATCH[3]:+--base-path "${BASH_REMATCH[3]}"} 2>>"$log"; then
        echo "url=$url" >>"$GITHUB_OUTPUT"
        printf '%s\n' "SANDBOX_URL=$url" "SANDBOX_LOG_FILE=$log" "SANDBOX_PID=$pid" >>"$GITHUB_ENV"
        echo "the sandbox serves at $url"
        exit 0
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
done
echo '::error::the sandbox did not start; this is its log:'
cat "$log"
kill "$pid" 2>/dev/null || true
exit 1
