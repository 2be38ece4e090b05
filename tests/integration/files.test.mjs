// Files with the published client, over HTTP and its WebSocket; and races, links that escape from sandboxes, disks that do
// not answer, a server that is killed halfway.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { overEach } from '../sandbox/local.mjs';
import { eventsOf, joined } from '../sandbox/sdk.mjs';
import { openBinary } from './lib/other_user.mjs';
import { RawClient } from './lib/client.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { long, times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const limit = 32 << 20;

/** A test over each transport: body(files, at, server). at(name): a path in the test's directory. only: see overEach(). */
function clients(name, { only, ...options }, body) {
	shared(name, options, async (server) => {
		await server.session({ id: 's', cwd: server.cwd });
		await overEach(server, only, (client, transport) => {
			mkdirSync(path.join(server.cwd, transport));
			return body(client.files, (...names) => path.join(server.cwd, transport, ...names), server);
		});
	});
}

/** Assert that the client rejects with its own error of this code. */
async function fails(promise, code, status) {
	const error = await promise.then((value) => assert.fail(`it did not fail: ${JSON.stringify(value)}`), (each) => each);
	assert.equal(error.code, code, error.stack);
	assert.equal(error.httpStatus, status, error.message);
	return error;
}

/** Call the API directly; returns the response with its status. */
const ask = (server, route, body, bearer) => (bearer === undefined ? server.api : server.api.as(bearer)).raw('POST', `/api/${route}`, { sessionId: 's', ...body });
async function refused(server, route, body, status, code, bearer) {
	const { json, status: got } = await ask(server, route, body, bearer);
	assert.equal(`${got} ${json.code}`, `${status} ${code}`, `${route} ${JSON.stringify(body).slice(0, 200)}: ${json.message}`);
	return json;
}
async function good(server, route, body, bearer) {
	const { json, status } = await ask(server, route, body, bearer);
	assert.equal(status, 200, `${route}: ${JSON.stringify(json).slice(0, 300)}`);
	return json;
}

clients('text and bytes are written and read', {}, async (files, at) => {
	const text = 'ä €\u{1f600}\n"quoted" \\ \t\u0001\0 end';
	const written = await files.writeFile(at('a.txt'), text, 's');
	assert.deepEqual([written.success, written.path], [true, at('a.txt')]);
	assert.match(written.timestamp, iso);
	assert.equal(readFileSync(at('a.txt'), 'utf8'), text);
	const read = await files.readFile(at('a.txt'), 's');
	assert.deepEqual([read.content, read.encoding, read.isBinary, read.mimeType, read.size], [text, 'utf-8', false, 'text/plain', Buffer.byteLength(text)]);
	assert.equal(statSync(at('a.txt')).mode & 0o777, 0o666 & ~process.umask());
	const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i * i % 251));
	await files.writeFile(at('b.png'), bytes.toString('base64'), 's', { encoding: 'base64' });
	assert.ok(readFileSync(at('b.png')).equals(bytes));
	const image = await files.readFile(at('b.png'), 's');
	assert.deepEqual([image.encoding, image.isBinary, image.mimeType, image.size], ['base64', true, 'image/png', bytes.length]);
	assert.ok(Buffer.from(image.content, 'base64').equals(bytes));
	assert.equal((await files.readFile(at('b.png'), 's', { encoding: 'utf-8' })).content, new TextDecoder().decode(bytes));
	assert.equal(Buffer.from((await files.readFile(at('a.txt'), 's', { encoding: 'base64' })).content, 'base64').toString(), text);
	writeFileSync(at('bom.txt'), Buffer.concat([Buffer.from('\ufeffafter '), Buffer.from([0xff])]));
	assert.equal((await files.readFile(at('bom.txt'), 's')).content, 'after \ufffd');
	writeFileSync(at('empty'), '');
	const empty = await files.readFile(at('empty'), 's');
	assert.deepEqual([empty.content, empty.isBinary, empty.size, empty.mimeType], ['', false, 0, 'inode/x-empty']);
});

