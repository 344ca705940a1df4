#!/bin/bash
# Installs the Debian packages that Lakestream needs and that are missing; silent when none is.
#
#   tools/deps.sh           what the build, make test and make reproduce need
#   tools/deps.sh servers   also the S3 server and the Slurm cluster that make test starts, and mpirun;
#                           where they cannot be installed it says so and goes on: those tests are skipped
#   tools/deps.sh soak      these, and what make fuzz and make soak need
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

# What its tests are skipped without.
optional=()
[ $# -eq 0 ] || optional=(
	radosgw ceph-mon ceph-osd # an S3 server, tests/servers/rgw.sh
	curl openssl              # its bucket and its certificate
	slurmctld slurmd slurm-client # a cluster, tests/servers/slurm.sh
	openmpi-bin               # mpirun, tests/live/mpirun.sh
	iproute2                  # tests that part processes from it
)

# missing PACKAGE...: those that are not installed, on one line.
missing() {
	local installed package
	installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
		awk '$2 == "installed" {print $1}') || true
	for package in "$@"; do
		grep -qxF -- "$package" <<<"$installed" || printf '%s ' "$package"
	done
}

as_root=()
can_install() {
	[ "$(id -u)" -ne 0 ] || return 0
	as_root=(sudo -n)
	sudo -n true 2>/dev/null
}

# say_by_hand PACKAGES: the line with which a person installs them.
say_by_hand() {
	local install="apt-get install -y --no-install-recommends ${1% }"
	if command -v sudo >/dev/null; then
		echo "  sudo apt-get update && sudo $install" >&2
	else
		echo "  su -c '/usr/bin/apt-get update && /usr/bin/$install'" >&2
	fi
}

install_packages() { # PACKAGES
	echo "installing: $1"
	"${as_root[@]}" apt-get update -q || return
	# shellcheck disable=SC2086
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $1
}

needed=$(missing "${packages[@]}")
if [ -n "$needed" ]; then
	if ! can_install; then
		echo "These packages are missing. Run this line, then the same make again:" >&2
		say_by_hand "$needed"
		exit 2
	fi
	install_packages "$needed"
fi

[ ${#optional[@]} -gt 0 ] || exit 0
wanted=$(missing "${optional[@]}")
[ -n "$wanted" ] || exit 0
if ! can_install || ! install_packages "$wanted"; then
	echo "Tests on real servers are skipped without these packages; this line installs them:" >&2
	say_by_hand "$wanted"
fi
