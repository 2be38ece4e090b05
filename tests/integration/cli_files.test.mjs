// `ringside cat` and `ringside cp`: files both ways, complete or unchanged, in little memory.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, createReadStream, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli, environment } from './lib/cli.mjs';
import { rssAnon } from './lib/proc.mjs';
import { binary, sanitized, scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const USAGE = 2, NO_SERVER = 69, FAILED = 125;
const some = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * 31 % 257));

/** A session `s` with a directory, and a local directory: [there(...names), here(...names)]. */
async function openSession(server) {
	await server.session({ id: 's', cwd: server.cwd });
	rmSync(path.join(server.root, 'here'), { recursive: true, force: true });
	mkdirSync(path.join(server.root, 'here'));
	return [(...names) => path.join(server.cwd, ...names), (...names) => path.join(server.root, 'here', ...names)];
}

const run = (server, args, options) => cli(server, args, { cwd: path.join(server.root, 'here'), ...options });

async function good(server, args, options) {
	const result = await run(server, args, options);
	assert.deepEqual([result.code, result.stderr], [0, ''], args.join(' '));
	return result.bytes;
}

async function bad(server, code, pattern, args) {
	const result = await run(server, args);
	assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
	assert.match(result.stderr, pattern);
	return result;
}

/** A running command. */
function begin(server, args, stdio) {
	const child = spawn(binary, args, { env: environment(server), cwd: path.join(server.root, 'here'), stdio });
	child.stdin?.on('error', () => {}); // a killed command has not read everything
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
	const end = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stderr })));
	return { child, end };
}

const sparse = (file, size) => {
	writeFileSync(file, '');
	truncateSync(file, size);
};

const litter = (directory) => readdirSync(directory).filter((name) => /ringside/.test(name));

shared('cat: bytes, several files, errors between them', async (server) => {
	const [there] = await openSession(server);
	writeFileSync(there('a'), some);
	writeFileSync(there('b ü%2F?#.txt'), 'second\n');
	writeFileSync(there('empty'), '');
	mkdirSync(there('sub'));
	assert.ok((await good(server, ['cat', '-s', 's', 'a'])).equals(some));
	assert.equal((await good(server, ['cat', '--session', 's', 'b ü%2F?#.txt', 'empty', there('b ü%2F?#.txt')])).toString(), 'second\nsecond\n');
	assert.equal((await good(server, ['cat', '-s', 's', 'sub/../b ü%2F?#.txt'])).toString(), 'second\n');
	assert.equal((await good(server, ['cat', there('b ü%2F?#.txt')])).toString(), 'second\n', 'a session is not required');
	assert.match((await good(server, ['cat', '-s', 's', '/proc/version'])).toString(), /^Linux/, 'a file without a size');
	const { stdout, stderr } = await bad(server, FAILED, /File not found/, ['cat', '-s', 's', 'no', 'b ü%2F?#.txt', 'sub']);
	assert.equal(stdout, 'second\n');
	assert.match(stderr, /directory \(IS_DIRECTORY\)/);
	assert.equal(JSON.parse((await run(server, ['cat', '--json', '-s', 's', 'no'])).stderr).code, 'FILE_NOT_FOUND');
	await bad(server, FAILED, /\(VALIDATION_FAILED\)|4096|long/, ['cat', '-s', 's', 'x'.repeat(5000)]);
	await bad(server, FAILED, /./, ['cat', '-s', '.bad', 'a']);
	await bad(server, USAGE, /PATH is missing/, ['cat']);
	await bad(server, USAGE, /128 bytes/, ['cat', '-s', 'x'.repeat(129), 'a']);
	const { end } = begin(server, ['cat', '-s', 's', 'a'], ['ignore', openSync('/dev/full', 'w'), 'pipe']);
	const full = await end;
	assert.equal(full.code, FAILED);
	assert.match(full.stderr, /standard output: No space left/);
});

