// Input of malicious or broken clients is refused, and breaks nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { frame, RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { isAlive, rssAnon } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

/** A test after which the server must work, and must not have logged its token. Tests with options have their own server. */
function hostile(name, options, body) {
	if (typeof options === 'function') [options, body] = [undefined, options];
	(options ? scenario : shared)(name, options ?? {}, async (server) => {
		await body(server);
		const health = await server.api.as(null).raw('GET', '/healthz');
		assert.deepEqual([health.status, health.text], [200, 'ok\n']);
		await server.session({ id: 'after-all' });
		assert.ok(!server.stderr.includes(server.token), 'the token is in the log');
	});
}

hostile('a wrong Host is refused: no DNS rebinding', async (server) => {
	await server.session({ id: 's' });
	for (const host of ['evil.example', `evil.example:${server.port}`, '169.254.169.254', ' ', 'a'.repeat(300)]) {
		for (const route of ['/api/session/list', '/api/auth/whoami', '/', '/metrics']) {
			const raw = new RawClient(server).send(`GET ${route} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`);
			const status = await raw.status();
			assert.ok([400, 403, 413, 431].includes(status), `${route} at ${JSON.stringify(host)}: ${status}`);
			raw.terminate();
		}
	}
	const none = new RawClient(server).send('GET /api/session/list HTTP/1.1\r\n\r\n');
	const status = await none.status();
	assert.ok(status === 0 || (status >= 400 && status < 500), `no Host: ${status}`);
	none.terminate();
});

