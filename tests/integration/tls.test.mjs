// TLS, HTTP/2, unix sockets, and running without authentication.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import path from 'node:path';
import tls from 'node:tls';
import WebSocket from 'ws';
import { Api } from './lib/api.mjs';
import { ca, cert, dir, key } from './lib/certificate.mjs';
import { RawClient, Refused } from './lib/client.mjs';
import { binary, scenario } from './lib/server.mjs';
import { slowness, until, within } from './lib/until.mjs';

const secure = { args: ['--tls-cert', cert, '--tls-key', key] };
const both = { args: [...secure.args, '--http2'] };

scenario('https and wss over HTTP/1.1', secure, async (server) => {
	assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+\/$/);
	server.ca = ca;
	const api = new Api(() => server.base, { token: server.token, ca });
	server.api = api;
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

scenario('HTTP/2 is for those who ask for it', secure, async (server) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	const chosen = (ALPNProtocols) => new Promise((resolve, reject) => {
		const socket = tls.connect({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols }, () => {
			resolve(socket.alpnProtocol);
			socket.destroy();
		}).on('error', reject);
	});
	assert.equal(await chosen(['h2', 'http/1.1']), 'http/1.1');
	await server.kill('SIGTERM');
	await server.start({ args: both.args });
	assert.equal(await chosen(['h2', 'http/1.1']), 'h2');
});

scenario('old TLS is refused', secure, async (server) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	for (const version of ['TLSv1', 'TLSv1.1']) {
		await assert.rejects(within('handshake', new Promise((resolve, reject) => {
			const socket = tls.connect({ port: server.port, host: '127.0.0.1', ca, minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }, resolve);
			socket.on('error', reject);
		})), version);
	}
	for (const version of ['TLSv1.2', 'TLSv1.3']) {
		const socket = await within('handshake', new Promise((resolve, reject) => {
			const each = tls.connect({ port: server.port, host: '127.0.0.1', ca, minVersion: version, maxVersion: version }, () => resolve(each));
			each.on('error', reject);
		}));
		assert.equal(socket.getProtocol(), version);
		socket.destroy();
	}
});

scenario('the API over HTTP/2, many requests on one connection', both, async (server) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	const session = http2.connect(server.base, { ca });
	session.on('error', () => {});
	server.clients.add({ terminate: () => session.destroy() });
	await within('the settings of the server', new Promise((resolve) => { session.once('remoteSettings', resolve); }));
	const ask = (method, route, body, headers = {}) => within(`answer to ${method} ${route} over HTTP/2`, new Promise((resolve, reject) => {
		const payload = body === undefined ? undefined : JSON.stringify(body);
		const stream = session.request({
			':method': method, ':path': route, authorization: `Bearer ${server.token}`,
			...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }), ...headers,
		});
		const chunks = [];
		let status;
		stream.on('response', (answer) => { status = answer[':status']; });
		stream.on('data', (chunk) => chunks.push(chunk));
		stream.on('end', () => {
			const bytes = Buffer.concat(chunks);
			let json;
			try {
				json = JSON.parse(bytes.toString());
			} catch {
				// not JSON
			}
			resolve({ status, bytes, json });
		});
		stream.on('error', reject);
		stream.end(payload);
	}));
	const created = await ask('POST', '/api/session/create', { id: 's' });
	assert.equal(session.alpnProtocol, 'h2', 'this is not HTTP/2');
	assert.equal(created.status, 200);
	assert.equal(created.json.data.id, 's');
	const answers = await Promise.all(Array.from({ length: 50 }, () => ask('GET', '/api/session/s')));
	assert.ok(answers.every(({ status, json }) => status === 200 && json.data.id === 's'));
	await Promise.all(Array.from({ length: 20 }, async (_, at) => {
		const renamed = await ask('POST', '/api/session/s/rename', { name: `name ${at}` });
		assert.equal(renamed.json.data.name, `name ${at}`);
	}));
	await ask('POST', '/api/session/s/input', { data: 'head -c 1500000 /dev/zero | tr "\\0" x; echo e""nd\r' });
	await server.outputMatches('s', /end\r\n/);
	const big = await ask('GET', '/api/session/s/output?from=0');
	assert.equal(big.bytes.length, 1 << 20);
	assert.equal((await ask('GET', '/api/session/list', undefined, { origin: 'https://evil.example' })).status, 403);
	assert.equal((await ask('GET', '/api/session/list', undefined, { ':authority': 'evil.example' })).status, 403);
	assert.equal((await ask('GET', '/api/session/list', undefined, { authorization: 'Bearer no' })).status, 401);
	assert.equal((await ask('GET', '/nothing')).status, 404);
	assert.equal((await ask('POST', '/api/session/delete', { sessionId: 's' })).json.success, true);
	session.destroy();
	// A WebSocket beside it, where the client speaks HTTP/1.1 by ALPN.
	server.ca = ca;
	const client = await server.client({ sessionId: 't' }).connect();
	client.type('echo bes""ide\r');
	await client.untilText('beside\r\n');
});

