#!/usr/bin/env bash
# A run and its ranks as jobs of a real Slurm cluster of four nodes on this machine (tests/servers/slurm.sh): four
# producers' processes are started by one srun, four ranks by another, one a node, with nothing but what Slurm tells
# them: no --rank, no --token. One rank's process is killed with kill -9, which ends the others, as in a training job;
# a second srun goes on at the newest step that every rank keeps, and is stopped by scancel at the end of the chain.
# Each rank's digest must be that of the committed order.
#   tests/live/srun.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-build/lakestream}")
name=srun
# shellcheck source=tests/live/launched.sh
. tests/live/launched.sh

cleanup() {
	[ -z "$job" ] || kill "$job" 2>/dev/null || true
	tests/servers/slurm.sh stop "$place/slurm"
	rm -rf "$place"
}
trap cleanup EXIT

# Whoever runs this within a job means this cluster all the same.
unset "${!SLURM_@}"
status=0
tests/servers/slurm.sh start "$place/slurm" >"$place/conf" || status=$?
if [ $status -eq 3 ]; then
	echo '0 passed, 0 failed, 1 skipped'
	exit
fi
[ $status -eq 0 ] || fail 'no cluster'
# shellcheck source=/dev/null
. "$place/conf"
# on_nodes COMMAND...: a process of it on each node.
on_nodes() { timeout 200 srun --quiet -N $ranks -n $ranks "$@"; }
make_run

consume() { # FLAG...: each rank's report is its own file
	on_nodes --kill-on-bad-exit=1 --output="$place/rank-%t.json" --error="$place/rank-%t.log" bash -c 'echo $$ >"$0/pid-$SLURM_PROCID"; exec "$@"' \
		"$place" "$program" consume "$url" --checkpoints "$place/checkpoints" --log "$place/ranks" --json "$@"
}
consume --checkpoint-every 20 --step-time 50ms >"$place/srun.log" 2>&1 &
job=$!
until_true 30 'the ranks did not start' all_have 25
kill -KILL "$(cat "$place/pid-2")"
! wait "$job" || fail 'the death of a rank was not told'
all_at_the_end() {
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		[ "$(tail -n 1 "$place/ranks/rank-$rank.log" | cut -d ' ' -f 1)" = "$last" ] || return
	done
}
consume --checkpoint-every 25 >"$place/srun.log" 2>&1 &
job=$!
until_true 60 "not all came to step $last" all_at_the_end
scancel --signal=INT "$(squeue --noheader --format=%i)"
wait "$job" || fail 'the ranks did not end well'
job=''
expect_whole_order
