#!/bin/sh
# Builds the sample crate whose translated size is compared from version to version; prints the ELF.
# Usage: sample.sh CRATE [opt-level]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
settings=$("$here/../toolchain.sh")
eval "$settings"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ssnail/rv45-sample
mkdir -p "$cache/src"
cp "$1/Cargo.toml" "$cache/"
cp "$1"/src/*.rs "$cache/src/"
chmod -R u+w "$cache"
cd "$cache"
grep -q '^\[workspace\]' Cargo.toml || printf '\n[workspace]\n' >>Cargo.toml
CARGO_PROFILE_RELEASE_OPT_LEVEL=${2:-z}
export CARGO_PROFILE_RELEASE_OPT_LEVEL
rv45_cargo build --quiet --release $RV45_CARGO_FLAGS >&2
"$RV45_LLD" -flavor gnu -m elf32lriscv --gc-sections --no-relax --emit-relocs --unresolved-symbols=ignore-all \
    --defsym SCREEN=0x800 --defsym COLOUR=0xff80000 -T "$here/../rv45.ld" -u main "target/$RV45_TARGET/release/libsample.a" -o sample.elf
echo "$cache/sample.elf"
