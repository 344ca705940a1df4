#!/usr/bin/env bash
# Eight producer processes commit to Ceph RGW while their world breaks: the gateway is killed with -9 and brought
# up again, producers are killed with -9 and started again, some are stopped for long and go on, and the network
# between them and the gateway is cut. Producers and gateway live in two network namespaces, joined by one pair
# of interfaces; what is cut is that pair, at either end: one side meets errors, or silence. Where namespaces
# cannot be made (it takes root) the rest is done, and what was left out is said.
#
# Then the run must commit again by itself, all of its producers, and `inspect --deep` must find a dense chain,
# nothing lost, nothing twice, no commit of a fenced epoch, and every byte as it was made.
#
#   tests/s3/chaos.sh PROGRAM [SIZE [SEED]]    long: 20 kills of the gateway, 20 of producers, stops of 30 s, cuts
#                                              of 1-20 s, in 6 minutes; short (default): 3, 4, 4 s, 1-4 s, in 1
#
# Needs what tests/servers/rgw.sh needs; skipped aloud without. Everything it makes is below one folder, or named
# lakestream-..., and is gone at the end. Times of commits are those the gateway lists.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
server=chaos.sh
# shellcheck source=tests/servers/common.sh
. tests/servers/common.sh
forget_user
program=$(realpath "${1:?usage: chaos.sh PROGRAM [short|long [SEED]]}")
case ${2:-short} in
long) gateway_kills=20 producer_kills=20 stops=2 stop_s=30 cuts=6 cut_longest_s=20 ;;
short) gateway_kills=3 producer_kills=4 stops=1 stop_s=4 cuts=2 cut_longest_s=4 ;;
*) fail 2 "$2: short or long" ;;
esac
RANDOM=${3:-1}
producers=8
recovery_limit_s=10 # or two gaps, if that is longer: it is not, with the gap of live.yaml
place=$(mktemp -d "${TMPDIR:-/tmp}/lakestream-chaos.XXXXXX")
here=lakestream-$$-here there=lakestream-$$-there # producers; gateway
address=10.213.77.1 own_address=10.213.77.2
run='' doing='starting'
wakers=()

