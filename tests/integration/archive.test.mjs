// Directories as archives, over GET and PUT of /api/file: compatible with tar(1) both ways; archives that escape, are
// too large, break off or stall, and a server that is killed meanwhile.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, ftruncateSync, linkSync, lstatSync, mkdirSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { outcome } from './lib/api.mjs';
import { asUser, startAs } from './lib/other_user.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const url = (name, query = '') => `/api/file/${name.split('/').map(encodeURIComponent).join('/')}?sessionId=s${query}`;
const hidden = /^\.ringside-/;

const openSession = async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	return (...names) => path.join(server.cwd, ...names);
};

const get = (server, name, query = '&format=tar', headers = {}) => server.api.raw('GET', url(name, query), undefined, { headers });
const put = (server, name, body, query = '&format=tar', headers = {}) => server.api.raw('PUT', url(name, query), body, { headers: { 'Content-Type': 'application/octet-stream', ...headers } });

/** Run tar(1) with an input; returns its output. */
function tar(args, { input, cwd } = {}) {
	const done = spawnSync('tar', args, { input, cwd, maxBuffer: 1 << 30 });
	assert.equal(done.status, 0, `tar ${args.join(' ')}: ${done.stderr}`);
	return done.stdout;
}

/** Make an archive of entries {name, type, link, size, mode, body}, in the oldest format. */
function archive(...entries) {
	const parts = [];
	for (const { name, type = '0', link = '', body = '', size = body.length, mode = 0o644 } of entries) {
		const head = Buffer.alloc(512);
		head.write(name, 0, 100, 'latin1');
		head.write(mode.toString(8).padStart(7, '0'), 100);
		head.write('0000000', 108);
		head.write('0000000', 116);
		// A size that octal digits cannot hold is binary (GNU).
		if (size < 2 ** 33) head.write(size.toString(8).padStart(11, '0'), 124);
		else head.writeUInt8(0x80, 124), head.writeBigUInt64BE(BigInt(size), 128);
		head.write('00000000001', 136);
		head.write('        ', 148);
		head.write(type, 156);
		head.write(link, 157, 100, 'latin1');
		head.write('ustar\x0000', 257);
		head.write(head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\0 ', 148);
		parts.push(head, Buffer.from(body), Buffer.alloc((512 - body.length % 512) % 512));
	}
	return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** Everything in a directory: names, types, modes, times, contents. */
function tree(dir, { times = true } = {}) {
	const found = {};
	const walk = (at, name) => {
		const st = lstatSync(at, { bigint: true });
		const what = { mode: Number(st.mode) };
		if (times) what.mtime = st.mtimeNs;
		if (st.isSymbolicLink()) what.link = readlinkSync(at);
		if (st.isFile()) what.text = readFileSync(at).toString('latin1').slice(0, 10_000), what.size = st.size, what.names = st.nlink;
		if (name) found[name] = what;
		if (st.isDirectory()) for (const each of readdirSync(Buffer.from(at), { encoding: 'buffer' })) walk(Buffer.concat([Buffer.from(at), Buffer.from('/'), each]), `${name}/${each.toString('latin1')}`);
	};
	walk(Buffer.from(dir), '');
	return found;
}

/** Make a tree with one of everything that is preserved. */
function fillDirectory(dir) {
	mkdirSync(path.join(dir, 'a', 'b'), { recursive: true });
	writeFileSync(path.join(dir, 'a', 'file'), 'some text\n');
	writeFileSync(path.join(dir, 'a', 'run'), '#!/bin/sh\n', { mode: 0o755 });
	writeFileSync(path.join(dir, 'a', 'secret'), 'x', { mode: 0o600 });
	writeFileSync(path.join(dir, 'empty'), '');
	writeFileSync(path.join(dir, 'ä €\u{1f600} and\nmore'), 'unicode');
	writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x62, 0xff, 0xfe, 0x80])]), 'no unicode');
	writeFileSync(path.join(dir, 'n'.repeat(250)), 'long');
	const deep = path.join(dir, ...Array.from({ length: 12 }, (_, i) => `${i}`.repeat(100 - i)));
	mkdirSync(deep, { recursive: true });
	writeFileSync(path.join(deep, 'bottom'), 'deep');
	symlinkSync('a/file', path.join(dir, 'link'));
	symlinkSync('/nowhere/at all', path.join(dir, 'dangling'));
	linkSync(path.join(dir, 'a', 'file'), path.join(dir, 'a', 'b', 'same'));
	const sparse = openSync(path.join(dir, 'sparse'), 'w');
	writeSync(sparse, 'begin', 0);
	writeSync(sparse, 'middle', 5_000_000);
	ftruncateSync(sparse, 30_000_000);
	closeSync(sparse);
	truncateSync((writeFileSync(path.join(dir, 'hole'), ''), path.join(dir, 'hole')), 1_000_000);
	utimesSync(path.join(dir, 'a', 'run'), 1_000_000_000.25, 1_000_000_000.25);
	mkdirSync(path.join(dir, 'closed'));
	writeFileSync(path.join(dir, 'closed', 'in it'), 'x');
	chmodSync(path.join(dir, 'closed'), 0o555);
	utimesSync(path.join(dir, 'closed'), 1_100_000_000, 1_100_000_000);
}

