// HTTP/2: bodies of any length both ways, many at once on a connection, and peers that are hostile.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import tls from 'node:tls';
import { Api } from './lib/api.mjs';
import { driver, given, seen, settled, sha } from './lib/bodies.mjs';
import { ca, cert, key } from './lib/certificate.mjs';
import { sanitized } from './lib/server.mjs';
import { long, times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { stays, until, within } from './lib/until.mjs';

const MiB = 1 << 20;
const { constants } = http2;

/** Tests that share a server by TLS with HTTP/2. */
const group = (args = [], options = {}, more = {}) => {
	const shared = together({ ...options, args: ['--tls-cert', cert, '--tls-key', key, '--http2', ...args] }, more);
	return (name, rest, body) => (typeof rest === 'function' ? shared(name, begun(rest)) : shared(name, rest, begun(body)));
};
const begun = (body) => (server, t) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	return body(server, t);
};
const secure = group();
/** With the handlers of lib/bodies_driver.c, which do nothing but take and give. */
const bodies = group([], { binary: driver }, { bare: true });
const impatient = group(['--header-timeout', '1'], { binary: driver }, { bare: true });

function connect(server, options = {}) {
	const session = http2.connect(server.base, { ca, ...options });
	session.on('error', () => {});
	server.clients.add({ terminate: () => session.destroy() });
	return session;
}

/** A request whose body is not written yet. */
function open(server, session, method, target, headers = {}, options = {}) {
	const stream = session.request({ ':method': method, ':path': target, authorization: `Bearer ${server.token}`, ...headers }, options);
	const got = { stream, pieces: [], length: 0, status: 0, informed: 0, over: false };
	stream.on('headers', (each) => { got.informed += each[':status'] === 100 ? 1 : 0; });
	stream.on('response', (each) => { got.headers = each; got.status = each[':status']; });
	stream.on('data', (data) => { got.pieces.push(data); got.length += data.length; });
	stream.on('close', () => { got.over = true; }).on('error', (error) => { got.error = error; });
	got.answer = async () => {
		await within(`an answer to ${target}`, new Promise((resolve) => { if (got.over) resolve(); else stream.on('close', resolve); }), 40_000);
		const bytes = Buffer.concat(got.pieces);
		const json = bytes[0] === 0x7b ? JSON.parse(bytes) : undefined;
		return { status: got.status, headers: got.headers, bytes, json, code: stream.rstCode };
	};
	return got;
}

function ask(server, session, method, target, body, headers) {
	const one = open(server, session, method, target, headers, { endStream: body === undefined });
	if (body !== undefined) one.stream.end(body);
	return one.answer();
}

bodies('uploads and downloads, of known lengths and others', async (server) => {
	const session = connect(server);
	const { broken } = await seen(server);
	for (const length of [0, 1, 16_384, 65_535, 65_536, 65_537, 100_000, 500_000, ...(long ? [3 * MiB + 7] : [])]) {
		const body = randomBytes(length);
		for (const query of ['', '?pause=1', '?later=50']) {
			for (const headers of [{}, { 'content-length': length }]) {
				const { status, json } = await ask(server, session, 'PUT', `/test/take${query}`, body, headers);
				assert.deepEqual([status, json.bytes, json.sha256], [200, length, sha(body)], `${length}${query}`);
				assert.ok(!json.largest || json.largest <= 65_536, `${json.largest} at once`);
			}
		}
		for (const query of ['', '&unknown=1', '&pause=1', '&unknown=1&pause=1']) {
			const { status, bytes, headers } = await ask(server, session, 'GET', `/test/give?length=${length}${query}`);
			assert.equal(status, 200);
			assert.equal(headers['content-length'], /unknown/.test(query) ? undefined : String(length));
			assert.ok(bytes.equals(given(length)), `${length}${query}`);
			const head = await ask(server, session, 'HEAD', `/test/give?length=${length}${query}`);
			assert.deepEqual([head.status, head.bytes.length, head.headers['content-length']], [200, 0, headers['content-length']]);
		}
	}
	assert.equal((await seen(server)).broken, broken);
	await settled(server);
});

