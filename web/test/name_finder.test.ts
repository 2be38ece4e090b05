import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoriesOf, normalize, pathsOf } from '../src/files/directories';
import { findNames } from '../src/files/name_finder';

/** The names in the line of which each is a file, as links show them: their text and name. */
function linksIn(line: string, files: readonly string[], from = 0, to = line.length): string[] {
	const taken: { start: number; end: number; name: string }[] = [];
	for (const candidate of findNames(line, from, to)) {
		const found = candidate.find(({ name }) => files.includes(name));
		if (found !== undefined && !taken.some(({ start, end }) => start < found.end && found.start < end))
			taken.push(found);
	}
	return taken.sort((a, b) => a.start - b.start).map(({ start, end, name }) => {
		const text = line.slice(start, end);
		return text === name ? name : `${text} → ${name}`;
	});
}

const names = (line: string) => findNames(line).flat().map(({ name }) => name);

test('names in the output of programs', () => {
	for (const [line, ...links] of [
		['Makefile  a.c  src  b', 'Makefile', 'a.c', 'b'],
		['-rw-r--r-- 1 ada ada 1234 Nov 30 19:00 notes.txt', 'notes.txt'],
		['lrwxrwxrwx 1 ada ada 3 Nov 30 19:00 link -> a.c', 'link', 'a.c'],
		['run*  link@  pipe|  sock=', 'run', 'link', 'pipe', 'sock'],
		['src/a.c:12:3: error: expected ‘;’ before ‘}’ token', 'src/a.c'],
		['src/a.c:12:  int x;', 'src/a.c'],
		['src/a.c:12:int x;', 'src/a.c'],
		['src/a.c-12-int x;', 'src/a.c'],
		['src/a.c(12,3): warning', 'src/a.c'],
		['In file included from ../b.h:3,', '../b.h'],
		['  --> src/main.rs:2:5', 'src/main.rs'],
		['  File "/x/y z.py", line 3, in f', '/x/y z.py'],
		['    at f (/x/y.js:10:5)', '/x/y.js'],
		['    at file:///x/y%20z.js:10:5', '/x/y%20z.js → /x/y z.js'],
		['file://host/x/y.js.', '/x/y.js'],
		['make: *** [Makefile:12: all] Error 2', 'Makefile'],
		['(see README.md, ~/notes.txt and [a.c].)', 'README.md', '~/notes.txt', 'a.c'],
		['cc -I/usr/x.h --output=b if=/dev/a.img "a b"', '/usr/x.h', 'b', '/dev/a.img', 'a b'],
		['PATH=x:y --file=\'a b\' (\'c d\')', 'a b', 'c d'],
		['cat: \'no such\' name', 'no such'],
		['Saving to: ‘index.html’', 'index.html'],
		['rm: cannot remove `a b\'', ''],
		['don\'t open a.c or it\'s', 'a.c'],
		['$ cat My\\ file.txt', 'My\\ file.txt → My file.txt'],
		['pages/[id].tsx (group)/page.tsx', 'pages/[id].tsx', '(group)/page.tsx'],
		['\tmodified:   src/ä b.c', 'src/ä'],
		['\tnew file:   "\\303\\244 \\"q\\".txt"', '\\303\\244 \\"q\\".txt → ä "q".txt'],
		['\'a\'$\'\\303\\274\'\'b\'', '\'a\'$\'\\303\\274\'\'b\' → aüb'],
		['diff --git a/src/x.c b/src/x.c', 'src/x.c', 'src/x.c'],
		['--- a/src/x.c', 'src/x.c'],
		['./My file.pdf', './My file.pdf'],
		['  sub dir/name of it.txt  ', 'sub dir/name of it.txt'],
		['├── a.c', 'a.c'],
		['│ a.c │ b.h │', 'a.c', 'b.h'],
		['ファイル「設定.json」を開く', ''],
		['設定.json（新）', ''],
		['“sh -c "cat a.c" ok”', 'a.c'],
		['a:b.txt', 'a:b.txt'],
		['/sys/0000:00:1f.2/config:7', '/sys/0000:00:1f.2/config'],
		['/proc/1 ./2', '/proc/1', './2'],
	] as const) {
		const wanted = (links as readonly string[]).filter((link) => link !== '');
		const files = wanted.map((link) => link.split(' → ').at(-1) as string);
		assert.deepEqual(linksIn(line, files), wanted, line);
	}
});

test('no candidate at all', () => {
	for (const line of ['', '   ', '---', '42 1.5 12:30 2026-11-30 50%', '-l --help', '/ . .. ../ a/ ~', 'https://example.com/a.c', '\u202ea.c', 'a\u200bb.c', '\ufffd.c', '~', '>>> ;;; …'])
		assert.deepEqual(names(line), [], line);
});

