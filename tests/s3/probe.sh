#!/usr/bin/env bash
# `lakestream probe` on real servers: both are fit, over http or https; two endpoints of one store are one store,
# and two stores behind what is said to be one are refused (two writers win); keys, buckets and ports that are
# wrong are named in one line.
#
#   tests/s3/run.sh BUILD probe
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
log=$PLACE/probe.log
passed=0 failed=0 skipped=0

# try NAME STATUS WORDS ARGUMENTS...: the exit status and the words that the output must hold.
try() {
	local name=$1 expected=$2 words=$3 status
	shift 3
	"$LAKESTREAM" probe --rounds 5 "$@" >"$log" 2>&1
	status=$?
	if [ "$status" -eq "$expected" ] && grep -qF -- "$words" "$log"; then
		passed=$((passed + 1))
		echo "probe $name: $(tail -n 1 "$log")"
	else
		failed=$((failed + 1))
		echo "probe $name: status $status, not $expected, or without '$words':"
		cat "$log"
	fi
}

bucket=s3://lakestream/probe
for server in RGW VERSITYGW_HTTPS; do
	variable=LAKESTREAM_$server
	endpoint=${!variable}
	if [ -z "$endpoint" ]; then
		echo "SKIPPED probe of $server: it does not run here"
		skipped=$((skipped + 1))
		continue
	fi
	try "$server" 0 'is fit for live runs' $bucket --endpoint "$endpoint"
	AWS_SECRET_ACCESS_KEY=wrong try "$server, wrong secret" 1 'SignatureDoesNotMatch' $bucket --endpoint "$endpoint"
	AWS_ACCESS_KEY_ID=wrong try "$server, wrong key" 1 'does not know this access key' $bucket --endpoint "$endpoint"
	try "$server, wrong bucket" 1 'there is no bucket absent' s3://absent/probe --endpoint "$endpoint"
done
if [ -n "$LAKESTREAM_RGW" ] && [ -n "$LAKESTREAM_VERSITYGW" ]; then
	try 'RGW by http and https' 0 'is fit for live runs' $bucket --endpoint "$LAKESTREAM_RGW" \
		--endpoint "$LAKESTREAM_RGW_HTTPS"
	try 'RGW and VersityGW as one' 1 '2 of 32 writers won one key' $bucket \
		--endpoint "$LAKESTREAM_RGW" --endpoint "$LAKESTREAM_VERSITYGW"
	AWS_CA_BUNDLE='' try 'RGW by https, untrusted' 1 'trust its certificate (--ca-file)' $bucket \
		--endpoint "$LAKESTREAM_RGW_HTTPS"
	try 'RGW, https on the port of http' 1 'no secure connection' $bucket --endpoint "https://${LAKESTREAM_RGW#http://}"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
