#!/bin/sh
# Makes FOLDER/rustc, a compiler of Rust that compiles for AArch64 too: rust-aarch64.sh FOLDER
#
# It is Debian's, with Debian's standard libraries for both machines, unpacked into FOLDER: nothing is
# installed, and apt's own lists stay as they are. (`rustup target add` would do for a compiler of
# rustup's, but not from a registry of packages.)
set -eu

[ $# -eq 1 ] || { echo "usage: rust-aarch64.sh FOLDER" >&2; exit 1; }
[ ! -x "$1/rustc" ] || exit 0
rm -rf "$1"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# Debian's own list only: others may have nothing for AArch64.
for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    [ ! -f "$list" ] || break
done
apt=$folder/apt
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/archives/partial" "$apt/packages"
cp "$list" "$apt/parts/"
cat >"$apt/configuration" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "root";
END
APT_CONFIG=$apt/configuration
export APT_CONFIG
apt-get -qq update
# The compiler is a library, whose package is named for its version.
library=$(apt-cache depends libstd-rust-web-dev |
    sed -n 's/^ *Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
cd "$apt/packages"
apt-get -qq download rustc-web "$library" libstd-rust-web-dev libstd-rust-web-dev:arm64
for package in *.deb; do
    dpkg-deb --extract "$package" "$folder"
done
cd "$folder"
rm -r "$apt"
cat >"$folder/unfinished" <<END
#!/bin/sh
LD_LIBRARY_PATH=$folder/usr/lib/x86_64-linux-gnu exec $folder/usr/bin/rustc "\$@"
END
chmod +x "$folder/unfinished"
"$folder/unfinished" --version
mv "$folder/unfinished" "$folder/rustc"
