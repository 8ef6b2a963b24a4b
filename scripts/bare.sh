#!/bin/sh
# Runs `make demo` on a bare Debian 12: a system of its own in target/bare, where a clone of what is committed, git and
# make are all that is there.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/target/bare

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1 || ! unshare --mount --pid --fork true 2>/dev/null; then
    echo "skipped: only root can make a bare system, on Debian, where file systems can be mounted"
    exit 0
fi
scripts/need.sh debootstrap
rm -rf --one-file-system "$root"
debootstrap --variant=minbase --include=git,make bookworm "$root"
echo 'deb http://deb.debian.org/debian-security bookworm-security main' >>"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/"
# A network may have authorities of its own.
mkdir -p "$root/usr/local/share/ca-certificates"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$root/usr/local/share/ca-certificates/" \;
git clone -q . "$root/midflight"
# Mounts and processes end with the shell that is within.
unshare --mount --pid --fork --kill-child env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -eu -c '
    mount -t proc proc "$1/proc"
    exec chroot "$1" sh -eu -c "! command -v cargo && cd /midflight && make demo"' sh "$root"
rm -rf --one-file-system "$root"
