#!/bin/sh
# Builds build/SSNAIL.PRG and its map. Exit code 3: no compiler for RISC-V can be had here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
settings=$("$root/host/rv45/toolchain.sh") || exit 3
eval "$settings"
target=$root/target/mega65
elf=$target/$RV45_TARGET/release/ssnail
# The warnings are about compiler flags that are meant.
log=$(cd "$here" && RUSTFLAGS="$RV45_RUSTFLAGS" $RV45_CARGO build --quiet --release $RV45_CARGO_FLAGS --target-dir "$target" 2>&1) ||
    { echo "$log" >&2; exit 1; }
mkdir -p "$root/build"
${CARGO:-cargo} run --quiet --manifest-path "$root/Cargo.toml" --package rv45 -- "$elf" -o "$root/build/SSNAIL.PRG" \
    --map "$root/build/SSNAIL.map" --asm "$here/src/hw/below.s" --hot "tokenizer::merge,tokenizer::tables,tokenizer::scratch,SlotKey,encode::unit,Accelerator,load::stream,hdos::read,far::stream,Recent,Session::push" --abort-on-panic --compress >/dev/null
ls -l "$root/build/SSNAIL.PRG"
