#!/usr/bin/env bash
# A run and its ranks as Open MPI starts them: four producers' processes by one mpirun, four ranks by another, with
# nothing but what mpirun tells them and a --token, a new word for each start. One rank's process is killed with
# kill -9, and mpirun ends the others; a second one goes on at the newest step that every rank keeps, for as many steps
# as are left. Each rank's digest must be that of the committed order.
#   tests/live/mpirun.sh PROGRAM
# Needs Debian's openmpi-bin, 6 MB, which make deps-servers installs.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-build/lakestream}")
name=mpirun
# shellcheck source=tests/live/launched.sh
. tests/live/launched.sh

cleanup() {
	[ -z "$job" ] || pkill -P "$job" || true
	rm -rf "$place"
}
trap cleanup EXIT

if ! command -v mpirun >/dev/null || ! mpirun --version | grep -q 'Open MPI'; then
	echo 'mpirun: Open MPI is not installed here; make deps-servers says how' >&2
	echo '0 passed, 0 failed, 1 skipped'
	exit
fi
# Whoever runs this within a job means this machine all the same.
unset "${!SLURM_@}" "${!OMPI_@}" "${!PMIX_@}" "${!PMI_@}"
# on_nodes COMMAND...: four processes of it.
on_nodes() {
	timeout 200 mpirun --allow-run-as-root --oversubscribe --bind-to none --mca oob_tcp_if_include lo -n $ranks "$@"
}
make_run --token producers

consume() { # FLAG...: each rank's report is its own file
	on_nodes bash -c 'rank=$OMPI_COMM_WORLD_RANK; echo $$ >"$0/pid-$rank"; exec "$@" >"$0/rank-$rank.json" 2>"$0/rank-$rank.log"' \
		"$place" "$program" consume "$url" --checkpoints "$place/checkpoints" --log "$place/ranks" --json "$@"
}
consume --token first --checkpoint-every 20 --step-time 50ms >"$place/mpirun.log" 2>&1 &
job=$!
until_true 30 'the ranks did not start' all_have 25
kill -KILL "$(cat "$place/pid-2")"
! wait "$job" || fail 'the death of a rank was not told'
job=''
common=$(python3 -c 'import json, sys
kept = [{c["step"] for c in json.load(open("%s/checkpoints/rank-%d.json" % (sys.argv[1], rank)))["checkpoints"]}
        for rank in range(4)]
print(max(set.intersection(*kept)))' "$place") || fail 'no step in common'
consume --token second --checkpoint-every 25 --steps $((last + 1 - common)) >"$place/mpirun.log" 2>&1 ||
	fail 'the ranks did not end well'
expect_whole_order
