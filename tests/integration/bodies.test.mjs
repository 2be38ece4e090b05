// Bodies of any length, both ways: through the real border, to handlers that only receive and send
// (lib/bodies_driver.c).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { driver, given, seen, settled, sha } from './lib/bodies.mjs';
import { ca, secure } from './lib/certificate.mjs';
import { ask, Pipe } from './lib/pipe.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { pause, stays, until, within } from './lib/until.mjs';

const unixSocket = path.join(os.tmpdir(), `rs-bodies-${process.pid}.sock`);
const MiB = 1 << 20;

const group = (options) => together({ ...options, binary: driver }, { bare: true });
const bodies = group({ listen: ['127.0.0.1:0', `unix:${unixSocket}`] });
const overTls = group(secure);
const impatient = group({ args: ['--header-timeout', '1'] });
const paused = group({}); // its bodies outlive their clients

/** Send one request with a body by node's own client. way: { secure, socketPath }. body: pieces; chunked unless length is given. */
function put(server, target, pieces, { length, way = {} } = {}) {
	return within(`an answer to ${target}`, new Promise((resolve, reject) => {
		const options = { method: 'PUT', agent: false, path: target, ca, ...(way.socketPath ? { socketPath: way.socketPath } : { host: '127.0.0.1', port: server.port }),
			headers: { Authorization: `Bearer ${server.token}`, Host: server.host ?? 'localhost', ...(length === undefined ? {} : { 'Content-Length': length }) } };
		const request = (way.secure ? https : http).request(options, (answer) => {
			let text = '';
			answer.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', () => resolve({ status: answer.statusCode, json: JSON.parse(text) }));
		});
		request.on('error', reject);
		(async () => {
			for (const piece of pieces) if (!request.write(piece)) await new Promise((drained) => { request.once('drain', drained); });
			request.end();
		})();
	}), 40_000);
}

const pieces = [randomBytes(1), randomBytes(100_000), randomBytes(7), randomBytes(times(400_000, 3 * MiB)), randomBytes(65_536), randomBytes(2)];
const whole = Buffer.concat(pieces);

for (const [way, which, of] of [
	['TCP', bodies, () => ({})],
	['TLS', overTls, () => ({ secure: true })],
	['a unix socket', bodies, () => ({ socketPath: unixSocket })],
]) {
	which(`uploads by ${way}`, async (server) => {
		const before = await seen(server);
		for (const query of ['', '?pause=1', '?later=100', '?later=50&pause=1']) {
			for (const length of [undefined, whole.length]) {
				const { status, json } = await put(server, `/test/take${query}`, pieces, { length, way: of() });
				assert.equal(status, 200);
				assert.deepEqual([json.bytes, json.sha256], [whole.length, sha(whole)], `${query} ${length}`);
				assert.ok(json.largest <= 65_536, `${json.largest} at once`);
			}
		}
		for (const length of [undefined, 0]) {
			const { json } = await put(server, '/test/take', [], { length, way: of() });
			assert.deepEqual([json.bytes, json.sha256], [0, sha('')]);
		}
		const { broken, completed } = await seen(server);
		assert.deepEqual([broken - before.broken, completed - before.completed], [0, 10]);
		await settled(server);
	});

	which(`downloads by ${way}`, async (server) => {
		const connection = { secure: of().secure, socketPath: of().socketPath };
		for (const length of [0, 1, 65_536, 65_537, times(300_005, 3 * MiB + 5)]) {
			const want = sha(given(length).toString('latin1'));
			for (const query of ['', '&unknown=1', '&pause=1', '&unknown=1&pause=1']) {
				const target = `/test/give?length=${length}${query}`;
				const pipe = new LatinPipe(server, connection).send(ask(server, 'GET', target) + ask(server, 'GET', '/test/seen'));
				const [answer, next] = await pipe.take(2, { timeout: 30_000 });
				assert.equal(answer.status, 200);
				assert.equal(answer.headers['content-length'], /unknown/.test(query) ? undefined : String(length));
				assert.equal(answer.headers['transfer-encoding'], /unknown/.test(query) ? 'chunked' : undefined);
				assert.equal(sha(answer.text), want, target);
				assert.equal(next.json.success, true);
				pipe.socket.destroy();
				const old = new LatinPipe(server, connection).send(ask(server, 'GET', target, { version: '1.0' }));
				assert.equal(sha((await old.take(1, { timeout: 30_000 }))[0].text), want, `${target} by HTTP/1.0`);
				await old.end();
			}
		}
		const before = (await seen(server)).given;
		for (const query of ['', '&unknown=1']) {
			const pipe = new LatinPipe(server, connection);
			pipe.methods = ['HEAD'];
			const [head, next] = await pipe.send(ask(server, 'HEAD', `/test/give?length=77${query}`) + ask(server, 'GET', '/test/seen')).take(2);
			assert.equal(head.headers['content-length'], query ? undefined : '77');
			assert.equal(next.json.success, true);
		}
		assert.equal((await seen(server)).given, before);
		await settled(server);
	});
}

