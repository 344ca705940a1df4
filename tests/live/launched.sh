# What the tests of launchers share; sourced by srun.sh and mpirun.sh. Messages begin with $name.
#
# Four producers' processes are started by the launcher, then four ranks, with nothing but what it tells them of who
# they are; each rank's digest must be that of the committed order. Before make_run the caller sets on_nodes, a function
# that runs a command as a process on each of four nodes, and $token, the flag that names one start where the launcher
# has no word of its own.
# shellcheck shell=bash disable=SC2034,SC2154
place=$(mktemp -d)
ranks=4
began=$SECONDS
job=''

fail() {
	echo "$name: $*" >&2
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

# make_run FLAG...: sets url and last, the last step; writes the order.
make_run() {
	on_nodes "$program" live configs/live/sliced.yaml --store "file://$place/store" --db "$place/db" "$@" \
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
}

all_have() { # LINES
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		[ "$(wc -l <"$place/ranks/rank-$rank.log")" -ge "$1" ] || return
	done
}

# expect_whole_order: rank-N.json is what rank N printed at its end, $place/ranks the log of all its lives.
expect_whole_order() {
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
}
