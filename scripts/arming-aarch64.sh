#!/bin/sh
# Arms flag points and patchable points in programs for AArch64: arming-aarch64.sh PLUGINS BUILT LLVM...
#
# PLUGINS is the folder with the plugins of each LLVM, BUILT what `make aarch64` makes.
set -eu

[ $# -ge 3 ] || { echo "usage: arming-aarch64.sh PLUGINS BUILT LLVM..." >&2; exit 1; }
plugins=$1
built=$2
shift 2
libraries=/usr/aarch64-linux-gnu/lib
for llvm in "$@"; do
    plugin=$(realpath "$plugins/llvm-$llvm/libmidflight.so")
    for when in flag patch; do
        program=$built/arming-$llvm-$when
        "clang-$llvm" --target=aarch64-linux-gnu -O2 -DMIDFLIGHT_OSR -Iruntime-lib/include \
            lit-tests/osr/arming.c -o "$program" -fplugin="$plugin" -fpass-plugin="$plugin" \
            -mllvm "-midflight=osr-point;where=marker;when=$when;chain;verify" -pthread \
            -Wl,--dynamic-linker=$libraries/ld-linux-aarch64.so.1 -Wl,-rpath,$libraries \
            -Wl,--undefined=midflight_image "$built/lib/midflight/libmidflight_rt.a"
        qemu-aarch64 "$program"
        MIDFLIGHT_OSR_FIRE=arm:spin qemu-aarch64 "$program" armed
    done
done
