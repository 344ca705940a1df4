#!/usr/bin/env bash
# One seed gives one event digest: for gcc and clang, for -O0 and -O3.
#   tests/digest/run.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
failed=0
passed=0
skipped=0
reference=

for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null; then
        if [ "${CI:-}" = true ]; then
            echo "digest: $compiler is missing, and CI skips nothing" >&2
            failed=$((failed + 1))
        else
            echo "digest: skipped $compiler, which is not installed"
            skipped=$((skipped + 1))
        fi
        continue
    fi
    for level in -O0 -O3; do
        variant="$build/digest-$compiler$level"
        make --silent BUILD="$variant" CC="$compiler" OPT="$level" core sim >/dev/null
        # shellcheck disable=SC2046
        "$compiler" -std=gnu11 "$level" -ffp-contract=off -I. tests/digest/digest_main.c \
            "$variant/liblakestream-sim.a" "$variant/liblakestream-core.a" \
            $(pkg-config --libs gsl libxxhash libzstd) -lm -o "$variant/digest"
        output=$("$variant/digest")
        if [ -z "$reference" ]; then
            reference=$output
            echo "$output"
        fi
        if [ "$output" = "$reference" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "digest: $compiler $level differs from gcc -O0:" >&2
            echo "$output" >&2
        fi
    done
done
if echo "$reference" | grep -qv ' 0 violations$'; then
    echo 'digest: the checkers found violations' >&2
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
