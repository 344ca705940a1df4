#!/bin/bash
# Every test that a page of docs/ or the README names as `suite/test` is one of the test programs
# in BUILD, so that a promise is held by what the page says.
#
#   tests/lint/documented_tests.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
known=$(for program in core sim backend experiments fuzz s3; do "$build/test-$program" --list; done)
named=0 unknown=0
while IFS=: read -r file line name; do
	named=$((named + 1))
	grep -qxF -- "${name//\`/}" <<<"$known" && continue
	unknown=$((unknown + 1))
	echo "$file:$line: there is no test $name; name the one that holds this"
done < <(grep -noE '`[a-z0-9_]+/[a-z0-9]+(_[a-z0-9]+){2,}`' docs/*.md README.md)
[ "$named" -gt 100 ] || unknown=1
echo "documented_tests: $named names, $unknown unknown"
[ "$unknown" -eq 0 ] || {
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
}
echo '1 passed, 0 failed, 0 skipped'
