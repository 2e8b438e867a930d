#!/bin/sh
# A wrapper for rustc (RUSTC_WRAPPER) that makes the same program in every folder. Cargo mixes the folder of a crate into
# the crate's identity, and functions of the same name are ordered by it: the crate's name and version are its identity here. Folders
# are taken out of file names as well.
rustc=$1
shift
name=none
last=
for arg in "$@"; do
    [ "$last" = --crate-name ] && name=$arg
    last=$arg
done
for arg in "$@"; do
    shift
    case $arg in
    metadata=*) arg=metadata=$name-${CARGO_PKG_VERSION:-} ;;
    esac
    set -- "$@" "$arg"
done
[ "$name" = none ] || set -- "$@" --remap-path-prefix "$SSNAIL_ROOT=."
exec "$rustc" "$@"
