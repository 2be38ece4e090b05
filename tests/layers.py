#!/usr/bin/env python3
"""Which files may include which: fails, with `file:line: rule`, on an include that breaks DESIGN's arrows between the
folders, on headers of third parties outside of their folders, and on circles of more than two files in different folders.
A file is a pair of .c and .h here.

usage: layers.py SOURCE-ROOT | layers.py --self-test
"""
import pathlib
import re
import sys
import tempfile

# Each folder, from the ground up, and the other folders that it may include: only such as stand above it here.
TABLE = '''
ring:
ring/screen/grid: ring
ring/screen: ring ring/screen/grid
ring/screen/view: ring ring/screen ring/screen/grid
ring/search: ring ring/screen ring/screen/grid ring/screen/view
ring/live: ring ring/screen ring/screen/view

pty/proc:
pty: ring
pty/holder: pty pty/proc ring

shell: pty ring
shell/store: shell
shell/proc: pty/proc shell pty
shell/files: pty/proc shell
shell/output: shell ring
shell/held: pty/proc shell shell/store shell/proc pty
shell/input: shell ring ring/screen ring/search
shell/pane: shell shell/held ring ring/live
shell/block: shell shell/store shell/output shell/input shell/pane ring ring/screen ring/screen/view
shell/exec: pty/proc shell shell/store shell/proc shell/output shell/input shell/pane shell/block ring ring/screen
shell/wait: pty/proc shell shell/proc shell/output shell/input shell/pane shell/block shell/exec ring ring/screen ring/search
shell/ports: pty/proc shell/proc ring
shell/process: pty/proc shell shell/store shell/proc shell/output shell/held pty ring
shell/watch: shell shell/files
shell/run: shell shell/store shell/output pty
shell/cluster: shell shell/store
shell/backup: shell shell/files shell/run
shell/git: shell shell/run shell/output ring
shell/context: shell shell/store shell/output shell/run pty
shell/session: shell shell/store shell/held shell/input shell/pane shell/block shell/exec shell/wait pty ring
shell/recording: shell shell/store shell/block shell/exec shell/pane shell/session pty ring
shell/activity: pty/proc shell shell/input shell/pane shell/block shell/wait shell/session ring

ws/auth: shell shell/store
ws/hook: shell shell/activity shell/block shell/pane shell/wait shell/session
ws: ws/auth ws/hook shell shell/store shell/files shell/session shell/process ring
ws/preview: ws ws/auth shell shell/store shell/session
ws/json: ws shell shell/activity shell/block shell/exec shell/process shell/run shell/session shell/wait ring
ws/socket: ws ws/auth ws/json shell shell/input shell/session ring ring/screen
ws/api/read: ws ws/json shell shell/store shell/files shell/input shell/exec shell/session
ws/api/later: ws shell shell/files
ws/api: ws ws/auth ws/hook ws/json ws/api/read ws/api/later ws/socket ws/preview shell shell/files shell/output
	shell/exec shell/activity shell/wait shell/process shell/run shell/context shell/session shell/git shell/ports
	shell/watch ring
ws/api/backup: ws ws/auth ws/api ws/json ws/api/read shell shell/run shell/backup shell/session
ws/api/context: ws ws/auth ws/api ws/json ws/api/read ws/api/later shell shell/store shell/run shell/context shell/session
ws/api/exec: ws ws/auth ws/api ws/json ws/api/read ws/api/later shell shell/output shell/block shell/exec shell/session ring
ws/api/files: ws ws/auth ws/api ws/json ws/api/read ws/api/later shell shell/files shell/session ring
ws/api/bridge: ws ws/auth ws/api ws/json ws/api/read ws/api/later ws/socket shell shell/files shell/proc shell/run
	shell/session shell/store ring
ws/api/process: ws ws/auth ws/api ws/json ws/api/read ws/api/later shell shell/output shell/wait shell/process ring
ws/api/session: ws ws/auth ws/api ws/json ws/api/read ws/api/later ws/socket shell shell/store shell/activity
	shell/output shell/input shell/block shell/exec shell/wait shell/session ring ring/screen/view ring/search
ws/mcp: ws ws/auth shell shell/exec shell/input shell/session ring ring/screen/view
ws/rpc: ws ws/auth ws/socket shell
ws/net: ws ws/auth ws/preview ws/rpc ws/socket shell ring
ws/fleet: ws ws/auth ws/api ws/api/read ws/net ws/socket shell shell/cluster shell/held shell/session shell/process
ws/serve: ws ws/auth ws/hook ws/api ws/net ws/preview shell shell/cluster shell/store shell/process shell/recording shell/run
	shell/session ring ring/screen

ws/client/connect:
ws/client/config: ws/client/connect
ws/client/draw:
ws/client/attach: ws/client/connect ws/client/draw
ws/client/files: ws/client/connect
ws/client/job: ws/client/connect ws/client/attach
ws/client/tmux: ws/client/connect ws/client/attach
ws/client/wall: ws/client/connect ws/client/draw ws/client/attach
ws/client: ws/client/connect ws/client/config ws/client/attach ws/client/files ws/client/job ws/client/tmux ws/client/wall
'''