bodies('the first request of a connection may be a large one', async (server) => {
	const body = Buffer.alloc(2 * MiB, 'x');
	for (let round = 0; round < times(3, 10); round += 1) {
		const session = connect(server);
		assert.equal((await ask(server, session, 'PUT', '/test/take', body, { 'content-length': body.length })).json.sha256, sha(body));
		session.destroy();
	}
});

bodies('many at once on one connection, and those that pause hold up no other', async (server) => {
	const session = connect(server);
	const { taken, broken } = await seen(server);
	const paused = open(server, session, 'PUT', '/test/take?pause=3600000');
	paused.stream.on('error', () => {}).write(Buffer.alloc(4 * MiB));
	const unread = open(server, session, 'GET', `/test/give?length=${1 << 30}`, {}, { endStream: true });
	unread.stream.pause();
	await until('it is paused', async () => (await seen(server)).taken > taken);
	await Promise.all(Array.from({ length: times(12, 40) }, async (_, at) => {
		const body = randomBytes(200_000 + at);
		const { json } = await ask(server, session, 'PUT', `/test/take${at % 3 ? '?pause=1' : ''}`, body, at % 2 ? { 'content-length': body.length } : {});
		assert.equal(json.sha256, sha(body));
		const { bytes } = await ask(server, session, 'GET', `/test/give?length=${100_000 + at}`);
		assert.ok(bytes.equals(given(100_000 + at)));
	}));
	const { given: before } = await seen(server);
	await stays('it is not read for who does not read', async () => (await seen(server)).given === before);
	paused.stream.close(constants.NGHTTP2_CANCEL);
	await until('the end of who paused', async () => (await seen(server)).broken === broken + 1);
	unread.stream.close(constants.NGHTTP2_CANCEL);
	await settled(server);
	assert.equal((await ask(server, session, 'GET', '/test/seen')).status, 200, 'the connection goes on');
});

bodies('what is answered before its end, refused, or not waited for', async (server) => {
	const session = connect(server);
	const early = open(server, session, 'PUT', '/test/take?answer=1');
	early.stream.write(Buffer.alloc(MiB));
	const { json, code } = await early.answer();
	assert.deepEqual([json.code, code], ['NO_SPACE', constants.NGHTTP2_NO_ERROR]);
	const most = 1_000_000;
	for (const headers of [{}, { 'content-length': most + 1 }]) {
		const { status } = await ask(server, session, 'PUT', '/test/bounded', Buffer.alloc(most + 1), headers);
		assert.equal(status, 413);
	}
	assert.equal((await ask(server, session, 'PUT', '/test/bounded', Buffer.alloc(most))).json.bytes, most);
	assert.equal((await ask(server, session, 'PUT', '/test/take', 'x', { 'content-encoding': 'gzip' })).status, 415);
	assert.equal((await ask(server, session, 'PUT', '/test/take', 'x', { expect: 'wonders' })).status, 417);
	assert.equal((await ask(server, session, 'PUT', '/test/take', Buffer.alloc(MiB), { authorization: 'Bearer wrong' })).status, 401);
	const expecting = open(server, session, 'PUT', '/test/take?later=300', { expect: '100-continue' });
	await stays('nothing yet', () => expecting.informed === 0, 150);
	await until('100 Continue', () => expecting.informed === 1);
	expecting.stream.end('hello');
	assert.equal((await expecting.answer()).json.bytes, 5);
	const failed = await ask(server, session, 'GET', '/test/give?length=1000000&fail=300000');
	assert.equal(failed.code, constants.NGHTTP2_INTERNAL_ERROR);
	assert.equal((await ask(server, session, 'GET', '/test/seen')).status, 200, 'the connection goes on');
	await settled(server);
});

impatient('clients that go, crawl, or say nothing', async (server) => {
	for (const end of [(session) => session.destroy(), (session, { stream }) => stream.close(constants.NGHTTP2_CANCEL)]) {
		const { broken } = await seen(server), session = connect(server);
		const one = open(server, session, 'PUT', '/test/take', { 'content-length': 1000 });
		const before = (await seen(server)).taken;
		one.stream.write('x');
		await until('a byte', async () => (await seen(server)).taken > before);
		end(session, one);
		await until('its end', async () => (await seen(server)).broken === broken + 1);
	}
	const session = connect(server), slow = open(server, session, 'PUT', '/test/take', { 'content-length': 1000 });
	slow.stream.write('x');
	assert.equal((await slow.answer()).status, 0);
	assert.equal((await seen(server)).why, 2);
	const silent = tls.connect({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] });
	silent.on('error', () => {}).resume();
	await within('the end of who says nothing', new Promise((resolve) => { silent.on('close', resolve); }));
	await settled(server);
});

