#!/usr/bin/env bash
# The step "Install": puts the program into a folder of this use of the action, and the folder into the PATH.
set -euo pipefail

# A new folder, because the program of an earlier use still runs.
folder="$(mktemp -d "$RUNNER_TEMP/finance-sandbox.XXXXXX")"
if [[ -n "${SANDBOX_ACTION_BINARY:-}" ]]; then
    scripts="$folder/bin"
    mkdir -p "$scripts"
    case $SANDBOX_ACTION_BINARY in *.exe) name=sandbox.exe ;; *) name=sandbox ;; esac
    cp "$SANDBOX_ACTION_BINARY" "$scripts/$name"
else
    python="$(command -v python3 || command -v python)"
    "$python" -m pip install --quiet --upgrade --only-binary :all: --target "$folder" "finance-sandbox${SANDBOX_ACTION_VERSION:+==$SANDBOX_ACTION_VERSION}"
    scripts="$folder/bin"
    [[ -d "$scripts" ]] || scripts="$folder/Scripts"
fi
"$scripts/sandbox" --version
echo "$scripts" >>"$GITHUB_PATH"
printf '%s\n' "$folder" "$scripts" >"$RUNNER_TEMP/finance-sandbox.paths"