# These put the parts together: they may include every folder but the holder's.
WIRING = {'main.c', 'ws/serve/main.c'}
# What the client may include of the rest.
CLIENT_MAY = {'ws/net/client.h', 'ws/net/local_socket.h', 'ws/base64.h', 'shell/hash.h', 'shell/id.h', 'shell/quote.h',
	'shell/write_all.h', 'ring/tokenizer.h', 'ring/asks.h', 'ring/hex.h', 'ring/utf8.h', 'ring/screen/grid/width.h'}
# Headers of ring/screen that other layers may include.
SCREEN_PUBLIC = {f'ring/screen/{name}.h' for name in ('screen', 'leftover', 'grid/width', 'view/snapshot', 'view/render')}
# Folders in which headers of third parties may be included.
HOME = {'vterm.h': 'tests', 'vterm_keycodes.h': 'tests', 'libwebsockets.h': 'ws/net', 'archive.h': 'shell/files',
	'archive_entry.h': 'shell/files', 'magic.h': 'shell/files', 'curl/curl.h': 'shell/backup ws/hook ws/fleet',
	'zstd.h': 'ring/screen/grid shell/recording', 'nats/nats.h': 'shell/cluster', 'jansson.h': 'ws shell'}
# Layers that depend on libc, POSIX and Linux alone, and the exceptions.
LIBC_ONLY = {'ring': {'uthash.h', 'utlist.h', 'utarray.h', 'zstd.h'}, 'pty/holder': set(), 'pty/proc': set()}
LIBC = set('''aio alloca assert byteswap complex cpio ctype dirent dlfcn elf endian err errno error execinfo fcntl features
	fenv float fnmatch ftw getopt glob grp iconv ifaddrs inttypes iso646 langinfo libgen limits link locale malloc math
	mntent monetary mqueue netdb nl_types paths poll pthread pty pwd regex sched search semaphore setjmp shadow signal
	spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdio_ext stdlib stdnoreturn string strings stropts
	sysexits syslog tar termio termios tgmath threads time ttyent uchar ucontext ulimit unistd utime utmp utmpx values
	wait wchar wctype wordexp'''.split())
# Parsers do no I/O: they reach none of these, not even through a header of ours.
PARSER = re.compile(r'ring/(tokenizer|scan|screen/parser)\.c|ws/(.*/)?(route|message)\.c')
IMPURE = {'uv.h', 'unistd.h', 'sys/socket.h', 'libwebsockets.h'}


def is_own(name):
	return re.match(r'(ring|pty|shell|ws)/', name) is not None


def is_libc(name):
	return name.removesuffix('.h') in LIBC or re.match(r'(sys|linux|asm|asm-generic|net|netinet|arpa|bits)/', name) is not None


