#!/bin/sh
# Builds build/DEMO.PRG and its map. Exit code 3: no compiler for RISC-V can be had here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
settings=$("$root/host/rv45/toolchain.sh") || exit 3
eval "$settings"
target=$root/target/m65-demo
# The warnings are about compiler flags that are meant.
log=$(cd "$here" && rv45_cargo build --quiet --release $RV45_CARGO_FLAGS --target-dir "$target" 2>&1) ||
    { echo "$log" >&2; exit 1; }
mkdir -p "$root/build"
"${CARGO:-cargo}" run --quiet --manifest-path "$root/Cargo.toml" --package rv45 -- "$target/$RV45_TARGET/release/m65-demo" \
    -o "$root/build/DEMO.PRG" --map "$root/build/DEMO.map" >/dev/null
ls -l "$root/build/DEMO.PRG"