/** How the response to a request ends, by read() itself: node reports a reset as an end if there are still bytes to read. */
async function endOf(server, request) {
	const { stdout } = await promisify(execFile)('python3', ['-c', `
import errno, socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(sys.argv[2].encode())
try:
	while s.recv(65536): pass
	print("an end", end="")
except OSError as e:
	print(errno.errorcode[e.errno], end="")`, String(server.port), request], { timeout: 30_000 });
	return stdout;
}

class LatinPipe extends Pipe {
	constructor(server, options) {
		super(server, { ...options, encoding: 'latin1' });
	}
}

paused('a paused handler receives no more, and other requests are served', async (server) => {
	const pipe = new Pipe(server).send(ask(server, 'PUT', '/test/take?pause=3600000', { headers: { 'Content-Length': 1 << 30 } }));
	const filler = Buffer.alloc(MiB);
	let sent = 0, full = false;
	while (!full) {
		full = await Promise.race([new Promise((resolve) => { pipe.socket.write(filler, () => resolve(false)); }), pause(1500).then(() => true)]);
		if (!full) sent += 1;
		assert.ok(sent < 64, 'there is no back pressure');
	}
	const { taken, pieces: count } = await seen(server);
	assert.ok(taken <= 65_536 && count === 1, `${taken} bytes in ${count} pieces`);
	await stays('the same amount', async () => (await seen(server)).taken === taken);
	pipe.socket.destroy();
});

bodies('100 Continue is sent when the handler starts to receive', async (server) => {
	const pipe = new Pipe(server).send(ask(server, 'PUT', '/test/take?later=300', { headers: { 'Content-Length': 5, Expect: '100-continue' } }));
	await stays('nothing yet', () => pipe.informed === 0, 150);
	await until('100 Continue', () => pipe.informed === 1);
	const [answer] = await pipe.send('hello').take(1);
	assert.equal(answer.json.bytes, 5);
});

