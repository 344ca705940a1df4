#!/bin/bash
# Proves that the search of the life of steps can fail: plants one bug after the other into a copy of
# a file of the core, and searches until a promise is broken. A bug that is not found is a failure;
# so is one that does not fit the core any more: then its row below is to be written anew.
#
#   tests/model/planted.sh [BUILD [SECONDS [BUG|BOUNDS...]]]   default: build, 300 s for each, all bugs;
#                                                              BOUNDS: those that are found there
set -uo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
build=${1:-build} seconds=${2:-300}
shift $(($# < 2 ? $# : 2))
wanted=" $* "
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
passed=0 failed=0

make --silent BUILD="$build" "$build/model" || exit 1
read -ra compile <"$build/flags"
compile+=(-Wno-error -w $(pkg-config --cflags libxxhash libzstd))
libraries=$(pkg-config --libs libxxhash libzstd)

fail() { # fail BUG WHY
	failed=$((failed + 1))
	echo "model planted/$1: $2"
}

# plant BUG BOUNDS FOUND FILE SED...: searched with BOUNDS, it must be found, and what is printed must
# match the extended regular expression FOUND. Each script must fit; it sees the file as one line.
plant() {
	local bug=$1 bounds=$2 found=$3 file=$4 script
	shift 4
	[ "$wanted" = '  ' ] || [[ $wanted == *" $bug "* || $wanted == *" $bounds "* ]] || return 0
	rm -rf "$room/core" "$room/source" && mkdir -p "$room/core" "$room/source"
	cp "$build"/obj/core/*.o "$room/core"
	cp "core/$file" "$room/source/$file"
	for script in "$@"; do
		cp "$room/source/$file" "$room/before"
		sed -i -zE "$script" "$room/source/$file"
		if cmp -s "$room/before" "$room/source/$file"; then
			fail "$bug" "a script of its row does not fit core/$file any more"
			return
		fi
	done
	if ! "${compile[@]}" -c "$room/source/$file" -o "$room/core/${file%.c}.o" ||
		! "${compile[@]}" -o "$room/model" "$build"/obj/tests/model/*.o "$room"/core/*.o \
			$libraries -lm; then
		fail "$bug" "does not compile"
		return
	fi
	("$room/model" "$bounds" "$seconds" || exit 1) >"$room/out" 2>"$room/error"
	local verdict steps
	verdict=$(cat "$room/error" "$room/out" | grep -E -m1 'Assertion|BROKEN: ')
	steps=$(grep -c '^ *[0-9]*  ' "$room/out")
	if grep -qE 'BROKEN: ' "$room/out" && [[ $verdict =~ $found ]]; then
		passed=$((passed + 1))
		printf '%-24s in %-10s %3d steps: %.110s\n' "$bug" "$bounds" "$steps" "${verdict#BROKEN: }"
	else
		fail "$bug" "not found: ${verdict:-$(tail -1 "$room/out")}"
	fi
}

plant deletes_before_the_floor life 'is deleted, the floor' reclaim.c \
	's/reclaim->phase = RECLAIM_RAISING;\n    name_floor\(reclaim->control\.key, floor\);\n    reclaim_put\(reclaim, effects\);/reclaim->floor = floor; sweep(reclaim, effects);/'
plant watermarks_are_listed_once newcomer 'promised to consumer' reclaim.c \
	's/list_watermarks\(reclaim, RECLAIM_LISTING_AGAIN, effects\);/read_chain(reclaim, RECLAIM_READING_AGAIN, effects);/'
plant intent_is_not_checked newcomer 'promised to consumer' membership.c \
	's/if \(membership->published >= intent\)/if (1)/'
plant numbers_between_are_not_read life 'consumer 0 is allowed|promised to consumer' membership_view.c \
	's/return view->lowest > 0 && [^;]*;/return view->lowest > 0;/'
plant any_number_counts life 'promised to consumer' watermark.c \
	's/else if \(scan->number_step >= scan->floor_step\)/else if (scan->number_step >= scan->floor_step \&\& (scan->current.state != WATERMARK_HELD || scan->number_step > scan->current.step))/'
plant published_before_durable life 'promised to consumer' consumer.c \
	's/consumer->control_state = CONSUMER_MACHINE_SAVING;\n    consumer_effect\(effects, CONSUMER_EFFECT_SAVE, 0, 0\);\n\}/perform_control(consumer, 0, membership_publish(\&consumer->membership), effects);\n}/' \
	's/(case CONSUMER_CONTROL_CHECKPOINT:\n)/\1 consumer->control_state = CONSUMER_MACHINE_SAVING; consumer_effect(effects, CONSUMER_EFFECT_SAVE, 0, 0); return;\n/' \
	's/(assert\(consumer->control_state == CONSUMER_MACHINE_SAVING\);\n)/\1 if (consumer->phase == CONSUMER_RUNNING) { consumer->control_state = CONSUMER_MACHINE_IDLE; return; }\n/'
plant version_is_not_validated two_floors 'Assertion|validated|deleted|gone' chain_reader.c \
	's/if \(reader->seen\.floor\.version > found->version\)/if (0)/'
plant undecided_is_garbage undecided 'TGB of step|its TGB was deleted before' reclaim_sweep.c \
	's/if \(!is_decided\(state, &name\)\)/if (0 \&\& !is_decided(state, \&name))/'
plant sequence_is_not_compared undecided 'TGB of step|its TGB was deleted before' reclaim_sweep.c \
	's/return name->sequence <= state->last_sequence;/return true;/'
plant highest_floor_is_deleted markers 'was the highest' reclaim_sweep.c \
	's/if \(floor_below\(floor, old\) && floor\.step <= old\.step\)/if (old.version > 0)/'
plant versions_go_up_to_the_floor life 'is deleted, the floor is at' reclaim_sweep.c \
	's/version < reclaim->floor\.version \?/version <= reclaim->floor.version ?/'
plant watermark_is_one_too_high life 'promised to consumer' watermark.c \
	's/(settle\(scan, WATERMARK_HELD, scan->number_step)\)/\1 + 1)/'
plant trim_goes_one_too_far trim 'promised to consumer' commit_rebase.c \
	's/\.first_step = commit->seen\.floor\.step,/.first_step = commit->seen.floor.step > 0 ? commit->seen.floor.step + 1 : 0,/'
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