def folder_of(path):
	return path.rpartition('/')[0] or path


def pair_of(path):
	return re.sub(r'\.[ch]$', '', path)


def layer_of(path):
	match = re.match(r'pty/holder|pty/proc|ws/client|ring|pty|shell|ws', path)
	return match[0] if match and '/' in path else path


def parse_table(text):
	"""Return {folder: [folders that it may include, itself first]} and the complaints about arrows up."""
	allowed, wrong = {}, []
	for row in re.sub(r'\n\t+', ' ', text).split('\n'):
		folder, _, others = row.partition(':')
		if not folder:
			continue
		wrong += [f'layers.py:0: the table: {folder} would include {other}, which is not below it'
			for other in others.split() if other not in allowed]
		allowed[folder] = [folder, *others.split()]
	return allowed, wrong


def read_includes(root):
	"""Return {file: [(line, name with quotes or brackets)]} of all sources."""
	found = {}
	for top in ('main.c', 'ring', 'pty', 'shell', 'ws'):
		place = root / top
		for path in sorted(place.rglob('*.[ch]')) if place.is_dir() else [place] if place.exists() else []:
			lines = path.read_text(encoding='utf-8').split('\n')
			matches = [(n, re.match(r'\s*#\s*include\s*(<[^>]*>|"[^"]*"|\S+)', line)) for n, line in enumerate(lines, 1)]
			found[str(path.relative_to(root))] = [(n, match[1]) for n, match in matches if match]
	return found


class Check:
	def __init__(self, root, table):
		self.includes = read_includes(root)
		self.allowed, self.wrong = parse_table(table)
		self.edges = {}
		self.jwt_file = None

	def check(self):
		for file, names in self.includes.items():
			for line, text in names:
				self.check_one(f'{file}:{line}', file, text)
			self.check_reach(file, file, None, set())
		self.check_circles()
		return self.wrong

	def complain(self, where, rule):
		if f'{where}: {rule}' not in self.wrong:
			self.wrong.append(f'{where}: {rule}')

	def check_one(self, where, file, text):
		if text[0] not in '<"':
			self.complain(where, 'an include by a macro cannot be checked')
			return
		name, quoted = text[1:-1], text[0] == '"'
		if re.search(r'(^|/)\.\.?/', name) or (quoted and '/' not in name and name not in HOME):
			self.complain(where, f'includes are relative to the root: "{name}"')
		elif is_own(name) and not quoted:
			self.complain(where, f'our own headers are included with quotes: <{name}>')
		elif is_own(name):
			self.check_own(where, file, name)
		else:
			self.check_foreign(where, file, name)

	def check_own(self, where, file, name):
		source, target = folder_of(file), folder_of(name)
		if name.startswith('ring/screen/') and not file.startswith('ring/') and name not in SCREEN_PUBLIC:
			self.complain(where, f'only ring may include "{name}"')
		if layer_of(file) == 'ws/client' and name in CLIENT_MAY:
			return
		if file in WIRING and target in self.allowed and target != 'pty/holder':
			return
		if file not in WIRING and source not in self.allowed:
			self.complain(where, f'{source} is not in the table')
		elif target not in self.allowed.get(source, []):
			self.complain(where, f'{source} must not include "{name}"')
		if pair_of(file) != pair_of(name):
			self.edges.setdefault(pair_of(file), set()).add(pair_of(name))

	def check_foreign(self, where, file, name):
		layer = layer_of(file)
		if name in HOME and not any(file.startswith(home + '/') for home in HOME[name].split()):
			self.complain(where, f'<{name}> only in {HOME[name]}')
		elif layer in LIBC_ONLY and not is_libc(name) and name not in LIBC_ONLY[layer]:
			self.complain(where, f'{layer} must not include <{name}> (libc, POSIX and Linux only)')
		elif name == 'jwt.h' and not file.endswith('.c'):
			self.complain(where, '<jwt.h> only in one .c file, not in a header')
		elif name == 'jwt.h':
			if self.jwt_file not in (None, file):
				self.complain(where, f'<jwt.h> only in one .c file, and {self.jwt_file} has it already')
			self.jwt_file = self.jwt_file or file

	def check_reach(self, root, file, where, reached):
		"""The rules that also hold for headers that are reached through headers of ours."""
		reached.add(file)
		for line, text in self.includes.get(file, []):
			name, at = text[1:-1], where or f'{root}:{line}'
			through = f' (through "{file}")' if where else ''
			if is_own(name):
				if name not in reached:
					self.check_reach(root, name, at, reached)
			elif PARSER.fullmatch(root) and name in IMPURE:
				self.complain(at, f'a parser must not include <{name}>{through}')
			elif where and layer_of(root) == 'pty/holder' and not is_libc(name):
				self.complain(at, f'pty/holder must not include <{name}>{through}')

	def reach(self, start):
		found, todo = set(), [start]
		while todo:
			new = self.edges.get(todo.pop(), set()) - found
			found |= new
			todo += new
		return found

	def check_circles(self):
		reach = {pair: self.reach(pair) for pair in self.edges}
		seen = set()
		for pair in sorted(reach):
			circle = {other for other in reach[pair] if pair in reach.get(other, ())}
			if pair in seen or len(circle) < 3:
				continue
			seen |= circle
			if len({folder_of(each) for each in circle}) > 1:
				self.complain(f'{min(circle)}:0', f'a circle of {len(circle)} files in different folders')


