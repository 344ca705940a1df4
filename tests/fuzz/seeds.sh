#!/bin/bash
# The seeds of the fuzz targets, tests/fuzz/corpus/<target>/seed-<name>, against what fuzz-seeds
# writes. Other inputs there were found by fuzzing, and stay as they are.
#
#   tests/fuzz/seeds.sh BUILD           exit 1 names what differs, is missing, or is written no more
#   tests/fuzz/seeds.sh BUILD write     makes them equal
set -euo pipefail
cd "$(dirname "$0")/../.."
corpus=tests/fuzz/corpus
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1/fuzz-seeds" "$folder"

if [ "${2:-}" = write ]; then
	find $corpus -name 'seed-*' -delete
	cp -r "$folder/." $corpus
	exit
fi
seeds() { (cd "$1" && find . -name 'seed-*' | sort); }
differ=$(comm -3 <(seeds "$folder") <(seeds $corpus) | tr -d '\t'
	comm -12 <(seeds "$folder") <(seeds $corpus) | while read -r seed; do
		cmp -s "$folder/$seed" "$corpus/$seed" || echo "$seed"
	done)
[ -z "$differ" ] || {
	sed "s|^\.|$corpus|" <<<"$differ"
	echo "these seeds are not what tests/fuzz/seeds.c writes: make corpus writes them again"
	exit 1
} >&2