clients('errors of reading are those of the container', { only: 'HTTP', timeout: 120_000 }, async (files, at) => {
	mkdirSync(at('dir'));
	symlinkSync('nowhere', at('dangling'));
	execFileSync('mkfifo', [at('fifo')]);
	for (const name of ['missing', 'dir', 'dangling', 'fifo', 'missing/below'])
		await fails(files.readFile(at(name), 's'), 'FILE_NOT_FOUND', 404);
	await fails(files.readFile('/dev/zero', 's'), 'FILE_NOT_FOUND', 404);
	writeFileSync(at('link-target'), 'by a link');
	symlinkSync('link-target', at('link'));
	assert.equal((await files.readFile(at('link'), 's')).content, 'by a link');
	const status = await files.readFile('/proc/1/status', 's');
	assert.ok(status.content.startsWith('Name:') && status.size > 0, 'a file without a size');
	writeFileSync(at('large'), '');
	truncateSync(at('large'), limit + 1);
	const error = await fails(files.readFile(at('large'), 's'), 'FILE_TOO_LARGE', 413);
	assert.deepEqual([error.context.actualSize, error.context.maxSize, error.context.operation], [limit + 1, limit, 'file.read']);
	if (!long) return;
	truncateSync(at('large'), limit);
	// As JSON each byte takes six: a file of 32 MiB may be read, but a response of 192 MiB is too large.
	const escaped = await fails(files.readFile(at('large'), 's', { encoding: 'utf-8' }), 'FILE_TOO_LARGE', 413);
	assert.match(escaped.message, /too many escapes/);
});

clients('streams of files', { timeout: 120_000 }, async (files, at) => {
	const read = async (name) => eventsOf(await files.readFileStream(at(name), 's'));
	const bytes = Buffer.from(Array.from({ length: 3 * 65_535 + 5 }, (_, i) => i * 7 % 253));
	writeFileSync(at('a.bin'), bytes);
	writeFileSync(at('a.png'), bytes);
	let events = await read('a.png');
	assert.deepEqual(events[0], { type: 'metadata', mimeType: 'image/png', size: bytes.length, isBinary: true, encoding: 'base64' });
	assert.deepEqual(events.map(({ type }) => type), ['metadata', 'chunk', 'chunk', 'chunk', 'chunk', 'complete']);
	assert.ok(Buffer.concat(events.filter(({ type }) => type === 'chunk').map(({ data }) => Buffer.from(data, 'base64'))).equals(bytes));
	assert.equal(events.at(-1).bytesRead, bytes.length);
	const text = `${'a'.repeat(65_534)}€${'ö'.repeat(70_000)}`;
	writeFileSync(at('a.txt'), text);
	events = await read('a.txt');
	assert.equal(joined(events, 'chunk'), text, 'characters are complete');
	writeFileSync(at('cut.txt'), Buffer.from('end €').subarray(0, -1));
	assert.equal(joined(await read('cut.txt'), 'chunk'), 'end \ufffd');
	writeFileSync(at('empty.txt'), '');
	assert.deepEqual((await read('empty.txt')).map(({ type }) => type), ['metadata', 'complete']);
	for (const name of ['missing', '.']) {
		events = await read(name);
		assert.deepEqual(events.map(({ type }) => type), ['error']);
		assert.ok(events[0].error.length > 0);
	}
});

clients('what writing preserves and creates', { only: 'WebSocket' }, async (files, at, server) => {
	await files.writeFile(at('new', 'deep', 'er', 'a'), 'x', 's');
	assert.equal(readFileSync(at('new/deep/er/a'), 'utf8'), 'x');
	writeFileSync(at('kept'), 'old');
	chmodSync(at('kept'), 0o751);
	await files.writeFile(at('kept'), 'new', 's');
	assert.deepEqual([readFileSync(at('kept'), 'utf8'), statSync(at('kept')).mode & 0o7777], ['new', 0o751]);
	execFileSync('mkfifo', [at('fifo')]);
	await fails(files.writeFile(at('fifo'), 'never read', 's'), 'FILESYSTEM_ERROR', 500);
	mkdirSync(at('dir'));
	assert.match((await fails(files.writeFile(at('dir'), 'x', 's'), 'FILESYSTEM_ERROR', 500)).message, /EISDIR/);
	assert.match((await fails(files.writeFile(`${at('kept')}/x`, 'x', 's'), 'FILE_NOT_FOUND', 404)).message, /kept/);
	for (const content of ['a', 'ab==c', 'a\nb=', '****']) {
		const { context } = await refused(server, 'write', { path: at('b64'), content, encoding: 'base64' }, 400, 'VALIDATION_FAILED');
		assert.deepEqual([context.validationErrors[0].field, context.validationErrors[0].code], ['content', 'INVALID_BASE64']);
	}
	assert.equal(existsSync(at('b64')), false);
	assert.deepEqual(readdirSync(at()).filter((name) => name.startsWith('.ringside')), []);
});