/** A connection whose frames are written by hand. */
class Frames {
	constructor(server, { hello = true } = {}) {
		this.host = server.host;
		this.frames = [];
		this.rest = Buffer.alloc(0);
		this.socket = tls.connect({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols: ['h2', 'http/1.1'] });
		this.closed = new Promise((resolve) => { this.socket.on('close', resolve); });
		this.socket.on('close', () => { this.over = true; }).on('error', () => {}).on('data', (data) => this.take(data));
		server.clients.add({ terminate: () => this.socket.destroy() });
		if (hello) this.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).frame(4, 0, 0);
	}

	take(data) {
		this.rest = Buffer.concat([this.rest, data]);
		while (this.rest.length >= 9 && this.rest.length >= 9 + this.rest.readUIntBE(0, 3)) {
			const length = this.rest.readUIntBE(0, 3);
			this.frames.push({ type: this.rest[3], flags: this.rest[4], id: this.rest.readUInt32BE(5), payload: this.rest.subarray(9, 9 + length) });
			this.rest = this.rest.subarray(9 + length);
		}
	}

	write(bytes) {
		if (!this.over) this.socket.write(bytes);
		return this;
	}

	frame(type, flags, id, payload = Buffer.alloc(0)) {
		const head = Buffer.alloc(9);
		head.writeUIntBE(payload.length, 0, 3);
		head[3] = type;
		head[4] = flags;
		head.writeUInt32BE(id, 5);
		return this.write(Buffer.concat([head, payload]));
	}

	/** Fields as literals that are not indexed, without Huffman's code. */
	static fields(list) {
		const text = (each) => {
			const bytes = Buffer.from(each, 'latin1'), head = [];
			if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
			for (let left = bytes.length - 127, more = true; more; left >>= 7) {
				more = left > 127;
				head.push((left & 127) | (more ? 128 : 0));
			}
			return Buffer.concat([Buffer.from([127, ...head]), bytes]);
		};
		return Buffer.concat(list.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])));
	}

	request(id, more = [], flags = 5, target = '/healthz') {
		return this.frame(1, flags, id, Frames.fields([[':method', 'GET'], [':scheme', 'https'], [':path', target], [':authority', this.host], ...more]));
	}

	get goaway() {
		return this.frames.find(({ type }) => type === 7)?.payload.readUInt32BE(4);
	}
}

secure('hostile frames end their connection, and nobody else hears of them', async (server) => {
	const flood = (count, each) => (one) => { for (let at = 0; at < count && !one.over; at += 1) each(one, at); };
	// Without end: how much the kernel takes for who reads nothing is its own affair.
	const unread = (each, before = () => {}) => (one) => {
		let at = 0;
		const more = () => {
			for (const end = at + 1000; at < end && !one.socket.destroyed; at += 1) each(one, at);
			if (one.socket.writableNeedDrain) one.socket.once('drain', more);
			else if (!one.socket.destroyed) setImmediate(more);
		};
		one.socket.pause();
		before(one);
		more();
	};
	const window = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
	const attacks = {
		'no preface': (one) => one.write(Buffer.from('GET / HTTP/1.1\r\n\r\n')),
		'data of no stream': (one) => one.frame(0, 1, 1, Buffer.from('x')),
		'a stream of an even number': (one) => one.request(2),
		'a frame that is too large': (one) => one.frame(0, 0, 1, Buffer.alloc(20_000)),
		'a window beyond 2^31': (one) => one.frame(8, 0, 0, window).frame(8, 0, 0, window),
		'fields that are no HPACK': (one) => one.frame(1, 5, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
		'CONTINUATION without end': (one) => { one.request(1, [], 1); flood(times(2000, 20_000), () => one.frame(9, 0, 1, Frames.fields([['a', 'x'.repeat(100)]])))(one); },
		'pings, and nothing is read': unread((one) => one.frame(6, 0, 0, Buffer.alloc(8))),
		'settings, and nothing is read': unread((one) => one.frame(4, 0, 0)),
		'refusals, and nothing is read': unread((one, at) => one.request(at * 2 + 201), (one) => {
			for (let at = 0; at < 64; at += 1) one.request(at * 2 + 1, [['authorization', `Bearer ${server.token}`]], 5, '/api/session/events');
		}),
		'streams that are reset at once': flood(times(10_000, 200_000), (one, at) => one.request(at * 2 + 1).frame(3, 0, at * 2 + 1, Buffer.from([0, 0, 0, 8]))),
	};
	const memory = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);
	const before = memory();
	for (const [name, attack] of Object.entries(attacks)) {
		const one = new Frames(server, { hello: name !== 'no preface' });
		attack(one);
		assert.equal((await server.api.as(null).raw('GET', '/healthz')).status, 200, name);
		await within(`the end of: ${name}`, one.closed, 30_000);
	}
	if (!sanitized()) assert.ok(memory() - before < 16_384, `${memory() - before} KiB more`);
});

