#!/bin/bash
# The long checks, one after the other; goes on after a failure and ends with what came of each.
#
#   tools/soak.sh [SECONDS [STAGE ...]]   SECONDS of fuzzing in all (600); stages: see the end
#
# Builds in build-fuzz, build-asan, build-tsan and build; logs are in out/soak.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
shift
stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(fuzz model asan tsan valgrind servers)
mkdir -p out/soak
passed=0 failed=0
broken=()

# run NAME COMMAND...: a line before and after; the log is out/soak/NAME. Returns what came of it.
run() {
	local name=$1 began=$SECONDS
	shift
	printf '== %s %s\n' "$(date +%H:%M:%S)" "$name"
	if "$@" >"out/soak/$name" 2>&1; then
		passed=$((passed + 1))
		printf '   ok, %d s\n' $((SECONDS - began))
		return 0
	else
		failed=$((failed + 1))
		broken+=("$name")
		printf '   FAILED after %d s; out/soak/%s ends:\n' $((SECONDS - began)) "$name"
		grep -vE '^[[:space:]]*$' "out/soak/$name" | tail -15 | sed 's/^/     /'
		return 1
	fi
}

fuzz() {
	run fuzz-build make build-fuzz-program || return
	local each count
	count=$(build-fuzz/test-fuzz --list | wc -l)
	each=$((2 * seconds / count))
	run fuzz tools/fuzz.sh build-fuzz/fuzzer $((each > 0 ? each : 1))
	tail -3 out/soak/fuzz
}

model() {
	[ ! -d tests/model ] || run model make model
}

# sanitized NAME SANITIZE PROGRAM...: builds, then runs each test program.
sanitized() {
	local name=$1 sanitize=$2 program
	shift 2
	run "$name-build" make check-build BUILD="build-$name" OPT=-O1 SANITIZE="$sanitize" || return
	for program in "$@"; do
		LAKESTREAM=build-$name/lakestream run "$name-$program" \
			timeout 1800 "build-$name/test-$program"
	done
}

asan() {
	export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
	sanitized asan address,undefined core sim backend experiments fuzz
	run asan-s3 tests/s3/run.sh build-asan battery
}

# Threads: the worker pool and live loop, the runner of trials. (The swarm has processes.)
tsan() {
	# Children of a test that has threads start some of their own.
	export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0
	sanitized tsan thread backend experiments
}

# suites PROGRAM PATTERN: the names of its suites, but for those that match.
suites() {
	"$1" --list | cut -d/ -f1 | sort -u | grep -vxE "$2"
}

# swarm NAME COMMAND...: 200 seeds, where the program has a swarm.
swarm() {
	local name=$1
	shift
	[ -f experiments/swarm/swarm_verb.c ] || return 0
	run "$name-swarm" timeout 3600 "$@" swarm --seeds 200
}

valgrind() {
	local check=(valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
		--show-leak-kinds=definite
		--trace-children=no)
	local names
	run valgrind-build make check-build || return
	run valgrind-core timeout 3600 "${check[@]}" build/test-core
	mapfile -t names < <(suites build/test-sim swarm)
	run valgrind-sim timeout 3600 "${check[@]}" build/test-sim "${names[@]}"
	# Without those that wait for real time, run other programs, mount and die in children, or whose processes
	# end with their store open, which is no leak.
	mapfile -t names < <(suites build/test-experiments 'live|live_run|figure|reproduce|validate|results_faults')
	run valgrind-experiments timeout 3600 "${check[@]}" build/test-experiments "${names[@]}"
	run valgrind-backend timeout 3600 "${check[@]}" build/test-backend
	run valgrind-fuzz timeout 3600 "${check[@]}" build/test-fuzz --mutations=4
	swarm valgrind "${check[@]}" build/lakestream
}

# On real S3 servers: many producers for one chain, and a world that breaks.
servers() {
	run servers-build make build || return
	run races make races
	run chaos make chaos
	tail -3 out/soak/chaos
}

began=$SECONDS
for stage in "${stages[@]}"; do
	case $stage in
	fuzz | model | asan | tsan | valgrind | servers) "$stage" ;;
	*)
		echo "$stage: no such stage: fuzz, model, asan, tsan, valgrind, servers" >&2
		exit 2
		;;
	esac
done
[ ${#broken[@]} -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
echo "soak: ${stages[*]} in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
