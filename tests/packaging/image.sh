#!/usr/bin/env bash
# Build the image of deploy/Containerfile with the package that package.sh made, and run it. The base is made from Debian's
# packages, because a registry may be unreachable. Images and containers are in a temporary directory.
# usage: image.sh SOURCE-ROOT OUT; OUT has the package. Exits with 77 and a reason if it cannot run here.
set -euo pipefail

root=$1
out=$2

skip() {
	printf 'image.sh: skipped: %s\n' "$*"
	exit 77
}

fail() {
	printf 'image.sh: %s\n' "$*"
	pod logs ringside 2>&1 | tail -n 20 || :
	exit 1
}

pod() {
	podman --root "$scratch/storage" --runroot "$scratch/runroot" --storage-driver vfs --cgroup-manager cgroupfs \
		--events-backend file --log-level error "$@"
}

inside() {
	pod exec ringside "$@"
}

clean_up() {
	pod rm -f -t 0 ringside >/dev/null 2>&1 || :
	rm -rf "$scratch"
}

# wait_for WHAT COMMAND…
wait_for() {
	local what=$1
	shift
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	fail "no $what"
}

# crun refuses to run if both versions of control groups are mounted: mount only version 2, in our own namespace.
prepare_groups() {
	mount --make-rprivate /
	[ -e /sys/fs/cgroup/cgroup.controllers ] || {
		umount -R /sys/fs/cgroup
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
	}
}

start() {
	pod run -d --no-healthcheck --name ringside --cgroups=disabled --network=host --ulimit=nofile=1024:1024 --ulimit=nproc=4096:4096 \
		-v ringside:/run/ringside ringside >/dev/null
	wait_for "server" inside ringside ls
}

if [ "${3:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	for tool in podman mmdebstrap unshare ip curl; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
	ls "$out"/ringside_*.deb >/dev/null 2>&1 || skip "no package in $out: packaging-package makes it"
	scratch=$(mktemp -d -p /var/tmp) # whole systems are too large for memory
	export scratch
	trap clean_up EXIT
	mmdebstrap --quiet --variant=minbase bookworm "$scratch/base.tar" >"$scratch/log" 2>&1 ||
		skip "no base: $(tail -n 1 "$scratch/log")"
	pod import -q "$scratch/base.tar" localhost/base >/dev/null || skip "podman import fails"
	rm "$scratch/base.tar"
	mkdir "$scratch/context"
	cp "$out"/ringside_*.deb "$scratch/context/"
	pod build --isolation=chroot --squash --format docker --build-arg BASE=localhost/base -t ringside \
		-f "$root/deploy/Containerfile" "$scratch/context" >"$scratch/log" 2>&1 || {
		tail -n 40 "$scratch/log"
		exit 1
	}
	# In a network namespace of its own, where the port is free.
	unshare --mount --net bash "$0" "$root" "$out" inside
	exit
fi

: "${scratch:?}"
ip link set lo up
prepare_groups
pod run --rm --cgroups=disabled --network=host --ulimit=nofile=1024:1024 --ulimit=nproc=4096:4096 --entrypoint true ringside \
	>"$scratch/log" 2>&1 || skip "podman cannot run containers here: $(tail -n 1 "$scratch/log")"

start
[ "$(curl -sS http://127.0.0.1:7070/healthz)" = ok ] || fail "/healthz on port 7070 is not ok"
[ "$(inside cat /proc/1/comm)" = tini ] || fail "process 1 is not tini"
inside ringside new work >/dev/null
[ "$(inside ringside exec work 'id -un; pwd')" = $'ringside\n/home/ringside' ] || fail "a session is not that of user ringside in /home/ringside"
token=$(inside cat /run/ringside/token)
curl -sS -H "Authorization: Bearer $token" http://127.0.0.1:7070/api/session/work/exec -d '{"command":"echo hello"}' |
	grep -q '"exitCode":0' || fail "a command over HTTP fails"
# The health check that container managers run; start() has run it too.
health=$(pod image inspect --format '{{json .HealthCheck.Test}}' ringside)
[ "$health" = '["CMD","ringside","ls"]' ] || fail "the health check is $health"
# Leftovers of a session are reaped when it ends.
inside ringside exec work '(setsid sh -c "sleep 0.2" &)' >/dev/null
inside ringside kill work
wait_for "end of the session" inside bash -c '! ringside ls | grep work'
wait_for "reaping" inside bash -c '! grep -l "^State:.Z" /proc/[0-9]*/status'
# If the server is killed the container ends; the volume keeps the runtime directory.
pod stop -t 20 ringside >/dev/null
code=$(pod inspect --format '{{.State.ExitCode}}' ringside)
[ "$code" -eq 0 ] || fail "the container exits with $code when it is stopped"
pod rm ringside >/dev/null
start
[ "$(inside cat /run/ringside/token)" = "$token" ] || fail "the token has changed"
# The package's own test, as the container's user.
pod cp "$root/debian/tests/session" ringside:/tmp/session
inside bash -c 'cd /tmp && env -u RINGSIDE_SOCKET /tmp/session' || fail "debian/tests/session"
pod rm -f -t 0 ringside >/dev/null
