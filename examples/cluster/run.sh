#!/usr/bin/env bash
# The setup of compose.yaml without containers: PostgreSQL and HAProxy of Debian, and three processes, until Ctrl-C.
#
#   examples/cluster/run.sh [BINARY] [PORT]
#
# Needs the packages postgresql and haproxy. Prints one line when the proxy answers. A process that ends is started again.
# CLUSTER_FOLDER: a new or empty folder for data, NAME.log and NAME.pid; default: one that is deleted at the end
# CLUSTER_LEASE: --store-lease, in seconds; default: 5
# CLUSTER_PORTS: of PostgreSQL and of the three processes; default: the four after PORT
set -euo pipefail

binary="${1:-sandbox}"
port="${2:-4747}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
read -r database_port port1 port2 port3 <<<"${CLUSTER_PORTS:-$((port + 1)) $((port + 2)) $((port + 3)) $((port + 4))}"

for program in initdb postgres createdb; do
    path="$(command -v "$program" || ls -d /usr/lib/postgresql/*/bin/"$program" 2>/dev/null | sort -V | tail -1)"
    [[ -n "$path" ]] || { echo "$0: install the package postgresql: $program is missing" >&2; exit 1; }
    declare "$program=$path"
done
haproxy="$(command -v haproxy || ls /usr/sbin/haproxy 2>/dev/null)" ||
    { echo "$0: install the package haproxy" >&2; exit 1; }
command -v "$binary" >/dev/null || { echo "$0: $binary is not a program" >&2; exit 1; }

folder="${CLUSTER_FOLDER:-$(mktemp -d)}"
kept=()

# Runs a command, and starts it again when it ends, until SIGTERM. Its process is in NAME.pid.
keep() {
    local name="$1" process=''
    shift
    trap '[[ -z "$process" ]] || { kill -TERM "$process" 2>/dev/null; wait "$process"; }; exit 0' TERM
    while :; do
        "$@" >>"$folder/$name.log" 2>&1 &
        process=$!
        echo "$process" >"$folder/$name.pid"
        { wait "$process" || true; } 2>/dev/null # without the note about a kill
        sleep 0.2
    done
}

stop() {
    for child; do kill -TERM "$child" 2>/dev/null || true; done
    for child; do wait "$child" 2>/dev/null || true; done
}
end() {
    trap - EXIT INT TERM
    stop "${kept[@]}" # while the database still runs
    stop ${proxy:-} ${database:-}
    [[ -n "${CLUSTER_FOLDER:-}" ]] || rm -rf "$folder"
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
keep postgres "${as[@]}" "$postgres" -D "$folder/data" -p "$database_port" -k '' -c listen_addresses=127.0.0.1 &
database=$!
for _ in $(seq 100); do
    PGPASSWORD="$password" "$createdb" -h 127.0.0.1 -p "$database_port" -U sandbox sandbox 2>"$folder/createdb.log" && break
    sleep 0.1
done

export SANDBOX_STORE="postgres://sandbox:$password@127.0.0.1:$database_port/sandbox"
for number in 1 2 3; do
    declare -n own="port$number"
    export "SANDBOX$number=127.0.0.1:$own"
    keep "sandbox$number" "$binary" --port "$own" --quiet --store-lease "${CLUSTER_LEASE:-5}" &
    kept+=($!)
done
export CLUSTER_BIND="127.0.0.1:$port"
keep haproxy "$haproxy" -q -db -f "$here/haproxy.cfg" &
proxy=$!
for _ in $(seq 300); do
    if curl --silent --fail --max-time 1 --output /dev/null "http://127.0.0.1:$port/_sandbox/ready"; then
        echo "listening on http://127.0.0.1:$port"
        wait
        exit 1
    fi
    sleep 0.1
done
echo "$0: no process is ready" >&2
exit 1