shared('a directory is sent as an archive that tar unpacks, and restored from it', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('from'));
	fillDirectory(at('from'));
	spawnSync('mkfifo', [at('from', 'fifo')]);
	const answer = await get(server, 'from');
	assert.equal(answer.status, 200, answer.text);
	assert.deepEqual([answer.headers['content-type'], answer.headers['content-disposition']], ['application/x-tar', 'attachment; filename*=UTF-8\'\'from.tar']);
	mkdirSync(at('by tar'));
	const errors = spawnSync('tar', ['-x', '-p', '-C', at('by tar')], { input: answer.body });
	assert.equal(errors.status, 0, String(errors.stderr));
	rmSync(at('from', 'fifo'));
	const wanted = tree(at('from'));
	assert.deepEqual(tree(at('by tar')), wanted);
	assert.ok(answer.body.length < 1_000_000, 'holes are not sent');
	const back = await put(server, 'by us', answer.body);
	assert.deepEqual([back.status, back.json.created, back.json.path], [200, true, 'by us'], back.text);
	assert.equal(back.json.entries, Object.keys(wanted).length + 1);
	assert.deepEqual(tree(at('by us')), wanted);
	assert.ok(statSync(at('by us', 'sparse')).blocks * 512 < 1_000_000, 'holes are holes');
	assert.equal(statSync(at('by us')).mode, statSync(at('from')).mode);
	// The same with tar's own formats.
	for (const form of ['gnu', 'pax']) {
		const made = tar(['-c', '-S', `--format=${form}`, '-C', at('from'), '.']);
		assert.equal(outcome(await put(server, `by ${form}`, made)), '200');
		assert.deepEqual(tree(at(`by ${form}`), { times: form === 'pax' }), tree(at('from'), { times: form === 'pax' }), form);
	}
});

shared('Accept and Content-Type select an archive too', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir'));
	writeFileSync(at('dir', 'file'), 'x');
	const answer = await get(server, 'dir', '', { Accept: 'application/x-tar' });
	assert.equal(answer.headers['content-type'], 'application/x-tar');
	assert.equal(tar(['-t'], { input: answer.body }).toString(), './\n./file\n');
	assert.equal(outcome(await get(server, 'dir', '', { Accept: '*/*' })), '400 IS_DIRECTORY');
	// A client that prefers an archive gets a file as it is; one that insists is refused.
	assert.equal((await get(server, 'dir/file', '', { Accept: 'application/x-tar, */*' })).text, 'x');
	assert.equal(outcome(await get(server, 'dir/file')), '400 NOT_DIRECTORY');
	assert.equal(outcome(await get(server, 'none')), '404 FILE_NOT_FOUND');
	assert.equal(outcome(await get(server, 'dir/file/none')), '404 FILE_NOT_FOUND');
	assert.equal(outcome(await get(server, 'dir', '&format=zip')), '400 VALIDATION_FAILED');
	assert.equal((await server.api.raw('HEAD', url('dir', '&format=tar'))).status, 200);
	// A path of a directory ends in a slash: an archive is a file too.
	const bytes = archive({ name: 'x', body: 'y' });
	assert.equal(outcome(await put(server, 'new/', bytes, '', { 'Content-Type': 'application/x-tar' })), '200');
	assert.equal(readFileSync(at('new', 'x'), 'utf8'), 'y');
	assert.equal(outcome(await put(server, 'kept.tar', bytes, '', { 'Content-Type': 'application/x-tar' })), '200');
	assert.ok(readFileSync(at('kept.tar')).equals(bytes));
});

