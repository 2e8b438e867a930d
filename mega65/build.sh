#!/bin/sh
# Builds build/SSNAIL.PRG and build/SSNAIL.CPU, and their maps. Exit code 3: no compiler for RISC-V can be had here.
# With TOOLCHAIN=rust-mos: see rust-mos.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
case ${TOOLCHAIN:-rv45} in
rv45) ;;
rust-mos) exec sh "$here/rust-mos.sh" ;;
*)
    echo "TOOLCHAIN is rv45 (the default) or rust-mos, not $TOOLCHAIN." >&2
    exit 2
    ;;
esac
settings=$("$root/host/rv45/toolchain.sh") || exit 3
eval "$settings"
target=$root/target/mega65

# The warnings are about compiler flags that are meant.
compile() {
    log=$(export SSNAIL_ROOT="$root" RUSTC_WRAPPER="$here/rustc.sh"; cd "$1" && rv45_cargo build --quiet --release $RV45_CARGO_FLAGS --target-dir "$target" 2>&1) ||
        { echo "$log" >&2; exit 1; }
}

# The translator; one that is built already may be named.
rv45() {
    if [ -n "${RV45:-}" ]; then
        "$RV45" "$@" >/dev/null
    else
        "${CARGO:-cargo}" run --quiet --manifest-path "$root/Cargo.toml" --package rv45 -- "$@" >/dev/null
    fi
}

# translate NAME FILE MAP OPTIONS...
translate() {
    elf=$target/$RV45_TARGET/release/$1
    file=$root/build/$2
    map=$root/build/$3
    shift 3
    rv45 "$elf" -o "$file" --map "$map" --abort-on-panic "$@"
    ls -l "$file"
}

# block NAME START SOURCES...
block() {
    name=$1
    start=$2
    shift 2
    for source in "$@"; do
        set -- "$@" "$here/src/hw/kernels/$source.s"
        shift
    done
    rv45 --block "$start" -o "$SSNAIL_BLOCKS/$name.bin" "$@"
}

mkdir -p "$root/build"
SSNAIL_BLOCKS=$target/blocks
export SSNAIL_BLOCKS
mkdir -p "$SSNAIL_BLOCKS"
block matrix E600 map matrix entry matrix-kernels float quantised halves quantise
block vector E800 map vectors entry vectors-kernels attention float vector reduce
compile "$here"
compile "$here/compute"
# 36 KB of code from $2001 up; the build fails when all the rooms beyond are full as well.
main_end=B001
# What a person waits for once, if at all: in the smallest form.
cold="app::menu,app::embed,app::run,app::App,app::Machine,chat::open_tables,chat::tables_fault,chat::introduce,Chat::command,Chat::help,Chat::stats,Chat::settings,Chat::explain,Chat::greet,Chat::context_full,chat::run,impl_ssnail::app::App,load::resident,card::,catalogue,command,header::,vic::open,vic::restore,part::,rng,Error::text,ascii,Session::tell,Session::truncate,load::progress,load::probe"
translate ssnail SSNAIL.PRG SSNAIL.map --asm "$here/src/hw/sampler.s" --asm "$here/src/hw/part.s" \
    --hot "tokenizer::merge,tokenizer::tables,tokenizer::scratch,SlotKey,encode::unit,Accelerator,load::pass,Recent,Session::push,sampler::keep" \
    --cold "$cold" \
    --main-end "$main_end" --compress
translate compute SSNAIL.CPU CPU.map --asm "$here/compute/src/panic.s" --asm "$here/compute/src/kernels.s" --part --stack-top 1DFF0
