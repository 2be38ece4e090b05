#!/usr/bin/env bash
# Sessions of earlier releases, built from git, live on under this one: see upgrade.mjs. The last of release 0.1.0 (its tag, or
# the commit before the one that changed the version), and the last whose holders have no keys (version 1 of pty/wire.h).
# usage: upgrade.sh SOURCE-ROOT OUT; OUT is in the build tree of this release. 77: git does not have them.
set -euo pipefail

root=$1
build=$(dirname "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ask_git() {
	git -c safe.directory='*' -C "$root" "$@" 2>/dev/null
}

# before TEXT FILE: the last commit before TEXT in FILE came or went for the last time.
before() {
	local changed
	changed=$(ask_git log -1 --format=%H -S"$1" -- "$2")
	ask_git rev-parse --verify "$changed^"
}

# make NAME COMMIT: into $scratch/NAME/build
make() {
	mkdir "$scratch/$1"
	ask_git archive "$2" | tar -x -C "$scratch/$1"
	if cmp -s "$scratch/$1/web/package-lock.json" "$root/web/package-lock.json" && [ -d "$root/web/node_modules" ]; then
		cp -a "$root/web/node_modules" "$scratch/$1/web/"
	else
		(cd "$scratch/$1/web" && npm ci --no-audit --no-fund)
	fi
	meson setup "$scratch/$1/build" "$scratch/$1" -Dtests=false
	ninja -C "$scratch/$1/build" # all: a release may have had other programs
}

declare -A commits
commits[keyless]=$(before 'define WIRE_VERSION 2u' pty/wire.h) || {
	echo "upgrade.sh: skipped: git has no commits of earlier releases"
	exit 77
}
if ! commits[last]=$(ask_git rev-parse --verify 'v0.1.0^{commit}'); then
	commits[last]=HEAD
	grep -qF "version: '0.1.0'" "$root/meson.build" || commits[last]=$(before "version: '0.1.0'," meson.build)
fi
for name in keyless last; do
	make "$name" "${commits[$name]}" >"$scratch/log" 2>&1 || {
		tail -n 40 "$scratch/log"
		exit 1
	}
	echo "From ${commits[$name]} ($name)"
	RINGSIDE_BIN=$build RINGSIDE_EARLIER=$scratch/$name/build/ringside node "$root/tests/packaging/upgrade.mjs"
	rm -rf "${scratch:?}/$name"
done
