#!/usr/bin/env bash
# Six producers commit sliced batches, four ranks consume them with checkpoints, two reclaimers raise the floor
# and delete, a witness writes the committed order: all as processes on one store, and all but the witness are
# killed with kill -9 at random moments and started again. At the end every rank, over all its lives, must have
# been given exactly what the committed order and the deterministic payloads say: the digest chains are equal,
# no sequence number is missing or twice, and `inspect --deep` verifies every byte that is still live. Then the
# ranks go back to each checkpoint that they keep, and must be given the same again.
#
# Clocks jump: one reclaimer's is an hour ahead, the other's an hour behind, and in the middle the producers are
# stopped and go on with clocks that are an hour behind what they were.
#   tests/live/exactly_once.sh PROGRAM [KILLS [SEED [STORE [FLAG...]]]]     FLAG: --endpoint URL and the like
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-build/lakestream}")
kills=${2:-100}
RANDOM=${3:-1}
place=$(mktemp -d)
store=${4:-file://$place/store}
flags=("${@:5}")
ranks=4
every=25
began=$SECONDS
live='' consume='' witness=''
reclaimers=('' '')

kill_tree() { # SIGNAL PARENT
	pkill "-$1" -P "$2" 2>/dev/null || true
	kill "-$1" "$2" 2>/dev/null || true
}
cleanup() {
	for parent in $live $consume; do kill_tree KILL "$parent"; done
	for pid in $witness "${reclaimers[@]}"; do [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; done
	case $store in s3://*) [ -z "${url:-}" ] || "$program" remove "$url" --yes --force "${flags[@]}" >/dev/null 2>&1 || true ;; esac
	rm -rf "$place"
}
trap cleanup EXIT
fail() {
	echo "exactly_once: $*" >&2
	tail -n 15 "$place"/*.log >&2
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

# ---- the cast ----

cc -shared -fPIC -D_GNU_SOURCE -o "$place/clock_shift.so" tests/live/clock_shift.c -ldl || fail 'no clock to shift'
# shifted SECONDS COMMAND...: with a wall clock that is off by so much.
shifted() {
	CLOCK_SHIFT=$1 LD_PRELOAD=$place/clock_shift.so ASAN_OPTIONS=verify_asan_link_order=0 exec "${@:2}"
}
[ $(($(shifted 3600 date +%s) - $(date +%s))) -ge 3590 ] || fail 'the clock is not shifted'
clocks=(3600 -3600)
start_reclaimer() { # INDEX
	shifted "${clocks[$1]}" "$program" gc "$url" --loop 500ms --grace 2s --behind 2 --ranks $ranks "${flags[@]}" >>"$place/gc-$1.log" 2>&1 &
	reclaimers[$1]=$!
}
run_known() {
	url=$(grep -oE '(file|s3)://[^ ]+/seed-[^ ]+' "$place/live.log" | head -n 1)
	[ -n "$url" ] && "$program" inspect "$url" --versions 1 "${flags[@]}" >/dev/null
}
all_children() { # PARENT COUNT
	[ "$(pgrep -c -P "$1")" -ge "$2" ]
}

# start_producers SECONDS FLAG...: by clocks that are off by so much.
start_producers() {
	shifted "$1" "$program" live tests/live/exactly_once.yaml --db "$place/db" "${@:2}" "${flags[@]}" >>"$place/live.log" 2>&1 &
	live=$!
}
start_producers 0 --store "$store"
until_true 30 'the producers did not start' run_known
# It is a consumer, too: nothing is reclaimed before it has written it down.
"$program" consume "$url" --order "$place/order" --rank $ranks --retire "${flags[@]}" 2>"$place/witness.log" &
witness=$!
"$program" consume "$url" --ranks $ranks --checkpoints "$place/checkpoints" --checkpoint-every $every \
	--log "$place/ranks" --json "${flags[@]}" >"$place/consume.json" 2>"$place/consume.log" &
consume=$!
until_true 30 'the ranks did not start' all_children "$consume" $ranks
start_reclaimer 0
start_reclaimer 1

# ---- kills ----

declare -A killed=([producer]=0 [rank]=0 [reclaimer]=0)
victim_below() { # PARENT
	local pids
	mapfile -t pids < <(pgrep -P "$1" || true)
	[ ${#pids[@]} -gt 0 ] && echo "${pids[RANDOM % ${#pids[@]}]}"
}
kill_one() { # KIND
	local index victim
	case $1 in
	producer) victim=$(victim_below "$live") ;;
	rank) victim=$(victim_below "$consume") ;;
	reclaimer)
		index=$((RANDOM % 2))
		victim=${reclaimers[index]}
		;;
	esac
	kill -KILL "$victim" 2>/dev/null || return
	killed[$1]=$((${killed[$1]} + 1))
	if [ "$1" = reclaimer ]; then
		wait "$victim" 2>/dev/null || true
		start_reclaimer "$index"
	fi
}
kinds=(producer rank reclaimer)
for ((done = 0; done < kills;)); do
	sleep "0.$((RANDOM % 4 + 1))"
	for parent in $live $consume; do
		kill -0 "$parent" 2>/dev/null || fail 'producers or ranks ended early'
	done
	# In turn for the first three, so that a short run has them all.
	if [ "$done" -lt 3 ]; then kind=${kinds[done]}; else kind=${kinds[RANDOM % 3]}; fi
	kill_one "$kind" || continue
	done=$((done + 1))
	# What is written, given up and deleted meanwhile is no damage.
	[ $((done % 5)) -ne 0 ] || "$program" inspect "$url" --deep "${flags[@]}" >"$place/inspect.log" 2>&1 || fail 'damage'
	if [ "$done" -eq $((kills / 2)) ]; then
		kill -INT "$live"
		wait "$live" || true
		start_producers -3600 --resume "$url"
		until_true 30 'the producers did not go on' all_children "$live" 6
	fi
done

# ---- the end: producers first, then everybody has time to see all of it ----

sleep 1
kill -INT "$live"
wait "$live" || true
live=''
"$program" inspect "$url" --json --versions 1 "${flags[@]}" >"$place/inspect.json" || fail 'the chain has problems'
last=$(python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))["versions"][-1]
print(v["first_step"] + v["live"] - 1)' "$place/inspect.json")
all_at_the_end() {
	local rank
	[ "$(tail -n 1 "$place/order" | cut -d ' ' -f 1)" = "$last" ] || return
	for ((rank = 0; rank < ranks; rank++)); do
		[ "$(tail -n 1 "$place/ranks/rank-$rank.log" | cut -d ' ' -f 1)" = "$last" ] || return
	done
}
until_true 60 "not all came to step $last" all_at_the_end
kill -INT "$consume"
wait "$consume" || fail 'the ranks did not end well'
consume=''
kill -INT "$witness"
wait "$witness" || fail 'the witness did not end well'
witness=''
for index in 0 1; do
	kill -INT "${reclaimers[index]}"
	wait "${reclaimers[index]}" || fail "reclaimer $index did not end well"
	reclaimers[index]=''
done

# ---- what it must be ----

# same_digests WHAT JSON: each rank's digest is the one of the whole order.
"$program" digest "$place/order" --ranks $ranks --json >"$place/expected.json" || fail 'the committed order is wrong'
same_digests() {
	python3 - "$place/expected.json" "$2" "$last" <<'PYTHON' || fail "$1"
import json, sys
expected = {row["rank"]: row for row in json.load(open(sys.argv[1]))}
found = json.load(open(sys.argv[2]))["ranks"]
assert len(found) == len(expected), "not all ranks are there"
for row in found:
    want = expected[row["rank"]]
    assert row["next_step"] == want["next"] == int(sys.argv[3]) + 1, (row, want)
    assert row["digest"] == want["digest"], (row, want)
PYTHON
}
same_digests 'the digests of the ranks are not those of the committed order' "$place/consume.json"
"$program" digest "$place/order" --ranks $ranks --log "$place/ranks" >"$place/digest.log" 2>&1 ||
	fail 'a rank was given something else than the committed order'
cat "$place/digest.log"
"$program" gc "$url" --grace 0s --ranks $ranks "${flags[@]}" >"$place/gc.log" 2>&1 || fail 'gc'
"$program" inspect "$url" --deep --versions 1 "${flags[@]}" >"$place/inspect.log" 2>&1 || fail 'damage'
sed -n '3,8p' "$place/inspect.log"
floor=$(sed -nE 's/^Floor: version [0-9]+, step ([0-9]+).*/\1/p' "$place/inspect.log")
[ "${floor:-1}" -gt 1 ] || fail 'nothing was reclaimed'

# ---- back to each checkpoint that is kept, the newest first ----

steps=$(python3 -c 'import json, sys
print(*[c["step"] for c in reversed(json.load(open(sys.argv[1]))["checkpoints"])])' "$place/checkpoints/rank-0.json")
back=0
for step in $steps; do
	[ "$step" -le "$last" ] || continue
	"$program" consume "$url" --ranks $ranks --checkpoints "$place/checkpoints" --checkpoint-every 1000000000 \
		--rollback "$step" --steps $((last + 1 - step)) --json "${flags[@]}" >"$place/back.json" 2>"$place/back.log" ||
		fail "no way back to step $step"
	same_digests "from step $step on the digests differ" "$place/back.json"
	"$program" gc "$url" --grace 0s --ranks $ranks "${flags[@]}" >"$place/gc.log" 2>&1 || fail 'gc'
	back=$((back + 1))
done
[ "$back" -gt 0 ] || fail 'no checkpoint to go back to'

echo "$last steps, $kills kills (${killed[producer]} of producers, ${killed[rank]} of ranks," \
	"${killed[reclaimer]} of reclaimers) in $((SECONDS - began)) s, $back rollbacks, floor at step $floor:" \
	"each rank was given each step's slice as committed, nothing lost, nothing twice"
echo '1 passed, 0 failed, 0 skipped'
