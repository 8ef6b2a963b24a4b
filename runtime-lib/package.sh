#!/bin/sh
# Makes a library that any program can link of what cargo builds:
#
#     package.sh static INPUT.a OUTPUT.a [MACHINE]
#     package.sh shared INPUT.a OUTPUT.so [MACHINE]
#
# MACHINE is what INPUT.a was built for, as `uname -m` calls it; by default the one that this runs on.
# INPUT.a is the static library of
#     cargo rustc -p midflight-runtime --profile runtime --features standalone --crate-type staticlib
# OUTPUT.a holds one relocatable object, and unwinder.s for who asks for it. In the object every global symbol but midflight_* is local, so
# that it can be linked with other static libraries made by Rust, and has its own of what it uses of
# libc. OUTPUT.so exports midflight_*.
set -eu

fail() {
    echo "package.sh: $*" >&2
    exit 1
}

# The first of the given commands that exists.
first_of() {
    for tool in "$@"; do
        if command -v "$tool" >/dev/null 2>&1; then
            echo "$tool"
            return
        fi
    done
    fail "none of these is installed: $*"
}

[ $# -eq 3 ] || [ $# -eq 4 ] || fail "usage: package.sh static|shared INPUT.a OUTPUT [MACHINE]"
kind=$1
input=$2
output=$3
machine=${4:-$(uname -m)}
[ -f "$input" ] || fail "cannot read '$input': build the static library first"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$machine" = "$(uname -m)" ]; then
    linker=$(first_of ld.bfd ld)
    target=
    undefined=
else
    linker=$(first_of "$machine-linux-gnu-ld.bfd" "$machine-linux-gnu-ld")
    target=--target=$machine-linux-gnu
    # The core library of another Rust may have been compiled to unwind, which the runtime never does.
    undefined=--defsym=rust_eh_personality=0
fi
objcopy=$(first_of llvm-objcopy-22 llvm-objcopy-21 llvm-objcopy-20 llvm-objcopy-19 llvm-objcopy objcopy)
symbols=$(first_of llvm-nm-22 llvm-nm-21 llvm-nm-20 llvm-nm-19 llvm-nm nm)
archiver=$(first_of llvm-ar-22 llvm-ar-21 llvm-ar-20 llvm-ar-19 ar)
compiler=$(first_of clang-22 clang-21 clang-20 clang-19 cc)

# All that is the runtime's own. What is no object in the archive, as Rust's metadata, has no
# symbols.
roots=$("$symbols" -g --defined-only "$input" 2>/dev/null | sed -n 's/.* [A-Z] \(midflight_[a-z0-9_]*\)$/\1/p')
[ -n "$roots" ] || fail "'$input' has nothing of the runtime"
for root in $roots; do
    undefined="$undefined -u $root"
done

# Only members that the roots need are linked in; the constructor and destructor tables come with
# them, and are roots for the collection of sections themselves.
# shellcheck disable=SC2086
"$linker" -r --gc-sections $undefined -o "$work/all.o" "$input"
"$objcopy" --wildcard --keep-global-symbol='midflight_*' --strip-debug "$work/all.o" "$work/midflight_rt.o"

mkdir -p "$(dirname "$output")"
case $kind in
static)
    rm -f "$work/out.a"
    # Linked only for who asks for it.
    # shellcheck disable=SC2086
    "$compiler" $target -c "$(dirname "$0")/unwinder.s" -o "$work/midflight_unwinder.o"
    "$archiver" rcsD "$work/out.a" "$work/midflight_rt.o" "$work/midflight_unwinder.o"
    mv "$work/out.a" "$output"
    ;;
shared)
    # shellcheck disable=SC2086
    "$compiler" $target -shared -Wl,-soname,libmidflight_rt.so -Wl,-z,defs -o "$work/out.so" "$work/midflight_rt.o" -lc
    mv "$work/out.so" "$output"
    ;;
*)
    fail "unknown kind '$kind': use static or shared"
    ;;
esac