bodies('the rest of an answered request is not read', async (server) => {
	const { broken } = await seen(server);
	for (const head of [{ 'Content-Length': 1 << 30 }, { 'Transfer-Encoding': 'chunked' }]) {
		const before = (await seen(server)).taken;
		const pipe = new Pipe(server).send(ask(server, 'PUT', '/test/take?answer=1', { headers: head }));
		pipe.send(head['Content-Length'] ? 'x'.repeat(100_000) : `10000\r\n${'x'.repeat(65_536)}\r\n`);
		const [answer] = await pipe.take(1);
		assert.equal(answer.json.code, 'NO_SPACE');
		assert.equal(answer.headers.connection, 'close');
		pipe.send(`GET /test/seen HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
		await pipe.end();
		assert.equal(pipe.answers.length, 1);
		assert.ok((await seen(server)).taken - before <= 65_536);
	}
	assert.equal((await seen(server)).broken, broken);
	await settled(server);
});

bodies('limits of a route', async (server) => {
	const most = Buffer.alloc(1_000_000, 'm');
	for (const length of [undefined, most.length]) assert.equal((await put(server, '/test/bounded', [most], { length })).json.bytes, most.length);
	const announced = new Pipe(server).send(ask(server, 'PUT', '/test/bounded', { headers: { 'Content-Length': most.length + 1 } }));
	assert.equal((await announced.take(1))[0].status, 413);
	const before = await seen(server);
	const chunked = new Pipe(server).send(`${ask(server, 'PUT', '/test/bounded', { headers: { 'Transfer-Encoding': 'chunked' } })}f4241\r\n${most}x\r\n0\r\n\r\n`);
	assert.equal((await chunked.take(1))[0].json.code, 'REQUEST_TOO_LARGE');
	await chunked.end();
	const after = await seen(server);
	assert.deepEqual([after.broken - before.broken, after.why], [1, 3]);
	for (const [token, status] of [[null, 401], ['wrong'.repeat(8), 401]]) {
		const pipe = new Pipe(server).send(ask(server, 'PUT', '/test/take', { token, headers: { 'Content-Length': 1 << 30 } }));
		assert.equal((await pipe.take(1))[0].status, status);
	}
	assert.equal((await seen(server)).taken, after.taken);
	await settled(server);
});

impatient('clients that disconnect, break off or stall', async (server) => {
	const known = ask(server, 'PUT', '/test/take', { headers: { 'Content-Length': 100_000 } });
	const chunked = ask(server, 'PUT', '/test/take', { headers: { 'Transfer-Encoding': 'chunked' } });
	const ends = async (why, act, options = {}) => {
		const { broken } = await seen(server);
		const pipe = new Pipe(server).send(options.text ?? `${known}${'x'.repeat(10)}`);
		await until('bytes', async () => (await seen(server)).taken > (options.taken ?? 0));
		act?.(pipe);
		await until(`the end of the body: ${why}`, async () => (await seen(server)).broken === broken + 1, { timeout: 20_000 });
		assert.equal((await seen(server)).why, why);
		await pipe.end();
		return pipe;
	};
	await ends(0, (pipe) => pipe.socket.destroy());
	await ends(0, (pipe) => pipe.socket.resetAndDestroy());
	await ends(0, (pipe) => pipe.socket.end());
	await ends(0, (pipe) => pipe.socket.destroy(), { text: `${chunked}5\r\nhel` });
	const wrong = await ends(1, undefined, { text: `${chunked}5\r\nhello\n0\r\n\r\n` });
	assert.equal(wrong.answers[0].json.code, 'VALIDATION_FAILED');
	// The body stalls after more bytes than the minimum average.
	await ends(2, undefined, { text: `${known}${'x'.repeat(90_000)}` });
	let timer;
	await ends(2, (pipe) => { timer = setInterval(() => pipe.socket.write('1\r\nx\r\n'), 20); }, { text: `${chunked}1\r\nx\r\n` }).finally(() => clearInterval(timer));
	// Waiting for the handler does not count as slow.
	const { status } = await put(server, '/test/take?later=5000', ['x']);
	assert.equal(status, 200);
	await settled(server);
});

bodies('downloads that fail, and clients that disconnect', async (server) => {
	for (const query of ['', '&unknown=1']) {
		const pipe = new LatinPipe(server).send(ask(server, 'GET', `/test/give?length=1000000&fail=300000${query}`));
		await pipe.end();
		assert.equal(pipe.answers.length, 0, 'the response is not complete');
	}
	assert.equal(await endOf(server, ask(server, 'GET', '/test/give?length=1000000&fail=300000&unknown=1', { version: '1.0' })), 'ECONNRESET', 'a failed download must not look complete');
	for (const query of ['', '&unknown=1', '&pause=50']) {
		const pipe = new LatinPipe(server).send(ask(server, 'GET', `/test/give?length=${1 << 30}${query}`));
		await until('bytes', () => pipe.bytes.length > 1000);
		pipe.socket.destroy();
		await settled(server);
	}
	// If the client does not read, the handler does not produce.
	const slow = new LatinPipe(server);
	slow.socket.pause();
	slow.send(ask(server, 'GET', `/test/give?length=${1 << 30}`));
	let given1;
	await until('no more progress', async () => {
		const now = (await seen(server)).given;
		const same = now === given1;
		given1 = now;
		return same;
	}, { interval: 400 });
	slow.socket.destroy();
	await settled(server);
});
