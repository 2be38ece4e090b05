#!/usr/bin/env bash
# Whether what a release build promises of its programs has come into them: position-independent, bound and read-only before
# they run, no stack that can be executed, canaries, checked copies, memory set to 0, marks of where calls may go.
#
# usage: hardened.sh BUILD
#
# Marks of calls are looked for in our objects: Debian's startup files and C library have none, so that the linker leaves
# them out of the programs. In a build that is no release (or has sanitizers) there is nothing to look for: the exit
# code says skipped.
set -uo pipefail

build=${1:?usage: hardened.sh BUILD}
rc=0

wrong() {
	printf 'hardened.sh: %s\n' "$*" >&2
	rc=1
}

# expect WHAT FILE PATTERN OPTIONS…: what readelf says of the file
expect() {
	local what=$1 file=$2 pattern=$3 # not through a pipe: whoever finds it early breaks that
	shift 3
	grep -Eq -- "$pattern" <<<"$(LC_ALL=C readelf "$@" "$file" 2>&1)" || wrong "$file: $what"
}

if ! grep -q '_FORTIFY_SOURCE' "$build/compile_commands.json"; then
	echo "hardened.sh: $build is no release build" >&2
	exit 77
fi

for program in ringside ringside-server ringside-holder; do
	file=$build/$program
	expect 'is not position-independent' "$file" '^ *Type: *DYN' -hW
	expect 'is bound late' "$file" 'FLAGS.*(BIND_NOW|NOW)' -dW
	expect 'has a table of addresses that can be written' "$file" 'GNU_RELRO' -lW
	expect 'has a stack that can be executed' "$file" 'GNU_STACK( +0x[0-9a-f]+){5} RW +0x' -lW
done
expect 'has no canaries' "$build/ringside-server" '__stack_chk_fail' --dyn-syms -W
expect 'has no checked copies' "$build/ringside-server" '__(memcpy|snprintf|vsnprintf)_chk' --dyn-syms -W

# What cannot be seen in a program is in the list of what compiled it.
compiled=$(grep -E '"command": .*ws/serve/main\.c"' "$build/compile_commands.json" | grep -v /tests/)
for option in -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero; do
	[[ $compiled == *" $option "* ]] || wrong "ws/serve/main.c is compiled without $option"
done
if [ "$(uname -m)" = x86_64 ]; then
	expect 'has no marks of where calls may go' "$build/ringside-server.p/ws_serve_main.c.o" 'x86 feature: IBT, SHSTK' -n
fi
exit "$rc"