shared('cp: both ways', async (server) => {
	const [there, here] = await openSession(server);
	writeFileSync(here('a'), some);
	await good(server, ['cp', 'a', 's:b']);
	assert.ok(readFileSync(there('b')).equals(some));
	await good(server, ['cp', 's:b', 'c']);
	assert.ok(readFileSync(here('c')).equals(some));
	assert.equal(statSync(here('c')).mode & 0o777, 0o666 & ~process.umask());

	mkdirSync(there('dir'));
	mkdirSync(here('dir'));
	for (const [from, to, file] of [['a', 's:dir/', there('dir/a')], ['./a', 's:', there('a')], [here('a'), `s:${there('dir')}/x`, there('dir/x')],
		['s:b', '.', here('b')], ['s:dir/x', 'dir', here('dir/x')], [`:${there('dir/x')}`, './q:1', here('q:1')]]) {
		await good(server, ['cp', from, to]);
		assert.ok(readFileSync(file).equals(some), `${from} ${to}`);
	}
	await good(server, ['cp', '-s', 's', './q:1', ':q:2']);
	assert.ok(existsSync(there('q:2')));

	assert.ok((await good(server, ['cp', 's:b', '-'])).equals(some));
	await good(server, ['cp', '-', 's:in'], { input: some });
	assert.ok(readFileSync(there('in')).equals(some));
	await good(server, ['cp', '-', 's:in'], { input: '' });
	assert.equal(statSync(there('in')).size, 0);
	await good(server, ['cp', 's:in', 'c']);
	assert.equal(statSync(here('c')).size, 0, 'an empty file replaces another');
	await good(server, ['cp', '/dev/null', 's:null']);
	assert.equal(statSync(there('null')).size, 0);

	await bad(server, FAILED, /File not found|no-dir/, ['cp', 'a', 's:no-dir/sub/x']);
	await bad(server, FAILED, /no-dir\/sub\/x: No such file/, ['cp', 's:b', 'no-dir/sub/x']);
	await good(server, ['cp', '-p', 'a', 's:no-dir/sub/x']);
	await good(server, ['cp', '--parents', 's:b', 'no-dir/sub/x']);
	assert.ok(readFileSync(there('no-dir/sub/x')).equals(readFileSync(here('no-dir/sub/x'))));

	const parsed = JSON.parse(await good(server, ['cp', '--json', 'a', 's:parsed']));
	assert.deepEqual([parsed.size, parsed.created], [some.length, true]);
	assert.deepEqual(JSON.parse(await good(server, ['cp', '--json', 's:parsed', 'parsed'])), { path: 'parsed', size: some.length });
	assert.deepEqual([...litter(server.cwd), ...litter(here())], []);
});

