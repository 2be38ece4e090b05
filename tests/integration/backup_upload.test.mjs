// Archives that are uploaded to a store in parts, also to one that misbehaves.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { everyTransport } from '../sandbox/local.mjs';
import * as certificate from './lib/certificate.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { EventStream } from './lib/sse.mjs';
import { Store } from './lib/store.mjs';
import { answer, archiveOf, SIGNATURE, stored } from './lib/stored.mjs';
import { until } from './lib/until.mjs';

function archived(server, size) {
	const bytes = randomBytes(size), archivePath = archiveOf(server);
	mkdirSync(path.dirname(archivePath), { recursive: true });
	writeFileSync(archivePath, bytes);
	return { bytes, archivePath };
}
const address = (store, n) => `${store.origin}/bucket/key?partNumber=${n}&uploadId=u&${SIGNATURE}`;
/** Parts of `size` bytes; the last one is shorter. */
const cut = (store, total, size) => Array.from({ length: Math.ceil(total / size) }, (_, i) => ({
	partNumber: i + 1, url: address(store, i + 1), offset: i * size, size: Math.min(size, total - i * size),
}));
const upload = (server, body) => server.api.raw('POST', '/api/backup/upload-parts', body);
/** Read the request, then respond. */
const after = async (request, reply) => {
	for await (const chunk of request) void chunk;
	return reply();
};

stored('the parts of a large archive arrive unchanged, in any order', undefined, async (server, store) => {
	const { bytes, archivePath } = archived(server, (times(2, 9) << 20) + 12345), parts = cut(store, bytes.length, 100_000);
	const { status, json, text } = await upload(server, { archivePath, parts: [...parts].reverse() });
	assert.equal(status, 200, text);
	assert.ok(json.success);
	assert.deepEqual(json.parts.map((part) => part.partNumber), parts.map((part) => part.partNumber));
	assert.ok(bytes.equals(Buffer.concat(parts.map((part) => store.parts.get(part.partNumber)))));
	for (const part of json.parts) assert.match(part.etag, /^"[0-9a-f]{32}"$/);
	for (const { method, headers } of store.requests) assert.deepEqual([method, headers['content-type'], headers.authorization], ['PUT', 'application/octet-stream', undefined]);
	assert.ok(store.most > 1 && store.most <= 16, `${store.most} at once`);
});

for (const [transport, make] of Object.entries(everyTransport))
	stored(`the published client saves and uploads, over ${transport}`, undefined, async (server, store) => {
		const client = make(server), dir = path.join(server.cwd, 'project'), archivePath = archiveOf(server);
		mkdirSync(dir);
		writeFileSync(path.join(dir, 'file'), randomBytes(300_000));
		const made = await client.backup.createArchive(dir, archivePath, 's', {});
		const sent = await client.backup.uploadParts({ archivePath, parts: cut(store, made.sizeBytes, 131_072) });
		assert.deepEqual([sent.success, sent.parts.length], [true, Math.ceil(made.sizeBytes / 131_072)]);
		client.disconnect();
	});

stored('failed parts are tried again', (request, count, response) => {
	const n = Number(/partNumber=(\d+)/.exec(request.url)[1]);
	if (n === 1 && count < 3) return after(request, () => answer(response, 500));
	if (n === 2 && count === 1) return request.socket.destroy() && true;
	if (n === 3 && count === 1) return after(request, () => answer(response, 429));
	if (n === 4 && count < 3) { // in the middle of the part
		request.once('data', () => request.socket.destroy());
		return true;
	}
	return false;
}, async (server, store) => {
	const { bytes, archivePath } = archived(server, 3_000_000), parts = cut(store, bytes.length, 600_000);
	const { status, json, text } = await upload(server, { archivePath, parts });
	assert.equal(status, 200, text);
	assert.equal(json.parts.length, 5);
	assert.ok(bytes.equals(Buffer.concat(parts.map((part) => store.parts.get(part.partNumber)))));
});

