# Put what is in an archive in the place of a directory. It is listed, and judged by that, before anything of it is written;
# then it is extracted beside the directory, or within it where that is a mount or its parent cannot be written in, and
# exchanged at last: what fails leaves what was there.
#
# The stage is a directory .ringside-restore-XXXXXXXXXX that whoever works there holds a lock on, with
#   new/    what is extracted
#   old/    what was there, while it is exchanged: it goes back if that fails, also at the next restore
#   trash/  what was there, afterwards
#
# Where it may be mounted, and can be, nothing is extracted: the archive is the lower layer of an overlay that is mounted on the
# directory, by squashfuse and fuse-overlayfs, which go on without this script and without the server. A mount has a directory in
# /var/backups/mounts, or beside the archives of the workspace, with
#   lower/ upper/ work/  the layers
#   dir archive          what it is of
#   log                  what its programs have said: a server that was killed listens no more
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
	# What could not go back is all that is left of it. Files may have other names elsewhere: their modes stay.
	find "$stage/new" "$stage/trash" -xdev -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
	if find_mount "$stage"; then
		rm -rf --one-file-system -- "$stage/new" "$stage/trash"
	else
		rm -rf -- "$stage/new" "$stage/trash"
	fi
	rmdir -- "$stage/old" 2>/dev/null
	rmdir -- "$stage" || printf 'What was there is in %s\n' "$stage" >&2
}

