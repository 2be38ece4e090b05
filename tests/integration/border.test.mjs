// Before authentication: silent connections, partial requests, slow bodies, and bytes that are not HTTP.
import assert from 'node:assert/strict';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { logIn } from './lib/api.mjs';
import { ca, secure } from './lib/certificate.mjs';
import { RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { scenario } from './lib/server.mjs';
import { pause, until, within } from './lib/until.mjs';

/** Open connections that send these bytes and no more. */
async function crowd(server, count, bytes = '') {
	const all = [];
	for (let at = 0; at < count; at += 100) {
		const some = Array.from({ length: Math.min(100, count - at) }, () => {
			const socket = net.connect({ port: server.port, host: '127.0.0.1' });
			const each = { socket, closed: false, text: '' };
			socket.on('connect', () => bytes.length && socket.write(bytes));
			socket.on('data', (data) => { each.text += data.toString('latin1'); });
			socket.on('error', () => {});
			socket.on('close', () => { each.closed = true; });
			server.clients.add({ terminate: () => socket.destroy() });
			each.connected = new Promise((resolve) => { socket.once('connect', resolve); });
			return each;
		});
		await within('connections', Promise.all(some.map(({ connected }) => connected)));
		all.push(...some);
	}
	return all;
}

/** Other connections are served while the whole crowd is still connected. */
async function othersAreServed(server, all) {
	for (let at = 0; at < 30; at += 1) assert.equal((await server.api.as(null).raw('GET', '/healthz', undefined, { headers: { Connection: 'close' } })).status, 200);
	assert.equal(all.filter(({ closed }) => closed).length, 0, 'some were closed before other connections were served');
}

for (const [what, bytes] of [['say nothing', ''], ['stop within a head', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ']]) {
	scenario(`2,000 that ${what} delay no other connection`, { args: ['--header-timeout', '20'], timeout: 100_000 }, async (server) => {
		const all = await crowd(server, 2000, bytes);
		await until('the crowd in /metrics', async () => await metric(server, 'http1_connections') >= 2000);
		await othersAreServed(server, all);
		await server.session({ id: 's' });
		const client = await server.client({ sessionId: 's' }).connect();
		client.type('echo li""ve\r');
		await client.untilText('live\r\n');
		assert.equal(all.filter(({ closed }) => closed).length, 0);
		all.forEach(({ socket }) => socket.destroy());
		await until('end of the crowd', async () => await metric(server, 'silent_connections') === 0 && await metric(server, 'http1_connections') < 10);
	});
}

scenario('silent connections, partial heads and slow bodies are closed in time', { args: ['--header-timeout', '2'] }, async (server) => {
	const crowds = [await crowd(server, 50), await crowd(server, 50, 'G'), await crowd(server, 50, 'GET / HTTP/1.1\r\n')];
	const dripping = await crowd(server, 50, 'GET / HTTP/1.1\r\n');
	const drip = setInterval(() => dripping.forEach(({ socket, closed }) => !closed && socket.write('X: y\r\n')), 200);
	try {
		await until('the end of all connections', () => [...crowds.flat(), ...dripping].every(({ closed }) => closed));
	} finally {
		clearInterval(drip);
	}
	assert.ok(await metric(server, 'header_timeouts_total') >= 200);
	assert.equal(await metric(server, 'silent_connections'), 0);
});

scenario('stalled TLS handshakes count as silent', { ...secure, args: [...secure.args, '--header-timeout', '90'], timeout: 100_000 }, async (server) => {
	// A real ClientHello.
	const hello = await within('a ClientHello', new Promise((resolve) => {
		const catcher = net.createServer((socket) => socket.once('data', (data) => {
			resolve(data);
			socket.destroy();
			catcher.close();
		})).listen(0, '127.0.0.1', () => tls.connect({ port: catcher.address().port, host: '127.0.0.1', ca }).on('error', () => {}));
	}));
	const all = [...await crowd(server, 350), ...await crowd(server, 350, hello.subarray(0, hello.length - 1)), ...await crowd(server, 150, hello), ...await crowd(server, 150, hello.subarray(0, 3))];
	await until('the crowd in /metrics', async () => await metric(server, 'silent_connections') >= 1000);
	await othersAreServed(server, all);
	all.forEach(({ socket }) => socket.destroy());
	await until('end of the crowd', async () => await metric(server, 'silent_connections') === 0);
	// A ClientHello in pieces is accepted.
	const raw = net.connect({ port: server.port, host: '127.0.0.1' });
	server.clients.add({ terminate: () => raw.destroy() });
	let answered = false;
	raw.on('data', () => { answered = true; });
	for (const byte of hello) {
		raw.write(Buffer.from([byte]));
		await pause(0);
	}
	await until('a response to the ClientHello', () => answered);
});

scenario('slow bodies hold no memory budget, and are closed', { args: ['--header-timeout', '2'] }, async (server) => {
	const head = (length, token) => `POST /api/${token ? 'session/create' : 'auth/login'} HTTP/1.1\r\nHost: ${server.host}\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}Content-Length: ${length}\r\n\r\n`;
	const unauthenticated = await crowd(server, 60, `${head(1 << 20)}xxxxxxxxxx`);
	const small = await crowd(server, 60, `${head(1000)}x`);
	await until('memory of bodies', async () => await metric(server, 'body_bytes') === 60_000);
	const authenticated = await crowd(server, 10, `${head(1 << 20, server.token)}x`);
	await until('memory of bodies', async () => await metric(server, 'body_bytes') === 60_000 + 10 * (1 << 20));
	const all = [...unauthenticated, ...small, ...authenticated];
	const drip = setInterval(() => all.forEach(({ socket, closed }) => !closed && socket.write('x')), 100);
	// An upload at a decent rate is not cut, though it takes longer than the limit of a head.
	const body = Buffer.from(JSON.stringify({ id: 'up', fill: 'x'.repeat(250_000) }));
	const upload = new RawClient(server).send(head(body.length, server.token));
	try {
		for (let at = 0; at < body.length; at += 10_000) {
			upload.send(body.subarray(at, at + 10_000));
			await pause(200);
		}
		assert.equal(await upload.status(), 200);
		await until('the end of the slow bodies', () => all.every(({ closed }) => closed));
	} finally {
		clearInterval(drip);
	}
	assert.equal(await metric(server, 'body_bytes'), 0);
	assert.ok(await metric(server, 'body_timeouts_total') >= 70); // requests without a token were answered at once
});

scenario('all bodies share one budget', async (server) => {
	const head = (token) => `POST /api/session/create HTTP/1.1\r\nHost: ${server.host}\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}Content-Length: ${1 << 20}\r\n\r\n`;
	const authenticated = await crowd(server, 64, `${head(server.token)}x`);
	await until('memory of bodies', async () => await metric(server, 'body_bytes') === 64 << 20);
	const refused = new RawClient(server).send(head(server.token) + 'x'.repeat(1 << 20));
	assert.equal(await refused.status(), 429);
	await refused.untilClosed();
	assert.match(refused.text, /^retry-after: 1\r$/im);
	assert.match(refused.text, /"code":"LIMIT_REACHED"/);
	// A client that sends Expect gets the refusal at once.
	const asking = new RawClient(server).send(head(server.token).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
	assert.equal(await asking.status(), 429);
	assert.equal(await metric(server, 'bodies_refused_total'), 2);
	authenticated.forEach(({ socket }) => socket.destroy());
	await until('free memory for bodies', async () => await metric(server, 'body_bytes') === 0);
	const good = new RawClient(server).send(head(server.token) + JSON.stringify({ id: 'x' }).padEnd(1 << 20));
	assert.equal(await good.status(), 200);
});

scenario('a refused handshake says how to get access, or when to try again', { args: ['--max-connections', '64'] }, async (server) => {
	await server.session({ id: 's' });
	const { token } = await server.api.link('s', 'viewer');
	const refusal = async (of) => {
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s', { Authorization: of && `Bearer ${of}` });
		await raw.untilClosed();
		return raw.text;
	};
	for (const of of [undefined, 'x'.repeat(32)]) assert.match(await refusal(of), /^HTTP\/1\.1 401 [^]*\r\nwww-authenticate: bearer\r\n[^]*"UNAUTHENTICATED"/i);
	const many = Array.from({ length: 16 }, () => server.client({ sessionId: 's', token }));
	await Promise.all(many.map((each) => each.connect()));
	assert.match(await refusal(token), /^HTTP\/1\.1 429 [^]*\r\nretry-after: 1\r\n[^]*"QUOTA_REACHED"/i);
	const guessed = await until('the limit of wrong tokens', async () => {
		const text = await refusal('y'.repeat(32));
		return text.startsWith('HTTP/1.1 429') && text;
	}, { interval: 1 });
	assert.match(guessed, /\r\nretry-after: 60\r\n[^]*"TOO_MANY_ATTEMPTS"/i);
	assert.doesNotMatch(guessed, /www-authenticate/i);
	assert.equal((await new RawClient(server).upgrade('/ws').status()), 101, 'the owner');
});

const wrong = ['%', '%f', '%zz', '%1', '%00', 'a%00b', '%ff', '%c0%ae', '%ed%a0%80', 'x%fe'];

scenario('paths and parameters that are not valid text', async (server) => {
	await server.session({ id: 's' });
	const bad = [];
	const routes = ['/', '/healthz', '/metrics', '/mcp', '/ws', '/ws/pty', '/api/ping', '/nothing'];
	for (const method of ['GET', 'POST', 'BREW']) {
		for (const part of wrong) {
			await Promise.all(routes.flatMap((route) => [`${route}/${part}`, `${route}?x=${part}`, `${route}?${part}`]).map(async (target) => {
				const each = new RawClient(server).send(`${method} ${target} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`);
				await each.untilClosed();
				if (!/^HTTP\/1\.1 400 [^]*"code":"VALIDATION_FAILED"/.test(each.text)) bad.push(`${method} ${target}: ${each.text.slice(0, 40)}`);
			}));
		}
	}
	assert.deepEqual(bad.slice(0, 20), []);
});

scenario('every refusal has our format', { args: ['--header-timeout', '2'] }, async (server) => {
	await server.session({ id: 's' });
	const rest = `Host: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n`;
	const get = (headers = '', target = '/healthz', version = 'HTTP/1.1') => `GET ${target} ${version}\r\n${rest}${headers}\r\n`;
	const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
	const cases = {
		'a bad request line': ['GET\r\n\r\n', 400], 'another version': [get('', '/', 'HTTP/2.0'), 400], 'no HTTP': ['SSH-2.0-OpenSSH_9.2\r\n\r\n', 400],
		'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400], 'CONNECT': [`CONNECT a:1 HTTP/1.1\r\n${rest}\r\n`, 405], 'an unknown method': [`BREW /api/ping HTTP/1.1\r\n${rest}\r\n`, 405],
		'TRACE': [`TRACE /api/ping HTTP/1.1\r\n${rest}\r\n`, 405], 'PATCH': [`PATCH /api/ping HTTP/1.1\r\n${rest}\r\n`, 405], 'OPTIONS *': [`OPTIONS * HTTP/1.1\r\n${rest}\r\n`, 405],
		'too long a target': [get('', `/${'x'.repeat(9000)}`), 413], 'too long a target by far': [get('', `/${'x'.repeat(200_000)}`), 413],
		'a header that is too long': [get(`X: ${'x'.repeat(9000)}\r\n`), 413], 'too many headers': [get('x: y\r\n'.repeat(100)), 413], 'too many parameters': [get('', `/healthz?${'x=y&'.repeat(100)}`), 413],
		'an Authorization that is too long': [get(`X: y\r\n`).replace(server.token, 'x'.repeat(2000)), 413], 'two hosts': [get('Host: evil.example\r\n'), 400], 'two credentials': [get('Authorization: Bearer x\r\n'), 400],
		'an invalid length': [get('Content-Length: x\r\n'), 400], 'an empty length': [get('Content-Length:\r\n'), 400], 'a negative length': [get('Content-Length: -1\r\n'), 400], 'two lengths': [get('Content-Length: 1\r\nContent-Length: 1\r\n'), 400],
		'LF alone': [get().replaceAll('\r\n', '\n'), 400], 'length and chunks': [get('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'), 400], 'an unknown coding': [get('Transfer-Encoding: gzip, chunked\r\n'), 501],
		'another host in the target': [get('', 'http://evil.example/api/ping'), 403], 'credentials in the target': [get('', `http://x@${server.host}/healthz`), 400],
		'a handshake without a key': [get(`${upgrade}Sec-WebSocket-Version: 13\r\n`, '/ws'), 400], 'a handshake of an old version': [get(`${upgrade}Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`, '/ws'), 400],
		'a handshake of two versions': [get(`${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`, '/ws'), 400],
		'a handshake with a body': [get(`${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 3\r\n`, '/ws'), 400],
	};
	const bad = [];
	for (const [name, [bytes, status]] of Object.entries(cases)) {
		const raw = new RawClient(server).send(Buffer.from(bytes, 'latin1'));
		await until(`answer: ${name}`, () => raw.closed || /^HTTP\/1/.test(raw.text));
		const got = await raw.status();
		await until(`whole answer: ${name}`, () => raw.closed || /\}$/.test(raw.text));
		if (got !== status || !/^content-type: application\/json\r$/im.test(raw.text) || !/"code":"[A-Z_]+"/.test(raw.text)) bad.push(`${name}: ${raw.text.slice(0, 300)}`);
		raw.terminate();
	}
	assert.deepEqual(bad, []);
	// Unusual but valid requests.
	const good = { 'an absolute target': get('', `http://${server.host}/healthz`), 'empty lines before': `\r\n${get()}`,
		'another protocol': get('Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'), 'an unknown protocol': get('Connection: Upgrade\r\nUpgrade: foo\r\n') };
	for (const [name, bytes] of Object.entries(good)) {
		const raw = new RawClient(server).send(bytes);
		assert.equal(await raw.status(), 200, name);
		raw.terminate();
	}
});

scenario('loopback names are valid with any port, as behind ssh -L', { args: ['--allow-host', 'proxy.example'] }, async (server) => {
	await server.session({ id: 's' });
	const cookie = await logIn(server, server.token);
	/** The status of a request of a page, with the cookie. */
	const ask = async (method, target, headers, body = '') => {
		const lines = Object.entries({ Cookie: cookie, Connection: 'close', ...(body ? { 'Content-Type': 'application/json', 'Content-Length': body.length } : {}), ...headers })
			.map(([name, value]) => `${name}: ${value}\r\n`);
		const raw = new RawClient(server).send(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
		const status = await raw.status();
		raw.terminate();
		return status;
	};
	const upgrade = async (headers) => {
		const raw = new RawClient(server).upgrade('/ws/pty?sessionId=s', { Authorization: undefined, Cookie: cookie, ...headers });
		const status = await raw.status();
		raw.terminate();
		return status;
	};
	const all = async (host, origin) => {
		const headers = { Host: host, ...(origin ? { Origin: origin } : {}) };
		return [await ask('GET', '/', headers), await ask('GET', '/api/session/list', headers), await ask('POST', '/api/session/s/rename', headers, '{"name":"x"}'), await upgrade(headers)];
	};
	for (const host of ['localhost', '127.0.0.1', '[::1]', 'work.localhost', 'LOCALHOST'])
		for (const port of ['', ':9', `:${server.port}`, ':65535'])
			assert.deepEqual(await all(host + port, `http://${host}${port}`), [200, 200, 200, 101], host + port);
	// The origin must be that of the page with exactly this name and port.
	for (const [host, origin] of [['localhost:9', `http://localhost:${server.port}`], ['localhost:9', 'http://127.0.0.1:9'], ['work.localhost:9', 'http://localhost:9'], ['a.localhost:9', 'http://b.localhost:9'],
		['localhost:9', 'https://localhost:9'], ['localhost:9', 'null'], ['localhost:9', 'http://localhost'], ['localhost:9', 'http://localhost:9.evil.example']])
		assert.deepEqual(await all(host, origin), [403, 403, 403, 403], `${origin} at ${host}`);
	for (const host of ['localhost:65536', 'localhost:', 'localhost.:9', 'localhost.evil.example:9', '127.0.0.2:9', 'evil-localhost:9', '8080-s-abc.localhost:9x', '.localhost:9'])
		assert.deepEqual(await all(host, `http://${host}`), [403, 403, 403, 403], host);
});

scenario('with --no-auth only exact loopback names are valid', { args: ['--no-auth'] }, async (server) => {
	for (const [host, status] of [['localhost:9', 200], ['[::1]:9', 200], ['work.localhost', 403], [`work.localhost:${server.port}`, 403]])
		assert.equal((await server.api.raw('GET', '/api/session/list', undefined, { headers: { Host: host } })).status, status, host);
});

const policies = (headers) => Object.fromEntries(headers['content-security-policy'].split(';').map((each) => each.trim()).map((each) => [each.split(' ', 1)[0], each]));

scenario('security headers of the page', { ca, args: ['--trust-proxy', '127.0.0.1', '--allow-host', 'shell.example', '--allow-host', 'www.localhost', '--allow-origin', 'https://app.example'] }, async (server) => {
	const get = (where, headers) => server.api.as(null).raw('GET', where, undefined, { headers });
	const { headers } = await get('/');
	const csp = policies(headers);
	assert.equal(csp['connect-src'], "connect-src 'self'");
	assert.equal(csp['default-src'], "default-src 'none'");
	assert.equal(csp['script-src'], "script-src 'self'");
	assert.equal(csp['require-trusted-types-for'], "require-trusted-types-for 'script'");
	for (const name of ['camera', 'microphone', 'geolocation', 'usb', 'serial', 'display-capture'])
		assert.match(headers['permissions-policy'], new RegExp(`(^| )${name}=\\(\\)`));
	const [script] = /assets\/index-\S+\.js/.exec((await get('/')).text);
	for (const where of ['/', `/${script}`, '/healthz', '/api/session/list', '/nowhere']) {
		const { headers: hsts } = await get(where);
		assert.equal(hsts['x-content-type-options'], 'nosniff', where);
		assert.equal(hsts['referrer-policy'], 'no-referrer', where);
		assert.equal(hsts['cross-origin-opener-policy'], 'same-origin', where);
		assert.equal(hsts['cross-origin-resource-policy'], 'same-origin', where);
		assert.equal(hsts['strict-transport-security'], undefined, where);
	}
	assert.equal((await get('/healthz', { Origin: 'https://app.example' })).headers['cross-origin-resource-policy'], 'cross-origin');
	// Over TLS that a proxy ends, and only for names that are not loopback.
	for (const [hsts, host, proto] of [['max-age=31536000', 'shell.example', 'https'], [undefined, 'shell.example', 'http'], [undefined, undefined, 'https, http'],
		[undefined, `localhost:${server.port}`, 'https'], [undefined, 'www.localhost', 'https'], [undefined, 'unknown.example', 'https']]) {
		for (const where of ['/', '/api/session/list'])
			assert.equal((await get(where, { ...(host ? { Host: host } : {}), 'X-Forwarded-Proto': proto })).headers['strict-transport-security'], hsts, `${where} of ${host} by ${proto}`);
	}
	await server.kill('SIGTERM');
	await server.start({ args: ['--allow-host', 'shell.example'] });
	assert.equal((await get('/', { Host: 'shell.example', 'X-Forwarded-Proto': 'https' })).headers['strict-transport-security'], undefined, 'this proxy is not trusted');
	await server.kill('SIGTERM');
	await server.start({ args: [...secure.args, '--allow-host', 'shell.example'] });
	const strict = (Host) => new Promise((resolve, reject) => {
		https.get(server.base, { ca, agent: false, checkServerIdentity: () => undefined, headers: { Host } }, (answer) => {
			answer.resume().on('end', () => resolve(answer.headers['strict-transport-security']));
		}).on('error', reject);
	});
	assert.equal(await strict('shell.example'), 'max-age=31536000');
	assert.equal(await strict(`localhost:${server.port}`), undefined);
});
