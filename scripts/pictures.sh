#!/bin/sh
# Pictures for the README, of what `make demo` has profiled: a report as a terminal shows it, and the page.
set -eu
cd "$(dirname "$0")/.."

midflight=target/release/midflight
demo=target/demo
source=target/corpus/src/bzip2-sys/bzip2-1.0.8
out=target/pictures
mkdir -p "$out" docs/pictures

# Memory for all sequences: what is left out then is rare, and no warning says so.
MIDFLIGHT_THREAD_MEMORY=2G MIDFLIGHT_PROFILE=$out/bzip2.mfp $demo/bzip2 -9 -k -f $demo/data.c

$midflight report "$demo/bzip2" "$out/bzip2.mfp" --function mainQSort3 --top 1 --no-source --no-legend \
    --min-percent 3 --loops 2 --color always |
    aha --black --title report --style 'font-size: 13px; margin: 12px;' >"$out/report.html"
$midflight export --to html -o "$out/page.html" "$demo/bzip2" "$out/bzip2.mfp" --top 12 --source-dir "$source"

# picture NAME WIDTH,HEIGHT
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1.5 \
        --user-data-dir="$out/browser" --window-size="$2" \
        --screenshot="docs/pictures/$1.png" "file://$PWD/$out/$1.html" >"$out/$1.log" 2>&1
    ls -l "docs/pictures/$1.png"
}

picture report 1060,520
picture page 1280,820
