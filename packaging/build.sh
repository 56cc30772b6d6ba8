#!/usr/bin/env bash
# Builds the packages for this platform: wheel, npm, .deb, tar.gz, SBOM, SHA256SUMS. Without --binary it builds the program first:
# profile `dist`, on Linux without shared libraries, so that it runs on every distribution.
#
#   packaging/build.sh [--binary FILE] [--out DIR] [--quick]
#
# --quick compresses less, for tests.
# Needs python3 with venv (and hatchling, from PyPI or $PIP_FIND_LINKS), npm, dpkg-deb and cargo. A package whose tool is missing is
# reported and not built. It ran on Linux x86-64; the lines for other platforms have not been run.
set -euo pipefail
exec </dev/null

folder() { mkdir -p "$1" && cd "$1" && pwd; }

binary='' out='' gzip=9 xz=6
while [[ $# -gt 0 ]]; do
    case $1 in
        --binary) binary="$(realpath "${2:?a file after --binary}")" && shift 2 ;;
        --out) out="$(folder "${2:?a folder after --out}")" && shift 2 ;;
        --quick) gzip=1 xz=0 && shift ;;
        *) echo "usage: $0 [--binary FILE] [--out DIR] [--quick]" >&2 && exit 2 ;;
    esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly NAME=finance-sandbox
TARGET="$(folder "${CARGO_TARGET_DIR:-target}")"
[[ -n "$out" ]] || out="$(folder "$TARGET/packages")"
platform="$(rustc -vV 2>/dev/null | sed -n 's/^host: //p')"
: "${platform:=$(uname -m)-unknown-linux-gnu}"

case $platform in # npm's os and cpu, the wheel's platform
    x86_64-unknown-linux-gnu) os=linux cpu=x64 wheel=x86_64 ;;
    aarch64-unknown-linux-gnu) os=linux cpu=arm64 wheel=aarch64 ;;
    x86_64-apple-darwin) os=darwin cpu=x64 wheel=macosx_11_0_x86_64 ;;
    aarch64-apple-darwin) os=darwin cpu=arm64 wheel=macosx_11_0_arm64 ;;
    x86_64-pc-windows-msvc) os=win32 cpu=x64 wheel=win_amd64 ;;
    aarch64-pc-windows-msvc) os=win32 cpu=arm64 wheel=win_arm64 ;;
    *) echo "no packages for $platform" >&2 && exit 1 ;;
esac
program=sandbox scripts=bin
[[ $os != win32 ]] || { program=sandbox.exe && scripts=Scripts; }

# The paths of this machine do not get into the program. On Linux, packed relocations (0.8 MB less) and folding
# of equal functions make it smaller. No code here compares addresses of functions, which folding can make equal.
# Similar functions are placed beside each other, so that the packages and the image compress better.
build_program() {
    local flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$PWD=/finance-sandbox"
    case $os in
        linux) flags+=' -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs -C link-arg=-Wl,--icf=all -C link-arg=-Wl,--bp-compression-sort=both' ;;
        darwin) export MACOSX_DEPLOYMENT_TARGET=11.0 ;;
        win32) flags+=' -C target-feature=+crt-static' ;;
    esac
    # --target: the flags are for the program, not for build scripts and procedural macros.
    RUSTFLAGS="$flags" cargo build --locked --profile dist --bin sandbox --target "$platform"
    binary="$TARGET/$platform/dist/$program"
}

[[ -n "$binary" ]] || build_program
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
rm -f "$out"/finance[-_]sandbox* "$out/SHA256SUMS"
# Files have the time of the commit, so that the same sources give the same packages.
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)}"
umask 022
install -m 755 "$binary" "$work/$program"
[[ $os != linux ]] || strip "$work/$program"
binary="$work/$program"
version="$("$binary" --version | cut -d' ' -f2)"
for manifest in clients/python/pyproject.toml clients/javascript/package.json; do
    grep -qE "^ *\"?version\"?[ :=]+\"$version\"" "$manifest" ||
        { echo "the program is $version; $manifest has another version" >&2 && exit 1; }
done

# The newest glibc that the program needs; empty for a program without shared libraries.
glibc=''
if [[ $os == linux ]]; then
    glibc="$( (objdump -T "$binary" 2>/dev/null || true) | (grep -oE 'GLIBC_2\.[0-9]+' || true) | sort -uV | tail -1 | cut -d_ -f2)"
    if [[ -n "$glibc" ]]; then
        wheel="manylinux_${glibc/./_}_$wheel"
    else
        wheel="manylinux_2_17_$wheel.manylinux2014_$wheel.musllinux_1_1_$wheel"
    fi
fi

built=0 not_built=0
need() {
    local package="$1" tool
    shift
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$package: not built ($tool is missing)" && not_built=$((not_built + 1)) && return 1; }
    done
    built=$((built + 1))
}

# The texts required by third-party licences: of the crates, of embedded files, and of glibc in a static program.
build_licences() {
    local more=()
    [[ $os != linux || -n "$glibc" || ! -e /usr/share/doc/libc6-dev/copyright ]] || more=(/usr/share/doc/libc6-dev/copyright)
    python3 packaging/licences.py "$platform" ${more[@]+"${more[@]}"} >"$work/LICENSE-THIRD-PARTY"
}

build_documents() {
    local shell
    "$binary" man "$work/man"
    mkdir "$work/completions"
    for shell in bash zsh fish; do "$binary" completions "$shell" >"$work/completions/sandbox.$shell"; done
}

