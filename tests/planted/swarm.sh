#!/bin/bash
# What `lakestream swarm` does with a world that takes its process with it: the whole program, with a
# core that fails an assert, loops for ever or crashes, must go on, name the seed, say by what, replay
# it with a trace up to the death, and shrink it.
#
#   tests/planted/swarm.sh [BUILD]
set -uo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
# In a sanitized build, too, a crash is one by its signal.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}handle_segv=0"
build=${1:-build}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
passed=0 failed=0

read -ra compile <"$build/flags"
packages='libxxhash libzstd gsl libcurl openssl expat jansson yaml-0.1 sqlite3'
compile+=(-Wno-error -w $(pkg-config --cflags $packages))
libraries=$(pkg-config --libs $packages)

check() { # check WHAT COMMAND...: the command must succeed
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "planted/swarm: $what"
		sed 's/^/  | /' "$room/out" "$room/error" | cut -c1-200 | tail -20
	fi
}

# swarm FLAGS...: runs the program with the planted core; sets status.
swarm() {
	timeout 300 "$room/lakestream" swarm "$@" >"$room/out" 2>"$room/error"
	status=$?
}

said() { # said PATTERN: a line of stdout is this
	grep -qE "^$1\$" "$room/out"
}

# commands: the flags of all that is to be replayed, one command a line.
commands() {
	sed -nE 's/^  lakestream swarm (.*)$/\1/p' "$room/out"
}

# replayed_by PATTERN: the run failed, and its last line says so, after a trace.
replayed_by() {
	[ $status -eq 1 ] && tail -1 "$room/out" | grep -qE "^seed [0-9]+ $1\$" &&
		[ "$(wc -l <"$room/out")" -gt 3 ]
}

# dies BUG HOW FILE SED FLAGS...: with the bug in core/FILE, worlds die so.
dies() {
	local bug=$1 how=$2 file=$3 script=$4 command first small # sets named: how many seeds
	shift 4
	sed -zE "$script" "core/$file" >"$room/$file"
	check "$bug: its script does not fit core/$file any more" eval "! cmp -s core/$file $room/$file"
	check "$bug: does not build" eval '"${compile[@]}" -c "$room/$file" -o "$room/planted.o" &&
		"${compile[@]}" -o "$room/lakestream" "$build/obj/experiments/main.o" "$room/planted.o" \
		"$build"/liblakestream-{experiments,backend,sim,core}.a $libraries -lm'
	swarm "$@"
	check "$bug: exit status $status" [ $status -eq 1 ]
	check "$bug: no seed is named, or not by what" said "seed [0-9]+ $how"
	check "$bug: nothing is counted" said '[1-9][0-9]* worlds, .*'
	check "$bug: stderr repeats the assert" eval '! grep -q Assertion "$room/error"'
	named=$(grep -c '^seed' "$room/out")
	check "$bug: stderr repeats a report" [ "$(grep -c 'ERROR: planted' "$room/error")" -le "$named" ]
	check "$bug: not each failure is shrunk" \
		[ "$(grep -c '^shrunk in' "$room/out")" -eq "$named" ]
	[ "$named" -gt 0 ] || return 0
	first=$(commands | head -1) small=$(commands | tail -1)
	check "$bug: what is shrunk is not smaller: $small" grep -qE 'producers|percent|faults' <<<"$small"
	sed "s/^/$bug: /" "$room/out" | grep -vE 'faults: |lives of ranks|healed' | cut -c1-150
	for command in "$first" "$small"; do
		swarm $command
		check "$bug: $command does not fail by it, or prints no trace" replayed_by "$how"
	done
}

# An assert of the reclaimer sees that a version below the floor was believed.
dies assert 'fails an assert: core/reclaim\.c:[0-9]+: raise_floor: Assertion .* failed\.' \
	chain_reader.c 's/if \(reader->seen\.floor\.version > found->version\)/if (0)/' --seeds 40 --jobs 2
check "the run does not go on after a death, to its third failure" [ "$named" -eq 3 ]
# A base that is gone: the search does not begin anew, but for ever.
dies loop 'does not come to an end within 1s of CPU time' commit.c \
	's/(static struct commit_effect restart_search[^{]*\{\n)/\1 if (commit->known != NULL) for (;;) {}\n/' \
	--seed 4 --cpu-limit 1s
dies crash 'dies of signal 11 \(Segmentation fault\)' commit.c \
	's/(static struct commit_effect restart_search[^{]*\{\n)/\1 if (commit->known != NULL) *(volatile int *)16 = 0;\n/' \
	--seed 3

# As a sanitizer does it: its report is there once for each failure, not for each candidate.
dies report 'ends the program with status 23: ERROR: planted' commit.c \
	's/(static struct commit_effect restart_search[^{]*\{\n)/\1 if (commit->known != NULL) { fputs("ERROR: planted\\n    #0 in restart_search\\n", stderr); exit(23); }\n/' \
	--seed 3

# What breaks a promise is told alike.
dies promise 'breaks a promise: .* report: .*' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1return send_validation(commit, COMMIT_INTENT_LOST);/' --seed 2

# As it is, nothing dies, and processes add up to the same, however many there are.
cp "$build/lakestream" "$room/lakestream"
for jobs in 1 3 300; do
	swarm --seeds 300 --percent 2 --jobs $jobs
	check "clean, $jobs processes: exit status $status" [ $status -eq 0 ]
	sed 's/ in [0-9.]* s$//' "$room/out" >"$room/out-$jobs"
done
for jobs in 3 300; do
	check "$jobs processes change what is counted" cmp -s "$room/out-1" "$room/out-$jobs"
done

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
