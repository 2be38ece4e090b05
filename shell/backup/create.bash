# Make an archive of a directory. Standard input: patterns of what is left out, as mksquashfs reads them from a file. The
# archive is written beside its place and moved there, so that one is whole or not there. Prints its size and its path.
set -u -o pipefail
umask 077
export LC_ALL=C

die() {
	printf '%s\n' "$1" >&2
	exit 1
}

tmp=
making=false
trap '[ -z "$tmp" ] || rm -f -- "$tmp"' EXIT
# mksquashfs is known by $! as soon as it is there: it would make the file anew.
trap '! $making || kill -KILL "${!:-}" 2>/dev/null; exit 143' TERM HUP INT

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

command -v mksquashfs >/dev/null || die 'There is no mksquashfs on this machine: install squashfs-tools'
[ -d "$RINGSIDE_BACKUP_DIR" ] || die 'There is no such directory'
{ dir=$(realpath -- "$RINGSIDE_BACKUP_DIR") && cd -- "$dir"; } || die 'The directory cannot be entered'
mapfile -t roots <<<"$RINGSIDE_BACKUP_ROOTS"
is_in "$dir" "${roots[@]}" || die "The directory leads to $dir, which is not in the workspace, nor where backups are made"
keep=$(realpath -m -- "$RINGSIDE_BACKUP_KEEP")

# A new file, made by this very shell: a program could be ended when it has made one, and not yet told its name.
make_tmp() {
	mkdir -p -- "$1" || return
	printf -v tmp '%s/.ringside-backup-%05x%05x' "$1" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
	set -o noclobber
	exec 8>"$tmp" || tmp=
	set +o noclobber
	[ -n "$tmp" ]
}

# A place that can be written in, and a file there that others know to be in use by its lock.
begin_in() {
	make_tmp "$1" && flock 8 || return
	if [ "$1" = "$RINGSIDE_BACKUP_KEEP" ] && [ ! -e "$1/.gitignore" ]; then
		echo '*' >"$1/.gitignore"
	fi
	# What those have left that were killed.
	find "$1" -maxdepth 1 -type f -name '.ringside-backup-??????????' -mmin +1 \
		-exec flock -n {} rm -f -- {} \; 2>/dev/null
	store=$1
}

archive=$RINGSIDE_BACKUP_ARCHIVE
if [ -n "$archive" ]; then
	begin_in "${archive%/*}" || die 'The archive cannot be written there'
else
	# A room may have such a directory for as long as it lasts only.
	{ [ -d /var/backups ] && [ "$(stat -f -c %T /var/backups)" != tmpfs ] && begin_in /var/backups/ringside 2>/dev/null; } ||
		begin_in "$RINGSIDE_BACKUP_KEEP" || die 'There is no place for the archive'
	name=${dir##*/}
	name=${name//[^A-Za-z0-9._-]/_}
	archive=$store/${name:0:100}-$(date -u +%Y%m%dT%H%M%SZ)-${tmp##*-}.sqsh
fi
[ ! -d "$archive" ] || die 'The path of the archive is that of a directory'

# Names as patterns that mean just them; but not those that would mean more.
as_patterns() {
	sed -e 's/[][\\*?]/\\&/g' -e 's/^[# '$'\t'']/\\&/' -e '/^\.\.\. /d'
}

# What git ignores there; names with newlines cannot be told. Where git does not know the directory, that is nothing.
ignored() {
	local git=(git -C "$dir" -c 'safe.directory=*' -c core.fsmonitor=false)
	command -v git >/dev/null && "${git[@]}" rev-parse --is-inside-work-tree >/dev/null 2>&1 || return 0
	"${git[@]}" ls-files -z --others --ignored --exclude-standard --directory | tr '\n\0' '\1\n' |
		sed -e '/\x01/d' -e 's,/$,,' -e '/^\.\{0,1\}$/d' | as_patterns
}

# Archives hold neither other archives nor what restoring has under way.
excluded() {
	cat && echo '... .ringside-restore-??????????' || return
	case $keep in
	"${dir%/}"/*) printf '%s\n' "${keep#"${dir%/}/"}" | as_patterns ;;
	esac
	case $tmp in
	"${dir%/}"/*) printf '%s\n' "${tmp#"${dir%/}/"}" | as_patterns ;;
	esac
	[ "$RINGSIDE_BACKUP_GITIGNORE" = 0 ] || ignored
}

{ list=$(mktemp) && exec 4<>"$list" && rm -f -- "$list" && excluded >&4; } || die 'What is left out cannot be listed'

# Devices and sockets are nothing that is restored. It is waited for beside it: a signal is heard while the disk keeps it.
making=true
mksquashfs . "$tmp" -comp "$RINGSIDE_BACKUP_FORMAT" -processors "$RINGSIDE_BACKUP_THREADS" -mem 256M \
	-no-progress -quiet -noappend -no-recovery -wildcards -ef /proc/self/fd/4 \
	-action 'prune@type(b)||type(c)||type(s)' </dev/null >&2 &
wait "$!" || exit 1
making=false
{ size=$(stat -c %s -- "$tmp") && [ "$size" -gt 0 ] && sync -- "$tmp" && mv -fT -- "$tmp" "$archive"; } ||
	die 'The archive cannot be moved to its place'
tmp=
printf '%s\n%s\n' "$size" "$archive"
