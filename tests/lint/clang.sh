#!/bin/bash
# The other compiler accepts all of it without a warning: fuzzers and sanitizers are built by it.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v clang >/dev/null; then
	echo 'SKIPPED clang: it is not installed'
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
programs=("$folder/lakestream" "$folder/model")
for name in core sim backend experiments fuzz s3; do
	programs+=("$folder/test-$name")
done
if make -s -k -j"$(nproc)" BUILD="$folder" CC=clang OPT=-O0 "${programs[@]}" \
	>"$folder/said" 2>&1; then
	echo '1 passed, 0 failed, 0 skipped'
	exit 0
fi
grep -E 'error|warning' "$folder/said" || cat "$folder/said"
echo '0 passed, 1 failed, 0 skipped'
exit 1
