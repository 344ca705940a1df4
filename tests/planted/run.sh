#!/bin/bash
# Plants one bug after the other into a copy of a file of the core, and runs the swarm until a
# checker catches it. A bug that is not caught, or that the wrong checker catches, is a failure; so
# is one that does not fit the core any more: then its row in plants.sh is to be written anew.
#
#   tests/planted/run.sh [BUILD [SEEDS [BUG...]]]      default: build, 1000 seeds, all bugs
set -uo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
build=${1:-build} seeds=${2:-1000}
shift $(($# < 2 ? $# : 2))
wanted=" $* "
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
passed=0 failed=0

read -ra compile <"$build/flags"
compile+=(-Wno-error -w $(pkg-config --cflags libxxhash libzstd gsl))
libraries=$(pkg-config --libs libxxhash libzstd gsl)

fail() { # fail BUG WHY
	failed=$((failed + 1))
	echo "planted/$1: $2"
}

# run_planted: links the objects in $room with the planted program and runs it; sets verdict.
run_planted() {
	"${compile[@]}" -o "$room/planted" tests/planted/planted.c "$build/liblakestream-sim.a" \
		"$room"/core/*.o $libraries -lm || return 1
	verdict=$(timeout 600 "$room/planted" "$seeds" 2>"$room/error")
	local status=$?
	if [ $status -eq 124 ]; then
		verdict="hang 0 all of it takes more than 600 s"
	elif [[ $verdict == assert* ]]; then
		verdict="${verdict% *} $(grep -o "Assertion.*" "$room/error" | head -1)"
	fi
}

# plant BUG CHECKERS FILE SED... [FILE SED...]: CHECKERS is an extended regular expression; each script
# must fit the file before it.
plant() {
	local bug=$1 checkers=$2 file word
	shift 2
	[ "$wanted" = '  ' ] || [[ $wanted == *" $bug "* ]] || return 0
	rm -rf "$room/core" "$room/source" && mkdir -p "$room/core" "$room/source"
	cp "$build"/obj/core/*.o "$room/core"
	for word in "$@"; do
		if [[ $word == *.c ]]; then
			file=$word
			cp "core/$file" "$room/source/$file"
			continue
		fi
		cp "$room/source/$file" "$room/before"
		sed -i -zE "$word" "$room/source/$file"
		if cmp -s "$room/before" "$room/source/$file"; then
			fail "$bug" "a script of its row in plants.sh does not fit core/$file any more"
			return
		fi
	done
	for file in "$room"/source/*.c; do
		word=${file##*/}
		if ! "${compile[@]}" -c "$file" -o "$room/core/${word%.c}.o"; then
			fail "$bug" "does not compile"
			return
		fi
	done
	if ! run_planted; then
		fail "$bug" "does not link"
		return
	fi
	local checker number text
	read -r checker number text <<<"$verdict"
	if [[ $checker =~ ^($checkers)$ ]]; then
		passed=$((passed + 1))
		printf '%-42s caught by %-7s after %4s seeds: %.90s\n' "$bug" "$checker" "$number" "$text"
	else
		fail "$bug" "expected $checkers, got: $verdict"
	fi
}

# Without a bug nothing may be caught.
clean() {
	mkdir -p "$room/core" && cp "$build"/obj/core/*.o "$room/core"
	local all=$seeds
	seeds=$((seeds < 100 ? seeds : 100))
	run_planted
	seeds=$all
	if [[ $verdict == none* ]]; then
		passed=$((passed + 1))
	else
		fail clean "the core as it is breaks a promise: $verdict"
	fi
}

clean
source tests/planted/plants.sh
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