build_wheel() {
    local venv="$TARGET/packaging/venv"
    [[ -x "$venv/$scripts/hatchling" ]] || { python3 -m venv "$venv" && "$venv/$scripts/pip" install --quiet --disable-pip-version-check hatchling==1.27.0; }
    cp -r clients/python "$work/wheel"
    cp LICENSE-* "$work/LICENSE-THIRD-PARTY" packaging/python/hatch_build.py "$work/wheel"
    cat packaging/python/wheel.toml >>"$work/wheel/pyproject.toml"
    printf '"%s" = "%s"\n' "$binary" "$program" >>"$work/wheel/pyproject.toml"
    (cd "$work/wheel" && SANDBOX_WHEEL_PLATFORM="$wheel" "$venv/$scripts/hatchling" build -t wheel -d "$out" >/dev/null)
}

# The program is in a package for each platform. npm installs the one that fits, and nothing runs at install time.
build_npm() {
    cp -r clients/javascript "$work/npm"
    mkdir -p "$work/platform/bin"
    cp "$binary" "$work/platform/bin/$program"
    cp LICENSE-* "$work/npm" && cp LICENSE-* "$work/LICENSE-THIRD-PARTY" "$work/platform"
    node - "$work" "$os" "$cpu" <<'JS'
const { readFileSync, writeFileSync } = require('node:fs');
const [work, os, cpu] = process.argv.slice(2);
const main = JSON.parse(readFileSync(`${work}/npm/package.json`));
const { version, license } = main;
const all = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];
main.optionalDependencies = Object.fromEntries(all.map((one) => [`finance-sandbox-${one}`, version]));
delete main.scripts;
main.files.push('LICENSE-*');
const description = `The program of finance-sandbox for ${os} on ${cpu}`;
const platform = { name: `finance-sandbox-${os}-${cpu}`, version, description, license, os: [os], cpu: [cpu], preferUnplugged: true, files: ['bin', 'LICENSE-*'] };
writeFileSync(`${work}/npm/package.json`, JSON.stringify(main, null, 2));
writeFileSync(`${work}/platform/package.json`, JSON.stringify(platform, null, 2));
JS
    (cd "$work/npm" && npm pack --silent --pack-destination "$out" >/dev/null)
    (cd "$work/platform" && npm pack --silent --pack-destination "$out" >/dev/null)
}

build_archive() {
    local folder="$NAME-$version-$platform" options=()
    mkdir "$work/$folder"
    cp -r "$binary" "$work/man" "$work/completions" LICENSE-* "$work/LICENSE-THIRD-PARTY" README.md CHANGELOG.md "$work/$folder"
    if tar --version | grep -q GNU; then
        options=(--sort=name "--mtime=@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner)
    fi
    tar -C "$work" ${options[@]+"${options[@]}"} -cf - "$folder" | gzip "-$gzip" -n >"$out/$folder.tar.gz"
}

build_deb() {
    local root="$work/deb" share="$work/deb/usr/share"
    install -D -m 755 "$binary" "$root/usr/bin/sandbox"
    install -D -m 644 "$work/completions/sandbox.bash" "$share/bash-completion/completions/sandbox"
    install -D -m 644 "$work/completions/sandbox.zsh" "$share/zsh/vendor-completions/_sandbox"
    install -D -m 644 "$work/completions/sandbox.fish" "$share/fish/vendor_completions.d/sandbox.fish"
    install -d "$share/man/man1" "$share/doc/$NAME" "$root/DEBIAN"
    cp "$work/man/"*.1 "$share/man/man1" && gzip -9n "$share/man/man1/"*.1
    cat LICENSE-MIT LICENSE-APACHE "$work/LICENSE-THIRD-PARTY" >"$share/doc/$NAME/copyright"
    gzip -9nc CHANGELOG.md >"$share/doc/$NAME/changelog.gz"
    {
        echo "Package: $NAME"
        echo "Version: $version"
        echo "Architecture: $(dpkg --print-architecture)"
        echo 'Maintainer: The sandbox maintainers <maintainers@sandbox.invalid>'
        echo 'Section: devel'
        echo 'Priority: optional'
        echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)"
        [[ -z "$glibc" ]] || echo "Depends: libc6 (>= $glibc), libgcc-s1"
        echo 'Conflicts: policycoreutils-sandbox' # it has /usr/bin/sandbox, too
        echo 'Description: simulator of a financial-infrastructure API'
        echo ' Payroll, payments, accounting, compliance, identity and capital over one ledger, seeded and in memory.'
    } >"$root/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -z "$xz" --build "$root" "$out/${NAME}_${version}_$(dpkg --print-architecture).deb" >/dev/null
}

export PYTHONDONTWRITEBYTECODE=1
build_licences
build_documents
need wheel python3 && build_wheel
need npm npm node && build_npm
need tar.gz gzip && build_archive
[[ $os != linux ]] || { need .deb dpkg-deb && build_deb; }
need SBOM cargo python3 && python3 packaging/sbom.py "$platform" >"$out/$NAME-$version-$platform.cdx.json"

cd "$out"
if command -v sha256sum >/dev/null; then sha256sum finance*; else shasum -a 256 finance*; fi >SHA256SUMS
wc -c finance* | awk '$2 != "total" { printf "%10d bytes  %s\n", $1, $2 }'
echo "$built built, $not_built not built; in $out"