clients('removing, renaming, moving', { only: 'RPC' }, async (files, at, server) => {
	writeFileSync(at('a'), '1');
	assert.equal((await files.deleteFile(at('a'), 's')).path, at('a'));
	assert.equal(existsSync(at('a')), false);
	await fails(files.deleteFile(at('a'), 's'), 'FILE_NOT_FOUND', 404);
	mkdirSync(at('dir'));
	symlinkSync('dir', at('to-dir'));
	symlinkSync('nowhere', at('dangling'));
	for (const name of ['dir', 'to-dir', '.', 'dir/..'])
		assert.match((await fails(files.deleteFile(at(name), 's'), 'IS_DIRECTORY', 400)).message, /Cannot delete directory.*deleteFile\(\)/);
	await fails(files.deleteFile(at('dangling'), 's'), 'FILE_NOT_FOUND', 404);
	writeFileSync(at('one'), '1');
	writeFileSync(at('two'), '2');
	assert.equal((await files.renameFile(at('one'), at('two'), 's')).newPath, at('two'));
	assert.equal(readFileSync(at('two'), 'utf8'), '1', 'the old file is replaced');
	await files.moveFile(at('two'), at('to-dir'), 's');
	assert.equal(readFileSync(at('dir/two'), 'utf8'), '1', 'into the directory, by its link');
	assert.match((await fails(files.renameFile(at('none'), at('x'), 's'), 'FILE_NOT_FOUND', 404)).message, /Source file not found: /);
	const { context } = await fails(files.moveFile(at('dir/two'), at('no/parent'), 's'), 'FILESYSTEM_ERROR', 500);
	assert.deepEqual([context.sourcePath, context.destinationPath, context.exitCode, typeof context.stderr], [at('dir/two'), at('no/parent'), 1, 'string']);
	assert.deepEqual((await refused(server, 'rename', { oldPath: at('dir'), newPath: at('dir/below') }, 500, 'FILESYSTEM_ERROR')).context.oldPath, at('dir'));
	await refused(server, 'rename', { oldPath: at('dir/two'), newPath: at('dir') }, 500, 'FILESYSTEM_ERROR');
	assert.equal(readFileSync(at('dir/two'), 'utf8'), '1');
	// A link itself is moved; a tree is moved completely.
	await files.moveFile(at('dangling'), at('dir'), 's');
	assert.equal(readlinkSync(at('dir/dangling')), 'nowhere');
	await files.renameFile(at('dir'), at('tree'), 's');
	assert.deepEqual(readdirSync(at('tree')).sort(), ['dangling', 'two']);
});

