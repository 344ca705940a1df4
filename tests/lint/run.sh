#!/bin/bash
# Plants each kind of violation in a tree of its own and checks that the lint names it: its file,
# its line and the advice; and that a tree without any passes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

clean_tree() {
	rm -rf "${tree:?}"/*
	cp "$root/.clang-format" "$tree"
	mkdir -p "$tree"/{core,sim,backend,experiments,configs,tests/{core,sim,backend,experiments}}
	printf '%s\n' '# Page' '<!-- assumed:begin -->' '<!-- assumed:end -->' >"$tree/PAPER_REPRO.md"
}

lint() { (cd "$tree" && LINT_ROOT=$tree "$root/tools/lint.sh" 2>&1); }

report() { # report NAME OUTPUT: counts a failure
	failed=$((failed + 1))
	echo "lint/$1: $2"
}

# accepts NAME, refuses NAME PATTERN: the lint passes, or fails with a line that matches PATTERN.
accepts() {
	local output
	if output=$(lint); then passed=$((passed + 1)); else report "$1" "refused: $output"; fi
}
refuses() {
	local output
	if output=$(lint); then
		report "$1" "not refused"
	elif grep -qE -- "$2" <<<"$output"; then
		passed=$((passed + 1))
	else
		report "$1" "wanted '$2', got: $output"
	fi
}
warns() {
	local output
	if output=$(lint) && grep -qE -- "$2" <<<"$output"; then
		passed=$((passed + 1))
	else
		report "$1" "wanted a warning '$2', got: $output"
	fi
}

plant() { # plant FILE LINE...
	mkdir -p "$(dirname "$tree/$1")"
	printf '%s\n' "${@:2}" >"$tree/$1"
}

repeat() { # repeat COUNT LINE
	local i
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}

body() { # body LINES: a function of that many lines, braces included
	echo 'void f(int *x)'
	echo '{'
	repeat $(($1 - 2)) '    *x += 1;'
	echo '}'
}

# case: FILE | one line of code | what the lint must say (none: it must accept it)
cases() {
	cat <<'CASES'
core/a.c|#include <stdio.h>|
core/a.c|#include <zstd.h>|
core/a.c|#include "core/manifest.h"|
core/a.c|#include <time.h>|^core/a\.c:1: include of <time\.h> is not for this layer
core/a.c|#include <unistd.h>|include of <unistd\.h>
core/a.c|#include "sim/queue.h"|include of "sim/queue\.h"
core/a.c|#include "manifest.h"|include of "manifest\.h"
core/a.c|#include "core/manifest.c"|compiled once
sim/a.c|#include <gsl/gsl_cdf.h>|
sim/a.c|#include "core/store.h"|
sim/a.c|#include "backend/loop.h"|include of "backend/loop\.h"
sim/a.c|#include "experiments/config/units.h"|include of "experiments/config/units\.h"
sim/a.c|#include <pthread.h>|include of <pthread\.h>
backend/a.c|#include <pthread.h>|
backend/a.c|#include "sim/queue.h"|include of "sim/queue\.h"
backend/a.c|#include "experiments/config/units.h"|include of "experiments/config/units\.h"
experiments/a.c|#include "sim/queue.h"|
experiments/a.c|#include "build_info.h"|
tests/core/a.c|#include "sim/queue.h"|include of "sim/queue\.h"
tests/sim/a.c|#include "sim/queue.h"|
tests/sim/a.c|#include "backend/loop.h"|include of "backend/loop\.h"
sim/a.c|int x = strcpy(a, b);|^sim/a\.c:1: strcpy is banned here: use snprintf
sim/a.c|int x = strcat(a, b);|strcat is banned here: use snprintf
backend/a.c|int x = sprintf(a, b);|sprintf is banned here: use snprintf
backend/a.c|int x = gets(a);|gets is banned here: use fgets
tests/core/a.c|int x = strtok(a, b);|strtok is banned here: use strchr
core/a.c|int x = alloca(8);|alloca is banned here: use malloc
experiments/a.c|int x = atoi(a);|atoi is banned here: .*units parser
backend/a.c|int x = strtol(a, 0, 10);|strtol is banned here: use the units parser
experiments/config/units.c|int x = strtol(a, 0, 10);|
sim/a.c|int x = rand();|rand is banned here: draw from the random stream
tests/sim/a.c|int x = random();|random is banned here: draw from the random stream
sim/a.c|int x = drand48();|drand48 is banned here: draw from the random stream
backend/a.c|int x = time(0);|time is banned here: ask the loop
sim/a.c|int x = clock_gettime(0, &t);|clock_gettime is banned here: ask the loop
backend/live_loop.c|int x = clock_gettime(0, &t);|
experiments/trials/progress.c|int x = clock_gettime(0, &t);|
experiments/a.c|int x = system(a);|system is banned here: use posix_spawn
experiments/figures/figure.c|int x = popen(a, b);|
sim/a.c|int x = longjmp(a, b);|longjmp is banned here: return an error
core/a.c|int x = printf(a);|printf is banned here: return an error code
core/a.c|int x = exit(1);|exit is banned here: assert
sim/a.c|int x = event->time(0) + event.time(1) + run_time(2);|
sim/a.c|/* rand() and time() are only talked about */|
sim/a.c|const char *x = "rand() and \"time()\" are only talked about";|
sim/a.c|int  x;|^sim/a\.c:1: not as \.clang-format lays it out, .*make format
CASES
}

