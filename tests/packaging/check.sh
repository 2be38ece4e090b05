#!/usr/bin/env bash
# Check debian/ against the tree: the release, the build dependencies, the installed files. Builds nothing.
# usage: check.sh SOURCE-ROOT RELEASE
set -euo pipefail

rc=0
root=$1
release=$2
# shellcheck source=tests/setup.sh
. "$root/tests/setup.sh"
cd "$root"

complain() {
	printf '%s\n' "$*"
	rc=1
}

# field NAME: print the names in a field of debian/control.
field() {
	awk -v name="$1:" '$1 == name { inside = 1; sub(/^[^:]*:/, "") } /^[^ ]*:/ && $1 != name { inside = 0 } inside' debian/control |
		sed 's/([^)]*)//g' | tr -s ', ' '\n' | grep -E '^[a-z0-9]' || :
}

check_release() {
	local packaged
	packaged=$(sed -nE '1s/^ringside \(([^)]*)\).*/\1/p' debian/changelog)
	[ "$packaged" = "$release" ] || complain "debian/changelog: has $packaged, but meson.build has $release"
	grep -qxF "## Unreleased" CHANGELOG.md || complain "CHANGELOG.md: lacks the section Unreleased"
	if [ "$release" != 0.2.0 ]; then # not released yet
		grep -qE "^## ${release//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md ||
			complain "CHANGELOG.md: lacks the section $release"
	fi
}

# The packages of ./run must be build dependencies, except build-essential ones; of libwebsockets' event library only
# the file is needed at run time.
check_depends() {
	local name builds
	builds=$(field Build-Depends)
	for name in "${RUN_PACKAGES[@]}"; do
		case $name in
		gcc | libc6-dev | ninja-build | libwebsockets-evlib-uv) continue ;;
		esac
		grep -qxF "$name" <<<"$builds" || complain "debian/control: Build-Depends lacks $name of tests/setup.sh"
	done
	grep -qxF libwebsockets-evlib-uv <<<"$(field Depends)" || complain "debian/control: Depends lacks libwebsockets-evlib-uv"
}

# The only package has all installed files, so no list of files can be outdated.
check_files() {
	local file
	for file in debian/*.install debian/not-installed; do
		[ ! -e "$file" ] || complain "$file: not needed: the package has all files that meson installs"
	done
	[ "$(grep -c '^Package:' debian/control)" -eq 1 ] || complain "debian/control: more than one package"
	for file in debian/rules debian/tests/session; do
		[ -x "$file" ] || complain "$file: is not executable"
	done
	for file in $(field Tests) $(sed -n 's/^Tests: *//p' debian/tests/control); do
		[ -x "debian/tests/$file" ] || complain "debian/tests/control: debian/tests/$file does not exist"
	done
	make -n -f debian/rules clean >/dev/null 2>&1 || complain "debian/rules: is not a makefile"
}

check_release
check_depends
check_files
exit "$rc"