clients('directories and their contents', { only: 'HTTP' }, async (files, at, server) => {
	assert.equal((await files.mkdir(at('one'), 's')).recursive, false);
	const twice = await fails(files.mkdir(at('one'), 's'), 'FILESYSTEM_ERROR', 500);
	assert.deepEqual([twice.context.exitCode, twice.context.operation], [1, 'directory.create']);
	await fails(files.mkdir(at('a/b/c'), 's'), 'FILESYSTEM_ERROR', 500);
	assert.equal((await files.mkdir(at('a/b/../b/c'), 's', { recursive: true })).recursive, true);
	await files.mkdir(at('a/b/c'), 's', { recursive: true });
	assert.ok(statSync(at('a/b/c')).isDirectory());
	writeFileSync(at('file'), '12345');
	await fails(files.mkdir(at('file'), 's', { recursive: true }), 'FILESYSTEM_ERROR', 500);
	assert.equal((await files.exists(at('file'), 's')).exists, true);
	assert.equal((await files.exists(at('a'), 's')).exists, true);
	for (const name of ['none', 'file/below']) assert.equal((await files.exists(at(name), 's')).exists, false);
	mkdirSync(at('l/.git/deep'), { recursive: true });
	mkdirSync(at('l/sub'));
	writeFileSync(at('l/.hidden'), '');
	writeFileSync(at('l/.git/config'), 'x');
	writeFileSync(at('l/sub/in it'), 'xy');
	writeFileSync(at('l/tab\tand\nnewline "q"'), '');
	chmodSync(at('l/sub/in it'), 0o640);
	symlinkSync('sub', at('l/link'));
	const names = async (options, where = at('l')) => (await files.listFiles(where, 's', options)).files.map(({ relativePath }) => relativePath).sort();
	assert.deepEqual(await names(), ['link', 'sub', 'tab\tand\nnewline "q"']);
	assert.deepEqual(await names({ includeHidden: true }), ['.git', '.hidden', 'link', 'sub', 'tab\tand\nnewline "q"']);
	assert.deepEqual(await names({ recursive: true }), ['.git/config', '.git/deep', 'link', 'sub', 'sub/in it', 'tab\tand\nnewline "q"']);
	assert.deepEqual(await names({}, at('l/.git')), ['config', 'deep']);
	assert.deepEqual(await names({}, at('l/link')), ['in it'], 'a link to a directory is followed');
	const { files: [one], count } = await files.listFiles(at('l/sub'), 's');
	assert.equal(count, 1);
	const { modifiedAt, ...rest } = one;
	assert.match(modifiedAt, iso);
	assert.equal(Math.abs(Date.parse(modifiedAt) - statSync(at('l/sub/in it')).mtimeMs) < 2, true);
	assert.deepEqual(rest, { name: 'in it', absolutePath: at('l/sub/in it'), relativePath: 'in it', type: 'file', size: 2,
		mode: 'rw-r-----', permissions: { readable: true, writable: true, executable: false } });
	assert.match((await fails(files.listFiles(at('none'), 's'), 'FILE_NOT_FOUND', 404)).message, /Directory not found: /);
	assert.match((await fails(files.listFiles(at('file'), 's'), 'NOT_DIRECTORY', 400)).message, /not a directory/);
	// Each entry needs 22 KB of JSON.
	const control = (i) => String(i).padEnd(250, '\x01'), deep = at('long', ...Array(12).fill(control('')));
	mkdirSync(deep, { recursive: true });
	const most = times(10, 3400);
	for (let i = 0; i < most; i++) writeFileSync(path.join(deep, control(i)), '');
	const many = await files.listFiles(deep, 's');
	assert.equal(many.files.length, many.count);
	assert.deepEqual([many.count < most, many.truncated ?? false], [long, long], 'a response has at most 64 MiB');
	// A directory comes before its entries.
	const order = (await files.listFiles(at('l'), 's', { recursive: true, includeHidden: true })).files.map(({ relativePath }) => relativePath);
	assert.ok(order.indexOf('sub') + 1 === order.indexOf('sub/in it'));
	const relative = await good(server, 'list-files', { path: path.relative(server.cwd, at('l/sub')) });
	assert.equal(relative.files[0].absolutePath, at('l/sub/in it'), 'the path is absolute in any case');
});

shared('a long body is accepted, a longer one is refused', { memory: true, timeout: 120_000 }, async (server) => {
	const MiB = 1 << 20;
	const { status } = await server.api.raw('POST', '/api/write', { path: `${server.cwd}/long`, content: 'x'.repeat(40 * MiB), sessionId: '__DISABLE_SESSION__' });
	assert.equal(status, 200);
	assert.equal(statSync(`${server.cwd}/long`).size, 40 * MiB);
	// It is refused when the head arrives. A client that goes on sending may miss the response.
	const head = `POST /api/write HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${45 * MiB}\r\n\r\n`;
	assert.equal(await new RawClient(server).send(head).status(), 413);
	const wrong = await server.api.raw('POST', '/api/write', '{"path": "/tmp/x", "content": "' + 'x'.repeat(2 * MiB));
	assert.deepEqual([wrong.status, wrong.json.code], [400, 'VALIDATION_FAILED']);
	assert.equal((await server.api.raw('POST', '/api/exists', { path: 'x'.repeat(2 * MiB) })).status, 413, 'bodies of other routes are short');
	// A stream may return what a read refuses.
	const { text } = await server.api.raw('POST', '/api/read/stream', { path: `${server.cwd}/long`, sessionId: '__DISABLE_SESSION__' });
	assert.equal(JSON.parse(text.trimEnd().split('\n').at(-1).slice('data: '.length)).bytesRead, 40 * MiB);
});

shared('invalid paths get an error', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	for (const route of ['read', 'read/stream', 'write', 'delete', 'mkdir', 'list-files', 'exists'])
		for (const bad of [undefined, '', 7, null, [], 'a\0b', `/${'x/'.repeat(2048)}`]) {
			const { context } = await refused(server, route, { path: bad, content: 'x' }, 400, 'VALIDATION_FAILED');
			assert.deepEqual([context.validationErrors[0].field, context.validationErrors[0].code], ['path', 'INVALID_PATH']);
		}
	for (const [route, from, to] of [['rename', 'oldPath', 'newPath'], ['move', 'sourcePath', 'destinationPath']])
		for (const [field, body] of [[from, { [to]: '/x' }], [to, { [from]: '/x' }]])
			assert.equal((await refused(server, route, body, 400, 'VALIDATION_FAILED')).context.validationErrors[0].field, field);
	await refused(server, 'write', { path: 'x' }, 400, 'VALIDATION_FAILED');
	await refused(server, 'write', { path: 'x'.repeat(256), content: '' }, 500, 'FILESYSTEM_ERROR');
	await refused(server, 'exists', { path: 'x', sessionId: '../x' }, 400, 'VALIDATION_FAILED');
	assert.equal((await good(server, 'exists', { path: '/'.repeat(4000) })).exists, true);
});

