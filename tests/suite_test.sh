#!/usr/bin/env bash
# Test suite.py on a sample project, with tests that pass, are skipped, fail always, fail sometimes, and more.
set -euo pipefail

suite=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/suite.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/source" "$dir/tmp"
export TMPDIR=$dir/tmp

cat >"$dir/source/meson.build" <<-'END'
	project('sample')
	bash = find_program('bash')
	# All have one name: suite.py selects by suite and name.
	foreach suite, script : {
		'good': 'exit 0',
		'skipped': 'exit 77',
		'second': 'echo "run in $DIR" >>"$DIR/second"; [ "$(wc -l <"$DIR/second")" -ge 2 ]',
		'third': 'echo "run in $DIR" >>"$DIR/third"; [ "$(wc -l <"$DIR/third")" -ge 3 ]',
		'bad': 'echo "this is why" >&2; exit 3',
	}
		test('same', bash, args: ['-c', script], suite: suite, env: ['DIR=' + meson.current_build_dir()])
	endforeach
	test('kills', bash, args: ['-c', 'kill -KILL $PPID'], suite: 'dying')
	test('untidy', bash, args: ['-c', 'touch "$TMPDIR/file"; setsid sleep 1000 >/dev/null 2>&1 &'], suite: 'untidy')
	test('memory', bash, args: ['-c', 'stat -f -c "on %T" "$TMPDIR"; touch "$TMPDIR/file"'], suite: 'memory')
	test('alone', bash, args: ['-c', 'touch tried; [ -e over ]'], suite: 'beside', workdir: meson.current_build_dir())
	test('hangs', bash, args: ['-c', '[ -e again ] || { touch again; echo "this far"; sleep 1000 & wait; }'], suite: 'hanging',
		workdir: meson.current_build_dir(), timeout: 4)
END

fail() {
	printf '%s\n' "$*" >&2
	cat "$dir/log" "$dir/results" >&2
	exit 1
}

options=()

# expect STATUS LINE…: run suite.py with $options for $suites. It must exit with STATUS and write these lines to
# RESULTS, in any order.
expect() {
	local rc=0 status=$1 want
	shift
	rm -f "$dir/results"
	"$suite" "${options[@]}" "$dir/tree" "$dir/results" "${suites[@]/#/--suite=}" >"$dir/log" 2>&1 || rc=$?
	[ "$rc" -eq "$status" ] || fail "status $rc, not $status"
	cp "$dir/results" "$dir/results.raw"
	sed -i '/^left process /d; s|^left file .*/file$|left file the file|' "$dir/results"
	want=$(printf '%s\n' "$@" | LC_ALL=C sort)
	[ "$(LC_ALL=C sort "$dir/results")" = "$want" ] || fail "expected other results: $want"
}

meson setup "$dir/tree" "$dir/source" >/dev/null
logs=$dir/tree/meson-logs/failed

suites=(good skipped second third bad)
expect 10 'passed 3' 'skipped 1' "flaky second/same $logs/second-same.log" "flaky third/same $logs/third-same.log" \
	"failed bad/same $logs/bad-same.log"
grep -q '^flaky: second/same (first failure: ' "$dir/log" || fail "the flaky test is not reported at once"
[ "$(grep -cx 'this is why' "$logs/bad-same.log")" -eq 3 ] || fail "the log lacks one of the three runs"

# Without --after, the third try would come before the process beside the tests has ended.
# shellcheck disable=SC2016 # for the inner bash
setsid bash -c 'cd "$1"; until [ -e tried ]; do sleep 0.1; done; sleep 4; touch over' beside "$dir/tree" &
options=(--after $!)
suites=(beside)
expect 0 'passed 1' 'skipped 0' "flaky beside/alone $logs/beside-alone.log"
options=()

suites=(dying)
expect 10 'passed 0' 'skipped 0' "failed meson-test ${logs%/*}"

suites=(untidy)
expect 0 'passed 1' 'skipped 0' "left file the file"
[ -z "$(ls -A "$dir/tmp")" ] || fail "the leftover file still exists"
grep -q '^left process [0-9]* S (sleeping) in .*: sleep 1000$' "$dir/results.raw" || fail "the leftover process is not reported"

# Without $TMPDIR files are in memory, if that is possible. The directory is removed, too.
unset TMPDIR
suites=(memory)
expect 0 'passed 1' 'skipped 0' "left file the file"
folder=$(sed -n 's|^left file \(.*\)/file$|\1|p' "$dir/results.raw")
if [ -z "$folder" ] || [ -e "$folder" ]; then
	fail "the directory of temporary files still exists: $folder"
fi
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs none /mnt && [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -ge 8000000 ]; then
	grep -qx 'on tmpfs' "$dir/tree/meson-logs/testlog.txt" || fail "temporary files are not in memory"
fi
export TMPDIR=$dir/tmp

suites=(hanging)
expect 0 'passed 1' 'skipped 0' "flaky hanging/hangs $logs/hanging-hangs.log"
grep -q 'this far' "$logs/hanging-hangs.log" || fail "the log lacks the output from before the hang"
grep -Eq '^[0-9]+ S \(sleeping\) in .*: sleep 1000$' "$logs/hanging-hangs.log" || fail "the log lacks the processes of the test that hung"

rc=0
"$suite" "$dir/nowhere" "$dir/results" >"$dir/log" 2>&1 || rc=$?
[ "$rc" -ne 0 ] || fail "a missing tree passes"
[ "$rc" -ne 10 ] || fail "a missing tree has results"
