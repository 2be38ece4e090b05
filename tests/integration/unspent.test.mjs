// No resources are used before authentication: a request that its head decides is answered before the body, and one address
// without credentials cannot use up the common resources.
import assert from 'node:assert/strict';
import net from 'node:net';
import { Api } from './lib/api.mjs';
import { cli, socketOf } from './lib/cli.mjs';
import { RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const head = (server, method, route, { token, length = 1_000_000, headers = {} } = {}) => {
	const lines = Object.entries({
		Host: server.host, ...(token ? { Authorization: `Bearer ${token}` } : {}), 'Content-Length': length, ...headers,
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${route} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

/** A connection from one of the loopback addresses. */
function connect(server, address, bytes = '') {
	const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress: address });
	const each = { socket, closed: false, text: '' };
	socket.on('connect', () => bytes && socket.write(bytes));
	socket.on('data', (data) => { each.text += data.toString('latin1'); });
	socket.on('error', () => {});
	socket.on('close', () => { each.closed = true; });
	server.clients.add({ terminate: () => socket.destroy() });
	return each;
}

/** Requests that are refused by their head: [status, code, method, route, options]. */
async function refusals(server) {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const viewer = (await server.api.link('s', 'viewer')).token;
	const owner = { token: server.token };
	return [
		[401, 'UNAUTHENTICATED', 'POST', '/api/session/create', {}],
		[401, 'UNAUTHENTICATED', 'POST', '/api/run', { token: 'wrong' }],
		[401, 'UNAUTHENTICATED', 'POST', '/mcp', {}],
		[401, 'UNAUTHENTICATED', 'POST', '/api/stdin', { length: 5 << 20 }],
		[403, 'READ_ONLY', 'POST', '/api/session/s/exec', { token: viewer }],
		[403, 'PERMISSION_DENIED', 'POST', '/api/session/create', { token: viewer }],
		[403, 'PERMISSION_DENIED', 'POST', '/api/session/other/wait', { token: viewer }],
		[403, 'HOST_NOT_ALLOWED', 'POST', '/api/session/create', { ...owner, headers: { Host: 'evil.example' } }],
		[403, 'ORIGIN_NOT_ALLOWED', 'POST', '/api/session/create', { ...owner, headers: { Origin: 'http://evil.example' } }],
		[404, 'SESSION_NOT_FOUND', 'POST', '/api/session/none/input', owner],
		[404, 'UNKNOWN_ERROR', 'POST', '/api/none', owner],
		[405, 'METHOD_NOT_ALLOWED', 'POST', '/api/session/list', owner],
		[413, 'REQUEST_TOO_LARGE', 'POST', '/api/session/create', { ...owner, length: (1 << 20) + 1 }],
		[413, 'REQUEST_TOO_LARGE', 'POST', '/api/session/create', { ...owner, length: 2 ** 40 }],
		[413, 'REQUEST_TOO_LARGE', 'POST', '/api/auth/login', { length: (16 << 10) + 1 }],
	];
}

scenario('a request that its head decides is answered before the body', async (server) => {
	for (const [status, code, method, route, options] of await refusals(server)) {
		const where = `${code} of ${route}`;
		const raw = new RawClient(server).send(head(server, method, route, options));
		assert.equal(await raw.status(), status, where);
		await until(`the response to ${where}`, () => raw.text.includes(`"code":"${code}"`));
		assert.match(raw.text, /^connection: close\r$/im, where);
		raw.terminate();
	}
	// Addresses with too many wrong tokens get the error at once, too.
	for (let at = 0, status = 0; status !== 429; at += 1) {
		assert.ok(at < 30, 'guessing is not limited');
		const raw = new RawClient(server).send(head(server, 'POST', '/api/session/create', { token: 'wrong' }));
		status = await raw.status();
		raw.terminate();
	}
	assert.equal(await metric(server, 'body_bytes'), 0);
});

scenario('a client that sends a body nevertheless gets the response, and a short body keeps the connection', async (server) => {
	for (const [status, code, method, route, options] of await refusals(server)) {
		const length = Math.min(options.length ?? 1_000_000, 5 << 20);
		const raw = new RawClient(server).send(head(server, method, route, { ...options, length })).send(Buffer.alloc(length, 'x'));
		assert.equal(await raw.status(), status, `${code} of ${route}`);
		await until(`the response ${code}`, () => raw.text.includes(`"code":"${code}"`));
		raw.terminate();
	}
	const small = head(server, 'POST', '/api/session/none/input', { token: server.token, length: 2 });
	const raw = new RawClient(server).send(`${small}{}${small}{}GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
	await until('three responses', () => /404 [^]*404 [^]*200 OK/.test(raw.text));
});

scenario('one address without credentials has a part of all connections', { args: ['--max-connections', '100'] }, async (server) => {
	const many = Array.from({ length: 60 }, () => connect(server, '127.0.0.2', 'GET /healthz HTTP/1.1\r\nHost: x'));
	await until('the refusals', () => many.filter(({ closed }) => closed).length === 10);
	const here = connect(server, '127.0.0.1', `GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
	await until('a response at another address', () => here.text.endsWith('ok\n'));
	assert.equal(await metric(server, 'strangers_refused_total'), 10);
	assert.equal(await metric(server, 'strangers'), 51);
	// Authenticated connections are not counted.
	const authenticated = Array.from({ length: 5 }, () => connect(server, '127.0.0.1', `GET /api/version HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`));
	await until('the responses', () => authenticated.every(({ text }) => text.includes('200 OK')));
	assert.equal(await metric(server, 'strangers'), 51);
	many.forEach(({ socket }) => socket.destroy());
	here.socket.destroy();
	await until('the end of the connections without credentials', async () => await metric(server, 'strangers') === 0);
	const again = connect(server, '127.0.0.2', `GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
	await until('a response at the same address', () => again.text.endsWith('ok\n'));
});

scenario('failed requests without credentials are limited', async (server) => {
	const ask = `GET /api/session/list HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`;
	let limited = false;
	for (let round = 0; round < 100 && !limited; round += 1) {
		const one = connect(server, '127.0.0.2', ask.repeat(20));
		await until('the responses', () => one.closed || one.text.split('HTTP/1.1 ').length === 21);
		limited = one.text.includes('HTTP/1.1 429');
		if (!limited) assert.doesNotMatch(one.text, /HTTP\/1.1 (?!401)/);
		one.socket.destroy();
	}
	assert.ok(limited, 'they are not limited');
	assert.ok(await metric(server, 'failures_limited_total') >= 1);
	// Requests with credentials are served there, and requests without them at other addresses.
	const authenticated = connect(server, '127.0.0.2', ask.replace('\r\n\r\n', `\r\nAuthorization: Bearer ${server.token}\r\n\r\n`));
	const other = connect(server, '127.0.0.3', ask);
	await until('the responses', () => authenticated.text.includes('200 OK') && other.text.includes('401'));
});

scenario('20 connections without credentials use up the limit, and the owner still connects', { args: ['--max-connections', '20'] }, async (server) => {
	await server.session({ id: 's' });
	const owner = new Api(() => 'http://localhost', { socketPath: socketOf(server) });
	let all = [];
	await until('20 connections without credentials', async () => {
		all = all.filter(({ closed }) => !closed);
		for (const address of ['127.0.0.2', '127.0.0.3']) {
			for (let at = all.filter((each) => each.address === address).length; at < 10; at += 1) {
				all.push(Object.assign(connect(server, address, 'GET /healthz HTTP/1.1\r\nHost: x'), { address }));
			}
		}
		// The connection of this request counts as well.
		return /^ringside_strangers (19|20)$/m.test((await owner.raw('GET', '/metrics')).text);
	});
	const more = connect(server, '127.0.0.4');
	await until('the refusal', () => more.closed);
	for (let at = 0; at < 5; at += 1) {
		const { code, stdout, stderr } = await cli(server, ['ls']);
		assert.equal(code, 0, stderr);
		assert.match(stdout, /^s\b/m);
	}
	all.forEach(({ socket }) => socket.destroy());
});

scenario('a connection that closes before it was accepted is dropped without work', async (server) => {
	await server.kill('SIGSTOP');
	const asked = Array.from({ length: 10 }, (_, at) => new Promise((resolve, reject) => {
		const body = JSON.stringify({ id: `ghost${at}` });
		const token = at % 2 ? 'x'.repeat(40) : server.token;
		const socket = net.connect(server.port, '127.0.0.1').on('error', reject).on('close', resolve);
		const head = `POST /api/session/create HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
		socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`, () => socket.resetAndDestroy());
	}));
	await Promise.all(asked);
	await server.kill('SIGCONT');
	// They were queued before this request.
	assert.deepEqual((await server.api.list()).data, []);
	assert.match((await server.api.raw('GET', '/metrics')).text, /^ringside_auth_failures_total 0$/m);
});
