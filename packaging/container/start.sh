#!/usr/bin/env bash
# Starts an image of image.sh and checks it: user, health check, an answer, a clean stop. With podman and runc if this machine allows
# it, otherwise in the unpacked root with chroot, which tests the program, its user and its files, but no container runtime. Needs root.
#
#   packaging/container/start.sh FINANCE_SANDBOX_TAR
set -euo pipefail

archive="$(realpath "${1:?usage: $0 FINANCE_SANDBOX_TAR}")"
work="$(mktemp -d)"
server=''
p() { podman --storage-driver vfs --root "$work/storage" --runroot "$work/run" --runtime runc --cgroup-manager cgroupfs --events-backend file "$@"; }
clean() {
    [[ -z "$server" ]] || kill "$server" 2>/dev/null || true
    if command -v podman >/dev/null; then
        p rm -f -t 2 sandbox >/dev/null 2>&1 || true
        p rmi -a -f >/dev/null 2>&1 || true
    fi
    rm -rf "$work"
}
trap clean EXIT
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"

refuses() { if "$@"; then return 1; fi; }

answers() {
    local answer
    answer="$(curl --silent --fail --max-time 10 --retry 5 --retry-connrefused --header 'Authorization: Bearer test' "http://127.0.0.1:$port/api/business/employees?per_page=1")"
    [[ "$answer" == *'"meta":{"total":75,"page":1}'* ]]
}

# host network: needs no bridge. ulimit: podman's defaults can be above the limits of this machine. no-healthcheck: podman runs the
# health check with timers of systemd; it is run by hand below.
with_podman() {
    p load --quiet --input "$archive" >/dev/null
    p run --detach --name sandbox --network host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --no-healthcheck --read-only --cap-drop all \
        --env SANDBOX_PORT="$port" "$(p images --format '{{.Repository}}:{{.Tag}}')" --seed 42 >/dev/null || return 77
    for _ in $(seq 50); do p exec sandbox /sandbox healthcheck --host 127.0.0.1 2>/dev/null && break; sleep 0.1; done
    p exec sandbox /sandbox healthcheck --host 127.0.0.1
    answers
    p top sandbox user pid args | grep -q '^65532 *1 */sandbox'
    refuses p exec sandbox /sandbox healthcheck --host 127.0.0.1 --port 1 2>/dev/null
    p stop --time 5 sandbox >/dev/null
    [[ "$(p inspect sandbox --format '{{.State.ExitCode}}')" == 0 ]]
}

with_chroot() {
    local layer
    mkdir "$work/image" "$work/root"
    tar -xf "$archive" -C "$work/image"
    for layer in $(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))[0]["Layers"])' "$work/image/manifest.json"); do
        tar -xf "$work/image/$layer" -C "$work/root"
    done
    local enter=(chroot --userspec=65532:65532 "$work/root" /sandbox)
    "${enter[@]}" --host 127.0.0.1 --port "$port" --seed 42 --quiet >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 50); do grep -q 'listening on' "$work/log" && break; sleep 0.1; done
    cat "$work/log"
    grep -qE '^Uid:\s+65532\s+65532' "/proc/$server/status"
    answers
    "${enter[@]}" healthcheck --port "$port"
    refuses "${enter[@]}" healthcheck --port 1 2>/dev/null
    kill "$server"
    wait "$server"
    server=''
}

if command -v podman >/dev/null && command -v runc >/dev/null; then
    set +e # in a shell of its own: `set -e` does not act within a condition
    (set -e && with_podman)
    status=$?
    set -e
    [[ $status != 0 ]] || { echo 'started with podman'; exit 0; }
    [[ $status == 77 ]] || exit "$status"
    echo 'podman cannot start containers here'
fi
with_chroot
echo 'started with chroot, without a container runtime'
