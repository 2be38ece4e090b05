#!/usr/bin/env bash
# The corpora of fuzz targets are thousands of small files. The repository has one archive for each target, corpus/TARGET.tar;
# packing is reproducible. The tests read the archive itself, see fuzz_main.c.
#
# usage: corpus.sh unpack TARGET FOLDER    make FOLDER anew, with the target's inputs
#        corpus.sh pack TARGET FOLDER      make the archive from all files in FOLDER
#        corpus.sh add TARGET FILE…        add files to the archive
#
# Fails if there are no inputs, so that a corpus cannot be lost unnoticed.
set -euo pipefail

archives=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/corpus

die() {
	printf 'corpus.sh: %s\n' "$*" >&2
	exit 1
}

usage() {
	sed -n 's/^# usage: /usage: /p; s/^#        corpus/       corpus/p' "${BASH_SOURCE[0]}" >&2
	exit 2
}

has_files() {
	[ -n "$(find "$1" -mindepth 1 -type f -print -quit)" ]
}

# unpack ARCHIVE FOLDER
unpack() {
	rm -rf "$2"
	mkdir -p "$2"
	tar -x -m --no-same-owner -f "$1" -C "$2"
	has_files "$2" || die "$1 has no files"
}

# pack ARCHIVE FOLDER: pack the files without directories, times and owners.
pack() {
	has_files "$2" || die "$2 has no files"
	[ -z "$(find "$2" -mindepth 1 ! -type f -print -quit)" ] || die "$2 has more than files"
	trap 'rm -f "$archive.new"' ERR
	find "$2" -type f -printf '%f\0' | LC_ALL=C sort -z | tar -c -f "$1.new" --format=ustar --mode=644 --mtime=@0 \
		--owner=0 --group=0 --numeric-owner --no-recursion -C "$2" --null -T -
	mv "$1.new" "$1"
}

# add ARCHIVE FILE…
add() {
	local archive=$1 folder
	shift
	folder=$(mktemp -d)
	# shellcheck disable=SC2064 # expand $folder now
	trap "rm -rf '$folder'" EXIT
	[ ! -f "$archive" ] || tar -x --no-same-owner -f "$archive" -C "$folder"
	cp -- "$@" "$folder"
	pack "$archive" "$folder"
}

if [ $# -lt 3 ] || ! [[ $2 =~ ^[a-z0-9_]+$ ]]; then
	usage
fi
archive=$archives/$2.tar
case $1:$# in
unpack:3) unpack "$archive" "$3" ;;
pack:3) pack "$archive" "$3" ;;
add:*) add "$archive" "${@:3}" ;;
*) usage ;;
esac
