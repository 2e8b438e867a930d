#!/bin/sh
# How close a crate is to compilers with 16-bit addresses (rust-mos): builds it for avr-none, which
# has the same usize and byte alignment, and fails on constructs that rust-mos is known to
# mis-compile. Usage: avr-check.sh CRATE-FOLDER
#
# With rust-mos itself (container images mrkits/rust-mos, ghcr.io/sbechet/rust-mos:stable):
#   cargo build --release --target mos-mega65-none -Zbuild-std=core
set -eu
here=$(cd "$(dirname "$0")" && pwd)
crate=${1:?which crate}
settings=$(RV45_DEBIAN=1 "$here/toolchain.sh") || exit 3
eval "$settings"
out=${TMPDIR:-/tmp}/rv45-avr-check
cd "$crate"
RV45_RUSTFLAGS=-Ctarget-cpu=atmega2560$RV45_SEPARATOR-Clinker=true$RV45_SEPARATOR--emit=llvm-ir,obj
rv45_cargo rustc --quiet --release -Zbuild-std=core \
    --target avr-none --target-dir "$out" -- --emit=llvm-ir,obj
bad='llvm\.[us]cmp\.|llvm\.fpto[us]i\.sat|[ (]i128[ ,)]|umul\.with\.overflow\.i64'
found=$(find "$out/avr-none/release/deps" -name '*.ll' ! -name 'core-*' ! -name 'compiler_builtins-*' \
    -exec grep -HnE "$bad" {} + | grep -v declare || true)
if [ -n "$found" ]; then
    echo "constructs that rust-mos mis-compiles:" >&2
    echo "$found" | cut -c1-200 | head -20 >&2
    exit 1
fi
echo "avr-none: builds, none of the known constructs"
