#!/usr/bin/env bash
# Searches every order of events of small worlds with the core's real machines (docs/model.md).
#   tests/model/run.sh BUILD [SECONDS [BOUNDS...]]     default: 60 s each of quick, probe, life, retired
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
seconds=${2:-60}
bounds=("${@:3}")
[ ${#bounds[@]} -gt 0 ] || bounds=(quick probe life retired)
passed=0
failed=0

make --silent BUILD="$build" "$build/model"
for name in "${bounds[@]}"; do
	if "$build/model" "$name" "$seconds"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
