// TLS, unix sockets, and running without authentication.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import WebSocket from 'ws';
import { Api } from './lib/api.mjs';
import { ca, cert, dir, key, secure } from './lib/certificate.mjs';
import { RawClient, Refused } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { binary, scenario } from './lib/server.mjs';
import { together } from './lib/together.mjs';
import { slowness, until, within } from './lib/until.mjs';

const secured = together(secure);

secured('https and wss over HTTP/1.1', async (server) => {
	assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+\/$/);
	const { api } = server;
	await server.session({ id: 's' });
	assert.equal(await server.run('s', 'echo sa""fe'), 'safe\n');
	const client = await server.client({ sessionId: 's', origin: server.base }).connect();
	client.type('echo to""o; head -c 500000 /dev/zero | tr "\\0" x; echo =\r');
	await client.untilText('too\r\n');
	await client.untilText('x=\r\n');
	assert.ok(client.text.includes('x'.repeat(500_000)));
	const login = await api.as(null).raw('POST', '/api/auth/login', { token: server.token }, { headers: { Origin: server.base } });
	assert.match(login.headers['set-cookie'][0], /; ?Secure/i, 'the cookie may travel in clear text');
	await api.refused(403, 'ORIGIN_NOT_ALLOWED', 'GET', '/api/session/list', undefined, { headers: { Origin: server.base.replace('https', 'http') } });
	const clear = new RawClient(server).send(`GET /api/session/list HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
	const status = await clear.status();
	assert.ok(status === 0 || status >= 300, `clear text on the TLS port: ${status}`);
	assert.ok(!clear.text.includes('"sessions"'));
});

/** The socket after a handshake with these options. */
const handshake = (server, options) => within('the handshake', new Promise((resolve, reject) => {
	const socket = tls.connect({ port: server.port, host: '127.0.0.1', ca, ...options }, () => resolve(socket)).on('error', reject);
	server.clients.add({ terminate: () => socket.destroy() });
}));

secured('only HTTP/1.1 is offered', async (server) => {
	assert.equal((await handshake(server, { ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol, 'http/1.1');
});

/** The response to texts, each of which is sent in its own record. */
async function inRecords(server, texts) {
	const socket = await handshake(server);
	const got = { text: '', socket };
	socket.on('error', () => {}).setNoDelay(true).setEncoding('latin1').on('data', (data) => { got.text += data; });
	for (const text of texts) await new Promise((resolve) => { socket.write(text, resolve); });
	await until(`a response to ${texts[0]}`, () => got.text.includes('\r\n\r\n') || socket.destroyed);
	return got;
}

const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

secured('an upgrade that is not a WebSocket, in two records', async (server) => {
	const settings = 'HTTP2-Settings: AAMAAABkAAQAAP__\r\n';
	for (const [what, rest] of Object.entries({
		h2c: `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n${settings}`, 'h2c in capitals': `Connection: Upgrade\r\nUpgrade: H2C\r\n${settings}`,
		'two protocols': `${websocket}Upgrade: h2c\r\n${settings}`, 'an unknown one': 'Connection: Upgrade\r\nUpgrade: foo\r\n', none: '',
		'no key': websocket.replace(/Sec-WebSocket-Key.*\r\n/, ''), 'an invalid key': websocket.replace('ZQ==', '\x01\x02=='), 'no credentials': websocket,
	})) {
		const { text, socket } = await inRecords(server, ['GET /ws?x', ` HTTP/1.1\r\nHost: ${server.host}\r\n${rest}\r\n`]);
		assert.match(text, /^HTTP\/1.1 4\d\d /, what);
		socket.destroy();
	}
	await server.api.list();
});

secured('a WebSocket whose handshake comes in many records, followed by a frame', async (server) => {
	await server.session({ id: 's' });
	const head = `GET /ws/pty?sessionId=s HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n${websocket}\r\n`;
	// "echo my""frame\r", masked by zeros.
	const typed = 'echo my""frame\r';
	const frame = Buffer.concat([Buffer.from([0x82, 0x80 | typed.length, 0, 0, 0, 0]), Buffer.from(typed)]);
	const pieces = head.match(/[^]{1,40}/g);
	const got = await inRecords(server, [...pieces.slice(0, -1), Buffer.concat([Buffer.from(pieces.at(-1)), frame])]);
	assert.match(got.text, /^HTTP\/1.1 101 /);
	assert.match(got.text, /^Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r$/im);
	await until('the output', () => got.text.includes('myframe\r\n'));
	got.socket.destroy();
	await until('no client', async () => (await server.api.get('s')).clients === 0);
});

secured('WebSockets over TLS: floods, clients that do not read, and ends', { timeout: 90_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const open = () => server.client({ sessionId: 's', origin: server.base, sink: () => {}, keepLog: false }).connect();
	const clients = await Promise.all(Array.from({ length: 5 }, open));
	const stalled = await open();
	stalled.stall();
	// Sends a close frame, and does not read pending bytes.
	const left = await open();
	left.stall();
	assert.equal(await server.run('s', 'head -c 2000000 /dev/zero | tr "\\0" x | fold -w 79 | tail -n 1 | cut -c 1-3', { timeout: 60_000 }), 'xxx\n');
	await api.input('s', 'seq 100000; echo the""end\r');
	await server.outputMatches('s', /theend\r\n/, 0, { timeout: 60_000 });
	const { offset } = await api.get('s');
	for (const client of clients) await client.untilOffset(offset, { timeout: 60_000 });
	stalled.unstall();
	await stalled.untilOffset(offset, { timeout: 60_000 });
	const connections = () => metric(server, 'http1_connections');
	const before = await connections();
	left.socket.close();
	await until('the end of the connection', async () => (await connections()) < before, { timeout: 30_000, interval: 200 });
	left.terminate();
	// A client that disconnects is removed, however it does so.
	await clients[0].close();
	clients[1].terminate();
	await until('four clients', async () => (await api.get('s')).clients === 4);
	await api.delete('s');
	await Promise.all(clients.slice(2).map((client) => client.untilClosed()));
	assert.equal((await api.list()).data.length, 0);
});

secured('old TLS is refused', async (server) => {
	const only = (version, options) => handshake(server, { minVersion: version, maxVersion: version, ...options });
	for (const version of ['TLSv1', 'TLSv1.1']) await assert.rejects(only(version, { ciphers: 'DEFAULT@SECLEVEL=0' }), version);
	for (const version of ['TLSv1.2', 'TLSv1.3']) assert.equal((await only(version)).getProtocol(), version);
});

scenario('an invalid certificate or key is reported at the start', { start: false, mayHaveDied: true }, async (server) => {
	for (const args of [['--tls-cert', path.join(dir, 'none'), '--tls-key', key], ['--tls-cert', cert, '--tls-key', cert], ['--tls-cert', cert]]) {
		const { status, stdout, stderr, signal } = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir, ...args],
			{ encoding: 'utf8', timeout: 10_000 * slowness });
		assert.ok(status > 0, `${args}: ${status ?? signal}`);
		assert.match(stderr, /cert|key/i);
		assert.doesNotMatch(stdout, /Ringside is at/);
	}
});

scenario('a unix socket', { start: false }, async (server) => {
	const socketPath = path.join(server.root, 'ringside.sock');
	server.options.listen = [`unix:${socketPath}`, '127.0.0.1:0'];
	await server.start();
	assert.ok(server.urls.some((url) => url === `unix:${socketPath}`), server.stdout);
	assert.ok(statSync(socketPath).isSocket());
	assert.equal(statSync(socketPath).mode & 0o007, 0, 'the socket is open to all users');
	const api = new Api('http://localhost', { token: server.token, socketPath });
	const created = await api.create({ id: 'by-unix' });
	assert.equal(created.id, 'by-unix');
	assert.deepEqual((await server.api.list()).data, ['by-unix']);
	await api.as(null).refused(401, 'UNAUTHENTICATED', 'GET', '/api/session/list');
	const socket = new WebSocket(`ws+unix://${socketPath}:/ws/pty?sessionId=by-unix`, { headers: { Host: 'localhost', Authorization: `Bearer ${server.token}` } });
	server.clients.add(socket);
	let text = '';
	socket.on('message', (data, binaryFrame) => { text += binaryFrame ? data.toString() : ''; });
	await within('the open socket', new Promise((resolve, reject) => {
		socket.on('open', resolve);
		socket.on('error', reject);
	}));
	socket.send(Buffer.from('echo un""ix\r'));
	await until('the output', () => text.includes('unix\r\n'));
	// Killed and restarted: a stale socket file is replaced.
	await server.kill('SIGKILL');
	await server.start({ listen: server.options.listen });
	assert.equal((await api.get('by-unix')).pid, created.pid);
});

