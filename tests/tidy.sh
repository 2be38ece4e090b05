#!/usr/bin/env bash
# clang-tidy over our sources, by .clang-tidy. Needs a tree that is configured, for the compiler's options.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

for tree in build-asan build; do
	[ ! -f "$tree/compile_commands.json" ] || break
done
if [ ! -f "$tree/compile_commands.json" ]; then
	echo "tidy: no configured tree, nothing checked" >&2
	exit 0
fi
# The warning options in there are gcc's.
output=$(run-clang-tidy -p "$tree" -quiet -extra-arg=-Wno-unknown-warning-option \
	"^$PWD/(ring|pty|shell|ws)/" "^$PWD/main[.]c\$" 2>&1)
rc=$?
[ "$rc" -eq 0 ] || grep -E 'error:|warning:' <<<"$output"
exit "$rc"