# each_mount COMMAND…: with the place and the rest of the line of each mount behind it, until it succeeds
each_mount() {
	local at rest
	while read -r _ _ _ _ at rest; do
		# mountinfo has blanks as \040, and backslashes as \134
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

# find_mount DIR: sets mount to one that is below it
find_mount() {
	each_mount is_below "$1"
}
trap clean EXIT
trap 'exit 143' TERM HUP INT

# is_in PATH ROOT…: whether it is in one of them; what each leads to counts.
is_in() {
	local path=$1 root
	shift
	for root; do
		root=$(realpath -m -- "$root") || continue
		[[ $path/ != "${root%/}"/* ]] || return 0
	done
	return 1
}

command -v unsquashfs >/dev/null || die 'There is no unsquashfs on this machine: install squashfs-tools'
archive=$RINGSIDE_BACKUP_ARCHIVE
[ -f "$archive" ] || die 'There is no such archive'
exec 3<"$archive" || die 'The archive cannot be read'
dir=$RINGSIDE_BACKUP_DIR
mapfile -t roots <<<"$RINGSIDE_BACKUP_ROOTS"
# A mount whose program is gone is in the way of everything.
while ! error=$(stat -- "$dir" 2>&1) && [[ $error == *'endpoint is not connected'* ]]; do
	above=$(realpath -m -- "${dir%/*}/") || above=
	{ [ ! -L "$dir" ] && is_in "${above%/}/${dir##*/}" "${roots[@]}"; } || die 'The directory leads to a mount that has died'
	fusermount3 -uz -- "$dir" || die 'The directory is a mount that has died'
done
{ dir=$(realpath -m -- "$RINGSIDE_BACKUP_DIR") && [ "$dir" != / ]; } || die 'There cannot be such a directory'
is_in "$dir" "${roots[@]}" || die "The directory leads to $dir, which is not in the workspace, nor where backups are made"
mapfile -t shared <<<"$RINGSIDE_BACKUP_SHARED"
for each in "${shared[@]}"; do
	[ "$(realpath -m -- "$each")" != "$dir" ] || die "The directory leads to $dir, which many have things in"
done
[ ! -e "$dir" ] || [ -d "$dir" ] || die 'There is something else than a directory'
parent=${dir%/*}
parent=${parent:-/}
keep=$(realpath -m -- "$RINGSIDE_BACKUP_KEEP")
# The archives that are in the directory stay there.
case $keep in
"$dir"/*) kept=${keep#"$dir/"} ;;
*) kept= ;;
esac
case $(realpath -- "$archive") in
"$keep"/*) ;;
"$dir"/*) die 'The archive is in the directory' ;;
esac
cd / || exit

# What the archive holds: bytes and entries.
listed=$(
	ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
	unsquashfs -lln /proc/self/fd/3 | awk -v most="$RINGSIDE_BACKUP_ENTRIES" '
		/^[-bcdlps][-r][-w][-xsS][-r][-w][-xsS][-r][-w][-xtT] / {
			if (++entries > most) { print "many"; stop = 1; exit }
			if (/^[bc]/) { print "devices"; stop = 1; exit }
			# A name may have lines of its own, which take nothing away.
			if (/^-/ && $3 > 0) bytes += $3
		}
		END { if (!stop) printf "%.0f\n", bytes }'
)
status=$?
case $listed in
many) die 'The archive holds more entries than are restored' ;;
devices) die 'The archive holds devices, which are not restored' ;;
esac
[ "$status" -eq 0 ] || die 'The archive is damaged, or none'
[ "$listed" -le "$RINGSIDE_BACKUP_BYTES" ] || die 'The archive holds more bytes than are restored'

# shellcheck disable=SC2317 # each_mount calls it
take_kind() {
	[ "$2" != "$1" ] || kind=${3#* - }
	return 1
}

# What is mounted at a path, at last: sets kind.
kind_at() {
	kind=
	each_mount take_kind "$1"
	kind=${kind%% *}
}

# What is mounted below the directory would be moved with it, and emptied.
refuse_mounts() {
	! find_mount "$dir" || die "Something is mounted in the directory: $mount"
}

# The new mount that is being made: its directory; "" = none is.
made=
# shellcheck disable=SC2317 # a trap calls it
unmake() {
	[ -z "$made" ] || take_away "$made"
}

# take_away MOUNT: all of it, but for what is mounted on the directory
take_away() {
	kind_at "$1/lower"
	[ -z "$kind" ] || fusermount3 -uz -- "$1/lower"
	rm -rf --one-file-system -- "$1"
}

trap 'clean; unmake' EXIT

may_mount() {
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

# lay MOUNT: put its layers on the directory. What goes on has none of our descriptors.
lay() {
	fuse-overlayfs -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work$others" "$dir" \
		7<&- 9<&- </dev/null && kind_at "$dir" && [ "$kind" = fuse.fuse-overlayfs ]
}

# Those that go: of this directory, and of this archive.
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

lift() {
	local at
	at=$(<"$1/dir")
	kind_at "$at"
	[ "$kind" != fuse.fuse-overlayfs ] || fusermount3 -uz -- "$at"
}

# exchange OLD…: the old mounts go, and the new one comes; or all stays as it was.
exchange() {
	local each
	for each; do
		lift "$each"
	done
	if lay "$made"; then
		for each; do
			take_away "$each"
		done
		return
	fi
	for each; do
		[ "$(<"$each/dir")" != "$dir" ] || lay "$each"
	done
	return 1
}

restore_by_mount() {
	local name=${archive##*/} others='' old
	name=${name%.*}
	name=${name//[^A-Za-z0-9._-]/_}
	[ "$(id -u)" -ne 0 ] || others=,allow_other
	printf -v made '%s_%05x%05x' "$mounts/${name:0:100}" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
	mkdir -- "$made" || made=
	{ [ -n "$made" ] && exec 9<"$made" && flock 9 &&
		mkdir -- "$made/lower" "$made/upper" "$made/work" && printf %s "$dir" >"$made/dir" &&
		printf %s "$archive" >"$made/archive" && mkdir -p -- "$dir"; } || return
	(
		ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
		exec squashfuse -o "ro,nosuid,nodev$others" "$archive" "$made/lower" 3<&- 9<&- </dev/null >"$made/log" 2>&1
	) && kind_at "$made/lower" && [ -n "$kind" ] || return
	# The upper layer's root is what is seen as the directory itself.
	chmod --reference="$made/lower" -- "$made/upper" && chown --reference="$made/lower" -- "$made/upper" || return
	# One exchange at a time: that of a server which was killed goes on.
	exec 7<"$mounts" && flock -w "$LOCK_S" 7 || die 'Another directory is being mounted, and does not come to its end'
	# Not ignored: what goes on would inherit that.
	trap : TERM HUP INT
	list_old
	export dir made others
	# It is not ended with this run: see run_options.
	if setsid -w bash -uc "$(declare -f each_mount take_kind kind_at take_away lay lift exchange); exchange \"\$@\"" \
		bash "${old[@]}" 3<&- </dev/null >>"$made/log" 2>&1; then
		made=
		return
	fi
	exec 7<&-
	trap 'exit 143' TERM HUP INT
	return 1
}

if may_mount; then
	if restore_by_mount; then
		echo mounted
		exit
	fi
	[ -z "$made" ] || [ ! -s "$made/log" ] || cat -- "$made/log" >&2
	unmake
	made=
	exec 9<&-
fi

refuse_mounts
inside=
mkdir -p -- "$parent" || die 'The directory cannot be made'
if [ -d "$dir" ] && { mountpoint -q -- "$dir" || [ ! -w "$parent" ]; }; then
	inside=1
	home=$dir
else
	home=${parent%/}
fi
free=$(df --output=avail -B1 -- "${home:-/}" | tail -n 1) || die 'The disk cannot be asked for room'
[ "$listed" -le "$free" ] || die 'The disk has not enough room: No space left on device'

# What those have left that were killed: what they had moved away goes back where it is missing, all else goes.
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

# Its name is known before it is there: what is ended in between leaves nothing.
printf -v stage '%s/.ringside-restore-%05x%05x' "$home" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
mkdir -- "$stage" || stage=
{ [ -n "$stage" ] && exec 8<"$stage" && flock 8 && mkdir -- "$stage/old"; } || die 'Nothing can be written there'
(
	ulimit -v "$RINGSIDE_BACKUP_MEMORY_KIB"
	exec unsquashfs -no-progress -quiet -no-xattrs -strict-errors -processors 2 -da 64 -fr 64 \
		-dest "$stage/new" /proc/self/fd/3 </dev/null >&2
) || die 'The archive could not be extracted'
{ [ -d "$stage/new" ] && [ ! -L "$stage/new" ]; } || die 'The archive holds no directory'

if [ -n "$kept" ]; then
	# A link on the way would lead the archives elsewhere.
	[ "$(realpath -m -- "$stage/new/$kept")" = "$(realpath -- "$stage")/new/$kept" ] || die 'The archive leads the others elsewhere'
	rm -rf --one-file-system -- "$stage/new/$kept"
fi

# move_all FROM TO: but for stages
move_all() {
	local each all=()
	for each in "$1"/*; do
		[[ ${each##*/} == .ringside-restore-?????????? ]] || all+=("$each")
	done
	[ ${#all[@]} -eq 0 ] || printf '%s\0' "${all[@]}" | xargs -0 mv -t "$2" --
}

refuse_mounts
# From here to its end it is not given up half way.
trap '' TERM HUP INT
was=$stage/old/${dir##*/}
if [ -n "$inside" ]; then
	was=$stage/old
	if ! { move_all "$dir" "$stage/old" && move_all "$stage/new" "$dir"; }; then
		mkdir -p -- "$stage/trash" && move_all "$dir" "$stage/trash"
		move_all "$stage/old" "$dir"
		die 'The directory could not be exchanged'
	fi
	chmod --reference="$stage/new" -- "$dir" 2>/dev/null
elif [ -e "$dir" ] && ! mv -T -- "$dir" "$was"; then
	die 'The directory could not be exchanged'
elif ! mv -T -- "$stage/new" "$dir"; then
	[ ! -e "$was" ] || mv -T -- "$was" "$dir"
	die 'The directory could not be exchanged'
fi
if [ -n "$kept" ] && [ -e "$was/$kept" ]; then
	{ mkdir -p -- "$dir/${kept%"${kept##*/}"}" && mv -T -- "$was/$kept" "$dir/$kept"; } ||
		die 'The archives of the directory could not be kept in it'
fi
mv -T -- "$stage/old" "$stage/trash" || die 'What was there cannot be removed'