shared('cp: replaced files, and targets that cannot be replaced', async (server) => {
	const [there, here] = await openSession(server);
	writeFileSync(there('new'), 'new');
	writeFileSync(here('script'), 'old');
	chmodSync(here('script'), 0o750);
	symlinkSync('script', here('link'));
	symlinkSync('nowhere', here('dangling'));
	const before = statSync(here('script')).ino;
	await good(server, ['cp', 's:new', 'link']);
	assert.ok(lstatSync(here('link')).isSymbolicLink());
	assert.deepEqual([readFileSync(here('script'), 'utf8'), statSync(here('script')).mode & 0o777], ['new', 0o750]);
	assert.notEqual(statSync(here('script')).ino, before);
	await bad(server, FAILED, /dangling: No such file/, ['cp', 's:new', 'dangling']);
	await good(server, ['cp', 's:new', '/dev/null']);
	assert.ok(statSync('/dev/null').isCharacterDevice());
	execFileSync('mkfifo', [here('pipe')]);
	const reader = spawn('cat', [here('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
	const read = new Promise((resolve) => reader.stdout.on('data', resolve));
	await good(server, ['cp', 's:new', 'pipe']);
	assert.equal(String(await read), 'new');

	const parsed = await bad(server, FAILED, /FILE_NOT_FOUND/, ['cp', 's:no', 'script']);
	assert.equal(parsed.stdout, '');
	assert.equal(readFileSync(here('script'), 'utf8'), 'new', 'an error does not replace the file');
	await bad(server, FAILED, /directory/, ['cp', '.', 's:x']);
	await bad(server, FAILED, /directory/, ['cp', 's:.', 'x']);
	await bad(server, FAILED, /directory/, ['cp', 's:..', '.']);
	await bad(server, FAILED, /no: No such file/, ['cp', 'no', 's:x']);
	for (const args of [['a'], ['a', 'b'], ['s:a', 's:b'], ['a', 's:b', 'c'], ['-', '-'], ['s:a', ''], ['-', 's:dir/'], [`${'x'.repeat(129)}:a`, 'b'], ['--nothing']])
		await bad(server, USAGE, /^ringside cp: /, ['cp', ...args]);
	assert.ok(!existsSync(there('x')));
	assert.deepEqual(litter(here()), []);
});

shared('cp: missing rights and missing files are reported at once', async (server) => {
	const [there, here] = await openSession(server);
	mkdirSync(there('dir'));
	// The error comes before the end of the body, which never ends here.
	for (const [args, pattern] of [[['cp', '-', 's:dir'], /IS_DIRECTORY/], [['cp', '-', 's:no/x'], /FILE_NOT_FOUND/],
		[['cp', '--url', server.base, '-', 's:x'], /UNAUTHENTICATED/]]) {
		const { child, end } = begin(server, args, ['pipe', 'ignore', 'pipe']);
		child.stdin.on('error', () => {});
		const { code, stderr } = await end;
		assert.equal(code, FAILED, stderr);
		assert.match(stderr, pattern);
	}
	// A large body is not sent before the error is read.
	sparse(here('large'), 200 << 20);
	await bad(server, FAILED, /IS_DIRECTORY/, ['cp', 'large', 's:dir']);
	await server.kill('SIGTERM');
	await bad(server, NO_SERVER, /no server is running/, ['cp', 'large', 's:x']);
	await bad(server, NO_SERVER, /no server is running/, ['cat', 'x']);
	await server.start();
});

scenario('cp: an interrupted copy leaves the target unchanged', { mayHaveDied: true }, async (server) => {
	const [there, here] = await openSession(server);
	const size = 2 ** 40; // more than can have arrived
	sparse(there('large'), size);
	writeFileSync(here('kept'), 'kept');
	writeFileSync(there('kept'), 'kept');
	const written = () => litter(here()).some((name) => statSync(here(name)).size > 0);
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
		const { child, end } = begin(server, ['cp', 's:large', 'kept'], ['ignore', 'ignore', 'pipe']);
		await until('a part of the file', written);
		child.kill(signal);
		assert.deepEqual((({ code, stderr }) => [code, stderr])(await end), [{ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal], '']);
		assert.deepEqual(litter(here()), []);
	}
	// The server writes to a file without a name.
	const begun = () => readdirSync(`/proc/${server.pid}/fd`).some((fd) => {
		try {
			const file = readlinkSync(`/proc/${server.pid}/fd/${fd}`);
			return file.startsWith(`${server.cwd}/`) && file !== there('large'); // this one is being read
		} catch {
			return false; // it was closed meanwhile
		}
	});
	const upload = begin(server, ['cp', '-', 's:kept'], ['pipe', 'ignore', 'pipe']);
	upload.child.stdin.write(some);
	await until('the temporary file', begun);
	upload.child.kill('SIGINT');
	assert.equal((await upload.end).signal, 'SIGINT');
	await until('the end of the temporary file', () => !begun());

	const down = begin(server, ['cp', 's:large', 'kept'], ['ignore', 'ignore', 'pipe']);
	const up = begin(server, ['cp', '-', 's:kept'], ['pipe', 'ignore', 'pipe']);
	up.child.stdin.write(some);
	await until('both copies', () => written() && begun());
	const left = readdirSync(server.cwd);
	await server.kill('SIGKILL');
	for (const { end } of [down, up]) {
		const { code, stderr } = await end;
		assert.equal(code, NO_SERVER, stderr);
		assert.match(stderr, /closed the connection/);
	}
	assert.deepEqual(litter(here()), []);
	assert.deepEqual(readdirSync(server.cwd), left);
	for (const file of [here('kept'), there('kept')]) assert.equal(readFileSync(file, 'utf8'), 'kept');
	await server.start();
});

shared('cat: a reader that closes the pipe, and one that stalls, in little memory', async (server) => {
	const [there] = await openSession(server);
	sparse(there('large'), 2 ** 40);
	const { child, end } = begin(server, ['cat', '-s', 's', 'large'], ['ignore', 'pipe', 'pipe']);
	await new Promise((resolve) => { child.stdout.once('data', resolve); });
	child.stdout.pause();
	const first = rssAnon(child.pid);
	for (let n = 0; n < 50; n++) child.stdout.read();
	assert.ok(rssAnon(child.pid) - first < 64 << 20);
	child.stdout.destroy();
	const { code, stderr } = await end;
	assert.equal(code, FAILED);
	assert.match(stderr, /standard output: (Broken pipe|Connection reset by peer)/);
});

shared('cp: a gigabyte up and down in little memory, and twenty copies at once', { timeout: 300_000, memory: true }, async (server, t) => {
	const [there, here] = await openSession(server);
	const size = sanitized() ? 64 << 20 : 1 << 30;
	sparse(here('large'), size);
	const most = { up: 0, down: 0 }, before = rssAnon(server.pid);
	for (const [way, ...args] of [['up', 'large', 's:large'], ['down', 's:large', 'back']]) {
		const began = Date.now();
		const { child, end } = begin(server, ['cp', ...args], ['ignore', 'ignore', 'pipe']);
		const watch = setInterval(() => {
			try {
				most[way] = Math.max(most[way], rssAnon(child.pid) || 0, rssAnon(server.pid) - before);
			} catch {} // it has ended
		}, 20);
		const { code, stderr } = await end;
		clearInterval(watch);
		assert.equal(code, 0, stderr);
		t.diagnostic(`${way}: ${Date.now() - began} ms, ${most[way]} bytes at most`);
		if (!sanitized()) assert.ok(most[way] < 16 << 20, `${way}: ${most[way]}`);
	}
	const digest = async (file) => {
		const hash = createHash('sha1');
		for await (const piece of createReadStream(file)) hash.update(piece);
		return hash.digest('hex');
	};
	assert.equal(statSync(there('large')).size, size);
	assert.equal(await digest(here('back')), await digest(here('large')));

	writeFileSync(here('a'), some);
	const results = await Promise.all(Array.from({ length: 20 }, () => run(server, ['cp', 'a', 's:same'])));
	for (const { code, stderr } of results) assert.equal(code, 0, stderr);
	assert.ok(readFileSync(there('same')).equals(some));
});
