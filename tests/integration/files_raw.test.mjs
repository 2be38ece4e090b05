// Raw files, over GET and PUT of /api/file: ranges, conditions, and interrupted bodies; the types of paths.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { outcome } from './lib/api.mjs';
import { descriptors } from './lib/proc.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const url = (name, query = '') => `/api/file/${name.split('/').map(encodeURIComponent).join('/')}?sessionId=s${query}`;
const get = (server, name, headers = {}, method = 'GET') => server.api.raw(method, url(name), undefined, { headers });
const put = (server, name, body, headers = {}, query = '') => server.api.raw('PUT', url(name, query), Buffer.from(body), { headers: { 'Content-Type': 'application/octet-stream', ...headers } });

const openSession = async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	return (...names) => path.join(server.cwd, ...names);
};

/** Number of files of the working directory that the server has open. */
const opened = (server) => Object.values(descriptors(server.pid)).filter((name) => name.startsWith(`${server.cwd}/`)).length;

/** A PUT request whose body the test writes. */
function raw(server, name, headers) {
	const request = http.request(`${server.base}${url(name)}`, { method: 'PUT', agent: false, headers: { Authorization: `Bearer ${server.token}`, ...headers } });
	request.answer = new Promise((resolve, reject) => {
		request.on('error', reject);
		request.on('response', resolve);
	});
	request.answer.catch(() => {});
	return request;
}

shared('a raw file, and ranges of it', async (server) => {
	const at = await openSession(server);
	const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * 31 % 257));
	writeFileSync(at('a ü.bin'), bytes);
	const whole = await get(server, 'a ü.bin');
	assert.equal(whole.status, 200);
	assert.ok(whole.body.equals(bytes));
	const { etag, 'last-modified': modified } = whole.headers;
	assert.match(etag, /^"[0-9a-f-]+"$/);
	assert.equal(Date.parse(modified), Math.floor(statSync(at('a ü.bin')).mtimeMs / 1000) * 1000);
	assert.deepEqual([whole.headers['accept-ranges'], whole.headers['content-type'], whole.headers['content-length'], whole.headers['content-disposition'], whole.headers['x-content-type-options']],
		['bytes', 'application/octet-stream', '300000', 'attachment; filename*=UTF-8\'\'a%20%C3%BC.bin', 'nosniff']);
	const head = await get(server, 'a ü.bin', {}, 'HEAD');
	assert.deepEqual([head.status, head.headers['content-length'], head.headers.etag, head.body.length], [200, '300000', etag, 0]);
	for (const [range, first, end] of [['bytes=5-9', 5, 10], ['bytes=-7', 299_993, 300_000]]) {
		const part = await get(server, 'a ü.bin', { Range: range });
		assert.deepEqual([range, part.status, part.headers['content-range']], [range, 206, `bytes ${first}-${end - 1}/300000`]);
		assert.ok(part.body.equals(bytes.subarray(first, end)), range);
	}
	assert.equal((await get(server, 'a ü.bin', { Range: 'lines=1-2' })).status, 200);
	const none = await get(server, 'a ü.bin', { Range: 'bytes=300000-' });
	assert.deepEqual([outcome(none), none.headers['content-range']], ['416 RANGE_GONE', 'bytes */300000']);
	assert.equal((await get(server, 'a ü.bin', { Range: 'bytes=1-2', 'If-Range': etag })).status, 206);
	for (const [headers, expected] of [[{ 'If-None-Match': etag }, '304'], [{ 'If-Modified-Since': modified }, '304'],
		[{ 'If-Match': '' }, '412 PRECONDITION_FAILED'], [{ 'If-Match': 'x'.repeat(300) }, '413 REQUEST_TOO_LARGE']])
		assert.equal(outcome(await get(server, 'a ü.bin', headers)), expected, JSON.stringify(headers));
	writeFileSync(at('empty'), '');
	assert.deepEqual([(await get(server, 'empty')).status, (await get(server, 'empty')).headers['content-length']], [200, '0']);
	assert.equal((await get(server, at('empty'))).status, 200, 'an absolute path, with two slashes');
	assert.match((await get(server, '/proc/1/status')).text, /^Name:/, 'a file without a size');
	mkdirSync(at('dir'));
	execFileSync('mkfifo', [at('fifo')]);
	for (const [name, expected] of [['none', '404 FILE_NOT_FOUND'], ['fifo', '404 FILE_NOT_FOUND'], ['dir', '400 IS_DIRECTORY'], ['', '400 IS_DIRECTORY'], ['/proc/self/mem', '500 FILESYSTEM_ERROR'], ['x'.repeat(255), '404 FILE_NOT_FOUND']])
		assert.equal(outcome(await get(server, name)), expected, name);
});

