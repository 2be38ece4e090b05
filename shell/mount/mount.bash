# A bucket as a directory, by s3fs, and what is around that. What somebody has chosen comes by variables:
#   RINGSIDE_MOUNT_DO        mount, check, unmount, remove or protect
#   RINGSIDE_MOUNT_PATH      absolute
#   RINGSIDE_MOUNT_ONLY      1: unmount only where something is mounted; remove only where nothing is
#   RINGSIDE_MOUNT_SOURCE    of mount: the bucket, as s3fs takes it
#   RINGSIDE_MOUNT_OPTIONS   of mount: a line each, as s3fs takes them behind -o
#   RINGSIDE_MOUNT_LOG       of mount: the file that its program writes to; "" = none is kept
#   RINGSIDE_MOUNT_VERIFY    of mount: 1: it is waited for
# A mount ends with 0, or with 2 where s3fs has failed, or 3 where nothing has appeared; then the end of its log is printed.
set -u
umask 077
export LC_ALL=C
path=${RINGSIDE_MOUNT_PATH%/}

# By the kernel's list alone: one whose program has died answers to nothing else.
is_mounted() {
	local at rest want parent
	parent=$(realpath -m -- "${path%/*}/") || return
	want=${parent%/}/${path##*/}
	while read -r _ _ _ _ at rest; do
		printf -v at %b "$at" # mountinfo has blanks as \040
		[ "$at" != "$want" ] || return 0
	done </proc/self/mountinfo
	return 1
}

# s3fs mounts first and asks its store afterwards: who is refused there was mounted for a moment. The kernel holds back
# what is asked of the mount until the store has answered.
answers() {
	timeout --kill-after=1 6 stat --file-system -- "$path" >/dev/null 2>&1 && is_mounted
}

unmount() {
	local each
	for each in fusermount3 fusermount; do
		if command -v "$each" >/dev/null; then
			exec "$each" -u -- "$path"
		fi
	done
	echo 'There is no fusermount on this machine: install fuse3' >&2
	exit 127
}

mount_bucket() {
	local options=() each deadline
	log=$RINGSIDE_MOUNT_LOG
	if ! command -v s3fs >/dev/null; then
		echo 'There is no s3fs on this machine: install s3fs'
		exit 2
	fi
	while IFS= read -r each; do
		[ -z "$each" ] || options+=(-o "$each")
	done <<<"$RINGSIDE_MOUNT_OPTIONS"
	if [ -z "$log" ]; then
		log=$(mktemp) || exit 2
		trap 'rm -f -- "$log"' EXIT
	fi
	# It leaves the process group, and goes on without this script: see run_options.
	s3fs "$RINGSIDE_MOUNT_SOURCE" "$path" "${options[@]}" </dev/null >>"$log" 2>&1
	each=$?
	if [ "$each" -ne 0 ] && [ "$RINGSIDE_MOUNT_VERIFY" = 1 ]; then
		each=2
	fi
	deadline=$((SECONDS + 6))
	while [ "$each" -eq 0 ] && [ "$RINGSIDE_MOUNT_VERIFY" = 1 ] && ! is_mounted; do
		[ "$SECONDS" -lt "$deadline" ] || each=3
		sleep 0.1
	done
	if [ "$each" -eq 0 ] && [ "$RINGSIDE_MOUNT_VERIFY" = 1 ] && ! answers; then
		each=2
	fi
	[ "$each" -eq 0 ] || tail -n 20 -- "$log"
	exit "$each"
}

case $RINGSIDE_MOUNT_DO in
mount) mount_bucket ;;
check) is_mounted ;;
unmount)
	[ "$RINGSIDE_MOUNT_ONLY" != 1 ] || is_mounted || exit 0
	unmount
	;;
remove)
	if [ "$RINGSIDE_MOUNT_ONLY" = 1 ] && is_mounted; then
		exit 0
	fi
	exec rmdir -- "$path"
	;;
protect) exec chmod 600 -- "$path" ;;
esac
