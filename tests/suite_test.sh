#!/usr/bin/env bash
# What suite.py reports of tests that pass, are skipped, fail always, and fail now and then: in a project of its own.
set -euo pipefail

suite=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/suite.py
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir "$room/source"

cat >"$room/source/meson.build" <<-'END'
	project('sample')
	bash = find_program('bash')
	# Two have one name: the suite tells them apart.
	foreach suite, script : {
		'good': 'exit 0',
		'skipped': 'exit 77',
		'second': 'echo "run in $ROOM" >>"$ROOM/second"; [ "$(wc -l <"$ROOM/second")" -ge 2 ]',
		'third': 'echo "run in $ROOM" >>"$ROOM/third"; [ "$(wc -l <"$ROOM/third")" -ge 3 ]',
		'bad': 'echo "this is why" >&2; exit 3',
	}
		test('same', bash, args: ['-c', script], suite: suite, env: ['ROOM=' + meson.current_build_dir()])
	endforeach
END

fail() {
	printf '%s\n' "$*" >&2
	cat "$room/log" "$room/results" >&2
	exit 1
}

# expect STATUS LINE…: that suite.py, run for those in $suites, ends with STATUS, and RESULTS has these lines, in any order.
expect() {
	local rc=0 status=$1 want
	shift
	rm -f "$room/results"
	"$suite" "$room/tree" "$room/results" "${suites[@]/#/--suite=}" >"$room/log" 2>&1 || rc=$?
	[ "$rc" -eq "$status" ] || fail "status $rc, not $status"
	want=$(printf '%s\n' "$@" | LC_ALL=C sort)
	[ "$(LC_ALL=C sort "$room/results")" = "$want" ] || fail "not what was expected: $want"
}

meson setup "$room/tree" "$room/source" >/dev/null
logs=$room/tree/meson-logs/failed

suites=(good skipped second third)
expect 0 'passed 3' 'skipped 1' "flaky second/same $logs/second-same.log" "flaky third/same $logs/third-same.log"
grep -q '^flaky: second/same (first failure: ' "$room/log" || fail "the flaky test is not reported at once"

suites=(good bad)
expect 1 'passed 1' 'skipped 0' "failed bad/same $logs/bad-same.log"
[ "$(grep -cx 'this is why' "$logs/bad-same.log")" -eq 3 ] || fail "the log has not all three runs of what failed"

rc=0
"$suite" "$room/nowhere" "$room/results" >"$room/log" 2>&1 || rc=$?
[ "$rc" -eq 1 ] || fail "a tree that is not there passes"
