#!/usr/bin/env bash
# Makes a bucket: one signed PUT by curl and openssl, which also shows that the server takes a
# signature that is not ours. A bucket that is there already is fine.
#
#   tests/servers/make_bucket.sh BUCKET
#
# Where and by whose keys: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
# AWS_CA_BUNDLE, as the scripts of the servers print them. For test servers: openssl is given the
# secret on its command line.
set -euo pipefail
bucket=${1:?usage: make_bucket.sh BUCKET}
region=$AWS_REGION
host=${AWS_ENDPOINT_URL#*://}
now=$(date -u +%Y%m%dT%H%M%SZ)
scope=${now%T*}/$region/s3/aws4_request
signed='host;x-amz-content-sha256;x-amz-date'

sha256() { openssl dgst -sha256 -r | cut -d ' ' -f 1; }
hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -r | cut -d ' ' -f 1; } # of stdin
hex() { od -An -v -tx1 | tr -d ' \n'; }

nothing=$(printf '' | sha256)
request=$(printf '%s\n' PUT "/$bucket" '' "host:$host" "x-amz-content-sha256:$nothing" \
	"x-amz-date:$now" '' "$signed" "$nothing")
key=$(printf 'AWS4%s' "$AWS_SECRET_ACCESS_KEY" | hex)
for part in ${scope//\// }; do
	key=$(printf %s "$part" | hmac "$key")
done
signature=$(printf 'AWS4-HMAC-SHA256\n%s\n%s\n%s' "$now" "$scope" "$(printf %s "$request" | sha256)" |
	hmac "$key")

answer=$(curl -sS -m 30 ${AWS_CA_BUNDLE:+--cacert "$AWS_CA_BUNDLE"} -X PUT -w '\n%{http_code}' \
	-H "x-amz-content-sha256: $nothing" -H "x-amz-date: $now" \
	-H "Authorization: AWS4-HMAC-SHA256 Credential=$AWS_ACCESS_KEY_ID/$scope, SignedHeaders=$signed, Signature=$signature" \
	"$AWS_ENDPOINT_URL/$bucket")
case $answer in
*200 | *BucketAlreadyOwnedByYou*409) ;;
*)
	echo "make_bucket.sh: $AWS_ENDPOINT_URL did not make $bucket: $answer" >&2
	exit 1
	;;
esac
