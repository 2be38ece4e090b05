#!/usr/bin/env bash
# Check README.md's promise on a bare Debian 12, made from its packages: ./run starts a clean clone, it serves and
# passes ./test --quick. This finds packages that tests/setup.sh does not list.
#
# usage: fresh.sh SOURCE-ROOT; tests git's HEAD there. Exits with 77 and a reason if it cannot run here.
set -euo pipefail

root=$1

skip() {
	printf 'fresh.sh: skipped: %s\n' "$*"
	exit 77
}

# Outside of the new root

make_root() {
	mmdebstrap --quiet --variant=minbase bookworm "$scratch/root" >"$scratch/log" 2>&1 ||
		skip "no Debian 12: $(tail -n 1 "$scratch/log")"
	cp /etc/resolv.conf "$scratch/root/etc/resolv.conf"
	git -c safe.directory='*' clone -q --no-hardlinks "$root" "$scratch/root/ringside" >"$scratch/log" 2>&1 ||
		skip "no clone: $(tail -n 1 "$scratch/log")"
	cp "$0" "$scratch/root/fresh.sh"
}

# The only settings of this machine that are kept are those for network access: a proxy, and its certificates.
find_network() {
	local name
	network=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || network+=("$name=${!name}")
	done
	if [ -r "${NODE_EXTRA_CA_CERTS:-}" ]; then
		install -D -m 644 -- "$NODE_EXTRA_CA_CERTS" "$scratch/root/etc/ssl/network.pem"
		network+=(NODE_EXTRA_CA_CERTS=/etc/ssl/network.pem)
	fi
}

# Enter the root in mount and pid namespaces of our own, so that nothing remains of either. chroot alone would not
# permit user namespaces.
enter() {
	cd "$scratch/root"
	mount --bind . .
	cd .
	mount -t proc proc proc
	mount --rbind /sys sys
	mount --rbind /dev dev
	pivot_root . mnt
	umount -l mnt
	exec env -i "${network[@]}" chroot . /fresh.sh /ringside inside
}

# Inside of the new root

fail() {
	printf 'fresh.sh: %s\n' "$*"
	tail -n 60 /log
	exit 1
}

# Wait for the address that ./run prints; it installs and builds first.
wait_for_url() {
	local until=$((SECONDS + 1800))
	until grep -q http: /url; do
		kill -0 "$server" 2>/dev/null || fail "./run has ended"
		[ "$SECONDS" -lt "$until" ] || fail "no address from ./run"
		sleep 0.5
	done
}

# Request /healthz; curl is not installed.
health() {
	local port
	port=$(sed -nE 's|.*http://127\.0\.0\.1:([0-9]+).*|\1|p' /url | head -n 1)
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&3
	grep '^ok' <&3
}

check_server() {
	local ringside=/ringside/build/ringside
	/ringside/run --listen 127.0.0.1:0 >/url 2>/log &
	server=$!
	wait_for_url
	[ "$(health)" = ok ] || fail "no answer"
	$ringside new fresh >>/log 2>&1 || fail "ringside new fails"
	# shellcheck disable=SC2016 # for the session's shell
	[ "$($ringside exec fresh 'echo $((6 * 7))' 2>>/log)" = 42 ] || fail "ringside exec fails"
	$ringside kill fresh >>/log 2>&1 || fail "ringside kill fails"
	kill -TERM "$server"
	wait "$server" || fail "./run exits with $?"
}

if [ "${2:-}" = inside ]; then
	check_server
	bash /ringside/test --quick >/log 2>&1 || fail "./test --quick"
	tail -n 1 /log
	exit
fi
if [ "${2:-}" = enter ]; then
	: "${scratch:?}"
	find_network
	enter
fi
[ "$(id -u)" -eq 0 ] || skip "needs root"
for tool in mmdebstrap unshare pivot_root git; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
scratch=$(mktemp -d -p /var/tmp) # whole systems are too large for memory
chmod 755 "$scratch"
export scratch
trap 'rm -rf --one-file-system "$scratch"' EXIT
make_root
unshare --mount --pid --fork --kill-child --propagation private "$0" "$root" enter
