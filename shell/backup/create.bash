# Create an archive of a directory. Standard input: patterns of excluded files, as mksquashfs reads them from a file. The
# archive is written to a temporary file and renamed, so that it is never incomplete. Prints its size and its path.
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
# Kill mksquashfs, which could create the file again.
trap '! $making || kill -KILL "${!:-}" 2>/dev/null; exit 143' TERM HUP INT

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

command -v mksquashfs >/dev/null || die 'mksquashfs is missing: install squashfs-tools'
[ -d "$RINGSIDE_BACKUP_DIR" ] || die 'The directory does not exist'
{ dir=$(realpath -- "$RINGSIDE_BACKUP_DIR") && cd -- "$dir"; } || die 'The directory cannot be entered'
mapfile -t roots <<<"$RINGSIDE_BACKUP_ROOTS"
is_in "$dir" "${roots[@]}" || die "The directory leads to $dir, which is not in the workspace or another directory that allows backups"
keep=$(realpath -m -- "$RINGSIDE_BACKUP_KEEP")

# Create a temporary file in this shell: a program could be killed after creating it and before printing its name.
make_tmp() {
	mkdir -p -- "$1" || return
	printf -v tmp '%s/.ringside-backup-%05x%05x' "$1" $((SRANDOM & 0xfffff)) $((SRANDOM & 0xfffff))
	set -o noclobber
	exec 8>"$tmp" || tmp=
	set +o noclobber
	[ -n "$tmp" ]
}

# Choose a directory for archives, if it is writable, and create a locked temporary file in it.
begin_in() {
	make_tmp "$1" && flock 8 || return
	if [ "$1" = "$RINGSIDE_BACKUP_KEEP" ] && [ ! -e "$1/.gitignore" ]; then
		echo '*' >"$1/.gitignore"
	fi
	# Remove leftovers of killed runs: they are not locked.
	find "$1" -maxdepth 1 -type f -name '.ringside-backup-??????????' -mmin +1 \
		-exec flock -n {} rm -f -- {} \; 2>/dev/null
	store=$1
}

archive=$RINGSIDE_BACKUP_ARCHIVE
if [ -n "$archive" ]; then
	begin_in "${archive%/*}" || die "The archive cannot be written to ${archive%/*}"
else
	# In a sandbox, /var/backups may be a tmpfs, which is lost with the sandbox.
	{ [ -d /var/backups ] && [ "$(stat -f -c %T /var/backups)" != tmpfs ] && begin_in /var/backups/ringside 2>/dev/null; } ||
		begin_in "$RINGSIDE_BACKUP_KEEP" || die 'No directory for archives is writable'
	name=${dir##*/}
	name=${name//[^A-Za-z0-9._-]/_}
	archive=$store/${name:0:100}-$(date -u +%Y%m%dT%H%M%SZ)-${tmp##*-}.sqsh
fi
[ ! -d "$archive" ] || die "The archive's path is a directory"

# Escape names as patterns. Names that begin with "... " cannot be escaped.
as_patterns() {
	sed -e 's/[][\\*?]/\\&/g' -e 's/^[# '$'\t'']/\\&/' -e '/^\.\.\. /d'
}

# List what git ignores in the directory, if it is in a work tree; names with newlines cannot be listed.
ignored() {
	local git=(git -C "$dir" -c 'safe.directory=*' -c core.fsmonitor=false)
	command -v git >/dev/null && "${git[@]}" rev-parse --is-inside-work-tree >/dev/null 2>&1 || return 0
	"${git[@]}" ls-files -z --others --ignored --exclude-standard --directory | tr '\n\0' '\1\n' |
		sed -e '/\x01/d' -e 's,/$,,' -e '/^\.\{0,1\}$/d' | as_patterns
}

# List all patterns. Archives contain neither other archives nor unfinished restorations.
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

{ list=$(mktemp) && exec 4<>"$list" && rm -f -- "$list" && excluded >&4; } || die 'The list of excluded files cannot be written'

# Devices and sockets are left out. mksquashfs runs in the background, so that traps run while it is blocked on the disk.
making=true
mksquashfs . "$tmp" -comp "$RINGSIDE_BACKUP_FORMAT" -processors "$RINGSIDE_BACKUP_THREADS" -mem 256M \
	-no-progress -quiet -noappend -no-recovery -wildcards -ef /proc/self/fd/4 \
	-action 'prune@type(b)||type(c)||type(s)' </dev/null >&2 &
wait "$!" || exit 1
making=false
{ size=$(stat -c %s -- "$tmp") && [ "$size" -gt 0 ] && sync -- "$tmp" && mv -fT -- "$tmp" "$archive"; } ||
	die 'The archive cannot be synced and renamed'
tmp=
printf '%s\n%s\n' "$size" "$archive"