hostile('messages that are too large, in every form', async (server) => {
	await server.session({ id: 's' });
	const cases = {
		binary: (socket) => socket.send(Buffer.alloc((1 << 20) + 1)),
		text: (socket) => socket.send(`{"type":"ping","t":"${'x'.repeat(1 << 20)}"}`),
		'very large': (socket) => socket.send(Buffer.alloc(8 << 20)),
		fragmented: (socket) => {
			for (let at = 0; at < 20; at += 1) socket.send(Buffer.alloc(100_000), { fin: at === 19 });
		},
	};
	for (const [name, send] of Object.entries(cases)) {
		const client = await server.client({ sessionId: 's' }).connect();
		const before = await server.api.get('s');
		send(client.socket);
		assert.equal((await client.untilClosed()).code, 1009, name);
		assert.equal((await server.api.get('s')).pid, before.pid);
	}
	const memory = rssAnon(server.pid);
	for (const length of [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s');
		assert.equal(await raw.status(), 101);
		raw.send(frame({ opcode: 2, payload: Buffer.alloc(1000), length }));
		await until('the close', () => raw.closed || raw.closeCode());
		assert.ok([undefined, 1009, 1002].includes(raw.closeCode()), `${length}: ${raw.closeCode()}`);
	}
	assert.ok(rssAnon(server.pid) - memory < 256 << 20, 'memory was allocated for an announced length');
	const client = await server.client({ sessionId: 's' }).connect();
	client.control(`{"type":"ping","t":"${'x'.repeat(60_000)}"}`);
	client.control({ type: 'ping', t: 'still' });
	await until('a pong or the close', () => client.closed || client.messages.some(({ t }) => t === 'still'));
});

hostile('malformed frames', async (server) => {
	await server.session({ id: 's' });
	const text = '{"type":"ping","t":1}';
	const cases = {
		unmasked: [frame({ payload: text, masked: false })],
		'reserved bit 1': [frame({ payload: text, reserved: 4 })],
		'reserved bit 3': [frame({ payload: text, reserved: 1 })],
		'opcode 3': [frame({ opcode: 3, payload: text })],
		'opcode 11': [frame({ opcode: 11, payload: text })],
		'long ping': [frame({ opcode: 9, payload: Buffer.alloc(126) })],
		'fragmented ping': [frame({ opcode: 9, fin: false, payload: 'x' })],
		'continuation without a start': [frame({ opcode: 0, payload: text })],
		'text within fragments': [frame({ fin: false, payload: '{' }), frame({ payload: text })],
		'close with half a code': [frame({ opcode: 8, payload: 'x' })],
		'close with a forbidden code': [frame({ opcode: 8, payload: Buffer.from([3, 237]) })],
		'text that is not UTF-8': [frame({ payload: Buffer.from([0x22, 0xc3, 0x28, 0x22]) })],
		'not minimal length': [Buffer.from([0x81, 0xfe, 0, 2, 0, 0, 0, 0, 0x7b, 0x7d])],
		noise: [randomBytes(4000)],
		'a second handshake': [Buffer.from('GET /ws/pty?sessionId=s HTTP/1.1\r\nHost: x\r\n\r\n')],
	};
	const bad = [];
	// RFC 6455 demands that the first is closed too; libwebsockets 4.1.6 neither enforces nor exposes masks.
	const tolerated = new Set(['unmasked', 'not minimal length', 'text that is not UTF-8']);
	for (const [name, frames] of Object.entries(cases)) {
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s');
		assert.equal(await raw.status(), 101, name);
		await until('the ready message', () => raw.frames().some(({ payload }) => payload.includes('"ready"')));
		for (const each of frames) raw.send(each);
		raw.send(frame({ payload: '{"type":"ping","t":2}' }));
		await until(`close or answer after: ${name}`, () => raw.closed || raw.closeCode() !== undefined
			|| raw.frames().some(({ payload }) => payload.includes('"pong"')));
		if (!tolerated.has(name)) {
			if (raw.frames().some(({ payload }) => payload.includes('"pong"'))) bad.push(`the connection goes on after: ${name}`);
			const code = raw.closeCode();
			if (code !== undefined && (code < 1000 || code > 1015)) bad.push(`${name}: ${code}`);
		}
		raw.terminate();
		assert.equal((await server.api.get('s')).state, 'running', name);
	}
	assert.deepEqual(bad, []);
});

hostile('paths that escape', async (server) => {
	writeFileSync(path.join(server.root, 'canary'), 'canary-in-the-mine');
	const outs = ['/../../../../etc/passwd', '/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd', '/..%2f..%2f..%2f..%2fetc%2fpasswd', '//etc/passwd', '/assets/../../../../../etc/passwd',
		'/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd', '/....//....//etc/passwd', '/%00', '/index.html%00.js', '/..\\..\\etc\\passwd', '/%c0%ae%c0%ae/etc/passwd', '/token', '/run/token',
		'/../token', '/../run/token', '/../../canary', '/api/session/../../../etc/passwd', '/api/session/..%2f..%2ftoken', '/api/session/%2e%2e', '/api/session/..', '/api/session/.',
		'/api/session/..%2ftoken/output?from=0', '/api/session/%2fetc%2fpasswd', '/api/session/a%00b', '/api/session/%', '/api/session/%zz/output?from=0'];
	for (const out of outs) {
		const answer = await server.api.raw('GET', out).catch((error) => {
			assert.match(error.message, /hang up|ECONNRESET/, out);
			return { status: 400, text: '' }; // closed without a response: refused
		});
		assert.ok(answer.status < 500, `${out}: ${answer.status}`);
		assert.ok(!/root:|canary-in/.test(answer.text) && !answer.text.includes(server.token), `${out} escapes`);
		if (out.startsWith('/api')) assert.ok(answer.status >= 400, `${out}: ${answer.status}`);
	}
});

hostile('request smuggling', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const inner = JSON.stringify({ sessionId: 's' });
	const hidden = `POST /api/session/delete HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
	const outer = (headers) => `POST /api/ping HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n${headers}\r\n`;
	const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
	const lengths = `Content-Length: ${hidden.length}\r\n`, none = 'Content-Length: 0\r\n', chunked = 'Transfer-Encoding: chunked\r\n';
	const cases = {
		'two lengths, 0 first': [400, none + lengths, hidden], 'two lengths, 0 last': [400, lengths + none, hidden],
		'the same length twice': [400, lengths + lengths, hidden], 'two lengths in one': [400, `Content-Length: 0, ${hidden.length}\r\n`, hidden],
		'length and chunks': [400, `Content-Length: ${chunk.length}\r\n${chunked}`, chunk],
		'chunks and length 5': [400, `${chunked}Content-Length: 5\r\n`, `0\r\n\r\n${hidden}`],
		'negative length': [400, 'Content-Length: -1\r\n', hidden], 'length with a plus': [400, 'Content-Length: +0\r\n', hidden],
		'an invalid length': [400, 'Content-Length: zero\r\n', hidden], 'no length': [400, 'Content-Length:\r\n', hidden],
		'hexadecimal': [400, `Content-Length: 0x${hidden.length.toString(16)}\r\n`, hidden],
		'a length in parts': [400, 'Content-Length: 0 0\r\n', hidden], 'length beyond 64 bits': [400, 'Content-Length: 18446744073709551616\r\n', hidden],
		'chunks': [405, chunked, chunk], 'an unknown coding': [400, 'Transfer-Encoding: xchunked\r\n', chunk],
		'two codings': [501, `Transfer-Encoding: identity\r\n${chunked}`, chunk], 'no coding': [400, 'Transfer-Encoding:\r\n', chunk],
		'a space before the colon': [400, 'Transfer-Encoding : chunked\r\n', chunk], 'LF alone ends the head': [400, `${lengths}\n`, hidden],
		'a folded coding': [400, 'Transfer-Encoding:\r\n chunked\r\n', chunk], 'NUL in a value': [400, 'Transfer-Encoding: chunked\0\r\n', chunk],
	};
	const bad = [];
	for (const [name, [want, headers, data]] of Object.entries(cases)) {
		const raw = new RawClient(server).send(Buffer.from(outer(headers) + data, 'latin1'));
		await until(`the end of ${name}`, () => raw.closed);
		const status = await raw.status();
		const answers = raw.text.match(/^HTTP\/1/gm)?.length;
		if (status !== want || answers !== 1) bad.push(`${name}: ${status}, ${answers} answers`);
		raw.terminate();
		if (!(await api.list()).data.includes('s')) {
			bad.push(`${name}: the hidden request was carried out`);
			await server.session({ id: 's' });
		}
	}
	assert.deepEqual(bad, []);
});

hostile('bodies that stall, and clients that disconnect halfway', async (server) => {
	await server.session({ id: 's' });
	for (let at = 0; at < 16; at += 1) {
		const raw = new RawClient(server);
		await raw.connected();
		if (at % 4 === 0) raw.send(`POST /api/session/create HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 100\r\n\r\n{"id":"half`);
		else if (at % 4 === 1) raw.upgrade('/ws/pty?sessionId=s');
		else if (at % 4 === 2) raw.upgrade('/ws/pty?sessionId=s').send(frame({ opcode: 2, payload: Buffer.alloc(10), length: 50_000 }));
		else raw.send(`GET /api/session/events HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
		if (at % 2) await pause(5);
		if (at % 8 < 4) raw.socket.resetAndDestroy?.();
		raw.terminate();
	}
	await until('no client', async () => (await server.api.get('s')).clients === 0);
	assert.deepEqual((await server.api.list()).data, ['s']);
});

hostile('no descriptors left', { prefix: ['prlimit', '--nofile=64:64'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const client = await server.client({ sessionId: 's' }).connect();
	const { pid } = server;
	const sockets = Array.from({ length: 100 }, (_, at) => {
		const raw = new RawClient(server);
		return at % 3 === 0 ? raw.upgrade('/ws/pty?sessionId=s') : raw;
	});
	const creates = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => api.raw('POST', '/api/session/create', { id: `c${at}` }, { timeout: 3000 })));
	for (const { status, value } of creates) {
		if (status === 'fulfilled') assert.ok(value.status === 200 || (value.status >= 400 && value.status < 600 && value.json?.code), `${value.status} ${value.text}`);
	}
	assert.equal(server.pid, pid, 'the server ended');
	client.type('echo st""ill\r');
	await client.untilText('still\r\n');
	sockets.forEach((socket) => socket.terminate());
	await until('a response', async () => (await api.as(null).raw('GET', '/healthz', undefined, { timeout: 2000 })).status === 200);
	const { data } = await api.list();
	for (const id of data.filter((each) => each !== 's')) {
		assert.ok(isAlive((await api.get(id)).pid), `${id} is listed and has no shell`);
		await api.delete(id);
	}
	assert.equal(await server.run('s', 'echo go""od'), 'good\n');
});

hostile('the limit of descriptors is reported in time, and sessions and connections go on', {
	prefix: ['prlimit', '--nofile=160:160'], timeout: 120_000,
}, async (server) => {
	const { api } = server;
	const open = () => metric(server, 'open_fds');
	const refused = async (route, body) => {
		const answer = await api.raw('POST', route, body);
		if (answer.status === 200) return false;
		assertError(answer, 500, 'TOO_MANY_FILES');
		assert.match(answer.json.message, /ulimit -n.*LimitNOFILE/);
		return true;
	};
	await server.session({ id: 's' });
	const client = await server.client({ sessionId: 's' }).connect();
	assert.match((await api.raw('GET', '/metrics')).text, /^ringside_max_fds 160$/m);
	const before = await open();
	const warnings = () => server.stderr.match(/few descriptors are left/g)?.length ?? 0;
	const made = [];
	const fill = async () => {
		for (let at = 0; !await refused('/api/session/create', { id: `f${at}` }); at += 1) made.push(`f${at}`);
	};
	const some = () => made.slice(-times(3, 100));
	const empty = async () => {
		for (const id of made.splice(0)) await api.delete(id);
		await until('the former number of descriptors', async () => await open() <= before + 2);
	};
	for (let round = 1; round <= 2; round += 1) {
		await fill();
		assert.ok(made.length > 5, `only ${made.length} sessions`);
		await until('a warning', () => warnings() >= round);
		const full = await open();
		for (let at = 0; at < 20; at += 1) {
			assert.ok(await refused('/api/session/create', { id: 'more' }));
			assert.ok(await refused('/api/process/start', { command: 'true', processId: 'more' }));
		}
		await until('no leaked descriptors', async () => await open() <= full + 2);
		assert.deepEqual((await api.list()).data.sort(), ['s', ...made].sort());
		// Sessions go on, and connections are accepted.
		for (const id of some()) assert.equal(await server.run(id, 'echo go""od'), 'good\n');
		client.type(`echo st""ill${round}\r`);
		await client.untilText(`still${round}\r\n`);
		const others = Array.from({ length: 10 }, () => new RawClient(server));
		await Promise.all(others.map((other) => other.connected()));
		assert.equal((await api.as(null).raw('GET', '/healthz')).status, 200);
		others.forEach((other) => other.terminate());
		assert.equal(warnings(), round, 'the warning is logged once');
		if (round === 2) break;
		await empty();
		await until('enough descriptors', async () => /^ringside_few_fds 0$/m.test((await api.raw('GET', '/metrics')).text));
	}
	await server.restart();
	assert.deepEqual((await api.list()).sessions.map(({ id, state }) => [id, state]).sort(), ['s', ...made].sort().map((id) => [id, 'running']));
	for (const id of some()) assert.equal(await server.run(id, 'echo ag""ain'), 'again\n');
	await empty();
});

const mountPoint = mkdtempSync(path.join(os.tmpdir(), 'rs-full-'));
const mounted = process.getuid() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k,mode=0700', 'ringside-test', mountPoint]).status === 0;
const unmount = () => {
	if (mounted) spawnSync('umount', ['-l', mountPoint]);
	rmSync(mountPoint, { recursive: true, force: true });
};
process.on('exit', unmount);

hostile('no space left', {
	skip: mounted ? false : 'a small file system cannot be mounted here (root and mount(2) are needed)', dir: mountPoint,
}, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const filler = path.join(mountPoint, 'filler');
	const full = spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k'], { encoding: 'utf8' });
	assert.match(full.stderr, /No space left/);
	let refused = 0;
	for (let at = 0; at < 10; at += 1) {
		const answer = await api.raw('POST', '/api/session/create', { id: `f${at}` });
		if (answer.status === 200) continue;
		assertError(answer, 500, 'NO_SPACE');
		refused += 1;
		await api.refused(404, 'SESSION_NOT_FOUND', 'GET', `/api/session/f${at}`);
	}
	assert.ok(refused > 0, 'ten sessions were created without space');
	assert.equal(await server.run('s', 'echo go""es on'), 'goes on\n');
	assert.equal((await api.as(null).raw('GET', '/healthz')).status, 200);
	rmSync(filler);
	await server.session({ id: 'again' });
	assert.equal(await server.run('again', 'echo ag""ain'), 'again\n');
});
