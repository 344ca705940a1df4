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
place=$(mktemp -d)
ranks=4
began=$SECONDS
job=''

cleanup() {
	[ -z "$job" ] || kill "$job" 2>/dev/null || true
	tests/servers/slurm.sh stop "$place/slurm"
	rm -rf "$place"
}
trap cleanup EXIT
fail() {
	echo "srun: $*" >&2
	tail -n 15 -- "$place"/*.log >&2
	exit 1
}
# until_true SECONDS WHAT COMMAND...
until_true() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] || fail "$what"
		sleep 0.1
	done
}

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

# ---- producers ----

on_nodes "$program" live configs/live/sliced.yaml --store "file://$place/store" --db "$place/db" \
	--set run.duration=4s --set run.warmup=0s --set run.bin=1s >"$place/live.log" 2>&1 || fail 'the run failed'
url=$(grep -oE 'file://[^ ]+/seed-[^ ]+' "$place/live.log" | head -n 1)
"$program" inspect "$url" --deep --json --versions 1 >"$place/inspect.json" 2>"$place/inspect.log" || fail 'damage'
last=$(python3 -c 'import json, sys
chain = json.load(open(sys.argv[1]))
assert sum(producer["batches"] > 0 for producer in chain["producers"]) == 4, "a producer committed nothing"
version = chain["versions"][-1]
print(version["first_step"] + version["live"] - 1)' "$place/inspect.json") || fail 'not all producers were there'
[ "$last" -ge 35 ] || fail "only $last steps were committed in 4 s, too few for what follows"
"$program" consume "$url" --order "$place/order" --steps "$last" 2>"$place/order.log" || fail 'no order'

# ---- ranks ----

consume() { # FLAG...: each rank's report is its own file
	on_nodes --kill-on-bad-exit=1 --output="$place/rank-%t.json" --error="$place/rank-%t.log" bash -c 'echo $$ >"$0/pid-$SLURM_PROCID"; exec "$@"' \
		"$place" "$program" consume "$url" --checkpoints "$place/checkpoints" --log "$place/ranks" --json "$@"
}
all_have() { # LINES
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		[ "$(wc -l <"$place/ranks/rank-$rank.log")" -ge "$1" ] || return
	done
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

# ---- what it must be ----

"$program" digest "$place/order" --ranks $ranks --json >"$place/expected.json" || fail 'the committed order is wrong'
python3 - "$place" "$last" <<'PYTHON' || fail 'the digests of the ranks are not those of the committed order'
import json, sys
expected = {row["rank"]: row for row in json.load(open(sys.argv[1] + "/expected.json"))}
assert len(expected) == 4
for rank, want in expected.items():
    (row,) = json.load(open("%s/rank-%d.json" % (sys.argv[1], rank)))["ranks"]
    assert row["rank"] == rank and row["next_step"] == want["next"] == int(sys.argv[2]) + 1, (row, want)
    assert row["digest"] == want["digest"], (row, want)
PYTHON
"$program" digest "$place/order" --ranks $ranks --log "$place/ranks" >"$place/digest.log" 2>&1 ||
	fail 'a rank was given something else than the committed order'
cat "$place/digest.log"
echo "$last steps by 4 nodes' producers, given to 4 nodes' ranks, in $((SECONDS - began)) s"
echo '1 passed, 0 failed, 0 skipped'