shared("relative paths start at the shell's directory, without waiting for it", async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	mkdirSync(path.join(server.cwd, 'there'));
	await server.run('s', 'cd there');
	await good(server, 'write', { path: 'a', content: 'here' });
	assert.equal(readFileSync(path.join(server.cwd, 'there/a'), 'utf8'), 'here');
	execFileSync('mkfifo', [path.join(server.cwd, 'stop')]);
	const { data } = await api.call('POST', '/api/session/s/exec', { command: 'cd ..; touch started; read -r line <stop', yieldMs: 0 });
	await until('the command', () => existsSync(path.join(server.cwd, 'started')));
	assert.equal((await good(server, 'read', { path: 'there/a' })).content, 'here', 'while the command runs');
	assert.equal((await good(server, 'list-files', { path: '.' })).files.some(({ name }) => name === 'started'), true);
	assert.equal((await api.call('GET', `/api/session/s/exec/${data.id}`)).data.state, 'running');
	await api.call('POST', `/api/session/s/exec/${data.id}/cancel`, {});
	// A missing session is created. If its directory is gone, relative paths fail.
	assert.equal((await good(server, 'exists', { path: '.', sessionId: 'fresh' })).exists, true);
	assert.ok((await api.list()).data.includes('fresh'));
	if (!inSandboxes) {
		assert.equal((await good(server, 'exists', { path: '/tmp', sessionId: 'other' })).exists, true);
		assert.equal((await api.list()).data.includes('other'), false, 'an absolute path needs no session');
		assert.equal((await good(server, 'exists', { path: '/tmp', sessionId: '__DISABLE_SESSION__' })).exists, true);
	}
	await until('the prompt', async () => (await api.call('GET', '/api/session/s/state')).state.status === 'prompt');
	await server.run('s', 'mkdir gone; cd gone; rmdir ../gone');
	await refused(server, 'read', { path: 'a' }, 404, 'FILE_NOT_FOUND');
	await refused(server, 'list-files', { path: 'a' }, 404, 'FILE_NOT_FOUND');
	assert.equal((await good(server, 'exists', { path: path.join(server.cwd, 'there/a') })).exists, true);
});

shared("the server's own files are refused", async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const own = ['/proc/self/status', '/proc/thread-self/status', `/proc/${server.pid}/status`, `/proc/${server.pid}/task/${server.pid}/maps`,
		'/proc/self/mem', '/proc/self/environ', '/proc/self/root/etc/passwd', '/proc/self/cwd', '/proc/self/fd/3', `/proc/${server.pid}/fd/4`, '/dev/fd/3', `/proc/./${server.pid}/../${server.pid}/auxv`];
	symlinkSync(`/proc/${server.pid}`, path.join(server.cwd, 'link'));
	for (const each of [...own, 'link/maps', 'link/mem'])
		for (const [route, body] of [['read', {}], ['write', { content: 'x' }]]) {
			const { status, json } = await ask(server, route, { path: each, ...body });
			assert.ok([404, 500].includes(status), `${route} ${each}: ${status} ${JSON.stringify(json).slice(0, 200)}`);
		}
	for (const each of ['/proc/self/fd', `/proc/${server.pid}`, 'link/'])
		assert.notEqual((await ask(server, 'list-files', { path: each })).status, 200, each);
	if (!long) return; // all of /proc; test_place in unit/shell/files tests how listings open directories
	const listed = await good(server, 'list-files', { path: '/proc', options: { recursive: true } });
	assert.equal(listed.files.some(({ relativePath }) => relativePath.startsWith(`${server.pid}/`)), false);
});

