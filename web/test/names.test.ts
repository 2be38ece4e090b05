import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanName, knownDirectory, alternativeName, quotePath, sizeText } from '../src/files/names';
import { privateDirectory } from '../src/files/private_directory';

const bytes = (text: string) => new TextEncoder().encode(text).length;

test('a cleaned name is a valid file name without control characters', () => {
	for (const [name, clean] of [
		['photo.png', 'photo.png'], ['a\nb\r.txt', 'a_b_.txt'], ['../../etc/passwd', '.._.._etc_passwd'], ['', 'file'], ['..', 'file'], [' . ', 'file'],
		['\x1b[201~rm', '_[201~rm'], ['it\'s "$(x)`.txt', 'it\'s "$(x)`.txt'], ['-rf', '-rf'], ['grüße 日本.md', 'grüße 日本.md'],
		['evil\u202egnp.exe', 'evil_gnp.exe'], ['half \ud800 way', 'half _ way'], ['a\u2028b\u200bc\x9b', 'a_b_c_'], ['.bashrc', '.bashrc'],
	] as const)
		assert.equal(cleanName(name), clean);
});

test('a long name keeps its extension and whole characters, with space for a number', () => {
	for (const name of [`${'x'.repeat(300)}.tar.gz`, `${'日'.repeat(100)}.jpeg`, `${'😀'.repeat(90)}.c`, `.${'y'.repeat(400)}`, 'z'.repeat(5000)]) {
		const clean = cleanName(name);
		assert.ok(bytes(alternativeName(clean, 99)) <= 255 && bytes(clean) > 240, clean);
		assert.ok(name.startsWith(clean.replace(/(\.tar)?\.\w{1,8}$/, '')));
		assert.equal(clean.replace(/[^]*?((\.tar\.gz|\.jpeg|\.c)?)$/, '$1'), /((?:\.tar\.gz|\.jpeg|\.c)?)$/.exec(name)?.[1]);
		assert.doesNotMatch(clean, /\ufffd|[\ud800-\udfff]/u);
	}
});

test('alternatives for a name that is in use', () => {
	assert.deepEqual(['a.tar.gz', '.bashrc', 'none', 'a.b.c'].map((name) => [alternativeName(name, 0), alternativeName(name, 12)]),
		[['a.tar.gz', 'a-12.tar.gz'], ['.bashrc', '.bashrc-12'], ['none', 'none-12'], ['a.b.c', 'a.b-12.c']]);
});

const AWKWARD = ['/plain/x.png', 'it\'s', 'a b', '\\', 'end\\', '\\\\two', '\\\'', '\'\'', '$HOME `id` "q"', '!!', '=ls', '~', '~root', '-n', '*?[x]{a,b}',
	'grüße 日本', '#no', 'a;b|c&d>e<f(g)', '%1', 'x^y', '\\n', 'tab\\t\'mid\\\'dle'];

for (const shell of ['bash', 'zsh', 'fish']) {
	const missing = spawnSync(shell, ['-c', ':']).error !== undefined;
	test(`${shell} reads a quoted path as the path`, { skip: missing && `there is no ${shell}` }, () => {
		const home = mkdtempSync(join(tmpdir(), 'ringside-quote-'));
		try {
			const { stdout, stderr } = spawnSync(shell, ['-c', `printf '[%s]\\n' ${AWKWARD.map((path) => quotePath(`./${path}`)).join(' ')}`],
				{ encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: home, LC_ALL: 'C.UTF-8' } });
			assert.equal(stdout, AWKWARD.map((path) => `[./${path}]\n`).join(''), stderr);
		} finally {
			rmSync(home, { recursive: true });
		}
	});
}

test('a path that looks like an option or a home directory is quoted', () => {
	for (const path of ['-rf', '~', '=x y', ''])
		assert.ok(path === '' || quotePath(path).startsWith('\''), path);
	assert.equal(quotePath('/tmp/a-b_c.1+2,4@5%:x'), '/tmp/a-b_c.1+2,4@5%:x');
});

test('a directory that cannot be named safely is not used', () => {
	for (const [cwd, known] of [
		['/home/ada', '/home/ada'], ['/', ''], ['/a b/ü', '/a b/ü'], ['/x\x1b[201~\r', null], ['/new\nline', null], ['/not \ufffd utf8', null],
		['relative', null], ['', null], [null, null], [7, null], [`/${'x'.repeat(5000)}`, null], ['/turned \u202e round', null],
	] as const)
		assert.equal(knownDirectory(cwd), known);
});

test('sizes', () => {
	assert.deepEqual([0, 999, 1000, 1550, 123_456, 5_000_000_000, 3e15].map(sizeText),
		['0 B', '999 B', '1.0 KB', '1.6 KB', '123 KB', '5.0 GB', '3000 TB']);
});

test('tar can unpack the archive of a private directory', async () => {
	const dir = mkdtempSync(join(tmpdir(), 'ringside-tar-'));
	try {
		const { status, stderr } = spawnSync('tar', ['-x', '-C', dir], { input: new Uint8Array(await privateDirectory(1_700_000_000_000).arrayBuffer()) });
		assert.equal(status, 0, String(stderr));
		assert.equal(statSync(dir).mode & 0o777, 0o700);
	} finally {
		rmSync(dir, { recursive: true });
	}
});