secure('heads that are refused, and their connection goes on', async (server) => {
	const one = new Frames(server);
	const wrong = [
		[['x', 'y'.repeat(9000)]], Array.from({ length: 70 }, (_, at) => [`x-${at}`, 'y']), [['x-y', 'a\x01b']], [['x y', 'a']],
		[['authorization', 'a'], ['authorization', 'b']], [['host', 'evil.example']],
		...['-1', '+1', '1, 1', '0x1', '', '99999999999999999999'].map((length) => [['content-length', length]]),
	];
	wrong.forEach((fields, at) => one.request(at * 2 + 1, fields));
	const statuses = () => wrong.map((_, at) => one.frames.some(({ type, id }) => (type === 1 || type === 3) && id === at * 2 + 1));
	await until('an answer to each', () => statuses().every(Boolean));
	one.request(1001);
	await until('the text of the last', () => one.frames.some(({ type, id, payload }) => type === 0 && id === 1001 && String(payload) === 'ok\n'));
	assert.equal(one.goaway, undefined);
	// ":status: 200" is the eighth field of HPACK's table.
	const good = one.frames.filter(({ type, payload }) => type === 1 && payload[0] === 0x88).map(({ id }) => id);
	const anyHost = 2 * wrong.findIndex(([[name]]) => name === 'host') + 1; // /healthz is told whatever it says
	assert.deepEqual(good.sort((a, b) => a - b), [anyHost, 1001]);
	// As many streams as there may be, and no more.
	const many = new Frames(server);
	for (let at = 0; at < 70; at += 1) many.request(at * 2 + 1, [['authorization', `Bearer ${server.token}`]], 5, '/api/session/events');
	await until('refusals', () => many.frames.filter(({ type, payload }) => type === 3 && payload.readUInt32BE(0) === 7).length === 6);
	const streams = async () => Number(/^ringside_streams (\d+)$/m.exec((await server.api.raw('GET', '/metrics')).text)[1]);
	assert.equal(await streams(), 64);
	many.socket.destroy();
	one.socket.destroy();
	await until('the end of all', async () => await streams() === 0);
});

bodies('two gigabytes each way, in constant memory', { skip: sanitized() && 'it takes too long with sanitizers', timeout: 240_000 }, async (server) => {
	const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);
	const session = connect(server), piece = Buffer.alloc(4 * MiB, 'g');
	await ask(server, session, 'PUT', '/test/take', Buffer.alloc(10 * MiB));
	const before = peak(), began = Date.now(), one = open(server, session, 'PUT', '/test/take');
	for (let at = 0; at < 512; at += 1) if (!one.stream.write(piece)) await new Promise((drained) => { one.stream.once('drain', drained); });
	one.stream.end();
	assert.equal((await one.answer()).json.bytes, 2048 * MiB);
	const turned = Date.now(), down = open(server, session, 'GET', `/test/give?length=${2048 * MiB}`, {}, { endStream: true });
	down.stream.removeAllListeners('data').on('data', (data) => { down.length += data.length; });
	await down.answer();
	assert.equal(down.length, 2048 * MiB);
	console.log(`# 2 GiB up: ${turned - began} ms, down: ${Date.now() - turned} ms; memory: ${before} KiB, then ${peak()} KiB`);
	assert.ok(peak() - before < 4096, `${before} KiB, then ${peak()} KiB`);
});
