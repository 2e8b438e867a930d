#!/bin/sh
# The tests of this crate as a program with 32-bit addresses. The target brings its own C library and linker, so that
# nothing else has to be installed. Status 3: such a program cannot be built or run here.
set -eu
cd "$(dirname "$0")"
target=i686-unknown-linux-musl
cargo=${CARGO:-cargo}
export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld

there() { [ -e "$(rustc --print target-libdir --target $target 2>/dev/null)" ]; }
if ! there && command -v rustup >/dev/null; then rustup target add $target >/dev/null 2>&1 || true; fi
if ! there; then
    echo "skipped: tests with 32-bit addresses: rustup target add $target would bring what they need"
    exit 3
fi

trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
echo 'fn main() {}' >"$trial/trial.rs"
if ! (rustc --target $target -Clinker=rust-lld --out-dir "$trial" "$trial/trial.rs" && "$trial/trial") >/dev/null 2>&1; then
    echo "skipped: tests with 32-bit addresses: no $target program can be linked and run here"
    exit 3
fi

# They are built sooner than optimised code would save time.
"$cargo" test --quiet --package ssnail-shared --target $target --config 'profile.dev.opt-level=0' \
    --config 'profile.dev.debug=0' --config 'profile.dev.package."*".opt-level=0'