scenario('a wrong certificate or key is told at the start', { start: false, mayHaveDied: true }, async (server) => {
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
	assert.equal(statSync(socketPath).mode & 0o007, 0, 'the socket is open to everybody');
	const api = new Api('http://localhost', { token: server.token, socketPath });
	const created = await api.create({ id: 'by-unix' });
	assert.equal(created.id, 'by-unix');
	assert.deepEqual((await server.api.list()).data, ['by-unix']);
	await api.as(null).refused(401, 'UNAUTHENTICATED', 'GET', '/api/session/list');
	const socket = new WebSocket(`ws+unix://${socketPath}:/ws/pty?sessionId=by-unix`, { headers: { Host: 'localhost', Authorization: `Bearer ${server.token}` } });
	server.clients.add(socket);
	let text = '';
	socket.on('message', (data, binaryFrame) => { text += binaryFrame ? data.toString() : ''; });
	await within('open', new Promise((resolve, reject) => {
		socket.on('open', resolve);
		socket.on('error', reject);
	}));
	socket.send(Buffer.from('echo un""ix\r'));
	await until('output', () => text.includes('unix\r\n'));
	// Killed and started again: a socket file that was left behind is no hindrance.
	await server.kill('SIGKILL');
	await server.start({ listen: server.options.listen });
	assert.equal((await api.get('by-unix')).pid, created.pid);
});

scenario('--no-auth is only for loopback', { start: false, mayHaveDied: true }, async (server) => {
	for (const address of ['0.0.0.0:0', '[::]:0']) {
		const { status, stdout, stderr, signal } = spawnSync(binary, ['serve', '--listen', address, '--runtime-dir', server.dir, '--no-auth'],
			{ encoding: 'utf8', timeout: 10_000 * slowness });
		assert.ok(status > 0, `${address}: ${status ?? signal}\n${stderr}`);
		assert.match(stderr, /no-auth/);
		assert.doesNotMatch(stdout, /Ringside is at/);
	}
});

scenario('plain HTTP beyond loopback has to be asked for', { start: false, mayHaveDied: true }, async (server) => {
	const listen = ['--listen', '0.0.0.0:0', '--runtime-dir', server.dir];
	const { status, stdout, stderr } = spawnSync(binary, ['serve', ...listen], { encoding: 'utf8', timeout: 10_000 * slowness });
	assert.equal(status, 2, stderr);
	assert.match(stderr, /--listen: .*--tls-cert.*--trust-proxy.*--insecure-http/);
	assert.doesNotMatch(stdout, /Ringside is at/);
	await server.start({ listen: ['0.0.0.0:0'], args: ['--insecure-http'] });
	await server.api.call('GET', '/api/session/list');
});

scenario('--no-auth on loopback: no token, but no foreign site either', { args: ['--no-auth'] }, async (server) => {
	const { api } = server;
	assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
	assert.equal(server.token, undefined);
	await server.session({ id: 's' });
	const who = await api.call('GET', '/api/auth/whoami');
	assert.deepEqual([who.role, who.authRequired], ['owner', false]);
	for (const headers of [{ Origin: 'http://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' }]) {
		await api.refused(403, headers.Host ? 'HOST_NOT_ALLOWED' : 'ORIGIN_NOT_ALLOWED', 'POST', '/api/session/create', {}, { headers });
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s', headers);
		assert.equal(await raw.status(), 403);
		raw.terminate();
	}
	// A form of another site needs no permission to post these.
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
	const { headers } = await new Promise((resolve, reject) => {
		http.get(`${server.base}/healthz`, { agent: false }, (answer) => resolve(answer.resume())).on('error', reject);
	});
	assert.ok(headers);
});

