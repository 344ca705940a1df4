#!/usr/bin/env bash
# A second real S3 server for tests: VersityGW, one process that serves a plain directory.
#
#   tests/servers/versitygw.sh build           builds the program, once per user; start does it, too
#   tests/servers/versitygw.sh start FOLDER    serves FOLDER/data; a folder that was stopped goes on
#   tests/servers/versitygw.sh up FOLDER       the same, but only where start has been
#   tests/servers/versitygw.sh kill-gateway FOLDER
#   tests/servers/versitygw.sh stop FOLDER
#
# start and up print lines for a shell to evaluate: export AWS_ENDPOINT_URL=... and so on.
# In the environment, for the first start; later ones go on with it:
#   ADDRESS=127.0.0.1   PORT=      where it serves (none: a free port)
#   TLS=yes             https instead of http; prints AWS_CA_BUNDLE
#   ACCESS_KEY=, SECRET_KEY=
# Needs Go 1.24 or newer for the build (about 80 s on two cores, 200 MB of modules by the network).
# The program is kept as ${XDG_CACHE_HOME:-~/.cache}/lakestream/versitygw-VERSION.
set -euo pipefail
server=versitygw.sh
# shellcheck source=tests/servers/common.sh
. "$(dirname "$0")/common.sh"

version=v1.8.0
cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/lakestream
program=$cache/versitygw-$version

usage() { fail 2 "usage: versitygw.sh build, or start|up|kill-gateway|stop FOLDER"; }

# find_go: prints a Go that is new enough; from 1.21 on it fetches what a module asks for by itself.
find_go() {
	local go found
	for go in "$(command -v go || true)" /usr/local/go/bin/go; do
		[ -x "$go" ] || continue
		found=$("$go" env GOVERSION 2>/dev/null)
		[ "$(printf '%s\n' go1.24 "$found" | sort -V | head -n 1)" != go1.24 ] || {
			echo "$go"
			return
		}
	done
	fail "$cannot_run" "VersityGW is built by Go 1.24 or newer, and ${found:-no Go} is here;" \
		"unpack one from https://go.dev/dl into /usr/local/go, or put it on PATH"
}

# One build at a time, also of several clones; the program appears whole or not at all.
build() {
	[ ! -x "$program" ] || return 0
	local go place
	go=$(find_go) || exit
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	[ ! -x "$program" ] || return 0
	place=$(mktemp -d "$cache/build.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$place'" EXIT
	GOFLAGS=-mod=mod GOBIN=$place "$go" install \
		"github.com/versity/versitygw/cmd/versitygw@$version" >"$place/log" 2>&1 ||
		fail 1 "building VersityGW $version failed: $(tail -n 3 "$place/log" | tr '\n' ' ')"
	mv "$place/versitygw" "$program"
	rm -rf "$place"
	trap - EXIT
	flock -u 9
}

settle() {
	address=${ADDRESS:-127.0.0.1}
	port=${PORT:-$(free_ports 1)}
	tls=${TLS:-no}
	access_key=${ACCESS_KEY:-lakestream-access}
	secret_key=${SECRET_KEY:-lakestream-secret-0123456789abcdef}
	declare -p address port tls access_key secret_key >"$folder/settings"
}

serve() {
	local options=(--port "$address:$port")
	[ "$tls" != yes ] ||
		options+=(--cert "$folder/tls/server.pem" --key "$folder/tls/server.key")
	ROOT_ACCESS_KEY=$access_key ROOT_SECRET_KEY=$secret_key setsid nohup "$program" \
		"${options[@]}" posix --sidecar "$folder/meta" "$folder/data" \
		</dev/null >"$folder/log" 2>&1 9>&- &
	echo $! >"$folder/pid"
	wait_until_listens "$folder/pid" "$address" "$port" || {
		stop_server KILL
		fail 1 "it does not serve at $address:$port: $(tail -n 3 "$folder/log" | tr '\n' ' ')"
	}
}

say_environment() {
	local scheme=http
	[ "$tls" != yes ] || scheme=https
	echo "export AWS_ACCESS_KEY_ID=$access_key AWS_SECRET_ACCESS_KEY=$secret_key AWS_REGION=us-east-1"
	echo "export AWS_ENDPOINT_URL=$scheme://$address:$port"
	[ "$tls" != yes ] || echo "export AWS_CA_BUNDLE=$folder/tls/ca.pem"
}

runs() {
	local pid
	pid=$(cat "$folder/pid" 2>/dev/null) && is_ours "$pid" "$folder/data"
}
stop_server() { stop_process "$folder/pid" "$folder/data" "$1"; }

[ "${1:-}" != build ] || [ $# -ne 1 ] || {
	build
	exit
}
[ $# -eq 2 ] || usage
folder=$(folder_of "$2")

case $1 in
start)
	build
	mkdir -p "$folder"
	if [ ! -f "$folder/settings" ]; then
		[ -z "$(ls -A "$folder")" ] || fail 1 "$folder is not empty; take a new folder"
		mkdir "$folder"/{data,meta}
		settle
		[ "$tls" != yes ] || make_certificate "$folder/tls" "$address"
	fi
	;;
up)
	build
	[ -f "$folder/settings" ] || fail 1 "$folder: versitygw.sh start has not made it"
	;;
kill-gateway)
	stop_server KILL
	exit
	;;
stop)
	stop_server TERM
	exit
	;;
*) usage ;;
esac
# shellcheck source=/dev/null
. "$folder/settings"
runs || serve
say_environment
