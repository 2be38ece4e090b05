#!/usr/bin/env bash
# Who may include what: fails, with `file:line: rule`, on an include that breaks DESIGN's arrows between layers or between
# the rooms of a layer, and on circles of more than two files in different rooms. A file is a pair of .c and .h here.
# usage: layers.sh SOURCE-ROOT | layers.sh --self-test
set -euo pipefail

self=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/$(basename "${BASH_SOURCE[0]}")

# Print `FILE:LINE:NAME` for each include of the sources; NAME keeps its quotes or brackets.
includes() {
	# shellcheck disable=SC2016 # awk's $0
	find . \( -path './main.c' -o -path './ring/*' -o -path './pty/*' -o -path './shell/*' \
		-o -path './ws/*' \) -name '*.[ch]' -type f -printf '%P\n' | LC_ALL=C sort |
		xargs -r awk '
			/^[ \t]*#[ \t]*include/ {
				name = $0
				sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
				if (match(name, /^(<[^>]*>|"[^"]*")/))
					name = substr(name, 1, RLENGTH)
				print FILENAME ":" FNR ":" name
			}'
}

# Read includes, print violations; $1: those that are known, FILE INCLUDE a line. Has to work with mawk.
judge() {
	awk -v known_list="${1//$'\n'/\\n}" '
	BEGIN {
		# Each room, from the ground up, and which others it may include: only such as stand above it here.
		room("ring", "")
		room("ring/screen/grid", "ring")
		room("ring/screen", "ring ring/screen/grid")
		room("ring/screen/view", "ring ring/screen ring/screen/grid")
		room("ring/search", "ring ring/screen ring/screen/grid ring/screen/view")
		room("ring/live", "ring ring/screen ring/screen/view")

		room("pty/proc", "")
		room("pty", "ring")
		room("pty/holder", "pty pty/proc ring")

		room("shell", "pty ring")
		room("shell/store", "shell")
		room("shell/proc", "pty/proc pty")
		room("shell/files", "pty/proc shell")
		room("shell/output", "shell ring")
		room("shell/held", "pty/proc shell shell/store shell/proc pty")
		room("shell/input", "shell ring ring/screen ring/search")
		room("shell/pane", "shell shell/held ring ring/live")
		room("shell/block", "shell shell/store shell/output shell/input shell/pane ring ring/screen " \
			"ring/screen/view")
		room("shell/exec", "pty/proc shell shell/store shell/proc shell/output shell/input shell/pane shell/block " \
			"ring ring/screen")
		room("shell/wait", "pty/proc shell shell/proc shell/output shell/input shell/pane shell/block shell/exec ring " \
			"ring/screen ring/search")
		room("shell/ports", "pty/proc shell/proc")
		room("shell/process", "pty/proc shell shell/store shell/proc shell/output shell/held pty ring")
		room("shell/watch", "shell shell/files")
		room("shell/run", "shell shell/store shell/output pty")
		room("shell/backup", "shell shell/files shell/run")
		room("shell/git", "shell shell/run shell/output")
		room("shell/context", "shell shell/store shell/output shell/run pty")
		room("shell/session", "shell shell/store shell/held shell/input shell/pane shell/block shell/exec " \
			"shell/wait pty ring")
		room("shell/recording", "shell shell/store shell/block shell/exec shell/pane shell/session pty ring")
		room("shell/activity", "pty/proc shell shell/input shell/pane shell/block shell/wait shell/session ring")

		room("ws/auth", "shell shell/store shell/session")
		room("ws/hook", "shell shell/activity shell/block shell/pane shell/wait shell/session")
		room("ws", "ws/auth ws/hook shell shell/store shell/files shell/session shell/process ring")
		room("ws/preview", "ws ws/auth shell shell/store shell/session")
		room("ws/api/json", "ws shell shell/activity shell/block shell/exec shell/process shell/run shell/session " \
			"shell/wait ring")
		room("ws/socket", "ws ws/auth ws/api/json shell shell/input shell/session ring ring/screen")
		room("ws/api/read", "ws ws/api/json shell shell/store shell/files shell/input shell/exec shell/session")
		room("ws/api/later", "ws shell shell/files")
		room("ws/api", "ws ws/auth ws/hook ws/api/json ws/api/read ws/api/later ws/socket ws/preview shell shell/files shell/output shell/exec " \
			"shell/activity shell/wait shell/process shell/run shell/context shell/session shell/git shell/ports shell/watch ring")
		room("ws/api/backup", "ws ws/auth ws/api ws/api/json ws/api/read shell shell/run shell/backup shell/session")
		room("ws/api/context", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later shell shell/store shell/run " \
			"shell/context shell/session")
		room("ws/api/exec", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later shell shell/output shell/block " \
			"shell/exec shell/session ring")
		room("ws/api/files", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later shell shell/files shell/session ring")
		room("ws/api/bridge", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later ws/socket shell shell/files shell/proc shell/run " \
			"shell/session shell/store ring")
		room("ws/api/process", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later shell shell/output shell/wait " \
			"shell/process ring")
		room("ws/api/session", "ws ws/auth ws/api ws/api/json ws/api/read ws/api/later ws/socket shell shell/store " \
			"shell/activity shell/output shell/input shell/block shell/exec shell/wait shell/session ring ring/screen/view ring/search")
		room("ws/mcp", "ws ws/auth shell shell/exec shell/input shell/session ring ring/screen/view")
		room("ws/rpc", "ws ws/auth ws/socket shell")
		room("ws/net", "ws ws/auth ws/mcp ws/preview ws/rpc ws/socket shell ring")
		room("ws/serve", "ws ws/auth ws/hook ws/api ws/net ws/preview shell shell/store shell/process shell/recording shell/run shell/session ring ring/screen")

		# The other end of the wire: it knows nothing of the server.
		room("ws/client/connect", "")
		room("ws/client/config", "ws/client/connect")
		room("ws/client/draw", "")
		room("ws/client/attach", "ws/client/connect ws/client/draw")
		room("ws/client/files", "ws/client/connect")
		room("ws/client/job", "ws/client/connect ws/client/attach")
		room("ws/client/tmux", "ws/client/connect ws/client/attach")
		room("ws/client/wall", "ws/client/connect ws/client/draw ws/client/attach")
		room("ws/client", "ws/client/connect ws/client/config ws/client/attach ws/client/files ws/client/job ws/client/tmux ws/client/wall")

		# Files that are a room of their own: what they include stands above their folder.
		own_room["ring/live.c"] = own_room["ring/live.h"] = "ring/live"

		# What breaks these rules still, file and include; each is to go.
		split(known_list, entries, "\n")
		for (i in entries)
			if (entries[i] != "")
				known[entries[i]] = 1

		# Where headers of third parties may be included; all others follow libc_only alone.
		home["vterm.h"] = home["vterm_keycodes.h"] = "tests" # what benchmarks measure against
		home["libwebsockets.h"] = "ws/net"
		home["archive.h"] = home["archive_entry.h"] = "shell/files"
		home["magic.h"] = "shell/files"
		home["curl/curl.h"] = "shell/backup ws/hook"
		home["zstd.h"] = "ring/screen/grid shell/recording"
		home["jansson.h"] = "ws shell"
		banned["uv.h"] = "ring pty/holder pty/proc"

		# Layers that have nothing but libc: with it come POSIX and Linux.
		libc_only["ring"] = "uthash.h utlist.h utarray.h zstd.h"
		libc_only["pty/holder"] = ""
		libc_only["pty/proc"] = ""
		split("aio alloca assert byteswap complex cpio ctype dirent dlfcn elf endian err errno " \
			"error execinfo fcntl features fenv float fnmatch ftw getopt glob grp iconv ifaddrs " \
			"inttypes iso646 langinfo libgen limits link locale malloc math mntent monetary mqueue " \
			"netdb nl_types paths poll pthread pty pwd regex sched search semaphore setjmp shadow " \
			"signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdio_ext stdlib " \
			"stdnoreturn string strings stropts sysexits syslog tar termio termios tgmath threads " \
			"time ttyent uchar ucontext ulimit unistd utime utmp utmpx values wait wchar wctype " \
			"wordexp", names, " ")
		for (i in names)
			libc[names[i] ".h"] = 1

		split("ws/net/client.h ws/net/local_socket.h ws/base64.h shell/id.h ring/tokenizer.h ring/asks.h ring/utf8.h", shared, " ")
		for (i in shared)
			client_public[shared[i]] = 1

		split("screen leftover view/snapshot view/render", public, " ")
		for (i in public)
			screen_public["ring/screen/" public[i] ".h"] = 1

		# Parsers do no I/O: not even through a header of ours.
		split("uv.h unistd.h sys/socket.h libwebsockets.h", impure, " ")
	}

	# Takes what other rooms it may include; those have to be there already.
	function room(name, others,    i, n, parts) {
		n = split(others, parts, " ")
		for (i = 1; i <= n; i++)
			if (!(parts[i] in allow))
				complain("layers.sh:0", "the table: " name " would include " parts[i] ", which is not below it")
		allow[name] = name (others == "" ? "" : " " others)
	}
	function room_of(file) {
		if (file in own_room)
			return own_room[file]
		if (file !~ /\//)
			return file
		sub(/\/[^\/]*$/, "", file)
		return file
	}
	# What a file and its header are together.
	function pair_of(file) {
		sub(/\.[ch]$/, "", file)
		return file
	}
	function layer(file) {
		if (file ~ /^pty\/holder\//)
			return "pty/holder"
		if (file ~ /^ws\/client\//)
			return "ws/client"
		if (file ~ /^(ring|pty|shell|ws)\//)
			return substr(file, 1, index(file, "/") - 1)
		return file
	}
	function is_parser(file) {
		return file ~ /^ring\/(tokenizer|scan|screen\/parser)\.c$/ || file ~ /^ws\/(.*\/)?(route|message)\.c$/
	}
	function has(list, word) {
		return index(" " list " ", " " word " ") > 0
	}
	function below(file, folders,    n, i, parts) {
		n = split(folders, parts, " ")
		for (i = 1; i <= n; i++)
			if (index(file, parts[i] "/") == 1)
				return 1
		return 0
	}
	function is_libc(name) {
		return name in libc || name ~ /^(sys|linux|asm|asm-generic|net|netinet|arpa|bits)\//
	}
	function complain(where, rule) {
		print where ": " rule
	}

	function judge_own(where, file, name,    from, to, wires) {
		from = room_of(file)
		wires = file == "main.c" || file == "ws/serve/main.c"
		to = room_of(name)
		# What the screen is made of is the business of its layer.
		if (index(name, "ring/screen/") == 1 && index(file, "ring/") != 1 && !(name in screen_public))
			complain(where, "only ring may include \"" name "\"")
		if (layer(file) == "ws/client" && name in client_public)
			return
		if (file " " name in known) {
			met[file " " name] = 1
			return
		}
		if (wires && to in allow && to != "pty/holder")
			return
		if (!wires && !(from in allow))
			complain(where, from " is no room that is known here")
		else if (!has(allow[from], to))
			complain(where, from " must not include \"" name "\"" " (only " allow[from] ")")
		note_edge(pair_of(file), pair_of(name))
	}
	function note_edge(from, to) {
		if (from == to || (from, to) in edge)
			return
		edge[from, to] = 1
		out[from, ++outs[from]] = to
		pairs[from] = pairs[to] = 1
	}
	# Which pairs can be reached from one, into found[]; returns nothing.
	function reach_from(start, found,    queue, head, tail, i, at, to) {
		head = tail = 1
		queue[1] = start
		for (; head <= tail; head++) {
			at = queue[head]
			for (i = 1; i <= outs[at]; i++) {
				to = out[at, i]
				if ((start, to) in found)
					continue
				found[start, to] = 1
				queue[++tail] = to
			}
		}
	}
	# Circles of more than two pairs that are not all in one room.
	function judge_circles(    a, b, n, rooms_differ, names, first) {
		for (a in pairs)
			reach_from(a, reaches)
		for (a in pairs) {
			if (!((a, a) in reaches) || a in circled)
				continue
			n = 1
			names = first = a
			rooms_differ = 0
			for (b in pairs) {
				if (b == a || !((a, b) in reaches) || !((b, a) in reaches))
					continue
				circled[b] = 1
				n++
				if (b < first)
					first = b
				if (room_of(b ".c") != room_of(a ".c"))
					rooms_differ = 1
			}
			if (n > 2 && rooms_differ)
				complain(first ":0", "a circle of " n " files in different rooms begins and ends here")
		}
	}
	function judge_foreign(where, file, from, name) {
		if (name in home && !below(file, home[name]))
			complain(where, "<" name "> only in " home[name])
		if (name in banned && has(banned[name], from))
			complain(where, "<" name "> not in " from)
		else if (from in libc_only && !is_libc(name) && !has(libc_only[from], name))
			complain(where, from " must not include <" name "> (libc, POSIX and Linux only)")
		if (name == "jwt.h" && file !~ /\.c$/)
			complain(where, "<jwt.h> only in one .c file, not in a header")
		else if (name == "jwt.h" && jwt_file != "" && jwt_file != file)
			complain(where, "<jwt.h> only in one .c file, and " jwt_file " has it already")
		else if (name == "jwt.h")
			jwt_file = file
	}

	# The rules that also hold for what is reached through headers of ours; each is said once an include.
	function judge_reach(where, root, file,    at, i, key, name, rule) {
		if ((root, file) in reached)
			return
		reached[root, file] = 1
		for (i = 1; i <= count[file]; i++) {
			key = file SUBSEP i
			name = names_of[key]
			at = file == root ? wheres[key] : where
			rule = ""
			if (own[key])
				judge_reach(at, root, name)
			else if (is_parser(root) && name in is_impure)
				rule = "a parser must not include <" name ">"
			else if (file != root && layer(root) == "pty/holder" && !is_libc(name))
				rule = "pty/holder must not include <" name ">"
			if (rule != "" && !((at, rule) in said))
				print at ": " rule (file == root ? "" : " (through \"" file "\")")
			said[at, rule] = 1
		}
	}

	{
		file = $0
		sub(/:.*/, "", file)
		rest = substr($0, length(file) + 2)
		where = file ":" substr(rest, 1, index(rest, ":") - 1)
		name = substr(rest, index(rest, ":") + 1)
		if (name !~ /^[<"]/) {
			complain(where, "an include by a macro cannot be checked")
			next
		}
		quoted = name ~ /^"/
		name = substr(name, 2, length(name) - 2)
		count[file]++
		key = file SUBSEP count[file]
		own[key] = name ~ /^(ring|pty|shell|ws)\//
		names_of[key] = name
		wheres[key] = where
		files[file] = 1

		if (name ~ /(^|\/)\.\.?\//)
			complain(where, "includes are relative to the root: \"" name "\"")
		else if (own[key] && !quoted)
			complain(where, "our own headers are included with quotes: <" name ">")
		else if (own[key])
			judge_own(where, file, name)
		else if (quoted && name !~ /\// && !(name in home) && !(name in banned))
			complain(where, "includes are relative to the root: \"" name "\"")
		if (!own[key])
			judge_foreign(where, file, layer(file), name)
	}

	END {
		for (i in impure)
			is_impure[impure[i]] = 1
		for (file in files)
			judge_reach("", file, file)
		judge_circles()
		for (i in known)
			if (!(i in met))
				complain("layers.sh:0", "what was known of " i " is no more: take it out of the list")
	}' | LC_ALL=C sort -t : -k 1,1 -k 2,2n
}

# What breaks the rules still, FILE INCLUDE a line: nothing.
known=

check_tree() {
	local found entry included
	cd "$1"
	while IFS= read -r entry; do
		[ -z "$entry" ] || printf 'known: %s\n' "$entry"
	done <<<"$2"
	included=$(includes)
	if [ -z "$included" ]; then
		echo "layers.sh: no sources in $1" >&2
		return 2
	fi
	found=$(judge "$2" <<<"$included")
	[ -z "$found" ] || printf '%s\n' "$found"
	[ -z "$found" ]
}

# put FILE INCLUDE…: a file of the self-test's tree, one include a line.
put() {
	local file=$tree/$1
	shift
	[ -d "${file%/*}" ] || mkdir -p "${file%/*}"
	printf '#include %s\n' "$@" >"$file"
}

# expect LINE: what the next run of the check must print, among the others.
expect() {
	expected+="$1"$'\n'
}

self_test() {
	local found rc=0
	expected=
	tree=$(mktemp -d)
	trap 'rm -rf "$tree"' EXIT

	# All of this is allowed.
	put main.c '"ring/ring.h"' '"pty/link.h"' '"shell/a.h"' '"ws/net/net.h"' '<uv.h>'
	put ring/ring.h '<stdint.h>'
	put ring/scan.c '"ring/ring.h"' '<string.h>'
	put ring/screen/screen.c '"ring/screen/parser.h"' '"ring/ring.h"' '<utlist.h>'
	put ring/live.h '"ring/screen/view/snapshot.h"' '"ring/ring.h"'
	put ring/screen/parser.h '<stdint.h>'
	put ring/screen/view/snapshot.h '<stdint.h>'
	put ring/search/search.c '"ring/screen/parser.h"' '"ring/ring.h"'
	put pty/wire.h '"ring/ring.h"' '<sys/types.h>'
	put pty/link.h '"pty/wire.h"' '<uv.h>'
	put pty/holder/serve.c '"pty/wire.h"' '"pty/holder/holder.h"' '<linux/limits.h>' '<poll.h>'
	put pty/holder/holder.h '<signal.h>'
	put shell/a.h '<jansson.h>' '<openssl/hmac.h>'
	put shell/held/held.h '"pty/link.h"' '"shell/a.h"'
	put shell/pane/pane.h '"shell/held/held.h"' '"ring/live.h"'
	put shell/exec/exec.h '"shell/pane/pane.h"' '"shell/a.h"'
	put shell/exec/terminal_input.c '"shell/exec/exec.h"'
	put ws/token.c '<jwt.h>' '"shell/a.h"' '<jansson.h>'
	put ws/route.c '"ring/ring.h"' '"ws/route.h"'
	put ws/route.h '<stddef.h>'
	put ws/net/net.h '<libwebsockets.h>' '<uv.h>' '"ws/route.h"'
	put ws/client/connect/line.h '"ws/net/client.h"' '"ws/base64.h"' '<uv.h>' '<jansson.h>'
	put ws/client/command.c '"ws/client/connect/line.h"'
	found=$(check_tree "$tree" "") || rc=$?
	if [ "$rc" -ne 0 ]; then
		printf 'The allowed tree was not accepted:\n%s\n' "$found" >&2
		return 1
	fi

	put ring/up.c '"ring/ring.h"' '"pty/wire.h"' '"shell/a.h"' '<uv.h>' '<jansson.h>' '<zlib.h>'
	expect 'ring/up.c:2: ring must not include "pty/wire.h" (only ring)'
	expect 'ring/up.c:3: ring must not include "shell/a.h" (only ring)'
	expect 'ring/up.c:4: <uv.h> not in ring'
	expect 'ring/up.c:5: <jansson.h> only in ws shell'
	expect 'ring/up.c:5: ring must not include <jansson.h> (libc, POSIX and Linux only)'
	expect 'ring/up.c:6: ring must not include <zlib.h> (libc, POSIX and Linux only)'
	put shell/block/deep.c '"ring/screen/parser.h"' '"ring/screen/view/snapshot.h"'
	expect 'shell/block/deep.c:1: only ring may include "ring/screen/parser.h"'
	put ring/scan.c '<unistd.h>' '"ring/dirty.h"'
	put ring/dirty.h '<sys/socket.h>'
	expect 'ring/scan.c:1: a parser must not include <unistd.h>'
	expect 'ring/scan.c:2: a parser must not include <sys/socket.h> (through "ring/dirty.h")'
	put pty/up.c '"pty/wire.h"' '"shell/a.h"' '"pty/holder/holder.h"' '<vterm.h>' '<jansson.h>'
	expect 'pty/up.c:2: pty must not include "shell/a.h" (only pty ring)'
	expect 'pty/up.c:3: pty must not include "pty/holder/holder.h" (only pty ring)'
	expect 'pty/up.c:4: <vterm.h> only in tests'
	expect 'pty/up.c:5: <jansson.h> only in ws shell'
	put pty/holder/up.c '<stdio.h>' '<uv.h>' '<zlib.h>' '"pty/link.h"' '"ws/route.h"'
	expect 'pty/holder/up.c:2: <uv.h> not in pty/holder'
	expect 'pty/holder/up.c:3: pty/holder must not include <zlib.h> (libc, POSIX and Linux only)'
	expect 'pty/holder/up.c:4: pty/holder must not include <uv.h> (through "pty/link.h")'
	expect 'pty/holder/up.c:5: pty/holder must not include "ws/route.h" (only pty/holder pty pty/proc ring)'
	put shell/up.c '"ws/route.h"' '"ring/ring.h"' '<libwebsockets.h>' '  "link.h"' '"../pty/link.h"'
	expect 'shell/up.c:1: shell must not include "ws/route.h" (only shell pty ring)'
	expect 'shell/up.c:3: <libwebsockets.h> only in ws/net'
	expect 'shell/up.c:4: includes are relative to the root: "link.h"'
	expect 'shell/up.c:5: includes are relative to the root: "../pty/link.h"'
	# Rooms: up, past the one between, and one that is not in the table.
	put shell/store/up.c '"shell/a.h"' '"shell/held/held.h"'
	expect 'shell/store/up.c:2: shell/store must not include "shell/held/held.h" (only shell/store shell)'
	put shell/proc/up.c '"shell/a.h"'
	expect 'shell/proc/up.c:1: shell/proc must not include "shell/a.h" (only shell/proc pty/proc pty)'
	put shell/wait/past.c '"shell/exec/exec.h"' '"pty/link.h"'
	expect "shell/wait/past.c:2: shell/wait must not include \"pty/link.h\" (only shell/wait pty/proc shell shell/proc \
shell/output shell/input shell/pane shell/block shell/exec ring ring/screen ring/search)"
	put shell/attic/old.c '"shell/a.h"'
	expect 'shell/attic/old.c:1: shell/attic is no room that is known here'
	put ring/screen/up.c '"ring/live.h"'
	expect 'ring/screen/up.c:1: ring/screen must not include "ring/live.h" (only ring/screen ring ring/screen/grid)'
	# A circle of three in two rooms; two that know each other, and three in one room, are none.
	put shell/run/one.h '"shell/run/two.h"'
	put shell/run/two.h '"shell/output/three.h"'
	put shell/output/three.h '"shell/run/one.h"'
	expect 'shell/output/three.h:1: shell/output must not include "shell/run/one.h" (only shell/output shell ring)'
	expect 'shell/output/three:0: a circle of 3 files in different rooms begins and ends here'
	put shell/output/a.h '"shell/output/b.h"'
	put shell/output/b.h '"shell/output/c.h"'
	put shell/output/c.h '"shell/output/a.h"'
	# What is known is said, and let be; what is known no more has to go.
	put ws/mcp/call.c '"ws/api/api.h"'
	expect 'known: ws/mcp/call.c ws/api/api.h'
	expect 'known: ws/mcp/gone.c ws/api/api.h'
	expect 'layers.sh:0: what was known of ws/mcp/gone.c ws/api/api.h is no more: take it out of the list'
	put ws/side.c '"pty/link.h"' '<libwebsockets.h>' '<shell/a.h>' 'SOME_MACRO' '<jwt.h>' '"vterm.h"'
	expect 'ws/side.c:1: ws must not include "pty/link.h" (only ws ws/auth ws/hook shell shell/store shell/files shell/session shell/process ring)'
	expect 'ws/side.c:2: <libwebsockets.h> only in ws/net'
	expect 'ws/side.c:3: our own headers are included with quotes: <shell/a.h>'
	expect 'ws/side.c:4: an include by a macro cannot be checked'
	expect 'ws/side.c:6: <vterm.h> only in tests'
	expect 'ws/token.c:1: <jwt.h> only in one .c file, and ws/side.c has it already'
	put ws/token.h '<jwt.h>'
	expect 'ws/token.h:1: <jwt.h> only in one .c file, not in a header'
	put ws/route.c '"ws/net/net.h"' '<uv.h>'
	expect 'ws/route.c:1: a parser must not include <libwebsockets.h> (through "ws/net/net.h")'
	expect 'ws/route.c:1: a parser must not include <uv.h> (through "ws/net/net.h")'
	expect "ws/route.c:1: ws must not include \"ws/net/net.h\" (only ws ws/auth ws/hook shell shell/store shell/files shell/session \
shell/process ring)"
	expect 'ws/route.c:2: a parser must not include <uv.h>'
	put ws/sub/message.c '<unistd.h>'
	expect 'ws/sub/message.c:1: a parser must not include <unistd.h>'
	put ws/client/attach/up.c '"ws/route.h"' '"shell/a.h"' '<libwebsockets.h>' '"ws/client/connect/line.h"'
	expect "ws/client/attach/up.c:1: ws/client/attach must not include \"ws/route.h\" (only ws/client/attach \
ws/client/connect ws/client/draw)"
	expect "ws/client/attach/up.c:2: ws/client/attach must not include \"shell/a.h\" (only ws/client/attach \
ws/client/connect ws/client/draw)"
	expect 'ws/client/attach/up.c:3: <libwebsockets.h> only in ws/net'
	put ws/down.c '"ws/client/connect/line.h"'
	expect "ws/down.c:1: ws must not include \"ws/client/connect/line.h\" (only ws ws/auth ws/hook shell shell/store shell/files shell/session \
shell/process ring)"
	put main.c '<vterm.h>' '"ring/ring.h"'
	expect 'main.c:1: <vterm.h> only in tests'

	rc=0
	found=$(check_tree "$tree" "$(printf '%s ws/api/api.h\n' ws/mcp/call.c ws/mcp/gone.c)") || rc=$?
	if ! diff -u --label expected <(printf %s "$expected" | LC_ALL=C sort) \
		--label found <(printf '%s\n' "$found" | LC_ALL=C sort) >&2; then
		return 1
	fi
	[ "$rc" -eq 1 ] || return 1

	# A table with an arrow up is none.
	sed 's|room("pty", "ring")|room("pty", "ring shell")|' "$self" >"$tree/layers.sh"
	found=$(bash "$tree/layers.sh" "$tree") && return 1
	grep -qxF 'layers.sh:0: the table: pty would include shell, which is not below it' <<<"$found"
}

case ${1:-} in
--self-test) self_test ;;
"" | -*)
	echo "usage: layers.sh SOURCE-ROOT | layers.sh --self-test" >&2
	exit 2
	;;
*) check_tree "$1" "$known" ;;
esac
