#!/usr/bin/env bash
# Several processes over one PostgreSQL.
#
#   .ci/cluster.sh install   installs PostgreSQL and HAProxy if they are missing and this machine can
#   .ci/cluster.sh drill     the kill drill for three minutes, with at least 50 faults, and its control for one
#   .ci/cluster.sh can       whether the programs are installed or required: then no test may be skipped
set -euo pipefail

is_there() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && { command -v haproxy || [[ -x /usr/sbin/haproxy ]]; } >/dev/null; }
is_able() { [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; }

case "${1:-}" in
install)
    is_there && exit 0
    is_able || { echo 'PostgreSQL or HAProxy is missing: the tests of several processes say what they skip'; exit 0; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql haproxy
    is_there
    ;;
can)
    is_there || is_able
    ;;
drill)
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    export SANDBOX_TEST_DRILL=180 SANDBOX_TEST_DRILL_FAULTS=50
    cargo test --test it cluster::drill:: -- --nocapture
    ;;
*)
    echo "usage: $0 install|can|drill" >&2
    exit 2
    ;;
esac
