#!/usr/bin/env bash
# One signed request to an S3 server, by curl and openssl: makes buckets, and looks at a store without the client
# under test. Prints the body of the answer; fails unless its status is 2xx.
#
#   tests/servers/request.sh PUT /BUCKET
#   tests/servers/request.sh GET /BUCKET 'list-type=2&prefix=a%2F'     the query sorted and encoded
#
# Where and by whose keys: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
# AWS_CA_BUNDLE, as the scripts of the servers print them. For test servers: openssl is given the secret on its
# command line. Method: AWS's Signature Version 4 with an empty body.
set -euo pipefail
verb=${1:?usage: request.sh VERB PATH [QUERY]} path=${2:?usage: request.sh VERB PATH [QUERY]} query=${3:-}
host=${AWS_ENDPOINT_URL#*://}
now=$(date -u +%Y%m%dT%H%M%SZ)
scope=${now%T*}/$AWS_REGION/s3/aws4_request
signed='host;x-amz-content-sha256;x-amz-date'

sha256() { openssl dgst -sha256 -r | cut -d ' ' -f 1; }
hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -r | cut -d ' ' -f 1; } # of stdin
hex() { od -An -v -tx1 | tr -d ' \n'; }

nothing=$(printf '' | sha256)
request=$(printf '%s\n' "$verb" "$path" "$query" "host:$host" "x-amz-content-sha256:$nothing" \
	"x-amz-date:$now" '' "$signed" "$nothing")
key=$(printf 'AWS4%s' "$AWS_SECRET_ACCESS_KEY" | hex)
for part in ${scope//\// }; do
	key=$(printf %s "$part" | hmac "$key")
done
signature=$(printf 'AWS4-HMAC-SHA256\n%s\n%s\n%s' "$now" "$scope" "$(printf %s "$request" | sha256)" |
	hmac "$key")

url=$AWS_ENDPOINT_URL$path${query:+?$query}
answer=$(curl -sS -m 30 ${AWS_CA_BUNDLE:+--cacert "$AWS_CA_BUNDLE"} -X "$verb" -w '\n%{http_code}' \
	-H "x-amz-content-sha256: $nothing" -H "x-amz-date: $now" \
	-H "Authorization: AWS4-HMAC-SHA256 Credential=$AWS_ACCESS_KEY_ID/$scope, SignedHeaders=$signed, Signature=$signature" \
	"$url")
case $answer in
*$'\n'2[0-9][0-9]) echo "${answer%$'\n'*}" ;;
*)
	echo "request.sh: $verb $url was refused: $answer" >&2
	exit 1
	;;
esac
