#!/bin/sh
# Tests under Miri, which sees what a test alone does not: undefined behaviour, races, reads of memory that is not
# initialised, code that depends on the order of bytes of the host. Long loops take fewer turns there.
# Usage: miri.sh [shared|kernels|32|big-endian ...]; all of them without an argument. Status 3: no Miri here.
set -eu
cd "$(dirname "$0")"
cargo=${CARGO:-cargo}
if ! "$cargo" +nightly miri --version >/dev/null 2>&1; then
    echo "skipped: Miri: rustup toolchain install nightly --component miri,rust-src"
    exit 3
fi
[ $# -gt 0 ] || set -- shared kernels 32 big-endian

export MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-symbolic-alignment-check -Zmiri-disable-isolation"
data=$(cd ../../shared/data 2>/dev/null && pwd) || data=
if [ -z "${SSNAIL_DATA:-}" ] && [ -n "$data" ]; then export SSNAIL_DATA="$data"; fi

# Optimising is for what runs while compiling, and not worth it.
tests() {
    "$cargo" +nightly miri test --config 'profile.dev.package."*".opt-level=0' "$@"
}

for what; do
    echo "---- $what ----"
    case $what in
    shared) tests --package ssnail-shared --lib --tests ;;
    # Miri reports no SIMD: the plain code of the kernels, and the threads that share their work.
    kernels) tests --package ssnail-machine --test threads ;;
    32) tests --package ssnail-shared --lib --tests --target i686-unknown-linux-gnu ;;
    big-endian) tests --package ssnail-shared --lib --tests --target s390x-unknown-linux-gnu ;;
    *) echo "what is $what?" >&2; exit 2 ;;
    esac
done
