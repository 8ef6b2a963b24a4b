#!/bin/sh
# The times of calling contexts on AArch64, whose counter is another one: times-aarch64.sh MIDFLIGHT LIB LLVM...
#
# MIDFLIGHT is the command, LIB the folder with the runtime for AArch64 and the plugins.
set -eu

[ $# -ge 3 ] || { echo "usage: times-aarch64.sh MIDFLIGHT LIB LLVM..." >&2; exit 1; }
midflight=$(realpath "$1")
lib=$(realpath "$2")
shift 2
libraries=/usr/aarch64-linux-gnu/lib
source=lit-tests/contexts/times.c
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for llvm in "$@"; do
    program=$folder/times-$llvm
    MIDFLIGHT_LIB_DIR=$lib "$midflight" cc --midflight-llvm="$llvm" --target=aarch64-linux-gnu -O2 -pthread \
        --midflight-contexts --midflight-times "$source" -o "$program" \
        -Wl,--dynamic-linker=$libraries/ld-linux-aarch64.so.1 -Wl,-rpath,$libraries
    # It is killed, and has counted in a file.
    MIDFLIGHT_PROFILE=%c$program.mfp qemu-aarch64 "$program" killed || true
    "$midflight" show --contexts --format json "$program" "$program.mfp" 2>/dev/null |
        python3 lit-tests/contexts/Inputs/tree.py "$source" "elsewhere == 0" "own('main', 'waits', 'leaf') > 29" \
            "own('main', 'waits') > 19" "within('main') < 10000"
    echo "ok times of contexts on AArch64, LLVM $llvm"
done
