#!/usr/bin/env bash
# The units of systemd: what they tell the server to do it knows, what they promise is in them, and systemd takes them.
# usage: units.sh options RINGSIDE UNIT… | units.sh verify RINGSIDE UNIT…; 77: there is no systemd here.
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
		# Sessions outlive the server, and have groups.
		for option in KillMode=process Type=notify 'Delegate=pids memory' LoadCredential=ringside.token; do
			[[ $lines == *$'\n'"$option"$'\n'* ]] || complain "${unit##*/}: has no $option"
		done
	done
}

# As they would be installed: with a program that is there.
check_verify() {
	local program=$1 unit said manager
	shift
	command -v systemd-analyze >/dev/null || exit 77
	copies=$(mktemp -d)
	trap 'rm -rf "$copies"' EXIT
	# A socket is looked at with its service.
	for unit; do
		sed "s|^ExecStart=[^ ]*|ExecStart=$(realpath "$program")|" "$unit" >"$copies/${unit##*/}"
	done
	for unit; do
		manager=--user
		[[ $unit == *@* ]] && manager=--system
		said=$(XDG_RUNTIME_DIR=$copies systemd-analyze verify "$manager" --man=no "$copies/${unit##*/}" 2>&1) ||
			complain "${unit##*/}: $said"
		! grep -F "$copies" <<<"$said" || complain "${unit##*/}: see above"
	done
}

check=$1
shift
case $check in
options) check_options "$@" ;;
verify) check_verify "$@" ;;
*) complain "units.sh: options or verify" ;;
esac
exit "$rc"
