#!/usr/bin/env bash
# What the documents say of the tree and of the program: fails, with one line each, on what is missing or untrue.
# usage: docs.sh SOURCE-ROOT RINGSIDE
#
# - Every room (a folder with sources of ours) has a README.md, and that names every pair of the room.
# - The table of rooms in the top README.md has every room, and no other.
# - ws/serve/README.md has the help of `ringside serve` word for word, and ./run shows it where nothing is built.
# - The man page has every option of the server.
set -euo pipefail

rc=0

complain() {
	printf '%s\n' "$*"
	rc=1
}

# Print the rooms: folders that have sources in C of ours, those of web/, and those of the tests.
rooms() {
	find ring pty shell ws -name '*.[ch]' -printf '%h\n' | LC_ALL=C sort -u
}

# Print what a room is made of: NAME for NAME.c, NAME.h or both, and other files by their whole names.
pairs() {
	find "$1" -maxdepth 1 -type f ! -name meson.build ! -name README.md -printf '%f\n' |
		sed 's/\.[ch]$//' | LC_ALL=C sort -u
}

check_rooms() {
	local room pair
	while read -r room; do
		if [ ! -f "$room/README.md" ]; then
			complain "$room: has no README.md"
			continue
		fi
		while read -r pair; do
			grep -qE "\`$pair(\.[ch])?\`" "$room/README.md" || complain "$room/README.md: does not name \`$pair\`"
		done < <(pairs "$room")
	done < <(rooms)
}

# The first column of the table of rooms: [`ring`](ring/README.md).
check_table() {
	local listed room
	# shellcheck disable=SC2016 # sed's `
	listed=$(sed -n 's/^| \[`\([a-z_/]*\)`\](\1\/README\.md) .*/\1/p' README.md)
	for room in $(rooms); do
		grep -qxF "$room" <<<"$listed" || complain "README.md: the table of rooms has no $room"
	done
	for room in $listed; do
		[ -f "$room/README.md" ] || complain "README.md: the table of rooms has $room, which has no README.md"
	done
}

# Print the block of a README between ``` lines that begins with a word.
block() {
	awk -v word="$2" '
		/^```/ { inside = !inside; shown = 0; first = inside; next }
		first { shown = index($0, word) == 1; first = 0 }
		inside && shown' "$1"
}

check_options() {
	local help manual option
	help=$("$1" serve --help)
	# What follows is about the other commands.
	help=${help%%$'\n\n'Against a running server*}
	if ! diff -u --label ws/serve/README.md <(block ws/serve/README.md 'Usage: ringside serve') \
		--label 'ringside serve --help' <(printf '%s\n' "$help"); then
		complain "ws/serve/README.md: its options are not those of ringside serve --help"
	fi
	manual=$(sed 's/\\-/-/g' ws/client/ringside.1)
	while read -r option; do
		grep -qE -- "$option([^a-z-]|\$)" <<<"$manual" ||
			complain "ws/client/ringside.1: does not name $option"
	done < <(grep -oE '^  --[a-z-]+|, --[a-z-]+$' <<<"$help" | grep -oE -- '--[a-z-]+')
}

# ./run --help of a tree where nothing is built, which it reads from the README.
check_run() {
	local bare
	bare=$(mktemp -d)
	mkdir -p "$bare/tests" "$bare/ws/serve"
	cp run "$bare"
	cp tests/setup.sh "$bare/tests"
	cp ws/serve/README.md "$bare/ws/serve"
	"$bare/run" --help | grep -qF -- '  --ping-interval SECONDS' || complain "./run --help: lacks options of the server"
	rm -r "$bare"
}

case ${1:-} in
"" | -*)
	echo "usage: docs.sh SOURCE-ROOT RINGSIDE" >&2
	exit 2
	;;
esac
cd "$1"
check_rooms
check_table
check_options "${2:?}"
check_run
exit "$rc"
