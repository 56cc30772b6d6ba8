#!/usr/bin/env bash
# The setup of compose.yaml without containers: PostgreSQL and HAProxy of Debian, and three processes, until Ctrl-C.
#
#   examples/cluster/run.sh [BINARY] [PORT]
#
# Needs the packages postgresql and haproxy. Prints one line when the proxy answers. All data are in a new folder, which is deleted at the end.
set -euo pipefail

binary="${1:-sandbox}"
port="${2:-4747}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

for program in initdb postgres createdb; do
    path="$(command -v "$program" || ls -d /usr/lib/postgresql/*/bin/"$program" 2>/dev/null | sort -V | tail -1)"
    [[ -n "$path" ]] || { echo "$0: install the package postgresql: $program is missing" >&2; exit 1; }
    declare "$program=$path"
done
haproxy="$(command -v haproxy || ls /usr/sbin/haproxy 2>/dev/null)" ||
    { echo "$0: install the package haproxy" >&2; exit 1; }
command -v "$binary" >/dev/null || { echo "$0: $binary is not a program" >&2; exit 1; }

folder="$(mktemp -d)"
children=()
end() {
    trap - EXIT INT TERM
    for child in "${children[@]}"; do kill -TERM "$child" 2>/dev/null || true; done
    for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
    [[ -z "${database:-}" ]] || { kill -INT "$database" 2>/dev/null || true; wait "$database" 2>/dev/null || true; }
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 0' INT TERM

# initdb refuses root.
as=()
if [[ "$(id -u)" == 0 ]]; then
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
    chown postgres: "$folder"
fi
password="$(head -c 18 /dev/urandom | base64 | tr '+/' 'ab')"
printf '%s' "$password" >"$folder/password"
chmod 644 "$folder/password"
"${as[@]}" "$initdb" -D "$folder/data" --username=sandbox --auth=scram-sha-256 --pwfile="$folder/password" --encoding=UTF8 >/dev/null
rm "$folder/password"
database_port=$((port + 1))
"${as[@]}" "$postgres" -D "$folder/data" -p "$database_port" -k '' -c listen_addresses=127.0.0.1 >"$folder/postgres.log" 2>&1 &
database=$!
for _ in $(seq 100); do
    PGPASSWORD="$password" "$createdb" -h 127.0.0.1 -p "$database_port" -U sandbox sandbox 2>"$folder/createdb.log" && break
    sleep 0.1
done

for number in 1 2 3; do
    SANDBOX_STORE="postgres://sandbox:$password@127.0.0.1:$database_port/sandbox" \
        "$binary" --port $((port + 1 + number)) --quiet >/dev/null &
    children+=($!)
    export "SANDBOX$number=127.0.0.1:$((port + 1 + number))"
done
CLUSTER_BIND="127.0.0.1:$port" "$haproxy" -q -db -f "$here/haproxy.cfg" &
children+=($!)
for _ in $(seq 200); do
    if curl --silent --fail --max-time 1 --output /dev/null "http://127.0.0.1:$port/_sandbox/ready"; then
        echo "listening on http://127.0.0.1:$port"
        wait -n "${children[@]}" "$database" || true
        echo "$0: a process has ended" >&2
        exit 1
    fi
    sleep 0.1
done
echo "$0: no process is ready" >&2
exit 1
