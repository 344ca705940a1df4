#!/bin/bash
# Runs the commands given as arguments, one test program each, and sums up what they say.
#
# A program that counts ends with the line "N passed, N failed, N skipped". One that does not is a
# single test, passed if it exits with 0. Under CI=true a skip is a failure.
set -uo pipefail

passed=0 failed=0 skipped=0
broken=()
output=$(mktemp)
trap 'rm -f "$output"' EXIT

for command in "$@"; do
	echo "== $command"
	timeout "${TEST_TIMEOUT:-900}" $command 2>&1 | tee "$output"
	status=${PIPESTATUS[0]}
	[ "$status" -ne 124 ] || echo "$command: stopped after ${TEST_TIMEOUT:-900} s"
	read -r p f s < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$output") ||
		{ p=$((status == 0)) f=0 s=0; }
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
	elif [ "${CI:-}" = true ]; then
		f=$((f + s)) s=0
	fi
	[ "$f" -eq 0 ] || broken+=("$command")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

echo
[ ${#broken[@]} -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