shared('a killed server leaves the old or the new content, and no temporary file', { timeout: 120_000 }, async (server) => {
	const file = path.join(server.cwd, 'file.txt');
	const contents = ['a', 'b'].map((letter) => letter.repeat(700_000));
	writeFileSync(file, contents[0]);
	const link = path.join(server.cwd, 'link');
	symlinkSync('file.txt', link);
	const rounds = times(4, 24);
	for (let round = 0; round < rounds; round++) {
		const writes = Array.from({ length: 6 }, (_, i) => ask(server, 'write', { path: i % 2 ? file : link, content: contents[(round + i) % 2] }).catch(() => {}));
		await pause(round / rounds * 72);
		await server.kill('SIGKILL');
		await Promise.all(writes);
		assert.ok(lstatSync(link).isSymbolicLink() && lstatSync(file).isFile());
		const now = readFileSync(file, 'utf8');
		assert.ok(contents.includes(now), `${now.length} bytes of ${now[0]}`);
		await server.start();
	}
	// Temporary files that a killed server has left are removed by a later write.
	await until('the removal of temporary files', async () => {
		await good(server, 'write', { path: file, content: 'end' });
		return readdirSync(server.cwd).every((name) => !name.startsWith('.ringside'));
	}, { timeout: 20_000, interval: 500 });
});

shared('twenty clients write one file while others read: contents are always complete', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const content = (i) => String.fromCharCode(97 + i).repeat(50_000 + i);
	await good(server, 'write', { path: 'shared', content: content(0) });
	const writing = Array.from({ length: 20 }, async (_, i) => {
		for (let n = 0; n < 4; n++) await good(server, 'write', { path: 'shared', content: content(i) });
	});
	const reading = Array.from({ length: 40 }, async () => {
		const { content: seen } = await good(server, 'read', { path: 'shared' });
		assert.equal(seen, content(seen.charCodeAt(0) - 97));
	});
	await Promise.all([...writing, ...reading]);
	assert.deepEqual(readdirSync(server.cwd), ['shared']);
});

scenario('trusted drivers may use files, of their session alone', { args: ['--drivers-may-all'] }, async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	await server.session({ id: 'other', cwd: server.cwd });
	const { token: driver } = await server.api.link('s', 'driver');
	const { token: viewer } = await server.api.link('s', 'viewer');
	await good(server, 'write', { path: 'mine', content: 'by the driver' }, driver);
	assert.equal((await good(server, 'read', { path: 'mine', sessionId: undefined }, driver)).content, 'by the driver', 'the session may be named or not');
	for (const sessionId of ['other', 'default', 'none', '__DISABLE_SESSION__'])
		await refused(server, 'read', { path: '/etc/passwd', sessionId }, 403, 'PERMISSION_DENIED', driver);
	await refused(server, 'read', { path: 'mine' }, 403, 'PERMISSION_DENIED', viewer);
	assert.deepEqual((await server.api.list()).data.sort(), ['other', 's']);
	await server.api.delete('s');
	await refused(server, 'read', { path: 'mine' }, 401, 'UNAUTHENTICATED', driver);
});

