#!/bin/bash
# Installs the Debian packages that Lakestream needs and that are missing; silent when none is.
#
#   tools/deps.sh         what make test and make reproduce need
#   tools/deps.sh soak    also what make fuzz and make soak need
set -euo pipefail

packages=(
	gcc make pkg-config      # the build
	libyaml-dev              # configs, with line and column of every key
	libsqlite3-dev           # the results database
	libgsl-dev               # quantile functions, fits, statistics
	libzstd-dev libxxhash-dev # encoding and checksums
	libjansson-dev           # JSON output
	libcurl4-openssl-dev     # HTTP to S3
	libssl-dev               # signatures and hashes of S3 requests
	libexpat1-dev            # S3's XML
	gnuplot-nox fonts-dejavu-core fontconfig # figures
	procps                   # tests that kill processes find them by their parent
	libcunit1-dev            # tests
	clang clang-format       # tests that compare two compilers; lint
)

[ "${1:-}" != soak ] || packages+=(
	libclang-rt-14-dev # libFuzzer and its sanitizers, for Debian 12's clang
	valgrind libc6-dbg
)

installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
	awk '$2 == "installed" {print $1}') || true
missing=()
for package in "${packages[@]}"; do
	grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
	as_root=()
elif sudo -n true 2>/dev/null; then
	as_root=(sudo -n)
else
	echo "These packages are missing. Run this line, then the same make again:" >&2
	if command -v sudo >/dev/null; then
		echo "  sudo apt-get update && sudo $install" >&2
	else
		echo "  su -c '/usr/bin/apt-get update && /usr/bin/$install'" >&2
	fi
	exit 2
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install
