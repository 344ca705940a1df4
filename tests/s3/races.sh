#!/usr/bin/env bash
# Producer processes race for every version of one chain on a real server, until it has so many. Then `inspect
# --deep` must find a dense chain, nothing lost, nothing twice, and every byte as it was made; and what the
# producers say they have won must be in the chain: as many versions, not one more.
#
#   tests/s3/run.sh BUILD races        8 processes, 50 versions
#   tests/s3/run.sh BUILD races-long   32 processes, 1,000 versions
#   races.sh PROCESSES VERSIONS SECONDS    inside of run.sh; so many seconds a round, as many rounds as it takes
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
processes=$1 versions=$2 seconds=$3
rounds_max=40
passed=0 failed=0 skipped=0

# live ARGUMENTS...: one round; adds what was won to $won. Its output is in $log.
live() {
	rm -f "$database"
	"$LAKESTREAM" live tests/s3/live.yaml --db "$database" --endpoint "$endpoint" \
		--set "workload.producers=$processes" --set "run.duration=${seconds}s" "$@" >"$log" 2>&1 || return
	won=$((won + $("$LAKESTREAM" query --db "$database" --csv --sql \
		"select cast(value as integer) from metric where name = 'won'" | tail -n 1)))
}

# look: reads the chain into $chain (versions), $commits, $epochs and $batches.
look() {
	"$LAKESTREAM" inspect "$url" --endpoint "$endpoint" --versions 1 "$@" >"$found" 2>&1 || return
	read -r chain commits epochs < <(sed -nE \
		's/^Chain: ([0-9]+) versions.*: ([0-9]+) commits of batches, ([0-9]+) of epochs alone.*/\1 \2 \3/p' "$found")
	batches=$(sed -nE 's/^Data: ([0-9]+) batches.*/\1/p' "$found")
}

race() { # NAME
	local round=1 began=$SECONDS
	won=0 chain=0
	live || return
	url=$(grep -oE 's3://lakestream/live/[^ ]+' "$log" | tail -n 1)
	look || return
	while [ "$chain" -le "$versions" ]; do
		[ $((++round)) -le $rounds_max ] || {
			echo "only $chain versions after $rounds_max rounds" >"$log"
			return 1
		}
		live --resume "$url" && look || return
	done
	look --deep || return
	[ $((chain - 1)) -eq $((commits + epochs)) ] || {
		echo "$chain versions, but $commits commits and $epochs epochs" >"$log"
		return 1
	}
	# What is decided after a round's last second is not among what was won in it.
	if [ "$won" -gt $((chain - 1)) ] || [ $((won + round * processes)) -lt "$commits" ]; then
		echo "producers say that they won $won attempts; the chain has $commits commits and $epochs epochs" >"$log"
		return 1
	fi
	echo "$1: $processes processes, $chain versions in $((SECONDS - began)) s, $batches batches:" \
		"dense, one winner each, nothing lost, nothing twice ($won won as they say)"
}

for server in RGW VERSITYGW; do
	variable=LAKESTREAM_$server
	endpoint=${!variable}
	log=$PLACE/races-$server.log found=$PLACE/races-$server.found database=$PLACE/races-$server.db
	if [ -z "$endpoint" ]; then
		echo "SKIPPED races on $server: it does not run here"
		skipped=$((skipped + 1))
	elif race "$server"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "races on $server failed:"
		cat "$log" "$found" 2>/dev/null
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
