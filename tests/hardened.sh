#!/usr/bin/env bash
# Check that the programs of a release build have the hardening that it promises: position-independent code, RELRO and
# BIND_NOW, no executable stack, canaries, checked copies, zero-initialised variables, control-flow marks (CET).
#
# usage: hardened.sh BUILD
#
# CET marks are checked in our objects: Debian's startup files and C library lack them, so the linker drops them from
# programs. If BUILD is not a release build, or has sanitizers, the test is skipped.
set -uo pipefail

build=${1:?usage: hardened.sh BUILD}
rc=0

wrong() {
	printf 'hardened.sh: %s\n' "$*" >&2
	rc=1
}

# expect WHAT FILE PATTERN OPTIONS…: report WHAT if readelf's output does not match PATTERN.
expect() {
	local what=$1 file=$2 pattern=$3 # not through a pipe: grep -q would break it early
	shift 3
	grep -Eq -- "$pattern" <<<"$(LC_ALL=C readelf "$@" "$file" 2>&1)" || wrong "$file: $what"
}

if ! grep -q '_FORTIFY_SOURCE' "$build/compile_commands.json"; then
	echo "hardened.sh: $build is not a release build" >&2
	exit 77
fi

for program in ringside ringside-server ringside-holder; do
	file=$build/$program
	expect 'not position-independent' "$file" '^ *Type: *DYN' -hW
	expect 'no BIND_NOW' "$file" 'FLAGS.*(BIND_NOW|NOW)' -dW
	expect 'no RELRO' "$file" 'GNU_RELRO' -lW
	expect 'executable stack' "$file" 'GNU_STACK( +0x[0-9a-f]+){5} RW +0x' -lW
done
expect 'no stack canaries' "$build/ringside-server" '__stack_chk_fail' --dyn-syms -W
expect 'no checked copies (_FORTIFY_SOURCE)' "$build/ringside-server" '__(memcpy|snprintf|vsnprintf)_chk' --dyn-syms -W

# Other options leave no trace in a program, so check the compile command.
compiled=$(grep -E '"command": .*ws/serve/main\.c"' "$build/compile_commands.json" | grep -v /tests/)
for option in -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero; do
	[[ $compiled == *" $option "* ]] || wrong "ws/serve/main.c is compiled without $option"
done
if [ "$(uname -m)" = x86_64 ]; then
	expect 'no CET marks' "$build/ringside-server.p/ws_serve_main.c.o" 'x86 feature: IBT, SHSTK' -n
fi
exit "$rc"
