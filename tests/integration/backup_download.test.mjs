// Archives that are downloaded from a store, also from one that misbehaves.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { times } from './lib/soak.mjs';
import { EventStream } from './lib/sse.mjs';
import { answer, archiveOf, SIGNATURE, stored } from './lib/stored.mjs';
import { until } from './lib/until.mjs';

function kept(store, size) {
	const bytes = randomBytes(size);
	store.objects.set('bucket/key', { bytes, meta: {}, modified: new Date() });
	return bytes;
}
const address = (store) => `${store.origin}/bucket/key?${SIGNATURE}`;
/** Ranges of `size` bytes; the last one is shorter. */
const cut = (store, total, size) => Array.from({ length: Math.ceil(total / size) }, (_, i) => ({
	url: address(store), offset: i * size, range: `bytes=${i * size}-${Math.min(total, (i + 1) * size) - 1}`,
}));
const download = (server, body) => server.api.raw('POST', '/api/backup/download', body);
const nothingLeft = (server) => assert.deepEqual(readdirSync(path.dirname(archiveOf(server))).filter((name) => name !== 'a.sqsh'), []);

stored('the ranges of a large archive are complete, in any order', undefined, async (server, store) => {
	const bytes = kept(store, (times(2, 9) << 20) + 12345), archivePath = archiveOf(server);
	const { status, json, text } = await download(server, { archivePath, expectedSize: bytes.length, parts: cut(store, bytes.length, 100_000).reverse() });
	assert.deepEqual([status, json.sizeBytes], [200, bytes.length], text);
	assert.ok(bytes.equals(readFileSync(archivePath)));
	assert.equal(statSync(archivePath).mode & 0o777, 0o600);
	assert.ok(store.most > 1 && store.most <= 16, `${store.most} at once`);
	for (const { method, headers } of store.requests) assert.deepEqual([method, headers.authorization], ['GET', undefined]);
	// Replaces the archive that is there.
	const other = kept(store, 1234);
	assert.equal((await download(server, { archivePath, expectedSize: other.length, parts: [{ url: address(store), offset: 0 }], timeoutMs: 1_810_000 })).status, 200);
	assert.ok(other.equals(readFileSync(archivePath)));
	nothingLeft(server);
});

stored('failed ranges are tried again, each from its start', (request, count, response) => {
	const first = Number(/bytes=(\d+)/.exec(request.headers.range)[1]), n = first / 600_000;
	tries[n] = (tries[n] ?? 0) + 1;
	if (n === 0 && tries[n] < 3) return answer(response, 500);
	if (n === 1 && tries[n] === 1) return request.socket.destroy() && true;
	if (n === 2 && tries[n] === 1) return answer(response, 429);
	if (n === 3 && tries[n] < 3) { // in the middle of the range
		response.writeHead(206, { 'Content-Length': 600_000, 'Content-Range': `bytes ${first}-${first + 599_999}/3000000` });
		response.write(randomBytes(100_000), () => request.socket.destroy());
		return true;
	}
	return false;
}, async (server, store) => {
	tries = [];
	const bytes = kept(store, 3_000_000), archivePath = archiveOf(server);
	const { status, text } = await download(server, { archivePath, expectedSize: bytes.length, parts: cut(store, bytes.length, 600_000) });
	assert.equal(status, 200, text);
	assert.ok(bytes.equals(readFileSync(archivePath)));
	assert.deepEqual(tries, [3, 2, 2, 3, 1]);
});
let tries = [];

const failures = {
	'a store that always fails': [(request, count, response) => answer(response, 503), /answered 503/, 3],
	'a missing object': [(request, count, response) => answer(response, 404, '<Error><Code>NoSuchKey</Code></Error>'), /answered 404 NoSuchKey$/, 1],
	'a redirect': [(request, count, response) => answer(response, 302, '', { Location: `https://${request.headers.host}/elsewhere` }), /answered 302/, 1],
	'one that ignores the range': [(request, count, response) => answer(response, 200, 'x'.repeat(1000)), /ignored the requested range/, 1],
	'one that sends another range': [(request, count, response) => answer(response, 206, 'x'.repeat(1000), { 'Content-Range': 'bytes 1-1000/2000' }), /another range than the requested one/, 1],
	'one that does not name the range': [(request, count, response) => answer(response, 206, 'x'.repeat(1000)), /another range than the requested one/, 1],
	'one that sends more': [(request, count, response) => answer(response, 206, 'x'.repeat(1001), { 'Content-Range': 'bytes 0-999/2000' }), /more bytes than the part has/, 1],
	'one that sends less': [(request, count, response) => answer(response, 206, 'x'.repeat(999), { 'Content-Range': 'bytes 0-999/2000' }), /fewer bytes than the part has/, 1],
	'one that closes the connection': [(request) => { request.socket.destroy(); return true; }, /could not be downloaded/, 3],
};
for (const [name, [misbehave, why, count]] of Object.entries(failures))
	stored(`${name}: the old archive is unchanged`, misbehave, async (server, store) => {
		const archivePath = archiveOf(server);
		mkdirSync(path.dirname(archivePath));
		writeFileSync(archivePath, 'as it was');
		const { status, json, text } = await download(server, { archivePath, expectedSize: 1000, parts: cut(store, 1000, 1000) });
		assert.deepEqual([status, json.code, json.context.operation, json.context.archivePath, json.context.partNumber],
			[500, 'BACKUP_RESTORE_FAILED', 'backup.download', archivePath, 1], text);
		assert.match(json.message, why);
		assert.ok(!text.includes('5ec7e7'), text);
		assert.equal(store.requests.length, count);
		assert.equal(readFileSync(archivePath, 'utf8'), 'as it was');
		nothingLeft(server);
	});