shared('an archive is merged into a directory, or replaces it', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir', 'sub'), { recursive: true });
	writeFileSync(at('dir', 'kept'), 'kept');
	writeFileSync(at('dir', 'sub', 'old'), 'old');
	writeFileSync(at('dir', 'file'), 'before');
	chmodSync(at('dir'), 0o750);
	const bytes = archive({ name: './', type: '5', mode: 0o700 }, { name: 'file', body: 'after' }, { name: 'sub/', type: '5', mode: 0o711 }, { name: 'sub/new', body: 'new' }, { name: 'other/deep/er', body: 'x' });
	const merged = await put(server, 'dir', bytes);
	assert.deepEqual([merged.status, merged.json.created], [200, false], merged.text);
	assert.deepEqual(readdirSync(at('dir'), { recursive: true }).sort(), ['file', 'kept', 'other', 'other/deep', 'other/deep/er', 'sub', 'sub/new', 'sub/old']);
	assert.equal(readFileSync(at('dir', 'file'), 'utf8'), 'after');
	assert.deepEqual([statSync(at('dir')).mode & 0o777, statSync(at('dir', 'sub')).mode & 0o777], [0o750, 0o711]);
	const replaced = await put(server, 'dir', bytes, '&format=tar&replace=1');
	assert.deepEqual([replaced.status, replaced.json.created], [200, false], replaced.text);
	assert.deepEqual(readdirSync(at('dir'), { recursive: true }).sort(), ['file', 'other', 'other/deep', 'other/deep/er', 'sub', 'sub/new']);
	assert.deepEqual(readdirSync(server.cwd), ['dir']);
	// An archive is merged into a link's directory; a link is not replaced.
	symlinkSync('dir', at('link'));
	assert.equal(outcome(await put(server, 'link', archive({ name: 'by link', body: 'x' }))), '200');
	assert.ok(existsSync(at('dir', 'by link')));
	assert.equal(outcome(await put(server, 'link', bytes, '&format=tar&replace=1')), '400 NOT_DIRECTORY');
	// Into the shell's directory.
	assert.equal(outcome(await put(server, '', archive({ name: 'here', body: 'x' }))), '200');
	assert.ok(existsSync(at('here')));
	assert.equal(outcome(await put(server, '.', bytes, '&format=tar&replace=1')), '400 INVALID_REQUEST');
	// Missing parents.
	assert.equal(outcome(await put(server, 'p/q/r/', bytes)), '404 FILE_NOT_FOUND');
	assert.equal(outcome(await put(server, 'p/q/r/', bytes, '&format=tar&parents=1')), '200');
	assert.ok(existsSync(at('p', 'q', 'r', 'file')));
	// Only if nothing is there.
	assert.equal(outcome(await put(server, 'dir', bytes, '&format=tar', { 'If-None-Match': '*' })), '412 PRECONDITION_FAILED');
	assert.equal(outcome(await put(server, 'fresh', bytes, '&format=tar', { 'If-None-Match': '*' })), '200');
	assert.equal(outcome(await put(server, 'here', bytes)), '400 NOT_DIRECTORY');
	assert.deepEqual(readdirSync(server.cwd, { recursive: true }).filter((name) => hidden.test(path.basename(name))), []);
});

