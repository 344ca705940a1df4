#!/usr/bin/env bash
# Eight producer processes commit into a directory while 50 of them are killed with kill -9 at random moments
# and started again, some are paused and resumed, and in the middle a second run takes over the same chain
# while two of the first run's producers are paused: they come back as zombies. Then `inspect --deep` must
# find a dense chain, nothing lost, nothing twice, no commit by a fenced epoch, and every byte as it was made.
#   tests/live/kills.sh PROGRAM [KILLS [SEED]]
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-build/lakestream}")
kills=${2:-50}
RANDOM=${3:-1}
place=$(mktemp -d)
log=$place/log
first=
second=
cleanup() {
	for run in $first $second; do
		pkill -KILL -P "$run" 2>/dev/null || true
		kill -KILL "$run" 2>/dev/null || true
	done
	rm -rf "$place"
}
trap cleanup EXIT

# start NAME ARGUMENTS...: a live run in the background; its pid in $run.
start() {
	"$program" live configs/live/local.yaml --arm fixed-50ms --set run.duration=10min \
		--set run.bin=10s --set live.cap_bytes=1TB --db "$place/$1.db" "${@:2}" >"$log-$1" 2>&1 &
	run=$!
}
wait_for_producers() { # PARENT COUNT
	for _ in $(seq 100); do
		[ "$(pgrep -c -P "$1" || true)" -lt "$2" ] || return 0
		sleep 0.1
	done
	echo "kills: the producers did not start:" >&2
	cat "$log"-* >&2
	exit 1
}
random_producer() { # PARENT
	local pids
	mapfile -t pids < <(pgrep -P "$1" || true)
	[ ${#pids[@]} -gt 0 ] && echo "${pids[RANDOM % ${#pids[@]}]}"
}
# Kills COUNT producers of PARENT, and pauses one in four of as many others for a moment.
kill_some() {
	local done=0 victim
	while [ "$done" -lt "$2" ]; do
		sleep "0.$((RANDOM % 6 + 2))"
		victim=$(random_producer "$1") || { echo "kills: the run ended early" >&2; cat "$log"-* >&2; exit 1; }
		if [ $((RANDOM % 4)) = 0 ]; then
			kill -STOP "$victim" 2>/dev/null || continue
			sleep "0.$((RANDOM % 8 + 1))"
			kill -CONT "$victim" 2>/dev/null || true
		else
			kill -KILL "$victim" 2>/dev/null && done=$((done + 1))
		fi
	done
}

# The newest that the log says of each producer is that it goes on: no start is on its way. One that is would
# take over from the second run, which ends then.
settled() { # LOG
	awk '/: producer [0-9]+ \(process/ { last[$3] = $0 }
		END { for (producer in last) { seen = 1; if (last[producer] !~ /goes on after/) exit 1 }; exit !seen }' "$1"
}

start first --store "file://$place/store"
first=$run
wait_for_producers "$first" 8
kill_some "$first" $((kills / 2))
sleep 1 # the last death is in the log
for _ in $(seq 600); do
	! settled "$log-first" || break
	sleep 0.1
done
settled "$log-first" || {
	echo 'kills: the first run does not settle' >&2
	cat "$log-first" >&2
	exit 1
}
url=file://$(dirname "$(find "$place/store" -type d -name 'run+' | head -n 1)")

# Two producers are paused; a second run takes over; they wake up as zombies.
zombies="$(pgrep -P "$first" | head -n 2 | tr '\n' ' ')"
# shellcheck disable=SC2086
kill -STOP $zombies
start second --resume "$url"
second=$run
wait_for_producers "$second" 8
sleep 2
# shellcheck disable=SC2086
kill -CONT $zombies 2>/dev/null || true
kill_some "$second" $((kills - kills / 2))
kill -INT "$second"
wait "$second" || true
kill -INT "$first" 2>/dev/null || true
wait "$first" || true

grep -qi 'took over\|fenced' "$log-first" || {
	echo 'kills: the first run was not fenced' >&2
	cat "$log-first" >&2
	exit 1
}
"$program" inspect "$url" --deep --versions 1
echo "$kills kills, one takeover with two zombies: nothing lost, nothing twice"
echo '1 passed, 0 failed, 0 skipped'