stored('a download has a time limit, and a stream reports progress', (request) => /=0-/.test(request.headers.range) && request.pause() && true, async (server, store) => {
	const bytes = kept(store, 200_000), archivePath = archiveOf(server);
	const body = { archivePath, expectedSize: bytes.length, parts: cut(store, bytes.length, 100_000), timeoutMs: 4000 };
	const stream = new EventStream(server, '/api/backup/download', { method: 'POST', body, headers: { Accept: 'text/event-stream' } });
	await stream.until('progress', (e) => e.type === 'progress' && e.bytes === 100_000 && e.totalBytes === 200_000);
	const end = await stream.until('the end of the download', (e) => e.type === 'error');
	assert.match(end.error, /could not be downloaded: The transfer timed out$/);
	assert.ok(!existsSync(archivePath));
	const stop = new AbortController();
	const pending = fetch(`${server.base}/api/backup/download`, {
		method: 'POST', body: JSON.stringify({ ...body, timeoutMs: undefined }), signal: stop.signal, headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
	}).catch(() => {});
	await until('the first two requests', () => store.requests.filter(({ headers }) => /=0-/.test(headers.range)).length === 2);
	stop.abort();
	await pending;
	await until('the cancellation in the log', () => /downloaded.*error="The transfer was cancelled"/.test(server.stderr));
});

stored('other requests are refused, and nothing else is written', undefined, async (server, store) => {
	const archivePath = archiveOf(server), expectedSize = 1000, part = cut(store, 1000, 1000)[0];
	kept(store, 1000);
	const wrong = [
		[{ expectedSize, parts: [part] }, 'archivePath'], [{ archivePath: '/etc/passwd', expectedSize, parts: [part] }, 'archivePath'],
		[{ archivePath: '/var/backups/../../etc/passwd', expectedSize, parts: [part] }, 'archivePath'],
		...[undefined, 0, -1, 1.5, '1', 256 * 2 ** 30 + 1].map((size) => [{ archivePath, expectedSize: size, parts: [part] }, 'expectedSize']),
		...[0, -1, 1.5, '1', 86_400_001].map((timeoutMs) => [{ archivePath, expectedSize, parts: [part], timeoutMs }, 'timeoutMs']),
		...[undefined, [], {}, Array(1001).fill(part), [part, part], [null], [{}]].map((parts) => [{ archivePath, expectedSize, parts }, 'parts']),
		...[{ offset: 1 }, { offset: -1 }, { offset: null }, { range: 'bytes=0-998' }, { range: 'bytes=0-1000' }, { range: 'bytes=1-1000' }, { range: 'bytes=0-' }, { range: 'bytes=-1000' }, { range: '0-999' },
			{ range: 'bytes=0-999,0-1' }, { range: 'bytes=9-1' }, { range: 'bytes=0-18446744073709551615' }, { range: 5 }, { url: part.url.replace('//', '//user:secret@') }, { url: undefined }].map((each) => [{ archivePath, expectedSize, parts: [{ ...part, ...each }] }, 'parts']),
	];
	for (const [body, field] of wrong) {
		const { status, json, text } = await download(server, body);
		assert.deepEqual([status, json.code, json.context.validationErrors[0].field], [400, 'INVALID_BACKUP_CONFIG', field], `${JSON.stringify(body).slice(0, 200)}: ${text}`);
		assert.ok(!text.includes('5ec7e7') && !text.includes('secret'));
	}
	const refused = await download(server, { archivePath, expectedSize, parts: [{ ...part, url: 'https://169.254.169.254/latest' }] });
	assert.deepEqual([refused.status, refused.json.code], [500, 'BACKUP_RESTORE_FAILED']);
	assert.match(refused.json.message, /address is refused/);
	assert.deepEqual(store.requests, []);
	// The workspace is not trusted: its links must not lead out of it.
	const elsewhere = path.join(path.dirname(server.cwd), `${path.basename(server.cwd)}-elsewhere`);
	mkdirSync(path.dirname(archivePath), { recursive: true });
	symlinkSync(elsewhere, path.join(path.dirname(archivePath), 'out'));
	symlinkSync(elsewhere, `${archivePath}.link`);
	for (const name of ['out/a.sqsh', 'a.sqsh.link']) {
		const { status, json } = await download(server, { archivePath: path.join(path.dirname(archivePath), name), expectedSize, parts: [part] });
		assert.deepEqual([status, json.code, existsSync(elsewhere)], [500, 'BACKUP_RESTORE_FAILED', false], name);
	}
});

stored('a whole archive is downloaded from one address', undefined, async (server, store) => {
	const bytes = randomBytes(500_000), archivePath = archiveOf(server), url = address(store);
	const send = (body) => server.api.raw('POST', '/api/backup/upload', { archivePath, url, ...body });
	assert.match((await send()).json.message, /archive does not exist/);
	mkdirSync(path.dirname(archivePath), { recursive: true });
	for (const content of [bytes, Buffer.alloc(0)]) {
		writeFileSync(archivePath, content);
		const { status, json, text } = await send({ timeoutMs: 1_810_000 });
		assert.deepEqual([status, json.sizeBytes], [200, content.length], text);
		assert.match(json.etag, /^"[0-9a-f]{32}"$/);
		assert.ok(content.equals(store.objects.get('bucket/key').bytes));
	}
	// A store that does not send an ETag still works.
	store.misbehave = async (request, count, response) => {
		for await (const chunk of request) void chunk;
		return answer(response, 200);
	};
	assert.equal((await send()).status, 200);
	for (const body of [{ url: undefined }, { url: 'http://localhost/' }, { url: 5 }, { timeoutMs: 0 }]) assert.equal((await send(body)).json.code, 'INVALID_BACKUP_CONFIG');
});
