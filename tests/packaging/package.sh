#!/usr/bin/env bash
# Build the Debian package in a copy of the tree, check its contents, and run a session from it.
# usage: package.sh SOURCE-ROOT OUT; OUT gets the packages. Exits with 77 if tools are missing.
set -euo pipefail

root=$1
out=$2
for tool in dpkg-buildpackage dh lintian; do
	command -v "$tool" >/dev/null || {
		echo "$tool is not installed"
		exit 77
	}
done
scratch=$(mktemp -d -p /var/tmp) # whole systems are too large for memory
trap 'rm -rf "$scratch"' EXIT

# fail WHY…
fail() {
	printf 'package.sh: %s\n' "$*"
	exit 1
}

copy_tree() {
	mkdir "$scratch/tree"
	(cd "$root" && git -c safe.directory='*' ls-files -z -co --exclude-standard 2>/dev/null |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
		tar -c --null -T -) | tar -x -C "$scratch/tree"
	[ ! -d "$root/web/node_modules" ] || cp -a "$root/web/node_modules" "$scratch/tree/web/"
}

# The package must contain every file that meson installs, under the same path.
check_content() {
	local place
	python3 -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1])).values()))' \
		"$scratch"/tree/obj-*/meson-info/intro-installed.json >"$scratch/installed"
	[ -s "$scratch/installed" ] || fail "meson installs nothing"
	while read -r place; do
		[ -s "$scratch/root$place" ] || [ -s "$scratch/root$place.gz" ] || fail "$place is not in the package"
	done <"$scratch/installed"
}

copy_tree
(cd "$scratch/tree" && dpkg-buildpackage -us -uc -b) >"$scratch/log" 2>&1 || {
	tail -n 60 "$scratch/log"
	fail "dpkg-buildpackage"
}
dpkg-deb -x "$scratch"/ringside_*.deb "$scratch/root"
check_content
lintian --fail-on error,warning,info "$scratch"/ringside_*.changes || fail "lintian, see above"
"$root/tests/hardened.sh" "$scratch"/tree/obj-* || fail "the programs are not hardened, see above"
"$root/tests/units.sh" verify "$scratch/root/usr/bin/ringside" \
	"$scratch"/root/lib/systemd/system/ringside* "$scratch"/root/usr/lib/systemd/user/ringside* || [ $? -eq 77 ]
# As autopkgtest does, but from the unpacked package.
PATH=$scratch/root/usr/bin:$PATH "$root/debian/tests/session"
mkdir -p "$out"
rm -f "$out"/*.deb
mv "$scratch"/ringside_*.deb "$out/"
