#!/bin/bash
# Runs libFuzzer on every fuzz target, two at a time, and sums up.
#
#   tools/fuzz.sh PROGRAM SECONDS [TARGET ...]     SECONDS for each target
#
# New inputs are kept in out/fuzz/<target>/corpus, what fails in out/fuzz/<target>/failed: copy that
# to tests/fuzz/corpus/<target>/ once it is repaired. Each input may take 10 s, 16 MiB in one
# allocation and 1 GiB in all.
set -uo pipefail
cd "$(dirname "$0")/.."
program=$1 seconds=$2
shift 2
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <("$(dirname "$program")/test-fuzz" --list)
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1

fuzz() { # fuzz TARGET: its log and status are in out/fuzz/TARGET
	local out=out/fuzz/$1
	mkdir -p "$out/corpus" "$out/failed"
	"$program" --target="$1" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
		-malloc_limit_mb=16 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=1 \
		-artifact_prefix="$out/failed/" "$out/corpus" "tests/fuzz/corpus/$1" \
		</dev/null >"$out/log" 2>&1
	echo $? >"$out/status"
}

report() { # report TARGET: one line, and the end of the log where it failed
	local out=out/fuzz/$1 runs status
	status=$(cat "$out/status" 2>/dev/null || echo none)
	runs=$(sed -nE 's/^stat::number_of_executed_units: +([0-9]+)/\1/p' "$out/log" | tail -1)
	total=$((total + ${runs:-0}))
	if [ "$status" = 0 ]; then
		passed=$((passed + 1))
		printf '  %-12s%11s runs, %5s inputs\n' "$1" "${runs:-0}" \
			"$(find "$out/corpus" -type f | wc -l)"
	else
		failed=$((failed + 1))
		printf '  %-12s FAILED (status %s); the input is in %s/failed\n' "$1" "$status" "$out"
		grep -E 'ERROR|runtime error|Assertion|SUMMARY|Test unit written' "$out/log" | tail -6
	fi
}

total=0 passed=0 failed=0
began=$SECONDS
for ((i = 0; i < ${#targets[@]}; i += 2)); do
	pair=("${targets[@]:i:2}")
	for target in "${pair[@]}"; do
		rm -f "out/fuzz/$target/status"
		fuzz "$target" &
	done
	wait
	for target in "${pair[@]}"; do report "$target"; done
done
echo "fuzz: $total runs of ${#targets[@]} targets in $((SECONDS - began)) s"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
