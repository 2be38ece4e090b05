# Replace a directory by the content of an archive. The archive is listed and checked before anything is written. Then it is
# extracted into a stage beside the directory, or inside it if it is a mount point or its parent is not writable, and put in
# place at the end: if it fails, the old content remains.
#
# The stage is a directory .ringside-restore-XXXXXXXXXX, which its process locks, with
#   new/    the extracted content
#   old/    the old content during the exchange: restored if that fails, also by the next run
#   trash/  the old content afterwards
#
# If mounting is requested and possible, nothing is extracted: the archive becomes the lower layer of an overlay, mounted on the
# directory by squashfuse and fuse-overlayfs, which outlive this script and the server. Each mount has a directory in
# /var/backups/mounts, or beside the archives of the workspace, with
#   lower/ upper/ work/  the layers
#   dir archive          the paths of directory and archive
#   log                  the output of its programs, since the server may not be there to read it
set -u -o pipefail
shopt -s nullglob dotglob
umask 077
LOCK_S=60
export LC_ALL=C

die() {
	printf '%s\n' "$1" >&2
	exit 1
}

stage=
# shellcheck disable=SC2317 # a trap calls it
clean() {
	[ -n "$stage" ] || return
	# Keep old/, which may be the only copy. Change modes of directories only: files may have hard links elsewhere.
	find "$stage/new" "$stage/trash" -xdev -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
	if find_mount "$stage"; then
		rm -rf --one-file-system -- "$stage/new" "$stage/trash"
	else
		rm -rf -- "$stage/new" "$stage/trash"
	fi
	rmdir -- "$stage/old" 2>/dev/null
	rmdir -- "$stage" || printf 'The old content is in %s\n' "$stage" >&2
}

# each_mount COMMAND…: run it with each mount's path and the rest of its mountinfo line, until it succeeds.
each_mount() {
	local at rest
	while read -r _ _ _ _ at rest; do
		# mountinfo escapes blanks as \040, and backslashes as \134
		# shellcheck disable=SC2059
		printf -v at "${at//%/%%}"
		! "$@" "$at" "$rest" || return 0
	done </proc/self/mountinfo
	return 1
}

