#!/usr/bin/env bash
# What README.md promises, on a machine that has nothing: a bare Debian 12 is made from its packages, and in it a clean
# clone is started by ./run, serves, and passes ./test --quick. So what tests/setup.sh does not list is found missing.
# usage: fresh.sh SOURCE-ROOT; what git has there as HEAD is tried. 77: it cannot be done here, and why.
set -euo pipefail

root=$1

skip() {
	printf 'fresh.sh: skipped: %s\n' "$*"
	exit 77
}

# Outside

make_root() {
	mmdebstrap --quiet --variant=minbase bookworm "$scratch/root" >"$scratch/log" 2>&1 ||
		skip "no Debian 12: $(tail -n 1 "$scratch/log")"
	cp /etc/resolv.conf "$scratch/root/etc/resolv.conf"
	git -c safe.directory='*' clone -q --no-hardlinks "$root" "$scratch/root/ringside" >"$scratch/log" 2>&1 ||
		skip "no clone: $(tail -n 1 "$scratch/log")"
	cp "$0" "$scratch/root/fresh.sh"
}

# All that comes along of this machine is how it reaches others: a proxy, and the certificates of one that looks into
# what passes.
find_reach() {
	local name
	reach=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || reach+=("$name=${!name}")
	done
	if [ -r "${NODE_EXTRA_CA_CERTS:-}" ]; then
		install -D -m 644 -- "$NODE_EXTRA_CA_CERTS" "$scratch/root/etc/ssl/reach.pem"
		reach+=(NODE_EXTRA_CA_CERTS=/etc/ssl/reach.pem)
	fi
}

# In namespaces of our own, for mounts and processes: nothing stays of either, whatever happens. Not by chroot alone,
# where nobody may make a user namespace.
enter() {
	cd "$scratch/root"
	mount --bind . .
	cd .
	mount -t proc proc proc
	mount --rbind /sys sys
	mount --rbind /dev dev
	pivot_root . mnt
	umount -l mnt
	exec env -i "${reach[@]}" chroot . /fresh.sh /ringside inside
}

# Inside

fail() {
	printf 'fresh.sh: %s\n' "$*"
	tail -n 60 /log
	exit 1
}

# From ./run, which installs and builds first.
wait_for_url() {
	local until=$((SECONDS + 1800))
	until grep -q http: /url; do
		kill -0 "$server" 2>/dev/null || fail "./run has ended"
		[ "$SECONDS" -lt "$until" ] || fail "no address from ./run"
		sleep 0.5
	done
}

# There is no curl.
health() {
	local port
	port=$(sed -nE 's|.*http://127\.0\.0\.1:([0-9]+).*|\1|p' /url | head -n 1)
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&3
	grep '^ok' <&3
}

run_and_ask() {
	local ringside=/ringside/build/ringside
	/ringside/run --listen 127.0.0.1:0 >/url 2>/log &
	server=$!
	wait_for_url
	[ "$(health)" = ok ] || fail "no answer"
	$ringside new fresh >>/log 2>&1 || fail "no session"
	# shellcheck disable=SC2016 # for the session's shell
	[ "$($ringside exec fresh 'echo $((6 * 7))' 2>>/log)" = 42 ] || fail "no command"
	$ringside kill fresh >>/log 2>&1 || fail "the session does not end"
	kill -TERM "$server"
	wait "$server" || fail "./run ends with $?"
}

if [ "${2:-}" = inside ]; then
	run_and_ask
	bash /ringside/test --quick >/log 2>&1 || fail "./test --quick"
	tail -n 1 /log
	exit
fi
if [ "${2:-}" = enter ]; then
	: "${scratch:?}"
	find_reach
	enter
fi
[ "$(id -u)" -eq 0 ] || skip "only root"
for tool in mmdebstrap unshare pivot_root git; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
scratch=$(mktemp -d)
chmod 755 "$scratch"
export scratch
trap 'rm -rf --one-file-system "$scratch"' EXIT
make_root
unshare --mount --pid --fork --kill-child --propagation private "$0" "$root" enter
