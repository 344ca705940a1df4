#!/bin/bash
# Proves that the searches of both kinds of worlds can fail: plants one bug after the other into a copy
# of a file of the core, and searches until a promise is broken. A bug that is not found is a failure;
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
		printf '%-30s in %-10s %3d steps: %.110s\n' "$bug" "$bounds" "$steps" "${verdict#BROKEN: }"
	else
		fail "$bug" "not found: ${verdict:-$(tail -1 "$room/out")}"
	fi
}

# ---- how versions come about ----

plant unknown_is_lost quick 'reports an attempt lost that is' commit.c \
	's/(counters\.unknown\+\+;\n *)break;/\1return send_validation(commit, COMMIT_INTENT_LOST);/'
plant created_is_not_validated quick 'the chain does not|no version lives by it' commit.c \
	's/(case STORE_OK:\n[^:]*visible_ns = now_ns;\n *)return send_validation\(commit, COMMIT_INTENT_WON\);/\1commit->intent = COMMIT_INTENT_WON; return decide(commit, now_ns);/'
plant lost_is_not_validated pair 'reports an attempt lost that is' commit.c \
	's/return send_validation\(commit, commit_judge\(commit\)\);/enum commit_intent intent = commit_judge(commit); if (intent != COMMIT_INTENT_LOST) return send_validation(commit, intent); commit->intent = intent; return decide(commit, now_ns);/'
plant rebase_lost_is_not_validated floors 'reports an attempt lost that is' commit.c \
	's/(case REBASE_LOST:\n *commit->answered_ns = now_ns;\n *)return send_validation\(commit, COMMIT_INTENT_LOST\);/\1commit->intent = COMMIT_INTENT_LOST; return decide(commit, now_ns);/'
plant rebase_won_is_not_validated floors 'no version lives by it' commit.c \
	's/(case REBASE_WON:\n *commit->answered_ns = now_ns;\n *commit->detail\.visible_ns = now_ns;\n *)return send_validation\(commit, COMMIT_INTENT_WON\);/\1commit->intent = COMMIT_INTENT_WON; return decide(commit, now_ns);/'
plant end_is_not_validated successor 'ended as fenced, and no living' commit.c \
	's/(case REBASE_END:\n *)return send_validation\(commit, COMMIT_INTENT_END\);/\1return effect_end(commit, commit->end, commit->end_text);/'
# It matters where a version that was read decides, and the floor is at the one after it; not after a
# create, whose lowest version is its base: with the floor at the version created, that one lives.
plant floor_is_off_by_one resends 'no version lives by it' commit.c \
	's/commit->seen\.floor\.version > commit->lowest_used\)/commit->seen.floor.version > commit->lowest_used + 1)/'
plant fencing_keeps_the_epoch zombies 'a second incarnation of an epoch' commit_rebase.c \
	's/(uint32_t epoch = )\(state[^;]*\) \+ 1;/\1state != NULL ? state->epoch : 1;/'
plant epoch_check_is_forgotten zombies 'Assertion' commit_rebase.c \
	's/if \(state->epoch > commit->epoch \|\| !is_mine\(commit, state\)\)/if (0)/'
plant mine_by_epoch zombies 'no version lives by it' commit_rebase.c \
	's/(enum commit_intent commit_judge\(struct commit \*commit\)\n\{)/\1 if (commit->known->author.producer == commit->options.producer) return commit->known->author.epoch == commit->sent->author.epoch ? COMMIT_INTENT_WON : COMMIT_INTENT_LOST;/' \
	's/assert\(is_mine\(commit, state\)\);//'
plant fenced_fences_back zombies 'reports an attempt lost that is' commit_rebase.c \
	's/if \(!state \|\| state->epoch <= epoch\)/if (1)/'

# ---- how steps live and go ----

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