def check_tree(root, table=TABLE):
	check = Check(root, table)
	return check.check() if check.includes else ['no sources']


# A tree that is allowed: a file, and the headers that it includes.
GOOD = {
	'main.c': '"ring/ring.h" "pty/link.h" "shell/a.h" "ws/net/net.h" <uv.h>',
	'ring/ring.h': '<stdint.h>',
	'ring/scan.c': '"ring/ring.h" <string.h>',
	'ring/screen/screen.c': '"ring/screen/parser.h" "ring/ring.h" <utlist.h>',
	'ring/live/live.h': '"ring/screen/view/snapshot.h" "ring/ring.h"',
	'ring/screen/parser.h': '<stdint.h>',
	'ring/screen/view/snapshot.h': '<stdint.h>',
	'pty/wire.h': '"ring/ring.h" <sys/types.h>',
	'pty/link.h': '"pty/wire.h" <uv.h>',
	'pty/holder/serve.c': '"pty/wire.h" "pty/holder/holder.h" <linux/limits.h> <poll.h>',
	'pty/holder/holder.h': '<signal.h>',
	'shell/a.h': '<jansson.h> <openssl/hmac.h>',
	'shell/held/held.h': '"pty/link.h" "shell/a.h"',
	'shell/pane/pane.h': '"shell/held/held.h" "ring/live/live.h"',
	'shell/output/a.h': '"shell/output/b.h"',
	'shell/output/b.h': '"shell/output/c.h"',
	'shell/output/c.h': '"shell/output/a.h"',
	'ws/token.c': '<jwt.h> "shell/a.h" <jansson.h>',
	'ws/route.c': '"ring/ring.h" "ws/route.h"',
	'ws/route.h': '<stddef.h>',
	'ws/net/net.h': '<libwebsockets.h> <uv.h> "ws/route.h"',
	'ws/client/connect/line.h': '"ws/net/client.h" "ws/base64.h" <uv.h> <jansson.h>',
	'ws/client/command.c': '"ws/client/connect/line.h"',
}
# Files that are added to it, each with one include a line, and what is said of that line; a circle is said at line 0.
BAD = {
	'main.c': ['<vterm.h>', '<vterm.h> only in tests'],
	'ring/up.c': ['"pty/wire.h"', 'ring must not include "pty/wire.h"', '<uv.h>',
		'ring must not include <uv.h> (libc, POSIX and Linux only)', '<jansson.h>', '<jansson.h> only in ws shell'],
	'ring/dirty.h': ['<sys/socket.h>', None],
	'ring/scan.c': ['<unistd.h>', 'a parser must not include <unistd.h>', '"ring/dirty.h"',
		'a parser must not include <sys/socket.h> (through "ring/dirty.h")'],
	'ring/screen/up.c': ['"ring/live/live.h"', 'ring/screen must not include "ring/live/live.h"'],
	'pty/up.c': ['"pty/holder/holder.h"', 'pty must not include "pty/holder/holder.h"'],
	'pty/holder/up.c': ['<zlib.h>', 'pty/holder must not include <zlib.h> (libc, POSIX and Linux only)', '"pty/link.h"',
		'pty/holder must not include <uv.h> (through "pty/link.h")', '"ws/route.h"',
		'pty/holder must not include "ws/route.h"'],
	'shell/deep.c': ['"link.h"', 'includes are relative to the root: "link.h"', '"../pty/link.h"',
		'includes are relative to the root: "../pty/link.h"', '<shell/a.h>',
		'our own headers are included with quotes: <shell/a.h>', 'SOME_MACRO', 'an include by a macro cannot be checked'],
	'shell/block/deep.c': ['"ring/screen/parser.h"', 'only ring may include "ring/screen/parser.h"'],
	'shell/attic/old.c': ['"shell/a.h"', 'shell/attic is not in the table'],
	'shell/run/one.h': ['"shell/run/two.h"', None],
	'shell/run/two.h': ['"shell/output/three.h"', None],
	'shell/output/three.h': ['"shell/run/one.h"', 'shell/output must not include "shell/run/one.h"'],
	'shell/output/three': [None, 'a circle of 3 files in different folders'],
	'ws/side.c': ['<libwebsockets.h>', '<libwebsockets.h> only in ws/net'],
	'ws/side.h': ['<jwt.h>', '<jwt.h> only in one .c file, not in a header'],
	'ws/two.c': ['<jwt.h>', '<jwt.h> only in one .c file, and ws/token.c has it already'],
	'ring/impure.h': ['<unistd.h>', None],
	'ws/message.c': ['"ring/impure.h"', 'a parser must not include <unistd.h> (through "ring/impure.h")'],
	'ws/client/attach/up.c': ['"shell/a.h"', 'ws/client/attach must not include "shell/a.h"'],
	'ws/down.c': ['"ws/client/connect/line.h"', 'ws must not include "ws/client/connect/line.h"'],
}