# shellcheck disable=SC2317 # each_mount calls it
is_below() {
	[[ $2 == "$1"/* ]] && mount=$2
}

# find_mount DIR: set mount to a mount point below DIR.
find_mount() {
	each_mount is_below "$1"
}
trap clean EXIT
trap 'exit 143' TERM HUP INT

# is_in PATH ROOT…: whether PATH is in one of the ROOTs, after following their links.
is_in() {
	local path=$1 root
	shift
	for root; do
		root=$(realpath -m -- "$root") || continue
		[[ $path/ != "${root%/}"/* ]] || return 0
	done
	return 1
}

command -v unsquashfs >/dev/null || die 'unsquashfs is missing: install squashfs-tools'
archive=$RINGSIDE_BACKUP_ARCHIVE
[ -f "$archive" ] || die 'The archive does not exist'
exec 3<"$archive" || die 'The archive cannot be read'
dir=$RINGSIDE_BACKUP_DIR
mapfile -t roots <<<"$RINGSIDE_BACKUP_ROOTS"
# Unmount dead FUSE mounts, whose program is gone: every access to them fails.
while ! error=$(stat -- "$dir" 2>&1) && [[ $error == *'endpoint is not connected'* ]]; do
	above=$(realpath -m -- "${dir%/*}/") || above=
	{ [ ! -L "$dir" ] && is_in "${above%/}/${dir##*/}" "${roots[@]}"; } || die 'The directory leads to a dead FUSE mount'
	fusermount3 -uz -- "$dir" || die 'The directory is a dead FUSE mount that cannot be unmounted'
done
{ dir=$(realpath -m -- "$RINGSIDE_BACKUP_DIR") && [ "$dir" != / ]; } || die 'The directory is / or not a valid path'
is_in "$dir" "${roots[@]}" || die "The directory leads to $dir, which is not in the workspace or another directory that allows backups"
mapfile -t shared <<<"$RINGSIDE_BACKUP_SHARED"
for each in "${shared[@]}"; do
	[ "$(realpath -m -- "$each")" != "$dir" ] || die "The directory leads to $dir, which is shared and cannot be replaced"
done
[ ! -e "$dir" ] || [ -d "$dir" ] || die 'The path exists and is not a directory'
parent=${dir%/*}
parent=${parent:-/}
keep=$(realpath -m -- "$RINGSIDE_BACKUP_KEEP")
# If the directory contains the directory of archives, that is kept.
case $keep in
"$dir"/*) kept=${keep#"$dir/"} ;;
*) kept= ;;
esac
case $(realpath -- "$archive") in
"$keep"/*) ;;
"$dir"/*) die 'The archive is inside the directory that it would replace' ;;
esac
cd / || exit

# Add up the archive's content: bytes, and entries.
listed=$(
	ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
	unsquashfs -lln /proc/self/fd/3 | awk -v most="$RINGSIDE_BACKUP_ENTRIES" '
		/^[-bcdlps][-r][-w][-xsS][-r][-w][-xsS][-r][-w][-xtT] / {
			if (++entries > most) { print "many"; stop = 1; exit }
			if (/^[bc]/) { print "devices"; stop = 1; exit }
			# A name may contain newlines and imitate lines: negative sizes do not count.
			if (/^-/ && $3 > 0) bytes += $3
		}
		END { if (!stop) printf "%.0f\n", bytes }'
)
status=$?
case $listed in
many) die "The archive has more than $RINGSIDE_BACKUP_ENTRIES entries" ;;
devices) die 'The archive contains devices, which are not restored' ;;
esac
[ "$status" -eq 0 ] || die 'The archive is damaged or not a squashfs image'
[ "$listed" -le "$RINGSIDE_BACKUP_BYTES" ] || die "The archive contains more than $RINGSIDE_BACKUP_BYTES bytes"

# shellcheck disable=SC2317 # each_mount calls it
match_kind() {
	[ "$2" != "$1" ] || kind=${3#* - }
	return 1
}

# kind_at PATH: set kind to the file system type of the last mount at PATH, or "".
kind_at() {
	kind=
	each_mount match_kind "$1"
	kind=${kind%% *}
}

# Mounts below the directory would be moved with it, and emptied.
refuse_mounts() {
	! find_mount "$dir" || die "Something is mounted in the directory: $mount"
}

# The directory of the new mount; "" = none.
made=
# shellcheck disable=SC2317 # a trap calls it
remove_made() {
	[ -z "$made" ] || remove_mount "$made"
}

# remove_mount MOUNT: unmount its lower layer and remove its directory; not the overlay.
remove_mount() {
	kind_at "$1/lower"
	[ -z "$kind" ] || fusermount3 -uz -- "$1/lower"
	rm -rf --one-file-system -- "$1"
}

trap 'clean; remove_made' EXIT

can_mount() {
	local each
	[ "$RINGSIDE_BACKUP_MOUNT" = 1 ] && [ -z "$kept" ] && [ -r /dev/fuse ] && [ -w /dev/fuse ] || return
	for each in squashfuse fuse-overlayfs fusermount3; do
		command -v "$each" >/dev/null || return
	done
	for mounts in /var/backups/mounts "$keep/mounts"; do
		if [[ $mounts/ != "$dir"/* ]] && mkdir -p -- "$mounts" 2>/dev/null && [ -w "$mounts" ]; then
			return
		fi
	done
	return 1
}

# mount_overlay MOUNT: mount its layers on the directory, by a program without our descriptors.
mount_overlay() {
	fuse-overlayfs -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work$allow_other_option" "$dir" \
		7<&- 9<&- </dev/null && kind_at "$dir" && [ "$kind" = fuse.fuse-overlayfs ]
}

# Set old to the mounts of this directory or of this archive.
list_old() {
	local each
	old=()
	for each in "$mounts"/*_??????????; do
		if [ "$each" = "$made" ] || [ ! -f "$each/dir" ] || [ ! -f "$each/archive" ] || ! flock -n "$each" true; then
			continue
		fi
		if [ "$(<"$each/dir")" = "$dir" ] || [ "$(<"$each/archive")" = "$archive" ]; then
			old+=("$each")
		fi
	done
}

# unmount_overlay MOUNT
unmount_overlay() {
	local at
	at=$(<"$1/dir")
	kind_at "$at"
	[ "$kind" != fuse.fuse-overlayfs ] || fusermount3 -uz -- "$at"
}

# exchange OLD…: replace the old mounts by the new one. If that fails, mount the old ones again.
exchange() {
	local each
	for each; do
		unmount_overlay "$each"
	done
	if mount_overlay "$made"; then
		for each; do
			remove_mount "$each"
		done
		return
	fi
	for each; do
		[ "$(<"$each/dir")" != "$dir" ] || mount_overlay "$each"
	done
	return 1
}

mount_archive() {
	local name=${archive##*/} allow_other_option='' old
	name=${name%.*}
	name=${name//[^A-Za-z0-9._-]/_}
	[ "$(id -u)" -ne 0 ] || allow_other_option=,allow_other
	printf -v made '%s_%05x%05x' "$mounts/${name:0:100}" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
	mkdir -- "$made" || made=
	{ [ -n "$made" ] && exec 9<"$made" && flock 9 &&
		mkdir -- "$made/lower" "$made/upper" "$made/work" && printf %s "$dir" >"$made/dir" &&
		printf %s "$archive" >"$made/archive" && mkdir -p -- "$dir"; } || return
	(
		ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
		exec squashfuse -o "ro,nosuid,nodev$allow_other_option" "$archive" "$made/lower" 3<&- 9<&- </dev/null >"$made/log" 2>&1
	) && kind_at "$made/lower" && [ -n "$kind" ] || return
	# The overlay shows mode and owner of the upper layer's root.
	chmod --reference="$made/lower" -- "$made/upper" && chown --reference="$made/lower" -- "$made/upper" || return
	# One exchange at a time: one that a killed server started may still run.
	exec 7<"$mounts" && flock -w "$LOCK_S" 7 || die "Another mount is in progress and did not finish in $LOCK_S s"
	# A handler, since the programs would inherit ignored signals.
	trap : TERM HUP INT
	list_old
	export dir made allow_other_option
	# In a session of its own, so that it is not killed with this run: see struct run_options, spares.
	if setsid -w bash -uc "$(declare -f each_mount match_kind kind_at remove_mount mount_overlay unmount_overlay exchange); exchange \"\$@\"" \
		bash "${old[@]}" 3<&- </dev/null >>"$made/log" 2>&1; then
		made=
		return
	fi
	exec 7<&-
	trap 'exit 143' TERM HUP INT
	return 1
}

if can_mount; then
	if mount_archive; then
		echo mounted
		exit
	fi
	[ -z "$made" ] || [ ! -s "$made/log" ] || cat -- "$made/log" >&2
	remove_made
	made=
	exec 9<&-
fi

refuse_mounts
inside=
mkdir -p -- "$parent" || die 'The directory cannot be created'
if [ -d "$dir" ] && { mountpoint -q -- "$dir" || [ ! -w "$parent" ]; }; then
	inside=1
	home=$dir
else
	home=${parent%/}
fi
free=$(df --output=avail -B1 -- "${home:-/}" | tail -n 1) || die 'The free space of the disk cannot be determined'
[ "$listed" -le "$free" ] || die 'The disk has not enough space: No space left on device'

# Clean up after killed runs: move old content back where it is missing, and remove the rest.
# shellcheck disable=SC2016 # another bash expands it
for left in "$home"/.ringside-restore-??????????; do
	[ -n "$(find "$left" -maxdepth 0 -type d -mmin +1)" ] || continue
	flock -n "$left" bash -c 'shopt -s nullglob dotglob
		for each in "$1"/old/*; do
			[ -e "$2/${each##*/}" ] || mv -T -- "$each" "$2/${each##*/}"
		done
		rm -rf --one-file-system -- "$1/new" "$1/trash"
		rmdir -- "$1/old" 2>/dev/null
		rmdir -- "$1" 2>/dev/null' bash "$left" "$home" || :
done

# Choose the name before creating the stage, so that the trap can always remove it.
printf -v stage '%s/.ringside-restore-%05x%05x' "$home" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
mkdir -- "$stage" || stage=
{ [ -n "$stage" ] && exec 8<"$stage" && flock 8 && mkdir -- "$stage/old"; } || die "The stage cannot be created in ${home:-/}"
(
	ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
	exec unsquashfs -no-progress -quiet -no-xattrs -strict-errors -processors 2 -da 64 -fr 64 \
		-dest "$stage/new" /proc/self/fd/3 </dev/null >&2
) || die 'The archive could not be extracted'
{ [ -d "$stage/new" ] && [ ! -L "$stage/new" ]; } || die "The archive's root is not a directory"

if [ -n "$kept" ]; then
	# A link on the path would move the kept archives out of the directory.
	[ "$(realpath -m -- "$stage/new/$kept")" = "$(realpath -- "$stage")/new/$kept" ] || die 'A link in the archive replaces the path of the kept archives'
	rm -rf --one-file-system -- "$stage/new/$kept"
fi

# move_all FROM TO: move all entries except stages.
move_all() {
	local each all=()
	for each in "$1"/*; do
		[[ ${each##*/} == .ringside-restore-?????????? ]] || all+=("$each")
	done
	[ ${#all[@]} -eq 0 ] || printf '%s\0' "${all[@]}" | xargs -0 mv -t "$2" --
}

refuse_mounts
# Signals are ignored from here on: the exchange is always completed.
trap '' TERM HUP INT
was=$stage/old/${dir##*/}
if [ -n "$inside" ]; then
	was=$stage/old
	if ! { move_all "$dir" "$stage/old" && move_all "$stage/new" "$dir"; }; then
		mkdir -p -- "$stage/trash" && move_all "$dir" "$stage/trash"
		move_all "$stage/old" "$dir"
		die 'The directory could not be replaced'
	fi
	chmod --reference="$stage/new" -- "$dir" 2>/dev/null
elif [ -e "$dir" ] && ! mv -T -- "$dir" "$was"; then
	die 'The directory could not be replaced'
elif ! mv -T -- "$stage/new" "$dir"; then
	[ ! -e "$was" ] || mv -T -- "$was" "$dir"
	die 'The directory could not be replaced'
fi
if [ -n "$kept" ] && [ -e "$was/$kept" ]; then
	{ mkdir -p -- "$dir/${kept%"${kept##*/}"}" && mv -T -- "$was/$kept" "$dir/$kept"; } ||
		die 'The archives in the directory could not be kept'
fi
mv -T -- "$stage/old" "$stage/trash" || die 'The old content cannot be removed'
