#!/bin/sh
# Builds build/SSNAIL-MOS.PRG from the same crate with rust-mos, a Rust compiler for the 6502 family. Exit code 2: there
# is none here.
#
# rust-mos is in no package registry; the container images mrkits/rust-mos and ghcr.io/sbechet/rust-mos:stable have it.
# Its linker must find what the crate calls by name: rv45_* of host/rv45/src/runtime and ssnail_* of src/hw, which are
# written for rv45's assembler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=mos-mega65-none

knows() { "$@" --print target-list 2>/dev/null | grep -qx "$target"; }

if knows "${RUSTC:-rustc}"; then
    toolchain=
elif knows rustc +mos; then
    toolchain=+mos
else
    echo "TOOLCHAIN=rust-mos needs a Rust compiler that knows $target, and ${RUSTC:-rustc} does not: run make in the" \
        "container image mrkits/rust-mos or ghcr.io/sbechet/rust-mos:stable, or name its compiler with RUSTC, or" \
        "leave TOOLCHAIN out (rv45 builds with any stable Rust)." >&2
    exit 2
fi

out=$root/target/rust-mos
cd "$here"
${CARGO:-cargo} $toolchain build --release --target $target -Zbuild-std=core --target-dir "$out"
mkdir -p "$root/build"
cp "$out/$target/release/ssnail" "$root/build/SSNAIL-MOS.PRG"
ls -l "$root/build/SSNAIL-MOS.PRG"