scenario('a sandbox has its own files and no others', { skip: noSandboxes || (inSandboxes && 'all tests run in sandboxes'), start: false, ordinary: true }, async (server) => {
	const bound = path.join(server.root, 'bound');
	const outside = path.join(server.root, 'secret');
	mkdirSync(bound);
	writeFileSync(outside, 'of the outside');
	await server.start({ args: ['--isolate', '--bind', bound] });
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	await good(server, 'write', { path: '/tmp/in the sandbox', content: 'of s' });
	assert.equal((await server.run('s', 'cat "/tmp/in the sandbox"; echo')).trim(), 'of s');
	assert.equal(existsSync('/tmp/in the sandbox'), false);
	await refused(server, 'read', { path: '/tmp/in the sandbox', sessionId: 'other' }, 404, 'FILE_NOT_FOUND');
	assert.equal((await good(server, 'exists', { path: outside })).exists, false);
	await good(server, 'write', { path: path.join(bound, 'shared'), content: 'let in' });
	assert.equal(readFileSync(path.join(bound, 'shared'), 'utf8'), 'let in');
	// Relative paths too, and across file systems of the sandbox.
	await good(server, 'write', { path: 'at home', content: 'home' });
	assert.equal((await server.run('s', 'cd; cat "at home"; echo')).trim(), 'home');
	await good(server, 'move', { sourcePath: 'at home', destinationPath: path.join(bound, 'moved') });
	assert.equal(readFileSync(path.join(bound, 'moved'), 'utf8'), 'home');
	assert.equal((await good(server, 'exists', { path: 'at home' })).exists, false);
	// Links to targets outside the sandbox.
	symlinkSync(outside, path.join(bound, 'out'));
	symlinkSync('../'.repeat(40) + outside.slice(1), path.join(bound, 'up'));
	symlinkSync(server.root, path.join(bound, 'dir'));
	for (const name of ['out', 'up', 'dir/secret', '../secret', `${'../'.repeat(40)}${outside.slice(1)}`]) {
		await refused(server, 'read', { path: `${bound}/${name}` }, 404, 'FILE_NOT_FOUND');
		assert.equal((await good(server, 'exists', { path: `${bound}/${name}` })).exists, false, name);
	}
	for (const each of ['/proc/self/root/etc/passwd', '/proc/1/root/etc/passwd', '/proc/1/cwd', '/proc/1/fd/3'])
		assert.notEqual((await ask(server, 'read', { path: each })).status, 200, each);
	await ask(server, 'write', { path: `${bound}/dir/planted`, content: 'x' }); // the sandbox may have a directory of that name
	assert.equal(existsSync(path.join(server.root, 'planted')), false);
	await refused(server, 'write', { path: '/etc/planted', content: 'x' }, 500, 'FILESYSTEM_ERROR');
	await refused(server, 'read', { path: '/etc/shadow' }, 500, 'FILESYSTEM_ERROR');
	await refused(server, 'read', { path: '/etc/passwd', sessionId: '__DISABLE_SESSION__' }, 400, 'VALIDATION_FAILED');
	assert.equal(readFileSync(outside, 'utf8'), 'of the outside');
	// Files are written through a directory that is repeatedly swapped with a link to the outside.
	mkdirSync(path.join(bound, 'swapped'));
	mkdirSync(path.join(server.root, 'prey'));
	for (const place of [path.join(bound, 'swapped'), path.join(server.root, 'prey')]) chmodSync(place, 0o777); // another user may run the server
	symlinkSync(path.join(server.root, 'prey'), path.join(bound, 'lure'));
	let over = false;
	const place = (from) => {
		for (;;)
			try {
				renameSync(path.join(bound, from), path.join(bound, 'swapped'));
				return;
			} catch (error) { // a write has created the directory in between
				assert.match(error.code, /EISDIR|ENOTEMPTY/);
				rmSync(path.join(bound, 'swapped'), { recursive: true });
			}
	};
	const swapping = (async () => {
		while (!over) {
			renameSync(path.join(bound, 'swapped'), path.join(bound, 'aside'));
			place('lure');
			await pause(0);
			renameSync(path.join(bound, 'swapped'), path.join(bound, 'lure'));
			place('aside');
			await pause(0);
		}
	})();
	let wrote = 0;
	for (let i = 0; i < times(50, 300); i++) wrote += (await ask(server, 'write', { path: `${bound}/swapped/f${i}`, content: 'x' })).status === 200;
	over = true;
	await swapping;
	assert.ok(wrote > 0);
	assert.deepEqual(readdirSync(path.join(server.root, 'prey')), [], 'no file has escaped');
});

const noUser = process.getuid() !== 0 ? 'only root may start what is another user\'s' : inSandboxes && 'root owns the sandboxes of these tests';

scenario("with a session user, files are accessed with that user's rights", { skip: noUser, start: false }, async (server) => {
	chmodSync(server.root, 0o755);
	const theirs = path.join(server.root, 'theirs');
	const ours = path.join(server.root, 'ours');
	mkdirSync(theirs);
	execFileSync('chown', ['daemon:', theirs]);
	mkdirSync(ours);
	writeFileSync(path.join(ours, 'secret'), 'of root', { mode: 0o600 });
	server.options.binary = openBinary();
	await server.start({ args: ['--session-user', 'daemon'] });
	await server.session({ id: 's', cwd: theirs });
	await good(server, 'write', { path: 'a/b', content: 'x' });
	for (const name of ['a', 'a/b']) assert.deepEqual([statSync(path.join(theirs, name)).uid, statSync(path.join(theirs, name)).gid], [1, 1]);
	for (const sessionId of ['s', '__DISABLE_SESSION__', undefined]) {
		await refused(server, 'read', { path: path.join(ours, 'secret'), sessionId }, 500, 'FILESYSTEM_ERROR');
		await refused(server, 'write', { path: path.join(ours, 'planted'), content: 'x', sessionId }, 500, 'FILESYSTEM_ERROR');
		await refused(server, 'write', { path: '/proc/sys/kernel/domainname', content: 'x', sessionId }, 500, 'FILESYSTEM_ERROR');
		await refused(server, 'read', { path: path.join(server.dir, 'token'), sessionId }, 500, 'FILESYSTEM_ERROR');
		await refused(server, 'list-files', { path: server.dir, sessionId }, 500, 'FILESYSTEM_ERROR');
	}
	const { entries } = await good(server, 'stat', { paths: [path.join(ours, 'secret'), 'a/b', '~/.', path.join(server.dir, 'token')] });
	assert.deepEqual(entries.map((entry) => entry && [entry.type, entry.readable]), [['file', false], ['file', true], ['directory', true], ['file', false]]);
	await refused(server, 'delete', { path: path.join(ours, 'secret') }, 500, 'FILESYSTEM_ERROR');
	// The user can neither signal nor inspect the threads that run as this user.
	const threads = readdirSync(`/proc/${server.pid}/task`).filter((tid) => /^Uid:\t0\t1\t0\t1$/m.test(readFileSync(`/proc/${server.pid}/task/${tid}/status`, 'utf8')));
	assert.ok(threads.length > 0);
	for (const tid of threads)
		assert.equal((await server.run('s', `python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(234, ${server.pid}, ${tid}, 0))'`)).trim(), '-1');
	assert.equal((await good(server, 'exists', { path: 'a/b' })).exists, true);
});

