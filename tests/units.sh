#!/usr/bin/env bash
# Check the systemd units: the server has their options, they have the settings that it needs, and systemd accepts them.
# usage: units.sh options RINGSIDE UNIT… | units.sh verify RINGSIDE UNIT…. Exits with 77 without systemd.
set -euo pipefail

rc=0

complain() {
	printf '%s\n' "$*"
	rc=1
}

check_options() {
	local help unit option lines
	help=$'\n'$("$1" serve --help)$'\n'
	shift
	for unit; do
		[[ $unit == *.service ]] || continue
		while read -r option; do
			[[ $help == *$'\n'"  $option"[\ $'\n']* ]] ||
				complain "${unit##*/}: ringside serve has no $option"
		done < <(sed -nE 's/^#? *(ExecStart|Environment)=//p' "$unit" | grep -oE -- '--[a-z-]+')
		lines=$'\n'$(<"$unit")$'\n'
		# Sessions outlive the server and have control groups.
		for option in KillMode=process Type=notify 'Delegate=pids memory' LoadCredential=ringside.token; do
			[[ $lines == *$'\n'"$option"$'\n'* ]] || complain "${unit##*/}: lacks $option"
		done
	done
}

# Verify the units as installed, with the path of an existing program.
check_verify() {
	local program=$1 unit errors manager
	shift
	command -v systemd-analyze >/dev/null || exit 77
	copies=$(mktemp -d)
	trap 'rm -rf "$copies"' EXIT
	# A socket is verified with its service.
	for unit; do
		sed -e "s|^ExecStart=[^ ]*|ExecStart=$(realpath "$program")|" -e "s|^ExecReload=[^ ]*|ExecReload=$(realpath "$program")|" "$unit" >"$copies/${unit##*/}"
	done
	for unit; do
		manager=--user
		[[ $unit == *@* ]] && manager=--system
		errors=$(XDG_RUNTIME_DIR=$copies systemd-analyze verify "$manager" --man=no "$copies/${unit##*/}" 2>&1) ||
			complain "${unit##*/}: $errors"
		! grep -F "$copies" <<<"$errors" || complain "${unit##*/}: see above"
	done
}

check=$1
shift
case $check in
options) check_options "$@" ;;
verify) check_verify "$@" ;;
*) complain "units.sh: the first argument must be options or verify" ;;
esac
exit "$rc"