shared('archives that escape, contain special files or conflict are refused and change nothing', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir', 'sub'), { recursive: true });
	writeFileSync(at('dir', 'file'), 'before');
	writeFileSync(at('canary'), 'safe');
	symlinkSync('..', at('dir', 'up'));
	const before = tree(server.cwd);
	const refused = async (wanted, about, bytes, query) => {
		const answer = await put(server, 'dir', bytes, query);
		assert.equal(outcome(answer), wanted, `${about}: ${answer.text}`);
		const now = tree(server.cwd);
		delete now['/dir'].mtime;
		delete before['/dir'].mtime;
		assert.deepEqual(now, before, about);
	};
	const first = { name: 'file', body: 'after' };
	await refused('400 INVALID_REQUEST', 'absolute', archive(first, { name: '/etc/ringside-test', body: 'x' }));
	await refused('400 INVALID_REQUEST', 'dots', archive(first, { name: 'a/../../canary', body: 'x' }));
	await refused('400 INVALID_REQUEST', 'by its own link', archive(first, { name: 'l', type: '2', link: '..' }, { name: 'l/canary', body: 'x' }));
	await refused('400 NOT_DIRECTORY', 'by a link that is there', archive(first, { name: 'up/canary', body: 'x' }));
	await refused('400 INVALID_REQUEST', 'hard link out', archive(first, { name: 'h', type: '1', link: '../canary' }));
	await refused('400 INVALID_REQUEST', 'device', archive(first, { name: 'null', type: '3' }));
	await refused('400 INVALID_REQUEST', 'fifo', archive(first, { name: 'fifo', type: '6' }));
	await refused('400 INVALID_REQUEST', 'too deep', archive(first, { name: `${'d/'.repeat(49)}x`, body: 'x' }, { name: 'L', type: 'L', body: `${'d/'.repeat(150)}x\0` }, { name: 'x', body: 'x' }));
	await refused('400 IS_DIRECTORY', 'file for a directory', archive(first, { name: 'sub', body: 'x' }));
	await refused('400 NOT_DIRECTORY', 'directory for a file', archive({ name: 'sub/x', body: 'x' }, { name: 'file/', type: '5' }));
	await refused('400 INVALID_REQUEST', 'no archive', Buffer.from('this is not an archive'.repeat(100)));
	await refused('400 INVALID_REQUEST', 'nothing', Buffer.alloc(0));
	await refused('400 INVALID_REQUEST', 'packed', spawnSync('gzip', { input: archive(first) }).stdout);
	await refused('400 INVALID_REQUEST', 'cut off', archive(first, { name: 'more', body: 'x'.repeat(5000) }).subarray(0, 4000));
	await refused('413 REQUEST_TOO_LARGE', 'more than can be', archive(first, { name: 'huge', size: 2 ** 41 }));
	await refused('413 REQUEST_TOO_LARGE', 'as a whole', archive(first, { name: 'huge', size: 2 ** 41 }), '&format=tar&replace=1');
	// An archive's own links may point anywhere: unpacking never follows them.
	assert.equal(outcome(await put(server, 'dir', archive({ name: 'away', type: '2', link: '/etc' }))), '200');
	assert.equal(readlinkSync(at('dir', 'away')), '/etc');
});

shared('more implied directories than the limit', { timeout: 300_000 }, async (server) => {
	const at = await openSession(server);
	const most = times(0, 4300);
	const entries = Array.from({ length: most }, (_, i) => ({ name: `${i.toString(36)}/${'d/'.repeat(47)}`, type: '5' }));
	const answer = await server.api.raw('PUT', url('dir', '&format=tar'), archive(...entries, { name: 'last', body: 'x' }), { headers: { 'Content-Type': 'application/octet-stream' }, timeout: 250_000 });
	assert.equal(outcome(answer), most ? '413 REQUEST_TOO_LARGE' : '200', answer.text);
	assert.deepEqual(readdirSync(server.cwd), most ? [] : ['dir']);
	assert.equal(existsSync(at('dir')), !most);
});