scenario('streams over HTTP/2: alive, completed, and left with the connection', { args: [...both.args, '--ping-interval', '1', '--allow-origin', 'https://app.example'] }, async (server) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	const session = http2.connect(server.base, { ca });
	session.on('error', () => {});
	server.clients.add({ terminate: () => session.destroy() });
	const open = (headers, body) => {
		const stream = session.request({ authorization: `Bearer ${server.token}`, ...headers, ...(body ? { 'content-length': Buffer.byteLength(body) } : {}) }, { endStream: !body });
		const seen = { stream, text: '', headers: undefined, ended: false, closed: false };
		stream.on('response', (answer) => { seen.headers = answer; });
		stream.setEncoding('utf8').on('data', (piece) => { seen.text += piece; });
		stream.on('end', () => { seen.ended = true; }).on('close', () => { seen.closed = true; }).on('error', () => {});
		if (body) stream.end(body);
		return seen;
	};
	const followers = Array.from({ length: 5 }, () => open({ ':path': '/api/session/events' }));
	for (const each of followers) await until('event and comment', () => each.text.includes('data: {') && each.text.includes('\n\n:\n\n'));
	assert.equal(followers[0].headers['transfer-encoding'], undefined);
	const streams = async () => Number(/^ringside_streams (\d+)$/m.exec((await server.api.raw('GET', '/metrics')).text)[1]);
	assert.equal(await streams(), 5);
	const preflight = open({ ':method': 'OPTIONS', ':path': '/api/ping', origin: 'https://app.example', 'access-control-request-method': 'GET' });
	await until('answer', () => preflight.ended);
	assert.equal(preflight.headers[':status'], 204);
	assert.equal(preflight.headers['access-control-allow-origin'], 'https://app.example');
	const page = open({ ':path': '/' });
	await until('the page', () => page.ended);
	for (const [status, headers] of [[200, { ':method': 'HEAD', ':path': '/api/session/events' }], [200, { ':method': 'HEAD', ':path': '/api/ping' }],
		[304, { ':path': '/', 'if-none-match': page.headers.etag }]]) {
		const empty = open(headers);
		await until(`end of an answer without a body to ${JSON.stringify(headers)}`, () => empty.ended && empty.closed);
		assert.equal(empty.headers[':status'], status);
		assert.equal(empty.text, '');
	}
	for (let n = 0; n < 5; n += 1) {
		const run = open({ ':method': 'POST', ':path': '/api/run' }, JSON.stringify({ command: `seq 1 ${n * 5000}; echo done`, stream: true }));
		await until(`end of run ${n}`, () => run.ended);
		assert.equal(run.headers[':status'], 200);
		assert.match(run.text, /"type":"complete"[^\n]*\n\n$/);
	}
	assert.ok(!followers[0].closed, 'the connection did not last');
	session.destroy();
	await until('end of all streams', async () => await streams() === 0);
});

scenario('MCP over HTTP/2', both, async (server) => {
	server.api = new Api(() => server.base, { token: server.token, ca });
	const session = http2.connect(server.base, { ca });
	session.on('error', () => {});
	const old = {};
	const modern = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
	const send = (message) => {
		const said = message.params?._meta
			? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method, 'mcp-name': message.params.name } : old;
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
		const stream = session.request({
			':method': 'POST', ':path': '/mcp', authorization: `Bearer ${server.token}`,
			'content-type': 'application/json', 'content-length': Buffer.byteLength(body), accept: 'application/json, text/event-stream', ...said,
		});
		const answer = new Promise((resolve, reject) => {
			let headers;
			let text = '';
			stream.on('response', (got) => { headers = got; });
			stream.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', () => resolve({ headers, text })).on('error', reject);
		});
		stream.end(body);
		return { stream, answer: within('answer over HTTP/2', answer) };
	};
	const call = async (message) => {
		const { headers, text } = await send(message).answer;
		assert.equal(headers[':status'], 200, text);
		return { headers, ...JSON.parse(text) };
	};
	try {
		const first = await call({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
		assert.equal(first.result.protocolVersion, '2025-06-18');
		assert.match(first.headers['mcp-session-id'], /./);
		Object.assign(old, { 'mcp-session-id': first.headers['mcp-session-id'], 'mcp-protocol-version': '2025-06-18' });
		assert.deepEqual((await call({ method: 'ping' })).result, {});
		const exec = (args, _meta) => ({ method: 'tools/call', params: { name: 'exec', arguments: args, _meta } });
		assert.equal((await call(exec({ command: 'echo hi' }))).result.structuredContent.output, 'hi\n');
		assert.equal((await call(exec({ command: 'echo hi' }, modern))).result.resultType, 'complete');
		const told = await send(exec({ command: 'sleep 1.5' }, { ...modern, progressToken: 1 })).answer;
		assert.match(told.text, /^data: .*notifications\/progress.*\n\ndata: .*"exit_code":0.*\n\n$/);
		const { stream, answer } = send(exec({ command: 'sleep 100', yield_ms: 60_000, on_cancel: 'interrupt' }, modern));
		answer.catch(() => {});
		const running = async () => (await server.api.call('GET', '/api/session/agent/exec')).data.some(({ state }) => state === 'running');
		await until('it runs', running);
		stream.close(http2.constants.NGHTTP2_CANCEL);
		await until('it is interrupted', async () => !(await running()));
	} finally {
		session.destroy();
	}
});