const failures = {
	'a store that always fails': [(request, count, response) => after(request, () => answer(response, 503)), 3, /answered 503/],
	'one that refuses': [(request, count, response) => after(request, () => answer(response, 403, `<Error><Code>SignatureDoesNotMatch</Code><StringToSign>${SIGNATURE}</StringToSign></Error>`)), 1, /answered 403 SignatureDoesNotMatch$/],
	'an error without a name': [(request, count, response) => after(request, () => answer(response, 400, '<Code>\u001b[31m</Code>')), 1, /answered 400$/],
	'one that sends no ETag': [(request, count, response) => after(request, () => answer(response, 200)), 1, /no ETag/],
	'an invalid ETag': [(request, count, response) => after(request, () => answer(response, 200, '', { ETag: 'x'.repeat(300) })), 1, /no ETag/],
	'a redirect': [(request, count, response) => after(request, () => answer(response, 307, '', { Location: `${request.headers.host}/elsewhere` })), 1, /answered 307/],
	'an endless response': [(request, count, response) => after(request, () => {
		response.writeHead(200, { ETag: '"x"' });
		const more = () => { while (response.write('x'.repeat(65536))); };
		response.on('drain', more);
		more();
		return true;
	}), 1, /could not be uploaded/],
	'a response before the whole body': [(request, count, response) => {
		answer(response, 200, '', { ETag: '"x"', Connection: 'close' });
		return true;
	}, undefined, /before it received the whole part|could not be uploaded/],
	'one that closes the connection': [(request) => { request.socket.destroy(); return true; }, 3, /could not be uploaded/],
};
for (const [name, [misbehave, tries, why]] of Object.entries(failures))
	stored(`${name}: the upload fails`, misbehave, async (server, store) => {
		const { bytes, archivePath } = archived(server, 4_000_000);
		const { status, json, text } = await upload(server, { archivePath, parts: cut(store, bytes.length, bytes.length) });
		assert.deepEqual([status, json.code, json.context.operation, json.context.archivePath, json.context.partNumber],
			[500, 'BACKUP_CREATE_FAILED', 'backup.upload', archivePath, 1], text);
		assert.match(json.message, why);
		assert.ok(!text.includes('5ec7e7') && !text.includes('partNumber='), text);
		if (tries) assert.equal(store.requests.length, tries);
	});

stored('one failed part ends the upload', (request, count, response) =>
	/partNumber=3&/.test(request.url) && after(request, () => answer(response, 404)), async (server, store) => {
	const { bytes, archivePath } = archived(server, 500_000);
	const { json } = await upload(server, { archivePath, parts: cut(store, bytes.length, 100_000) });
	assert.deepEqual([json.code, json.context.partNumber, json.context.status], ['BACKUP_CREATE_FAILED', 3, 404]);
});

