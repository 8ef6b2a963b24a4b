#!/bin/sh
# Installs what is missing: need.sh PACKAGE...
#
# Asks dpkg first, so that nothing is done and no right is needed where all is there.
set -eu

missing=
for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done

if ! command -v cargo >/dev/null 2>&1; then
    echo "need.sh: cargo is not installed; get Rust 1.88 or later from https://rustup.rs" >&2
    exit 1
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "need.sh: not installed:$missing; install them by hand, there is no apt-get here" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
