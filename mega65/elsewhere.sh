#!/bin/sh
# Builds the native program a second time, from a copy of the sources in another folder, and compares it with what build.sh
# has made here: the same input gives the same bytes. The folder's name has a space, as those of users may. Exit code 3: no
# compiler for RISC-V can be had here.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
copy="$folder/of another/depth"
mkdir -p "$copy"
tar -C "$root" -cf - --exclude=./target --exclude=./build --exclude=./.git . | tar -C "$copy" -xf -
cargo=${CARGO:-cargo}
target=$("$cargo" metadata --manifest-path "$root/Cargo.toml" --format-version 1 --no-deps |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
"$cargo" build --quiet --manifest-path "$root/Cargo.toml" --package rv45
RV45=$target/debug/rv45 sh "$copy/mega65/build.sh"
for file in SSNAIL.PRG SSNAIL.map SSNAIL.CPU CPU.map; do
    cmp "$root/build/$file" "$copy/build/$file"
done
echo "SSNAIL.PRG and SSNAIL.CPU are the same from two folders"