stored('a client that disconnects cancels its upload and frees its slot', (request) => { request.pause(); return true; }, async (server, store) => {
	const { bytes, archivePath } = archived(server, 20_000_000);
	const body = JSON.stringify({ archivePath, parts: cut(store, bytes.length, bytes.length) });
	const ask = () => {
		const request = http.request(`${server.base}/api/backup/upload-parts`, { method: 'POST', headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' } });
		request.on('error', () => {}).end(body);
		return request;
	};
	const asked = [ask(), ask(), ask(), ask()];
	await until('four requests', () => store.requests.length === 4);
	const { status, json } = await upload(server, JSON.parse(body));
	assert.deepEqual([status, json.code], [429, 'LIMIT_REACHED']);
	asked[0].destroy();
	await until('the cancellation in the log', () => /uploaded.*error="The transfer was cancelled"/.test(server.stderr));
	store.misbehave = () => false;
	assert.equal((await upload(server, JSON.parse(body))).status, 200);
	for (const each of asked) each.destroy();
	await until('four cancellations in the log', () => server.stderr.split('The transfer was cancelled').length === 5);
});

stored('as a stream: progress, and the end', async (request, count) => {
	if (!/partNumber=2&/.test(request.url)) return false;
	await new Promise((resolve) => { release = resolve; });
	return count < 0;
}, async (server, store) => {
	const { bytes, archivePath } = archived(server, 200_000);
	const body = { archivePath, parts: cut(store, bytes.length, 100_000) };
	const stream = new EventStream(server, '/api/backup/upload-parts', { method: 'POST', body, headers: { Accept: 'text/event-stream' } });
	await stream.until('progress', (e) => e.type === 'progress' && e.bytes >= 100_000 && e.totalBytes === 200_000);
	release();
	const end = await stream.until('the end of the upload', (e) => e.type === 'complete');
	assert.deepEqual([stream.events[0].type, stream.events[0].parts, end.parts.length], ['start', 2, 2]);
});
let release;

stored('other requests are refused', undefined, async (server, store) => {
	const { bytes, archivePath } = archived(server, 1000), part = cut(store, bytes.length, 1000)[0];
	const wrong = [
		[{ parts: [part] }, 'archivePath'], [{ archivePath: '/etc/passwd', parts: [part] }, 'archivePath'],
		[{ archivePath: '/var/backups/../../etc/passwd', parts: [part] }, 'archivePath'],
		...[undefined, [], {}, 'x', Array(1001).fill(part), [part, part], [null], [[]], [{}]].map((parts) => [{ archivePath, parts }, 'parts']),
		...[{ partNumber: 0 }, { partNumber: 10_001 }, { partNumber: 1.5 }, { partNumber: '1' }, { offset: -1 }, { offset: null }, { size: 0 }, { size: 5 * 2 ** 30 + 1 },
			{ url: '' }, { url: 7 }, { url: part.url.replace('//', '//user:secret@') }, { url: `${part.url}\r\nHost: x` }, { url: `${part.url}\0x` }].map((each) => [{ archivePath, parts: [{ ...part, ...each }] }, 'parts']),
	];
	for (const [body, field] of wrong) {
		const { status, json, text } = await upload(server, body);
		assert.deepEqual([status, json.code, json.context.validationErrors[0].field], [400, 'INVALID_BACKUP_CONFIG', field], `${JSON.stringify(body).slice(0, 200)}: ${text}`);
		assert.ok(!text.includes('5ec7e7') && !text.includes('secret'));
	}
	for (const host of ['169.254.169.254', '[::ffff:169.254.169.254]', '2852039166', '0xa9.0xfe.0xa9.0xfe']) {
		const { status, json } = await upload(server, { archivePath, parts: [{ ...part, url: `https://${host}/latest` }] });
		assert.deepEqual([status, json.code], [500, 'BACKUP_CREATE_FAILED'], host);
		assert.match(json.message, /address is refused/, host);
	}
	for (const [body, why] of [
		[{ archivePath: `${archivePath}.none`, parts: [part] }, /archive does not exist/],
		[{ archivePath, parts: [{ ...part, size: 1001 }] }, /exceeds the end of the archive/],
		[{ archivePath, parts: [{ ...part, offset: 2 ** 62 }] }, /exceeds the end of the archive/],
	]) {
		const { status, json } = await upload(server, body);
		assert.equal(status, 500);
		assert.match(json.message, why);
	}
	// The workspace is not trusted: its links must not lead out of it.
	symlinkSync('/etc/passwd', `${archivePath}.link`);
	const { json } = await upload(server, { archivePath: `${archivePath}.link`, parts: [{ ...part, size: 1 }] });
	assert.match(json.message, /cannot be opened/);
	assert.deepEqual(store.requests, []);
	assert.ok(existsSync(archivePath));
});

scenario('nothing is sent to a store whose certificate is not trusted', {}, async (server) => {
	const store = await new Store({ certificate }).open();
	const { bytes, archivePath } = archived(server, 1000);
	const { status, json } = await upload(server, { archivePath, parts: cut(store, bytes.length, 1000) });
	assert.equal(status, 500);
	assert.match(json.message, /certificate/i);
	assert.deepEqual(store.requests, []);
	await store.close();
});

stored('the server ends during an upload', (request) => { request.pause(); return true; }, async (server, store) => {
	const { bytes, archivePath } = archived(server, 20_000_000);
	const pending = upload(server, { archivePath, parts: cut(store, bytes.length, bytes.length) }).catch((error) => error);
	await until('the request', () => store.requests.length === 1);
	const since = Date.now();
	await server.kill('SIGTERM');
	assert.ok(Date.now() - since < 15_000);
	await pending;
	await server.start();
});
