#!/bin/sh
# Finds or makes a Rust compiler for riscv32im-unknown-none-elf and prints, for the shell to
# evaluate, what a build needs:
#
#   eval "$(host/rv45/toolchain.sh)"
#   rv45_cargo build --release $RV45_CARGO_FLAGS
#
# rv45_cargo is cargo with that compiler and the flags of RV45_RUSTFLAGS, which are separated by
# the character $RV45_SEPARATOR: paths may have spaces in them.
#
# Tried in this order: a target installed with rustup; `rustup target add`; Debian's packages of
# one compiler version, unpacked privately under $RV45_CACHE (default ~/.cache/ssnail), where
# core is compiled from source (RV45_DEBIAN=1 goes there at once). Nothing is written into the
# source tree.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=riscv32im-unknown-none-elf
cache=${RV45_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ssnail}
# A word that the shell reads back as it was.
quoted() { printf %s "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; }
say() { echo "toolchain: $*" >&2; }
die() { say "$*"; exit 1; }

# The linker that comes with every rustup toolchain, else a system ld.lld.
find_lld() {
    for rustc in "${RUSTC:-rustc}" rustc; do
        root=$("$rustc" --print sysroot 2>/dev/null) || continue
        host=$("$rustc" -vV | sed -n 's/^host: //p')
        lld=$root/lib/rustlib/$host/bin/rust-lld
        [ -x "$lld" ] && { echo "$lld"; return; }
    done
    for lld in rust-lld ld.lld ld.lld-19 ld.lld-18 ld.lld-16 ld.lld-14; do
        command -v "$lld" 2>/dev/null && return
    done
    return 1
}

has_target() {
    libdir=$("${RUSTC:-rustc}" --print target-libdir --target $target 2>/dev/null) || return 1
    ls "$libdir"/libcore-*.rlib >/dev/null 2>&1
}

# Unpacks Debian's compiler and library source, both of the newest version that has the two.
debian() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    home=$cache/rust-debian
    [ -f "$home/ready" ] && return 0
    rm -rf "$home" && mkdir -p "$home/debs"
    say "unpacking Debian's compiler under $home (about 140 MB)"
    version=
    for attempt in 1 2; do
        version=$(apt-cache madison rust-web-src 2>/dev/null | awk '{print $3}' | sed 's/+.*//; s/-.*//' | sort -Vr | head -1)
        [ -n "$version" ] && break
        [ $attempt = 1 ] && apt-get update >&2 || true
    done
    [ -n "$version" ] || return 1
    minor=$(echo "$version" | cut -d. -f1,2)
    (
        cd "$home/debs"
        llvm=$(apt-cache depends "rustc-web=$version*" 2>/dev/null | sed -n 's/.*Depends: \(libllvm[0-9]*\)$/\1/p' | head -1)
        apt-get -o APT::Sandbox::User=root download "rustc-web=$version*" "libstd-rust-web-$minor" \
            "libstd-rust-web-dev=$version*" "rust-web-src=$version*" "${llvm:-libllvm22}" >&2
        for f in *.deb; do
            case $f in
            rust-web-src*) dpkg-deb --fsys-tarfile "$f" | tar -x -C .. "./usr/src/rustc-$version/library" \
                "./usr/src/rustc-$version/Cargo.lock" ./usr/lib/rustlib/src ;;
            *) dpkg-deb -x "$f" .. ;;
            esac
        done
    ) || return 1
    libs=$(find "$home/usr/lib" -maxdepth 2 -name 'librustc_driver*.so' -exec dirname {} \; | head -1)
    libs=${libs:-$(dirname "$(find "$home/usr/lib" -name 'libLLVM*.so*' | head -1)")}
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\nexec %s "$@"\n' "$(quoted "$libs")" \
        "$(quoted "$home/usr/bin/rustc")" >"$home/rustc"
    chmod +x "$home/rustc"
    "$home/rustc" -V >&2 || return 1
    rm -rf "$home/debs"
    touch "$home/ready"
}

lld=$(find_lld) || die "no rust-lld and no ld.lld found: install a rustup toolchain or Debian's lld"
bootstrap=
flags="--target $target"
if [ -z "${RV45_DEBIAN:-}" ] && has_target; then
    compiler=${RUSTC:-rustc}
elif [ -z "${RV45_DEBIAN:-}" ] && command -v rustup >/dev/null && timeout 60 rustup target add $target >/dev/null 2>&1 && has_target; then
    compiler=${RUSTC:-rustc}
elif debian; then
    compiler=$home/rustc
    flags="$flags -Zbuild-std=core,alloc"
    bootstrap=RUSTC_BOOTSTRAP=1
else
    die "no way to compile for $target here. Either make 'rustup target add $target' work" \
        "(it needs the network), or run on Debian or Ubuntu with rustc-web and rust-web-src in apt's sources."
fi

separator=$(printf '\037')
rustflags=
for flag in -Ctarget-feature=+zba,+zbb,+save-restore,+unaligned-scalar-mem,-relax \
    -Cllvm-args=-enable-machine-outliner=never "-Clinker=$lld" -Clink-arg=--emit-relocs -Clink-arg=--no-relax \
    -Clink-arg=--unresolved-symbols=ignore-all "-Clink-arg=-T$here/rv45.ld" -Crelocation-model=static; do
    rustflags=$rustflags${rustflags:+$separator}$flag
done

cat <<END
RV45_CARGO_FLAGS='$flags'
RV45_TARGET='$target'
RV45_LLD=$(quoted "$lld")
RV45_SEPARATOR='$separator'
RV45_RUSTFLAGS=$(quoted "$rustflags")
rv45_cargo() {
    env $bootstrap RUSTC=$(quoted "$compiler") CARGO_ENCODED_RUSTFLAGS="\$RV45_RUSTFLAGS" $(quoted "${CARGO:-cargo}") "\$@"
}
END