def put(root, file, names):
	path = root / file
	path.parent.mkdir(parents=True, exist_ok=True)
	path.write_text(''.join(f'#include {name}\n' for name in names), encoding='utf-8')


def self_test():
	with tempfile.TemporaryDirectory() as name:
		root = pathlib.Path(name)
		for file, names in GOOD.items():
			put(root, file, names.split(' '))
		if found := check_tree(root):
			print('the allowed tree is not accepted:', *found, sep='\n')
			return 1
		expected = {'layers.py:0: the table: pty would include shell, which is not below it'}
		for file, lines in BAD.items():
			if lines[0]:
				put(root, file, lines[::2])
			expected |= {f'{file}:{n if lines[0] else 0}: {rule}' for n, rule in enumerate(lines[1::2], 1) if rule}
		found = set(check_tree(root, TABLE.replace('pty: ring\n', 'pty: ring shell\n')))
		for each in sorted(expected ^ found):
			print('not found:' if each in expected else 'found:', each)
		return 0 if found == expected else 1


def main(arguments):
	if arguments == ['--self-test']:
		return self_test()
	if len(arguments) != 1 or arguments[0].startswith('-'):
		print(__doc__, file=sys.stderr)
		return 2
	wrong = check_tree(pathlib.Path(arguments[0]))
	print(*wrong, sep='\n', end='\n' if wrong else '')
	return 1 if wrong else 0


if __name__ == '__main__':
	sys.exit(main(sys.argv[1:]))
