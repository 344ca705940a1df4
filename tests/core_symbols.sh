#!/bin/bash
# The core decides and does nothing else: what its archive asks the C library for is only memory,
# strings, formatting, assert, math and encoding. And it is compiled once: no other object defines
# what it defines. Argument: the build folder (default build).
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
build=${1:-build}
core=$build/liblakestream-core.a

[ -f "$core" ] || {
	echo "$core: missing; make core builds it" >&2
	exit 1
}
if grep -q -- -fsanitize= "$build/flags"; then
	echo "SKIPPED core_symbols: a sanitizer adds symbols of its own; run it on a plain build"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

allowed='malloc|calloc|realloc|aligned_alloc|free'
allowed+='|mem(cpy|move|set|cmp|chr)|bcmp|str(len|nlen|cmp|ncmp|chr|rchr|spn|cspn|str|pbrk)'
allowed+='|v?snprintf|__assert_fail'
allowed+='|(exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|fabs|floor|ceil|round|trunc|rint|nearbyint|lround|llround|lrint|llrint|fmin|fmax|fmod|ldexp|frexp|scalbn|modf|erf|erfc|lgamma|tgamma|sin|cos|tan|atan|atan2|tanh)f?'
allowed+='|__(mem(cpy|move|set)|v?snprintf)_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_'
allowed+='|ZSTD_[A-Za-z0-9_]+|XXH[A-Za-z0-9_]+'

# Names of the global symbols that the given files define.
defined() { nm -g --defined-only -- "$@" 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u; }

passed=0 failed=0
check() { # check NAME LINES WHAT-IS-WRONG
	if [ -z "$2" ]; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "core_symbols/$1: $3"
	sed 's/^/  /' <<<"$2"
}

foreign=$(comm -23 <(nm -u "$core" | awk 'NF == 2 {print $2}' | sort -u) <(defined "$core") |
	grep -vxE "$allowed") || true
check undefined "$foreign" "the core may not use these (no I/O, clock, thread, hidden randomness):"

twice=''
for other in "$build"/liblakestream-*.a "$build"/libtest-support.a "$build"/obj/experiments/main.o; do
	[ "$other" != "$core" ] && [ -f "$other" ] || continue
	shared=$(comm -12 <(defined "$core") <(defined "$other"))
	twice+=${shared:+$(sed "s|^|$other: |" <<<"$shared")$'\n'}
done
check defined_once "${twice%$'\n'}" "these are defined in the core and again in:"

compiled=$(find "$build/obj" -name '*.o' -printf '%P\n' | grep -v '^core/' | while read -r object; do
	source=${object%.o}.c
	grep -oE '[^ ]*core/[a-z0-9_]+\.c\b' "$build/obj/${object%.o}.d" 2>/dev/null |
		grep -vxF -- "$source" | grep -vE '^tests/' | sed "s|^|$object contains |" | sort -u
done) || true
check compiled_once "$compiled" "sources of the core were compiled into other objects:"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
