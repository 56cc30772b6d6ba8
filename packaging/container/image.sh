#!/usr/bin/env bash
# Builds the container image around a program, without a daemon: DIR/finance-sandbox.tar, for `docker load` or `podman load`. Needs buildah.
# A program with shared libraries gets those of this machine, to test the image; only a static one is for a release, and only its
# size is checked: at most 9 MB compressed, 22 MB unpacked.
#
#   packaging/container/image.sh BINARY DIR
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "${1:?usage: $0 BINARY DIR}")"
mkdir -p "${2:?usage: $0 BINARY DIR}"
out="$(realpath "$2")/finance-sandbox.tar"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cp "$here/Containerfile" "$work"
install -D -m 755 "$binary" "$work/root/sandbox"
strip "$work/root/sandbox"
# The licences beside the program, as in the archive; compressed, because nothing in the image reads them.
for licence in "$(dirname "$binary")"/LICENSE-*; do
    [[ ! -e "$licence" ]] || gzip -9nc "$licence" >"$work/root/$(basename "$licence").gz"
done
libraries="$(ldd "$binary" 2>/dev/null | grep -oE '/[^ ]+' || true)"
for library in $libraries; do install -D -m 755 "$library" "$work/root$library"; done
find "$work/root" -exec touch -h -d @0 {} +

# vfs needs no help of the kernel. As a flag, because the variable STORAGE_DRIVER is ignored together with --root.
b() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
version="$("$binary" --version | cut -d' ' -f2)"
image="localhost/finance-sandbox:$version"
# The OCI format has no HEALTHCHECK. With a fixed time, the same program gives the same layer.
b build --quiet --format docker --network none --timestamp 0 -t "$image" "$work" >/dev/null
b inspect --type image "$image" | python3 -c '
import json, sys
config = json.load(sys.stdin)["Docker"]["config"]
assert config["User"] == "65532:65532" and config["Entrypoint"] == ["/sandbox"], config
assert config["Healthcheck"]["Test"][:3] == ["CMD", "/sandbox", "healthcheck"], config
assert "4747/tcp" in config["ExposedPorts"], config
'
rm -f "$out"
b push --quiet "$image" "docker-archive:$out:$image"

unpacked="$(find "$work/root" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')"
if [[ -n "$libraries" ]]; then
    echo "image: $unpacked bytes unpacked, with shared libraries of this machine, for tests only"
    exit
fi
compressed="$(tar -C "$work/root" -cf - . | gzip -9 | wc -c)"
echo "image: $compressed bytes compressed, $unpacked bytes unpacked"
if ((compressed > 9000000 || unpacked > 22000000)); then
    echo 'the image is too large: the limits are 9 MB compressed and 22 MB unpacked' >&2
    exit 1
fi
