#!/usr/bin/env bash
# What the documents say of the tree and of the program: fails, with one line each, on what is missing or untrue.
# usage: docs.sh [--self-test] SOURCE-ROOT RINGSIDE
#
# - Every room (a folder with sources of ours) has a README.md, whose map names every pair of the room, and no other.
# - The table of rooms in the top README.md has every room, and no other.
# - ws/serve/README.md has the help of `ringside serve` word for word, and ./run shows it where nothing is built.
# - The man page has every option of the server.
set -euo pipefail

rc=0

complain() {
	printf '%s\n' "$*"
	rc=1
}

# Print the rooms: folders that have sources in C.
rooms() {
	find ring pty shell ws -name '*.[ch]' -printf '%h\n' | LC_ALL=C sort -u
}

# Print what a room is made of: NAME for NAME.c, NAME.h or both, and other files by their whole names.
pairs() {
	find "$1" -maxdepth 1 -type f ! -name meson.build ! -name README.md -printf '%f\n' |
		sed 's/\.[ch]$//' | LC_ALL=C sort -u
}

# Print what a README's map names: what stands in `…` in the first column of a table.
mapped() {
	# shellcheck disable=SC2016 # grep's `
	sed -n 's/^| \([^|]*\).*/\1/p' "$1" | grep -oE '`[^`]+`' | sed -E 's/`//g; s/\.[ch]$//' | LC_ALL=C sort -u
}

# Print what the maps alone name, those tables that begin with | pair | or | file |; rooms below are left out.
claimed() {
	# shellcheck disable=SC2016 # awk's $2
	awk -F '|' '!/^\|/ { map = 0 } /^\| (pair|file) \|/ { map = 1 } map { print $2 }' "$1" |
		sed -E 's/\[`[^]]*\]\([^)]*\)//g' | grep -oE '`[^`]+`' |
		sed -E 's/`//g; s/\.[ch]$//' | LC_ALL=C sort -u
}

check_rooms() {
	local room pair
	while read -r room; do
		if [ ! -f "$room/README.md" ]; then
			complain "$room: has no README.md"
			continue
		fi
		while read -r pair; do
			complain "$room/README.md: its map lacks $pair"
		done < <(LC_ALL=C comm -23 <(pairs "$room") <(mapped "$room/README.md"))
		while read -r pair; do
			complain "$room/README.md: its map has $pair, which is not there"
		done < <(LC_ALL=C comm -13 <(pairs "$room") <(claimed "$room/README.md"))
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

# check_options RINGSIDE
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

check_all() {
	check_rooms
	check_table
	check_options "$1"
	check_run
}

# broken CHECK WORDS COMMAND…: what the command does to a copy of the tree is complained of with these words.
broken() {
	local check=$1 words=$2 found
	shift 2
	(cd "$tree" && "$@")
	found=$(cd "$tree" && "check_$check" "$program") || :
	if ! grep -qF -- "$words" <<<"$found"; then
		printf 'self-test: nobody says "%s" after: %s\n' "$words" "$*"
		rc=1
	fi
	copy_tree
}

# A fresh tree, of hard links: sed -i and rm leave the others alone.
copy_tree() {
	rm -rf "$tree"
	cp -rl "$whole" "$tree"
}

self_test() {
	program=$(realpath "$1")
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	whole=$scratch/whole
	tree=$scratch/tree
	mkdir -p "$whole/tests"
	cp -r README.md run ring pty shell ws "$whole"
	cp tests/setup.sh "$whole/tests"
	copy_tree
	# shellcheck disable=SC2016 # sed's `
	broken rooms 'ring/README.md: its map lacks scan' sed -i '/^| `scan` /d' ring/README.md
	broken rooms 'ring/README.md: its map lacks fresh' touch ring/fresh.c
	broken rooms 'ring/README.md: its map has scan, which is not there' rm ring/scan.c ring/scan.h
	broken rooms 'pty/holder: has no README.md' rm pty/holder/README.md
	# shellcheck disable=SC2016
	broken table 'README.md: the table of rooms has no ring/search' sed -i '/^| \[`ring\/search`/d' README.md
	broken table 'README.md: the table of rooms has pty/holder, which' rm -r pty/holder
	broken options 'its options are not those' sed -i 's/--ring-size SIZE /--ring-size BYTES/' ws/serve/README.md
	broken options 'ws/client/ringside.1: does not name --clipboard' sed -i '/clipboard/d' ws/client/ringside.1
	broken run './run --help: lacks' sed -i 's/^Usage: ringside serve/Usage:/' ws/serve/README.md
}

self=false
if [ "${1:-}" = --self-test ]; then
	self=true
	shift
fi
if [ $# -ne 2 ]; then
	echo "usage: docs.sh [--self-test] SOURCE-ROOT RINGSIDE" >&2
	exit 2
fi
program=$(realpath "$2")
cd "$1"
if $self; then
	self_test "$program"
else
	check_all "$program"
fi
exit "$rc"