shared('an aborted upload and a killed server leave the directory unchanged', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir'));
	writeFileSync(at('dir', 'file'), 'before');
	const bytes = archive({ name: 'file', body: 'after' }, { name: 'more', body: 'x'.repeat(3_000_000) });
	const begin = (name, query = '') => {
		const request = http.request(`${server.base}${url(name, `&format=tar${query}`)}`, { method: 'PUT', agent: false, headers: { Authorization: `Bearer ${server.token}`, 'Content-Length': bytes.length } });
		request.on('error', () => {});
		request.write(bytes.subarray(0, 1_000_000));
		return request;
	};
	const stage = (dir) => readdirSync(dir).find((name) => hidden.test(name));
	for (const [name, query, where] of [['dir', '', at('dir')], ['dir', '&replace=1', server.cwd], ['new', '', server.cwd]]) {
		const request = begin(name, query);
		const staged = await until('the stage has the first file', () => stage(where) && existsSync(path.join(where, stage(where), 'file')) && stage(where));
		assert.equal(readFileSync(at('dir', 'file'), 'utf8'), 'before');
		assert.equal(statSync(path.join(where, staged)).mode & 0o777, 0o700, 'only the user can read the stage');
		// Staging directories are not part of archives.
		assert.ok(!tar(['-t'], { input: (await get(server, '.')).body }).toString().includes('.ringside-'));
		request.destroy();
		await until('the removal of the stage', () => !stage(where));
		assert.deepEqual(readdirSync(at('dir')), ['file']);
		assert.ok(!existsSync(at('new')));
	}
	begin('dir');
	await until('the stage', () => stage(at('dir')));
	await server.kill('SIGKILL');
	assert.equal(readFileSync(at('dir', 'file'), 'utf8'), 'before');
	await server.start();
	await until('the session is back', async () => (await get(server, 'dir')).status === 200);
	assert.equal(outcome(await put(server, 'dir', archive({ name: 'other', body: 'x' }))), '200');
	assert.deepEqual(readdirSync(at('dir')).sort(), ['file', 'other']);
});

shared('twenty uploads at once into one directory', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir'));
	const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => put(server, 'dir', archive({ name: `f${i}`, body: `${i}` }, { name: 'shared/one', body: `${i}` }), `&format=tar${i % 4 === 3 ? '&replace=1' : ''}`)));
	for (const answer of answers) assert.match(outcome(answer), /^(200|429 LIMIT_REACHED|409 .*|500 FILESYSTEM_ERROR|404 FILE_NOT_FOUND)$/, answer.text);
	assert.ok(answers.some(({ status }) => status === 200));
	assert.match(readFileSync(at('dir', 'shared', 'one'), 'utf8'), /^\d+$/);
	assert.deepEqual(readdirSync(server.cwd, { recursive: true }).filter((name) => hidden.test(path.basename(name))), []);
	// Merged archives do not disturb each other.
	rmSync(at('dir'), { recursive: true });
	mkdirSync(at('dir'));
	const merged = await Promise.all(Array.from({ length: 8 }, (_, i) => put(server, 'dir', archive({ name: `f${i}`, body: `${i}` }))));
	assert.deepEqual(merged.map(outcome), Array(8).fill('200'));
	assert.equal(readdirSync(at('dir')).length, 8);
});

