#!/bin/sh
# Profiles bzip2 on a large C source, and prints the report.
set -eu
cd "$(dirname "$0")/.."

bench=target/release/midflight-bench
midflight=target/release/midflight
out=target/demo
mkdir -p "$out"

$bench build --programs bzip2 >/dev/null
source=target/corpus/src/bzip2-sys/bzip2-1.0.8
data=target/corpus/src/libsqlite3-sys/sqlite3/sqlite3.c

say() {
    printf '\n$ %s\n' "$*"
    "$@"
}

(cd "$source" && ../../../../../$midflight cc -O2 -w -D_FILE_OFFSET_BITS=64 -o ../../../../../$out/bzip2 \
    blocksort.c bzip2.c bzlib.c compress.c crctable.c decompress.c huffman.c randtable.c)
printf '$ cd %s\n$ midflight cc -O2 -o bzip2 *.c\n' "$source"
cp "$data" "$out/data.c"
rm -f "$out/bzip2.mfp"
MIDFLIGHT_PROFILE=$out/bzip2.mfp
export MIDFLIGHT_PROFILE
say "$out/bzip2" -9 -k -f "$out/data.c"
say $midflight report --top 3 "$out/bzip2" "$out/bzip2.mfp" --source-dir "$source"
