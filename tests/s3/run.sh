#!/usr/bin/env bash
# Tests on real S3 servers: starts Ceph RGW and VersityGW, each over http and https, on free ports below a
# folder of their own, runs the steps, and stops them, whatever happens.
#
#   tests/s3/run.sh BUILD [STEP ...]      all steps without any: see the end
#   tests/s3/run.sh BUILD shell           a shell in which the servers are named, to try things by hand
#
# A step finds in its environment: LAKESTREAM (the program), PLACE (a folder to write to), what every client
# of S3 reads (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_CA_BUNDLE), and the endpoints
# LAKESTREAM_RGW, LAKESTREAM_RGW_HTTPS, LAKESTREAM_VERSITYGW, LAKESTREAM_VERSITYGW_HTTPS, each with a bucket
# `lakestream`; empty where the server cannot run here. Then its tests are skipped aloud; under CI=true that
# is a failure.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=${1:-build}
shift || true
servers=tests/servers
PLACE=$(mktemp -d "${TMPDIR:-/tmp}/lakestream-s3.XXXXXX")
LAKESTREAM=$(realpath "$build/lakestream")
export PLACE LAKESTREAM
passed=0 failed=0 skipped=0
step_pid=
starting=()

stop_all() {
	[ -z "$step_pid" ] || { kill -TERM "$step_pid" && wait "$step_pid"; } 2>/dev/null
	# What is half started cannot be stopped.
	[ ${#starting[@]} -eq 0 ] || wait "${starting[@]}"
	$servers/rgw.sh stop "$PLACE/rgw"
	$servers/versitygw.sh stop "$PLACE/versitygw"
	$servers/versitygw.sh stop "$PLACE/versitygw-https"
	rm -rf "$PLACE"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

server=run.sh
# shellcheck source=tests/servers/common.sh
. $servers/common.sh
forget_user
export AWS_ACCESS_KEY_ID=lakestream-access AWS_SECRET_ACCESS_KEY=lakestream-secret-0123456789abcdef
export AWS_REGION=us-east-1
export LAKESTREAM_RGW='' LAKESTREAM_RGW_HTTPS='' LAKESTREAM_VERSITYGW='' LAKESTREAM_VERSITYGW_HTTPS=''

# ---- servers ----

# start NAME TLS SCRIPT: in the background; what it says is in $PLACE/NAME.out and NAME.err, and its exit
# status in NAME.status.
start() {
	(
		ACCESS_KEY=$AWS_ACCESS_KEY_ID SECRET_KEY=$AWS_SECRET_ACCESS_KEY TLS=$2 "$servers/$3" start "$PLACE/$1" \
			>"$PLACE/$1.out" 2>"$PLACE/$1.err"
		echo $? >"$PLACE/$1.status"
	) &
	starting+=($!)
}

# wait_for COMMAND...: in the background, so that a signal is heeded at once.
wait_for() {
	"$@" &
	step_pid=$!
	wait "$step_pid"
	local status=$?
	step_pid=
	return $status
}

# take NAME: makes the bucket and sets $endpoint and $https_endpoint; false where the server cannot run, which
# is a failure unless something is only not installed.
take() {
	endpoint='' https_endpoint=''
	local status ca=''
	status=$(cat "$PLACE/$1.status")
	if [ "$status" = 0 ]; then
		eval "$(sed 's/export//; s/AWS_CA_BUNDLE=/ca=/; s/AWS_ENDPOINT_URL=/endpoint=/; s/HTTPS_ENDPOINT_URL=/https_endpoint=/' \
			"$PLACE/$1.out")"
		[ -z "$ca" ] || cat "$ca" >>"$PLACE/ca.pem"
		AWS_ENDPOINT_URL=$endpoint AWS_CA_BUNDLE=$ca $servers/request.sh PUT /lakestream >/dev/null && return
		status=1 endpoint='' https_endpoint=''
	fi
	cat "$PLACE/$1.err" >&2
	[ "$status" -eq 3 ] || failed=$((failed + 1))
	return 1
}

start_servers() {
	start rgw yes rgw.sh
	wait_for $servers/versitygw.sh build 2>/dev/null # `start` says what is wrong
	start versitygw no versitygw.sh
	start versitygw-https yes versitygw.sh
	wait "${starting[@]}"
	starting=()
	take rgw && LAKESTREAM_RGW=$endpoint LAKESTREAM_RGW_HTTPS=$https_endpoint
	take versitygw && LAKESTREAM_VERSITYGW=$endpoint
	take versitygw-https && LAKESTREAM_VERSITYGW_HTTPS=$endpoint
	[ ! -f "$PLACE/ca.pem" ] || export AWS_CA_BUNDLE=$PLACE/ca.pem
}

# ---- steps ----

# run COMMAND...: counts by its last line; one that does not count is a single test.
run() {
	local p f s status
	echo "-- $*"
	wait_for "$@" >"$PLACE/output" 2>&1
	status=$?
	cat "$PLACE/output"
	read -r p f s < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$PLACE/output") ||
		{ p=$((status == 0)) f=0 s=0; }
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# once KILLS: tests/live/exactly_once.sh on each server.
once() {
	local name endpoint
	for name in RGW VERSITYGW; do
		endpoint=LAKESTREAM_$name
		if [ -n "${!endpoint}" ]; then
			run tests/live/exactly_once.sh "$LAKESTREAM" "$1" 1 s3://lakestream/once --endpoint "${!endpoint}"
		else
			echo "SKIPPED exactly_once on $name: it does not run here"
			skipped=$((skipped + 1))
		fi
	done
}

step() {
	case $1 in
	battery) run "$build/test-s3" battery ;;
	probe) run tests/s3/probe.sh ;;
	once) once 6 ;;
	once-long) once 100 ;;
	races) run tests/s3/races.sh 8 50 5 ;;
	races-long) run tests/s3/races.sh 32 1000 20 ;;
	shell) "${SHELL:-/bin/bash}" ;;
	*)
		echo "run.sh: $1: no such step: battery, probe, once, once-long, races, races-long, shell" >&2
		exit 2
		;;
	esac
}

start_servers
[ $# -gt 0 ] || set -- battery probe races once
for name in "$@"; do
	step "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