scenario('--no-auth on loopback: no token, but no foreign site', { args: ['--no-auth'] }, async (server) => {
	const { api } = server;
	assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
	assert.equal(server.token, undefined);
	await server.session({ id: 's' });
	const identity = await api.call('GET', '/api/auth/whoami');
	assert.deepEqual([identity.role, identity.authRequired], ['owner', false]);
	for (const headers of [{ Origin: 'http://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' }]) {
		await api.refused(403, headers.Host ? 'HOST_NOT_ALLOWED' : 'ORIGIN_NOT_ALLOWED', 'POST', '/api/session/create', {}, { headers });
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s', headers);
		assert.equal(await raw.status(), 403);
		raw.terminate();
	}
	// A form of another site may post these types without permission.
	for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
		const answer = await api.raw('POST', '/api/session/create', '{"id":"by-form"}', { headers: { 'Content-Type': type, Origin: 'http://evil.example' } });
		assert.equal(answer.status, 403, type);
	}
	const client = await server.client({ sessionId: 's', origin: server.base }).connect();
	client.type('echo op""en\r');
	await client.untilText('open\r\n');
	assert.deepEqual((await api.list()).data, ['s']);
	await assert.rejects(server.client({ sessionId: 's', origin: 'http://evil.example' }).connect(), (error) => error instanceof Refused && error.status === 403);
});

scenario('the token from a file or from the environment', { start: false }, async (server) => {
	const own = 'a-token-of-my-own-that-is-long-enough-1234';
	server.options.env = { RINGSIDE_TOKEN: own };
	await server.start();
	assert.equal(server.token, own);
	await server.api.list();
	await server.kill('SIGTERM');
	const file = path.join(server.root, 'my-token');
	const other = `${own}-from-file`;
	writeFileSync(file, `${other}\n`, { mode: 0o600 });
	server.options.env = {};
	await server.start({ args: ['--token-file', file] });
	assert.equal(server.token, other);
	await server.api.list();
	await server.api.as(own).refused(401, 'UNAUTHENTICATED', 'GET', '/api/session/list');
});