shared('a file is written as the body arrives', async (server) => {
	const at = await openSession(server);
	const first = await put(server, 'a', 'one');
	assert.deepEqual([first.status, first.json.size, first.json.created, first.json.path], [200, 3, true, 'a']);
	assert.equal((await get(server, 'a')).headers.etag, first.headers.etag, 'the tag of the written file');
	const second = await put(server, 'a', '');
	assert.deepEqual([second.json.created, second.json.size, readFileSync(at('a')).length], [false, 0, 0]);
	assert.equal(outcome(await put(server, 'x/y/z', 'deep')), '404 FILE_NOT_FOUND');
	assert.equal((await put(server, 'x/y/z', 'deep', {}, '&parents=1')).status, 200);
	assert.equal(readFileSync(at('x/y/z'), 'utf8'), 'deep');
	mkdirSync(at('dir'));
	assert.equal(outcome(await put(server, 'dir', 'x')), '400 IS_DIRECTORY');
	assert.equal(outcome(await put(server, 'a', 'tail', { 'Content-Range': 'bytes 3-6/7' })), '400 VALIDATION_FAILED');
	assert.equal((await put(server, 'new', 'x', { 'If-Unmodified-Since': 'some day' })).status, 200);
	assert.equal(outcome(await put(server, '/proc/self/mem', 'x')), '500 FILESYSTEM_ERROR');
	// Chunked; the file is unchanged until the body is complete.
	writeFileSync(at('chunks'), 'old');
	const request = raw(server, 'chunks', { 'Transfer-Encoding': 'chunked' });
	request.write('n'.repeat(200_000));
	request.write('e');
	assert.equal(readFileSync(at('chunks'), 'utf8'), 'old');
	request.end('w');
	const answer = await request.answer;
	answer.resume();
	assert.equal(answer.statusCode, 200);
	assert.equal(readFileSync(at('chunks'), 'utf8').length, 200_002);
	assert.deepEqual(readdirSync(server.cwd).sort(), ['a', 'chunks', 'dir', 'new', 'x']);
});

shared('an interrupted body leaves the old file, and no temporary file', async (server) => {
	const at = await openSession(server);
	writeFileSync(at('kept'), 'old');
	for (let i = 0; i < 5; i++) {
		const request = raw(server, 'kept', { 'Content-Length': 1_000_000 });
		request.write('x'.repeat(300_000));
		await until('the temporary file', () => opened(server) > 0);
		request.destroy();
		await until('the end of the temporary file', () => opened(server) === 0);
	}
	assert.equal(readFileSync(at('kept'), 'utf8'), 'old');
	const request = raw(server, 'kept', { 'Content-Length': 1_000_000 });
	request.write('x'.repeat(300_000));
	await until('the temporary file', () => opened(server) > 0);
	await server.kill('SIGKILL');
	assert.equal(readFileSync(at('kept'), 'utf8'), 'old');
	assert.deepEqual(readdirSync(server.cwd), ['kept']);
	await server.start();
});

shared('no update is lost', { timeout: 90_000 }, async (server) => {
	const at = await openSession(server);
	assert.equal((await put(server, 'n', '0', { 'If-None-Match': '*' })).status, 200);
	assert.equal(outcome(await put(server, 'n', 'x', { 'If-None-Match': '*' })), '412 PRECONDITION_FAILED');
	assert.equal(outcome(await put(server, 'n', 'x', { 'If-Match': '"other"' })), '412 PRECONDITION_FAILED');
	// Eight clients increment a counter in one file: each success adds one.
	let won = 0;
	await Promise.all(Array.from({ length: 8 }, async () => {
		for (let i = 0; i < 12; i++) {
			const { text, headers } = await get(server, 'n');
			const { status } = await put(server, 'n', String(Number(text) + 1), { 'If-Match': headers.etag });
			won += status === 200;
		}
	}));
	assert.equal(Number(readFileSync(at('n'), 'utf8')), won);
	assert.ok(won >= 12, String(won));
	// Of twenty clients that create one file, one succeeds.
	const made = await Promise.all(Array.from({ length: 20 }, (_, i) => put(server, 'once', `by ${i}`, { 'If-None-Match': '*' })));
	assert.equal(made.filter(({ status }) => status === 200).length, 1);
	assert.ok(made.every(({ status }) => [200, 412].includes(status)));
	assert.equal(readFileSync(at('once'), 'utf8'), `by ${made.findIndex(({ status }) => status === 200)}`);
	// A file that changes while the body arrives.
	const { headers: { etag } } = await get(server, 'n');
	const request = raw(server, 'n', { 'If-Match': etag, 'Content-Length': 10 });
	request.write('12345');
	await until('the temporary file', () => opened(server) > 0);
	assert.equal((await put(server, 'n', 'by another')).status, 200);
	request.end('67890');
	const answer = await request.answer;
	answer.resume();
	assert.equal(answer.statusCode, 412);
	assert.equal(readFileSync(at('n'), 'utf8'), 'by another');
	assert.deepEqual(readdirSync(server.cwd).sort(), ['n', 'once']);
});

shared('links are written through', async (server) => {
	const at = await openSession(server);
	writeFileSync(at('target'), 'old');
	symlinkSync('target', at('link'));
	assert.equal((await put(server, 'link', 'new')).status, 200);
	assert.ok(lstatSync(at('link')).isSymbolicLink());
	assert.equal(readFileSync(at('target'), 'utf8'), 'new');
});

