#!/bin/sh
# Builds the demo; prints the path of the PRG. The folder of the result is the first argument,
# else target/m65-demo of this repository.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-${CARGO_TARGET_DIR:-$root/target}/m65-demo}
settings=$("$root/host/rv45/toolchain.sh")
eval "$settings"
mkdir -p "$out"
(cd "$here" && RUSTFLAGS="$RV45_RUSTFLAGS" $RV45_CARGO build --quiet --release $RV45_CARGO_FLAGS --target-dir "$out/riscv") >&2
${CARGO:-cargo} run --quiet --manifest-path "$root/Cargo.toml" -p rv45 -- \
    "$out/riscv/$RV45_TARGET/release/m65-demo" -o "$out/DEMO.PRG" --map "$out/DEMO.map" --list "$out/DEMO.lst" >"$out/DEMO.report"
echo "$out/DEMO.PRG"