skip() {
	echo "SKIPPED chaos: $1"
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
}
cleanup() {
	if [ -n "$run" ]; then
		pkill -KILL -P "$run" 2>/dev/null
		kill -KILL "$run" 2>/dev/null
		wait "$run"
	fi
	[ ${#wakers[@]} -eq 0 ] || kill "${wakers[@]}" 2>/dev/null
	tests/servers/rgw.sh stop "$place/rgw"
	ip netns del "$here" 2>/dev/null
	ip netns del "$there" 2>/dev/null
	rm -rf "$place"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'echo "chaos: stopped while: $doing" >&2; exit 143' TERM HUP

give_up() {
	echo "chaos: $*" >&2
	tail -n 40 "$place/log" >&2
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
}

# ---- the world ----

# Sets $near and $far, what goes before a command to run it beside the producers, or the gateway.
make_network() {
	near=() far=()
	if ! { [ "$(id -u)" -eq 0 ] && ip netns add "$here" && ip netns add "$there"; } 2>/dev/null; then
		echo 'chaos: no network namespaces can be made here (it takes root and iproute2): the network is not cut'
		address=127.0.0.1 cuts=0
		return
	fi
	ip link add near netns "$here" type veth peer name far netns "$there" || give_up 'no pair of interfaces'
	ip -n "$here" address add "$own_address/30" dev near
	ip -n "$there" address add "$address/30" dev far
	local end
	for end in "$here lo" "$there lo" "$here near" "$there far"; do
		ip -n "${end% *}" link set "${end#* }" up
	done
	near=(ip netns exec "$here") far=(ip netns exec "$there")
}
gateway() { # ACTION
	ADDRESS=$address STORE=bluestore "${far[@]}" tests/servers/rgw.sh "$1" "$place/rgw"
}

start_gateway() {
	local status
	gateway start >"$place/environment" 2>"$place/log"
	status=$?
	[ "$status" -ne "$cannot_run" ] || skip "$(cat "$place/log")"
	[ "$status" -eq 0 ] || give_up 'the gateway did not start'
	eval "$(cat "$place/environment")"
	"${near[@]}" tests/servers/request.sh PUT /lakestream >/dev/null || give_up 'no bucket'
}

start_run() {
	"${near[@]}" "$program" live tests/s3/live.yaml --db "$place/db" --set "workload.producers=$producers" \
		--set run.duration=1h --set run.bin=10s --set policy.fixed.gap=200ms --set workload.rate=25kB/s \
		>"$place/log" 2>&1 &
	run=$!
	local try
	for try in $(seq 300); do
		url=$(grep -oE 's3://lakestream/live/[^ ]+' "$place/log" | head -n 1)
		[ -z "$url" ] || [ "$(pgrep -c -P "$run")" -lt $producers ] || break
		sleep 0.1
		alive "$run" || give_up 'the run ended at once'
		[ "$try" -lt 300 ] || give_up 'the run did not start within 30 s'
	done
	chain=${url#s3://lakestream/}/manifest/
}

# ---- what the gateway lists ----

now_ms() { date +%s%3N; }

# versions AFTER: of the versions beyond AFTER, number and time of its commit in ms, one a line; without the client
# and around the cut network.
versions() {
	local after answer keys=1000
	after=$(printf '%020d' "$1")
	while [ "$keys" -ge 1000 ]; do
		answer=$("${far[@]}" tests/servers/request.sh GET /lakestream \
			"list-type=2&prefix=${chain//\//%2F}0&start-after=${chain//\//%2F}$after") || return
		keys=$(grep -oE '<Key>[^<]*</Key><LastModified>[^<]*' <<<"$answer" |
			sed -E 's|<Key>.*/0*([0-9]+)</Key><LastModified>(.*)|\1 \2|' | tee "$place/page" | wc -l)
		[ "$keys" -gt 0 ] || return 0
		paste -d ' ' <(cut -d ' ' -f 1 "$place/page") \
			<(cut -d ' ' -f 2 "$place/page" | date -f - +%s%3N)
		after=$(printf '%020d' "$(tail -n 1 "$place/page" | cut -d ' ' -f 1)")
	done
}

# ---- faults ----

random_producer() {
	local pids
	mapfile -t pids < <(pgrep -P "$run")
	[ ${#pids[@]} -gt 0 ] || give_up 'the run ended early'
	echo "${pids[RANDOM % ${#pids[@]}]}"
}
pause() { sleep "$((RANDOM % 2)).$((RANDOM % 9 + 1))"; }

kill_gateway() {
	gateway kill-gateway
	sleep "0.$((RANDOM % 9 + 1))"
	gateway up >/dev/null 2>"$place/gateway" || give_up "the gateway did not come up: $(cat "$place/gateway")"
}
kill_producer() {
	local victim
	victim=$(random_producer) || exit
	kill -KILL "$victim" 2>/dev/null
}
# One is stopped; the faults go on meanwhile.
stop_producer() {
	local victim
	victim=$(random_producer) || exit
	kill -STOP "$victim" 2>/dev/null
	(
		sleep "$stop_s"
		kill -CONT "$victim" 2>/dev/null
	) &
	wakers+=($!)
}
# cut SECONDS: at a random end; half way a producer is killed whose requests are still on their way.
cut_network() {
	local side="$here near"
	[ $((RANDOM % 2)) = 0 ] || side="$there far"
	ip -n "${side% *}" link set "${side#* }" down
	sleep "$(($1 / 2)).$((RANDOM % 5 + 1))"
	[ $((RANDOM % 2)) = 0 ] || kill_producer
	sleep "$(($1 / 2))"
	ip -n "${side% *}" link set "${side#* }" up
}

# All faults in a random order, but for the last: the longest cut.
make_faults() {
	local i
	{
		for ((i = 0; i < gateway_kills; i++)); do echo kill_gateway; done
		for ((i = 0; i < producer_kills; i++)); do echo kill_producer; done
		for ((i = 0; i < stops; i++)); do echo stop_producer; done
		for ((i = 0; i < cuts - 1; i++)); do echo cut_network $((RANDOM % cut_longest_s + 1)); done
	} | while read -r fault; do echo "$RANDOM $fault"; done | sort -n | cut -d ' ' -f 2-
}

# ---- the run ----

make_network
start_gateway
start_run
sleep 3
began=$(now_ms)
mapfile -t faults < <(make_faults)
for fault in "${faults[@]}"; do
	alive "$run" || give_up "the run ended by itself, before: $fault"
	pause
	doing=$fault
	$fault
done
doing='waiting for who was stopped'
# Whoever was stopped goes on before the last.
[ ${#wakers[@]} -eq 0 ] || wait "${wakers[@]}"
wakers=()
pause
doing='the last fault'
if [ "$cuts" -gt 0 ]; then cut_network "$cut_longest_s"; else kill_gateway; fi
healed=$(now_ms)
chaos_s=$(((healed - began) / 1000))

# Recovery: until the first commit, and until every producer has committed.
doing='waiting for a commit'
first=''
until first=$(versions 0 | awk -v healed="$healed" '$2 > healed {print; exit}') && [ -n "$first" ]; do
	[ $(($(now_ms) - healed)) -le 60000 ] || break
	sleep 1
done
[ -n "$first" ] || give_up 'no commit within 60 s after the last fault'
recovery_ms=$((${first#* } - healed))
sleep 15
doing='ending the run'
kill -INT "$run"
wait "$run"
run=''

doing='inspect'
"${near[@]}" "$program" inspect "$url" --deep --versions 1000000 >"$place/found" 2>&1 || {
	cat "$place/log"
	give_up "inspect found: $(grep -v '^ *[0-9]' "$place/found")"
}
awk -v first="${first% *}" '$1 >= first && NF == 8 {print $3}' \
	<(sed -n '/^version/,$p' "$place/found" | tail -n +2) | sort -u >"$place/back"
back=$(wc -l <"$place/back")
longest_ms=$(versions 0 | awk 'NR > 1 && $2 - last > longest {longest = $2 - last} {last = $2} END {print longest + 0}')

sed -n '2,6p' "$place/found"
echo "chaos: $chaos_s s with $gateway_kills kills of the gateway, $producer_kills or more of $producers producers," \
	"$stops stops of $stop_s s, $cuts cuts of the network"
echo "chaos: committed again ${recovery_ms} ms after the last fault; $back of $producers producers within 15 s;" \
	"longest time without a commit $longest_ms ms"
[ "$recovery_ms" -le $((recovery_limit_s * 1000)) ] ||
	give_up "it took more than $recovery_limit_s s to commit again"
[ "$back" -eq $producers ] || give_up "only $back of $producers producers committed again within 15 s"
echo '1 passed, 0 failed, 0 skipped'