const stat = (server, paths, { sessionId = 's', bearer = server.token } = {}) => server.api.as(bearer).raw('POST', '/api/stat', { sessionId, paths });

shared('types and sizes of several paths, as the shell reads them', async (server) => {
	const at = (...names) => path.join(server.cwd, ...names);
	for (const name of ['home', 'in', 'in/sub']) mkdirSync(at(name));
	await server.session({ id: 's', cwd: at('in'), env: { HOME: at('home') } });
	writeFileSync(at('in/a "ü".txt'), 'four');
	writeFileSync(at('home/~'), '');
	writeFileSync(at('in/closed'), '', { mode: 0 });
	symlinkSync('a "ü".txt', at('in/link'));
	symlinkSync('gone', at('in/dangling'));
	execFileSync('mkfifo', [at('in/fifo')]);
	const asked = ['a "ü".txt', at('in/a "ü".txt'), 'link', '~/~', 'sub/../../home/~', 'sub', 'fifo', '~/none', '~', 'dangling', 'fifo/x', 'x'.repeat(300), '/proc/self/status'];
	const { json, status } = await stat(server, asked);
	assert.equal(status, 200);
	const file = { absolutePath: at('in/a "ü".txt'), type: 'file', size: 4, readable: true };
	assert.deepEqual(json.entries.map((entry) => entry && { ...entry, modifiedAt: undefined }).slice(0, 5), [
		file, file, { ...file, absolutePath: at('in/link') }, { ...file, absolutePath: at('home/~'), size: 0 },
		{ ...file, absolutePath: `${server.cwd}/in/sub/../../home/~`, size: 0 }].map((entry) => ({ ...entry, modifiedAt: undefined })));
	assert.deepEqual(json.entries.slice(5, 7).map(({ type }) => type), ['directory', 'other']);
	assert.deepEqual(json.entries.slice(7), Array(6).fill(null));
	assert.equal(Date.parse(json.entries[0].modifiedAt), Math.floor(statSync(at('in/link')).mtimeMs));
	const [closed] = (await stat(server, ['closed'])).json.entries;
	assert.deepEqual([closed.type, closed.readable], ['file', (await get(server, 'closed')).status === 200], 'readable is what a download finds');
	assert.equal((await stat(server, Array(256).fill('link'))).json.entries.length, 256);

	for (const paths of [undefined, [], 'link', Array(257).fill('link'), [''], ['a', 7], ['a\0b'], [`/${'x/'.repeat(2048)}`]])
		assert.deepEqual([outcome(await stat(server, paths)), (await stat(server, paths)).json.context.validationErrors[0].field], ['400 VALIDATION_FAILED', 'paths']);
	for (const role of ['viewer', 'driver']) {
		const { path: link } = await server.api.call('POST', '/api/session/s/links', { role });
		assert.equal(outcome(await stat(server, ['link'], { bearer: link.split('=')[1] })), '403 PERMISSION_DENIED');
	}

	await server.run('s', 'cd sub; rmdir ../sub');
	assert.deepEqual((await stat(server, ['.', at('in/link')])).json.entries.map((entry) => entry?.type), [undefined, 'file'], 'a removed directory');
	// Nothing is started: neither a session that does not exist nor one that has ended.
	await server.api.input('s', 'exit\r');
	await until('the end', async () => (await server.api.call('GET', '/api/session/s')).data.state === 'exited');
	for (const sessionId of ['s', 'none'])
		assert.deepEqual((await stat(server, ['.', '~/~', at('in/link')], { sessionId })).json.entries.map((entry) => entry?.type), [undefined, undefined, 'file']);
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).sessions.map(({ id, state }) => `${id} ${state}`), ['s exited']);
});

scenario('the types of paths in a sandbox', { skip: noSandboxes || (inSandboxes && 'all tests run in sandboxes'), start: false, ordinary: true }, async (server) => {
	await server.start({ args: ['--isolate'] });
	await server.session({ id: 's' });
	writeFileSync(path.join(server.root, 'secret'), 'of the outside');
	symlinkSync(path.join(server.root, 'secret'), path.join(server.root, 'link'));
	await server.run('s', `cd /tmp; echo inside >file; ln -s ${server.root}/secret out; echo home >~/at-home`);
	const paths = ['file', '~/at-home', 'out', `${server.root}/secret`, `../..${server.root}/secret`];
	const { entries } = (await stat(server, paths)).json;
	assert.deepEqual(entries.map((entry) => entry?.size), [7, 5, undefined, undefined, undefined]);
	assert.equal(entries[0].absolutePath, '/tmp/file');
	const { text } = await get(server, entries[1].absolutePath);
	assert.equal(text, 'home\n');
	await server.api.input('s', 'exit\r');
	await until('the end', async () => (await server.api.call('GET', '/api/session/s')).data.state === 'exited');
	assert.equal(outcome(await stat(server, ['/tmp/file'])), '410 SESSION_TERMINATED');
	assert.equal(outcome(await stat(server, ['/tmp/file'], { sessionId: 'none' })), '404 SESSION_NOT_FOUND');
});