shared('moving across file systems keeps owner, mode, times and trees', { skip: inSandboxes && 'the sandbox has other file systems' }, async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const other = `/dev/shm/rs-files-${process.pid}`;
	mkdirSync(other);
	try {
		if (statSync(other).dev === statSync(server.cwd).dev) return;
		const tree = path.join(other, 'tree');
		mkdirSync(path.join(tree, 'deep'), { recursive: true });
		writeFileSync(path.join(tree, 'deep/file'), 'x'.repeat(600_000));
		symlinkSync('file', path.join(tree, 'deep/link'));
		execFileSync('mkfifo', [path.join(tree, 'fifo')]);
		execFileSync('touch', ['-d', '2001-02-03T04:05:06Z', path.join(tree, 'deep/file')]);
		chmodSync(path.join(tree, 'deep/file'), 0o604);
		await good(server, 'move', { sourcePath: tree, destinationPath: 'arrived' });
		const at = (name) => path.join(server.cwd, 'arrived', name);
		assert.equal(existsSync(tree), false);
		const { mode, mtimeMs, size } = statSync(at('deep/file'));
		assert.deepEqual([mode & 0o777, mtimeMs, size], [0o604, Date.parse('2001-02-03T04:05:06Z'), 600_000]);
		assert.equal(readlinkSync(at('deep/link')), 'file');
		assert.ok(statSync(at('fifo')).isFIFO());
		assert.deepEqual(readdirSync(server.cwd), ['arrived']);
	} finally {
		execFileSync('rm', ['-rf', other]);
	}
});

/** Run python3 code on files, to set and read extended attributes and access control lists. */
const attributes = (code, ...names) => execFileSync('python3', ['-c', `import os, sys\n${code}`, ...names], { encoding: 'utf8' });
shared('extended attributes and access control lists are kept', async (server, t) => {
	// A file system in memory has no user attributes before Linux 6.6.
	const folder = mkdtempSync('/var/tmp/rs-files-');
	t.after(() => rmSync(folder, { recursive: true }));
	await server.session({ id: 's', cwd: folder });
	const at = (name) => path.join(folder, name);
	writeFileSync(at('file'), 'old');
	mkdirSync(at('listed'));
	writeFileSync(at('listed/plain'), 'old');
	// user::rw- user:1234:rw- group::r-- mask::rw- other::---: version 2, then entries of tag, permissions and id.
	const set = `import struct
entries = lambda: b''.join(struct.pack('<HHI', *e) for e in [(1, 6, 2**32 - 1), (2, 6, 1234), (4, 4, 2**32 - 1), (16, 6, 2**32 - 1), (32, 0, 2**32 - 1)])
acl = struct.pack('<I', 2) + entries()
try:
  os.setxattr(sys.argv[1], 'user.origin', b'there')
  os.setxattr(sys.argv[1], 'system.posix_acl_access', acl)
  os.setxattr(sys.argv[2], 'system.posix_acl_default', acl)
except OSError: print('none')`;
	if (attributes(set, at('file'), at('listed')) !== '') {
		t.skip('this file system does not support it');
		return;
	}
	const shown = (name) => attributes('print({n: os.getxattr(sys.argv[1], n) for n in sorted(os.listxattr(sys.argv[1]))}, oct(os.stat(sys.argv[1]).st_mode))', at(name));
	for (const name of ['file', 'listed/plain']) {
		const before = shown(name);
		await good(server, 'write', { path: name, content: 'new' });
		assert.equal(readFileSync(at(name), 'utf8'), 'new');
		assert.equal(shown(name), before);
	}
	assert.match(shown('file'), /system.posix_acl_access.*user.origin.*there/);
	assert.match(shown('listed/plain'), /^\{\}/, 'a file without a list gets none');
});
