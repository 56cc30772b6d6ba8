#!/usr/bin/env bash
# The step "Start": starts the program, waits until it answers, and exports its address. If it does not start, prints its log and fails.
set -euo pipefail

log="$RUNNER_TEMP/finance-sandbox.log"
port_file="$RUNNER_TEMP/finance-sandbox.port"
program="$(<"$RUNNER_TEMP/finance-sandbox.scripts")/sandbox"
read -ra args <<<"${SANDBOX_ACTION_ARGS:-}"
rm -f "$port_file"
# bash 3.2, which macOS has, takes an empty array for an unset variable. The program stays alive after this step. The runner ends it with the job.
nohup "$program" --seed "$SANDBOX_ACTION_SEED" --port 0 --port-file "$port_file" ${args[@]+"${args[@]}"} >"$log" 2>&1 </dev/null &
pid=$!

for _ in $(seq 150); do
    if [[ -s "$port_file" ]] && "$program" healthcheck --host 127.0.0.1 --port "$(<"$port_file")" 2>>"$log"; then
        url="http://127.0.0.1:$(<"$port_file")"
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
