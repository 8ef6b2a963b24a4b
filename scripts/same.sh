#!/bin/sh
# Checks that this checkout makes the same of the corpus as another revision does: emitted IR, what
# analyses print, profiles and reports. same.sh BENCH REVISION [OPTION-OF-FINGERPRINT...]
#
# The revision is built in target/before, and its checksums stay there for the next time.
set -eu

bench=$1
revision=$(git rev-parse --verify "$2^{commit}")
shift 2
before=$PWD/target/before/$revision
sums=$before-$(echo "$*" | cksum | cut -d' ' -f1).sums

if [ ! -f "$sums" ]; then
    mkdir -p "$before"
    git archive "$revision" | tar -x -C "$before"
    make -C "$before" build-both
    "$bench" --root "$before" fingerprint "$@" --output "$sums.part"
    mv "$sums.part" "$sums"
fi
"$bench" fingerprint "$@" --against "$sums"
