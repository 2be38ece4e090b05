#!/usr/bin/env bash
# Whether debian/ still says what the tree says: the release, what is built with, what is installed. Takes no time, builds nothing.
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

# Print the names in a field of debian/control: field NAME.
field() {
	awk -v name="$1:" '$1 == name { inside = 1; sub(/^[^:]*:/, "") } /^[^ ]*:/ && $1 != name { inside = 0 } inside' debian/control |
		sed 's/([^)]*)//g' | tr -s ', ' '\n' | grep -E '^[a-z0-9]' || :
}

check_release() {
	local packaged
	packaged=$(sed -nE '1s/^ringside \(([^)]*)\).*/\1/p' debian/changelog)
	[ "$packaged" = "$release" ] || complain "debian/changelog: is about $packaged, meson.build about $release"
	grep -qxF "## Unreleased" CHANGELOG.md || complain "CHANGELOG.md: has no section Unreleased"
	if [ "$release" != 0.2.0 ]; then # not released yet
		grep -qE "^## ${release//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md ||
			complain "CHANGELOG.md: has no section $release"
	fi
}

# What ./run installs is built with, but for what every Debian builds with; of libwebsockets' event library only the file is wanted.
check_depends() {
	local name builds
	builds=$(field Build-Depends)
	for name in "${RUN_PACKAGES[@]}"; do
		case $name in
		gcc | libc6-dev | ninja-build | libwebsockets-evlib-uv) continue ;;
		esac
		grep -qxF "$name" <<<"$builds" || complain "debian/control: is not built with $name, of tests/setup.sh"
	done
	grep -qxF libwebsockets-evlib-uv <<<"$(field Depends)" || complain "debian/control: no libwebsockets-evlib-uv"
}

# There is one package, which has all that is installed: no list of files that could go stale.
check_files() {
	local file
	for file in debian/*.install debian/not-installed; do
		[ ! -e "$file" ] || complain "$file: the package has all that meson installs"
	done
	[ "$(grep -c '^Package:' debian/control)" -eq 1 ] || complain "debian/control: more than one package"
	for file in debian/rules debian/tests/session; do
		[ -x "$file" ] || complain "$file: is no program"
	done
	for file in $(field Tests) $(sed -n 's/^Tests: *//p' debian/tests/control); do
		[ -x "debian/tests/$file" ] || complain "debian/tests/control: there is no debian/tests/$file"
	done
	make -n -f debian/rules clean >/dev/null 2>&1 || complain "debian/rules: is no makefile"
}

check_release
check_depends
check_files
exit "$rc"
