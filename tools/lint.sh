#!/bin/bash
# What the compiler does not check: format, sizes, includes by layer, banned calls, assumptions.
#
#   tools/lint.sh            prints file:line: what is wrong and what to do; exit 1 on any error
#   tools/lint.sh --files    prints the C files it looks at
#
# LINT_ROOT names another tree to look at (the lint's own test does that).
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
cd "${LINT_ROOT:-$tools/..}"
export LC_ALL=C

# Files that are tracked or could be added, in a checkout; all files elsewhere.
c_files() {
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files -co --exclude-standard -- '*.c' '*.h'
	else
		find . -type f -name '*.[ch]' -not -path './build*' | sed 's|^\./||'
	fi | sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

mapfile -t files < <(c_files)
if [ "${1:-}" = --files ]; then
	[ ${#files[@]} -eq 0 ] || printf '%s\n' "${files[@]}"
	exit 0
fi

errors=0
if [ ${#files[@]} -gt 0 ]; then
	unformatted=$(clang-format --dry-run --style=file "${files[@]}" 2>&1 |
		sed -nE 's/^([^: ]+:[0-9]+):[0-9]+: (warning|error): .*/\1/p' | sort -u -t: -k1,1)
	if [ -n "$unformatted" ]; then
		sed 's/$/: not as .clang-format lays it out, here first: make format repairs it/' \
			<<<"$unformatted" >&2
		errors=1
	fi
	awk -f "$tools/lint.awk" "$tools/lint.rules" "${files[@]}" >&2 || errors=1
fi

if [ ! -f PAPER_REPRO.md ]; then
	echo "PAPER_REPRO.md: missing; it holds the list of assumptions" >&2
	errors=1
elif ! found=$(LINT_ROOT=$PWD "$tools/assumed.sh"); then
	errors=1
elif ! listed=$(LINT_ROOT=$PWD "$tools/assumed.sh" --listed) || [ "$found" != "$listed" ]; then
	diff <(echo "$listed") <(echo "$found") >&2 || true
	echo "PAPER_REPRO.md: its list of assumptions is not the code's: make assumed rewrites it" >&2
	errors=1
fi
exit $errors
