#!/bin/sh
# Builds the test programs; prints the folder of the linked ELFs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
settings=$("$here/../toolchain.sh")
eval "$settings"
out=${RV45_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/ssnail/rv45-programs}
cd "$here"
rv45_cargo build --quiet --release $RV45_CARGO_FLAGS --target-dir "$out" >&2
echo "$out/$RV45_TARGET/release"