clean_tree
accepts an_empty_tree
while IFS='|' read -r file line wanted; do
	clean_tree
	plant "$file" "$line"
	if [ -z "$wanted" ]; then accepts "$line"; else refuses "$line" "$wanted"; fi
done < <(cases)

clean_tree
plant sim/a.c '/* begins' ' * rand() ends */' 'int x = rand();'
refuses a_comment_ends '^sim/a\.c:3: rand'

clean_tree
plant sim/a.c "/* $(printf 'x%.0s' {1..110}) */"
refuses long_line '^sim/a\.c:1: line of 116 columns \(at most 100\)'

clean_tree
body 100 >"$tree/sim/a.c"
warns function_of_100_lines '^sim/a\.c:2: warning: function of 100 lines'
body 101 >"$tree/sim/a.c"
refuses function_of_101_lines '^sim/a\.c:2: function of 101 lines \(at most 100\)'

clean_tree
repeat 600 '/* one */' >"$tree/sim/a.c"
warns file_of_600_lines '^sim/a\.c:600: warning: file of 600 lines'
echo '/* one */' >>"$tree/sim/a.c"
refuses file_of_601_lines '^sim/a\.c:601: file of 601 lines \(at most 600\)'

clean_tree
plant sim/a.c '/* ASSUMED: an entry is 96 bytes [manifest.entry_bytes] */'
refuses assumption_not_listed 'make assumed rewrites it'
LINT_ROOT=$tree "$root/tools/assumed.sh" --write
accepts assumption_written
grep -qxF -- '- `manifest.entry_bytes`: an entry is 96 bytes (`sim/a.c`)' "$tree/PAPER_REPRO.md" ||
	report assumption_text "$(cat "$tree/PAPER_REPRO.md")"
rm "$tree/sim/a.c"
refuses assumption_gone 'make assumed rewrites it'

clean_tree
plant sim/a.c '/* ASSUMED: ... and at most this [manifest.entry_bytes] */'
refuses assumption_said_in_half '^sim/a\.c:1: ASSUMED goes on from elsewhere'

clean_tree
plant sim/a.c '/* ASSUMED: an entry is 96 bytes */'
refuses assumption_without_key '^sim/a\.c:1: ASSUMED has no \[config\.key\]'

clean_tree
plant experiments/a.c 'const char *a = "ASSUMED: the gap grows "' '                "by half [policy.b]";'
plant configs/b.yaml '# ASSUMED: a batch is' '# 32 MiB [batch.size]' 'x: 1'
LINT_ROOT=$tree "$root/tools/assumed.sh" --write
accepts assumptions_over_two_lines
wanted=$'- `batch.size`: a batch is 32 MiB (`configs/b.yaml`)\n- `policy.b`: the gap grows by half (`experiments/a.c`)'
[ "$(LINT_ROOT=$tree "$root/tools/assumed.sh" --listed)" = "$wanted" ] ||
	report assumptions_joined "$(cat "$tree/PAPER_REPRO.md")"

clean_tree
rm "$tree/PAPER_REPRO.md"
refuses no_page '^PAPER_REPRO\.md: missing'

# make install, into folders whose names have blanks: every command of it quotes them.
installs=$(cd "$root" && make -s -n DESTDIR='/a b' PREFIX='/c d' install 2>/dev/null | grep -c 'install -D') || true
quoted=$(cd "$root" && make -s -n DESTDIR='/a b' PREFIX='/c d' install 2>/dev/null | grep -c '"/a b/c d/') || true
if [ "$installs" -ge 2 ] && [ "$installs" -eq "$quoted" ]; then
	passed=$((passed + 1))
else
	report install_quotes "$quoted of $installs commands"
fi

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