scenario('unreadable files are left out and reported', { start: false, skip: process.getuid() !== 0 && 'only root can be another user', prefix: asUser(1) }, async (server) => {
	await startAs(server, 1);
	const at = await openSession(server);
	mkdirSync(at('dir', 'shut'), { recursive: true });
	writeFileSync(at('dir', 'good'), 'x');
	writeFileSync(at('dir', 'shut', 'in it'), 'x');
	writeFileSync(at('dir', 'secret'), 'x', { mode: 0o600 });
	chmodSync(at('dir', 'shut'), 0o700);
	const skipped = await get(server, 'dir', '&format=tar&unreadable=skip');
	assert.deepEqual([skipped.status, tar(['-t'], { input: skipped.body }).toString().trim().split('\n').sort()], [200, ['./', './good', './shut/']]);
	// Everything else is sent, then the response breaks off.
	const { bytes, whole } = await take(await begin(server, 'dir'));
	assert.deepEqual([whole, tar(['-t'], { input: bytes }).toString().trim().split('\n').sort()], [false, ['./', './good', './shut/']]);
	await until('the message in the log', () => /left out of an archive" count=2 first=\S+ error="Permission denied"/.test(server.stderr));
	chmodSync(at('dir'), 0o700);
	assert.equal(outcome(await get(server, 'dir')), '500 FILESYSTEM_ERROR');
	assert.equal(outcome(await put(server, 'dir', archive({ name: 'x', body: 'x' }))), '500 FILESYSTEM_ERROR');
});

/** A response whose body is not read yet. */
const begin = (server, name, query = '') => new Promise((resolve, reject) => {
	http.get(`${server.base}${url(name, `&format=tar${query}`)}`, { agent: false, headers: { Authorization: `Bearer ${server.token}` } }, resolve).on('error', reject);
});

/** The bytes of its body, and whether it is complete. */
async function take(answer) {
	const chunks = [];
	const whole = await new Promise((resolve) => {
		answer.on('data', (chunk) => chunks.push(chunk));
		answer.on('end', () => resolve(true));
		answer.on('error', () => resolve(false));
		answer.resume();
	});
	return { whole, bytes: Buffer.concat(chunks) };
}

shared('a file that changes while it is read is reported', async (server) => {
	const at = await openSession(server);
	mkdirSync(at('dir'));
	for (const [query, ends] of [['', false], ['&unreadable=skip', true]]) {
		writeFileSync(at('dir', 'a'), Buffer.alloc(60_000_000, 'a'));
		const answer = await begin(server, 'dir', query);
		// The file is open by now, and larger than what is in flight.
		const first = await new Promise((resolve) => answer.once('data', resolve));
		answer.pause();
		truncateSync(at('dir', 'a'), 100);
		const { whole, bytes } = await take(answer);
		assert.equal(whole, ends, 'the client can tell whether the archive is complete');
		assert.match(tar(['-tv'], { input: Buffer.concat([first, bytes]) }).toString(), / 60000000 .* \.\/a\n/);
	}
	await until('the message in the log', () => /left out of an archive" count=1 first=a error="its size has changed/.test(server.stderr));
});

shared('clients that do not read cost no thread; many files both ways', { timeout: 300_000 }, async (server) => {
	const at = await openSession(server);
	const many = times(5000, 100_000);
	for (let d = 0; d < many / 1000; d++) {
		mkdirSync(at('many', `${d}`), { recursive: true });
		for (let i = 0; i < 1000; i++) writeFileSync(at('many', `${d}`, `${i}`), '');
	}
	mkdirSync(at('big'));
	writeFileSync(at('big', 'file'), Buffer.alloc(50_000_000));
	// More clients than threads.
	const idle = await Promise.all(Array.from({ length: 20 }, async () => (await begin(server, 'big')).pause()));
	assert.equal(outcome(await put(server, 'x', archive({ name: 'f', body: 'x' }))), '200');
	const answer = await get(server, 'many');
	assert.equal(answer.status, 200);
	assert.equal(tar(['-t'], { input: answer.body }).toString().split('\n').length - 1, many + many / 1000 + 1);
	for (const each of idle) each.destroy();
	const back = await server.api.raw('PUT', url('copy', '&format=tar'), answer.body, { headers: { 'Content-Type': 'application/octet-stream' }, timeout: 200_000 });
	assert.deepEqual([back.status, back.json?.entries], [200, many + many / 1000 + 1], back.text);
	assert.equal(readdirSync(at('copy'), { recursive: true }).length, many + many / 1000);
});
