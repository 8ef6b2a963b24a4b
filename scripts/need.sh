#!/bin/sh
# Installs what is missing: need.sh PACKAGE|COMMAND:PACKAGE...
#
# A package with a command before it is needed only where there is no such command. Rust is always needed: where
# there is no cargo of the version that Cargo.toml asks for, it is Debian's own, of its security updates.
# Asks dpkg first, so that nothing is done and no right is needed where all is there.
set -eu

cargo=${CARGO:-cargo}
least=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")

fail() {
    echo "need.sh: $*" >&2
    exit 1
}

# Cargo's version, 1.N, as N; 0 where it does not run.
version() {
    # shellcheck disable=SC2086
    minor=$($cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    echo "${minor:-0}"
}

is_packaged() {
    dpkg-query -S "$(readlink -f "$1")" >/dev/null 2>&1
}

has_apt=true
command -v apt-get >/dev/null 2>&1 || has_apt=false
rust=no
missing=
if [ "$(version)" -lt "$least" ]; then
    # shellcheck disable=SC2086
    found=$(command -v ${cargo%% *} || true)
    if [ -n "$found" ] && ! is_packaged "$found"; then
        # Debian's would not be found before it.
        fail "'$found' is no cargo of 1.$least or later; update it (rustup update), or take it out of PATH"
    fi
    $has_apt || fail "there is no cargo of 1.$least or later; get Rust from https://rustup.rs"
    rust=yes
    # Cargo fetches by https. What is installed already is too old, and brought up to date.
    missing=" rustc-web cargo-web ca-certificates"
fi

for word in "$@"; do
    case $word in
    *:*) ! command -v "${word%%:*}" >/dev/null 2>&1 || continue ;;
    esac
    package=${word#*:}
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

$has_apt || fail "not installed:$missing; install them by hand, there is no apt-get here"
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        fail "not installed:$missing; there is no sudo: run this as root, or install them by hand"
    as_root=sudo
fi
echo "installing$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing ||
    fail "not installed:$missing; Debian 12 has them in main and in its security updates (bookworm-security)"
[ $rust = no ] || [ "$(version)" -ge "$least" ] ||
    fail "Debian's cargo is 1.$(version), and 1.$least or later is needed; get Rust from https://rustup.rs"