test('a longer name is preferred to a part of it', () => {
	assert.deepEqual(linksIn('a.c:1', ['a.c:1', 'a.c']), ['a.c:1']);
	assert.deepEqual(linksIn('x.c y.c', ['x.c', 'x.c y.c']), ['x.c y.c']);
	assert.deepEqual(linksIn('\'x.c y.c\'', ['x.c', 'y.c']), ['x.c', 'y.c'], 'words in quotes that are no name');
});

test('only names that overlap the row', () => {
	const line = 'one.c two.c three.c';
	assert.deepEqual(findNames(line, 7, 9).map(([reading]) => reading?.name), [line, 'two.c']);
	assert.deepEqual(findNames(line, 19, 19), []);
});

test('names that ls prints, in quotes if necessary', () => {
	const dir = mkdtempSync(join(tmpdir(), 'ringside-names-'));
	const made = ['plain', 'a b.txt', 'it\'s', '"q"', 'a\'b"c', 'back\\slash', '$HOME', 'ä 日本.md', '`x`', 'a=b', 'a,b', '#x', '(x)', '[x]', '~x', 'x:1', 'x:1:2', 'end.', 'x*', '!y'];
	try {
		for (const name of made)
			writeFileSync(join(dir, name), '');
		for (const [options, locale] of [['-C', 'C.UTF-8'], ['-l', 'C.UTF-8'], ['-1F', 'C.UTF-8'], ['-C', 'C']] as const) {
			const { stdout } = spawnSync('ls', [options, '-w', '150', '--quoting-style=shell-escape', dir], { encoding: 'utf8', env: { PATH: process.env['PATH'], LC_ALL: locale } });
			const found = stdout.split('\n').flatMap((line) => linksIn(line, made)).map((link) => link.split(' → ').at(-1));
			assert.deepEqual([...new Set(found)].sort(), [...made].sort(), `${options} ${stdout}`);
		}
	} finally {
		rmSync(dir, { recursive: true });
	}
});

test('the time for hostile lines is short', () => {
	const repeat = (text: string) => text.repeat(Math.ceil(8192 / text.length));
	for (const line of ['\'', '"', '=‘', '="\\', '$\'', ' "a\\"', ':1', ':1:', '-1-', '(', '(1', '/..', '/', '.', '\\', '\\ ', 'a ', '\'\\\'\'', '「', 'file://', 'a/\u00a0', '[[', '=', '=\'a ', '\'a\'']
		.flatMap((text) => [repeat(text), `a${repeat(text)}`, repeat(`${text} `)])) {
		const begin = performance.now();
		findNames(line);
		if (process.env['SHOW']) console.log('#', JSON.stringify(line.slice(0, 12)), Math.round(performance.now() - begin));
		assert.ok(performance.now() - begin < 2000, `${line.slice(0, 20)}… took ${performance.now() - begin} ms`);
	}
});

test('directories of a command: the last one, then the first one', () => {
	const block = (state: 'running' | 'done', cwd: string | null, cwdAfter: string | null) => directoriesOf({ state, cwd, cwdAfter });
	assert.deepEqual(block('done', '/a', '/a'), ['/a']);
	assert.deepEqual(block('done', '/a', '/a/b'), ['/a/b', '/a']);
	assert.deepEqual(block('done', '/a', null), ['/a']);
	assert.deepEqual(block('done', null, null), [null]);
	assert.deepEqual(block('running', '/a', null), [null, '/a'], 'the shell may be in another directory by now');
	assert.deepEqual(directoriesOf(null), [null]);
	assert.deepEqual(block('done', '/a\x1b', '/a\x1b'), [], 'a directory with an unsafe name');
});

test('paths of a name', () => {
	assert.deepEqual(pathsOf('b/../c', ['/a', null]), ['/a/c', './c']);
	assert.deepEqual(pathsOf('../c', ['/a/b/', '/', null]), ['/a/c', '/c', './../c']);
	assert.deepEqual(pathsOf('/x/./y', ['/a', '/b']), ['/x/y']);
	assert.deepEqual(pathsOf('~/x', ['/a']), ['~/x']);
	assert.deepEqual(pathsOf('./~/x', ['/a', null]), ['/a/~/x', './~/x'], 'a directory that is named ~');
	assert.deepEqual(pathsOf('x'.repeat(2000), ['/a']), []);
	for (const [path, normal] of [['/', '/'], ['/../..', '/'], ['//a///b/', '/a/b'], ['/a/../../b', '/b'], ['../../a/..', '../..'], ['', ''], ['/...', '/...']])
		assert.equal(normalize(path as string), normal, path);
});
