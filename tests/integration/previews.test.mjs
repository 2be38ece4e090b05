// Previews of ports: by host name and by path, what passes, and what happens when one side fails.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import WebSocket, { WebSocketServer } from 'ws';
import { assertError, request } from './lib/api.mjs';
import { ca, secure } from './lib/certificate.mjs';
import { RawClient } from './lib/client.mjs';
import { descriptors } from './lib/proc.mjs';
import { readText, sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared, together } from './lib/together.mjs';
import { stays, until, within } from './lib/until.mjs';

const listen = (listener, host = '127.0.0.1') => new Promise((resolve, reject) => {
	listener.once('error', reject).listen(0, host, () => resolve(listener.address().port));
});

const trusting = together({ args: ['--drivers-may-all'] });

/** Run body with a listening server, and close it afterwards. */
async function serving(listener, body, host) {
	const sockets = new Set();
	listener.on('connection', (socket) => {
		sockets.add(socket.on('error', () => {}));
		socket.on('close', () => sockets.delete(socket));
	});
	const port = await listen(listener, host);
	try {
		return await body(port, sockets);
	} finally {
		sockets.forEach((socket) => socket.destroy());
		await new Promise((resolve) => { listener.close(resolve); });
	}
}

/** Responds with the request as JSON. */
const echo = () => http.createServer((asked, answer) => {
	const hash = createHash('sha256');
	let bytes = 0;
	asked.on('data', (data) => { bytes += data.length; hash.update(data); });
	asked.on('end', () => answer.end(JSON.stringify({ url: asked.url, method: asked.method, headers: asked.headers, bytes, digest: hash.digest('hex') })));
});

/** A server that sends a text after the request's head, then ends unless `end` is false. */
const saying = (text, { end = true } = {}) => net.createServer((socket) => socket.on('error', () => {}).once('data', () => {
	socket.write(text);
	if (end) socket.end();
}));

const expose = (server, port, more = {}) => server.api.call('POST', '/api/expose-port', { port, ...more });

/** Run body with the preview of a listening server. */
const exposed = (server, listener, body) => serving(listener, async (port, sockets) => body(await expose(server, port), port, sockets));

/** Send a request to a preview's host name. */
const visit = (server, preview, path = '/', { headers = {}, ...options } = {}) =>
	request(server.base, { path, headers: { Host: `${preview.host}:${server.port}`, ...headers }, ...options });

/** How a connection ends ("reset" or "end"), which Node.js does not report reliably. */
const ending = (port, text) => within('the end', new Promise((resolve, reject) => {
	execFile('python3', ['-c', `import socket, sys
c = socket.create_connection(("127.0.0.1", ${port}))
c.sendall(sys.argv[1].encode())
try:
	while c.recv(65536): pass
	print("end")
except ConnectionResetError: print("reset")`, text], (error, stdout) => (error ? reject(error) : resolve(stdout)));
}));

const raw = (server, preview, text) => new RawClient(server).send(text.replaceAll('HOST', `${preview.host}:${server.port}`));

shared('a preview is reached by its host name, without credentials', async (server) => {
	await serving(echo(), async (port) => {
		const preview = await expose(server, port, { name: 'web' });
		assert.match(preview.host, new RegExp(`^${port}-s-[a-z0-9]{16}\\.localhost$`));
		assert.equal(preview.url, `http://${preview.host}:${server.port}/`);
		const answer = await visit(server, preview, '/a%20b/../c?x=1&y=%00', { method: 'PATCH', body: 'some', headers: { 'Content-Type': 'text/plain', 'X-Mine': 'yes' } });
		assert.equal(answer.status, 200);
		assert.equal(answer.json.url, '/a%20b/../c?x=1&y=%00');
		assert.equal(answer.json.method, 'PATCH');
		assert.equal(answer.json.bytes, 4);
		assert.equal(answer.json.headers['x-mine'], 'yes');
		assert.equal(answer.json.headers.host, `localhost:${port}`);
		assert.equal(answer.json.headers['x-forwarded-host'], `${preview.host}:${server.port}`);
		assert.equal(answer.json.headers['x-original-url'], `http://${preview.host}:${server.port}/a%20b/../c?x=1&y=%00`);
		assert.equal(answer.json.headers['x-sandbox-name'], 's');
		assert.equal(answer.headers['referrer-policy'], 'same-origin');
		for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND']) assert.equal((await visit(server, preview, '/', { method })).status, 200, method);
	});
});

shared('a preview is only reached by its own name, and that name reaches nothing else', async (server) => {
	await exposed(server, echo(), async (preview, port) => {
		const { token } = preview;
		const wrong = await visit(server, { host: `${port}-s-${'a'.repeat(16)}.localhost` });
		assertError(wrong, 404, 'INVALID_TOKEN');
		assert.equal(wrong.json.error, wrong.json.message, 'clients of the container use this field');
		for (const host of [`80-s-${token}.localhost`, `${preview.host}.evil.example`]) assertError(await visit(server, { host }), 403, 'HOST_NOT_ALLOWED', host);
		// Every path belongs to the program there, with any credentials.
		for (const path of ['/api/session/list', '/metrics', '/mcp', '/healthz', '/', `/proxy/${port}/x`]) {
			const answer = await visit(server, preview, path, { headers: { Authorization: `Bearer ${server.token}` } });
			assert.equal(answer.json.url, path);
			assert.equal(answer.json.headers.authorization, undefined, 'the program got Ringside\'s token');
		}
		// Host names are not case-sensitive.
		assert.equal((await visit(server, { host: preview.host.toUpperCase() })).status, 200);
	});
});

shared('by path for owners: the content has no rights here', async (server) => {
	const program = http.createServer((asked, answer) => {
		answer.setHeader('Set-Cookie', ['ringside-1234=stolen; Path=/', 'other=1']);
		answer.setHeader('Clear-Site-Data', '"cookies"');
		answer.setHeader('Service-Worker-Allowed', '/');
		answer.setHeader('Access-Control-Allow-Origin', '*');
		answer.setHeader('Content-Security-Policy', 'sandbox allow-same-origin allow-scripts');
		answer.setHeader('Strict-Transport-Security', 'max-age=1');
		answer.setHeader('X-Accel-Redirect', '/etc/passwd');
		answer.setHeader('Content-Type', 'text/html');
		if (asked.url.startsWith('/to')) answer.setHeader('Location', asked.url.slice(4));
		answer.end(JSON.stringify(asked.headers));
	});
	await serving(program, async (port) => {
		const answer = await server.api.raw('GET', `/proxy/${port}/x`, undefined, { headers: { Cookie: 'mine=1' } });
		assert.equal(answer.status, 200);
		for (const name of ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'access-control-allow-origin', 'strict-transport-security', 'x-accel-redirect']) assert.equal(answer.headers[name], undefined, name);
		const policies = answer.headers['content-security-policy'].split(', ');
		assert.ok(policies.some((policy) => /^sandbox /.test(policy) && !policy.includes('allow-same-origin')), policies);
		assert.equal(answer.json.cookie, undefined);
		assert.equal(answer.json.authorization, undefined);
		assert.equal((await server.api.raw('GET', `/proxy/${port}/to//a`)).headers.location, `/proxy/${port}/a`);
		const as = (token, headers) => server.api.as(token, headers).raw('GET', `/proxy/${port}/`);
		assertError(await as(server.token, { Origin: 'https://evil.example' }), 403, 'ORIGIN_NOT_ALLOWED');
		assertError(await as(server.token, { 'Sec-Fetch-Dest': 'script' }), 403, 'PERMISSION_DENIED');
		assertError(await as(server.token, { 'Service-Worker': 'script' }), 403, 'PERMISSION_DENIED');
		for (const wrong of ['80', '0', '65536', '99999999999', '-1', `${port}@evil.example`, `${port}.evil`, `0${port}`, '%33000', String(server.port)]) {
			assertError(await server.api.raw('GET', `/proxy/${wrong}/`), 400, 'INVALID_PORT', wrong);
		}
	});
});

shared('origin, referer, redirects and cookies are rewritten for each side', async (server) => {
	const program = http.createServer((asked, answer) => {
		answer.setHeader('Location', `http://${asked.headers.host}/a?b`);
		answer.setHeader('Set-Cookie', ['a=1; Domain=localhost; Path=/', 'c=3']);
		answer.setHeader('Clear-Site-Data', '"cookies"');
		const { origin, referer, cookie, 'x-hop': hop } = asked.headers;
		answer.end(JSON.stringify({ origin, referer, cookie, hop }));
	});
	await exposed(server, program, async (preview, port) => {
		const own = `http://${preview.host}:${server.port}`;
		// Connection names a header of a single connection.
		const asked = { Origin: own, Referer: `${own}/x?y`, Cookie: 'a=1; ringside-abcd=secret; b=2', Connection: 'close, X-Hop', 'X-Hop': '1' };
		const { json, headers } = await visit(server, preview, '/', { headers: asked });
		assert.deepEqual(json, { origin: `http://localhost:${port}`, referer: `http://localhost:${port}/x?y`, cookie: 'a=1; b=2' });
		assert.deepEqual([headers.location, headers['set-cookie'], headers['clear-site-data']], ['/a?b', ['a=1; Path=/', 'c=3'], undefined]);
	});
});

shared('a missing listener and one that does not respond are reported clearly', async (server) => {
	const listener = net.createServer();
	const port = await listen(listener);
	const preview = await expose(server, port);
	await new Promise((resolve) => { listener.close(resolve); });
	assertError(await visit(server, preview), 502, 'PORT_NOT_LISTENING');
	const page = await visit(server, preview, '/', { headers: { Accept: 'text/html,*/*' } });
	assert.ok(page.text.includes(`<h1>Nothing listens on port ${port} of this machine</h1>`), page.text);
	assert.ok(!page.text.includes('href='), 'an address of the preview is not one of ours');
	assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
	assert.equal((await visit(server, preview, '/', { method: 'HEAD' })).text, '');
	const answers = {
		nothing: '', 'bytes that are not HTTP': 'SSH-2.0-OpenSSH\r\n', 'half a head': 'HTTP/1.1 200 OK\r\nA: b\r\n',
		'an unrequested upgrade': 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', 'endless interim responses': 'HTTP/1.1 103 Early\r\n\r\n'.repeat(100),
		'a head that is too large': `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`,
	};
	for (const [what, text] of Object.entries(answers)) {
		await serving(saying(text), async (there) => {
			const visited = await visit(server, await expose(server, there), '/');
			assertError(visited, 502, 'PORT_ANSWER_INVALID', what);
		});
	}
});

shared('responses of every framing arrive complete, on one connection', async (server) => {
	const answers = [
		['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef', 'abc'], ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\nTrailer: x\r\n\r\n', 'abc'],
		['HTTP/1.1 200 OK\n\nabc', 'abc'], ['HTTP/1.0 200 OK\r\n\r\nabc', 'abc'], ['HTTP/1.1 204 No\r\n\r\n', ''], ['HTTP/1.1 304 No\r\nContent-Length: 7\r\n\r\n', ''],
		['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ''], ['HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc', 'abc'], ['HTTP/1.1 404\r\nContent-Length: 3\r\n\r\nabc', 'abc'],
	];
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	let connections = 0;
	for (const [text, expected] of answers) {
		await exposed(server, saying(text), async (preview) => {
			await new Promise((resolve, reject) => {
				http.get({ agent, port: server.port, host: '127.0.0.1', headers: { Host: `${preview.host}:${server.port}` } }, (answer) => {
					let got = '';
					connections += answer.socket.counted ? 0 : 1;
					answer.socket.counted = true;
					answer.on('data', (data) => { got += data; }).on('error', reject).on('end', () => {
						assert.equal(got, expected, text);
						resolve();
					});
				}).on('error', reject);
			});
		});
	}
	agent.destroy();
	assert.equal(connections, 1);
});

shared('a truncated response does not look complete', async (server) => {
	for (const text of ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n']) {
		await exposed(server, saying(text), async (preview) => {
			await assert.rejects(visit(server, preview), /aborted|ECONNRESET|hang up/, text);
			// In HTTP/1.0 only the close marks the end, so it is a reset.
			assert.match(await ending(server.port, `GET / HTTP/1.0\r\nHost: ${preview.host}\r\n\r\n`), /reset/, text);
		});
	}
});

shared('ambiguous requests are refused', async (server) => {
	let asked = 0;
	await exposed(server, http.createServer((incoming, answer) => { asked += 1; answer.end(); }), async (preview) => {
		for (const lines of ['Content-Length: 3\r\nContent-Length: 3', 'Content-Length: 3\r\nTransfer-Encoding: chunked', 'Transfer-Encoding : chunked']) {
			const client = raw(server, preview, `POST / HTTP/1.1\r\nHost: HOST\r\n${lines}\r\n\r\nabcGET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n`);
			assert.equal(await client.status(), 400, lines);
			await client.untilClosed();
		}
		assert.equal(await raw(server, preview, 'GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n').status(), 400);
		assert.equal(asked, 0);
		// An invalid chunk is refused before the response.
		assert.equal(await raw(server, preview, 'POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n').status(), 400);
	});
});

shared('pipelined requests are answered in order', async (server) => {
	await exposed(server, echo(), async (preview) => {
		const client = raw(server, preview, ['POST /1 HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\n\r\nabc', 'POST /2 HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
			'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 'GET /3 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n'].join(''));
		await client.untilClosed();
		assert.deepEqual(client.text.match(/"url":"\/\d"|^ok|ok$/gm)?.filter((each) => each.startsWith('"')), ['"url":"/1"', '"url":"/2"', '"url":"/3"']);
		assert.equal(client.text.match(/HTTP\/1\.1 200/g).length, 4);
		assert.equal(client.text.match(/"bytes":3/g).length, 2);
	});
});

shared('WebSockets and other upgrades pass both ways, by host and by path', async (server) => {
	const program = http.createServer();
	const sockets = new WebSocketServer({ server: program });
	const origins = [];
	sockets.on('connection', (socket, asked) => {
		origins.push(asked.headers.origin);
		assert.equal(asked.headers.authorization, undefined);
		socket.on('message', (data, binaryData) => socket.send(data, { binary: binaryData }));
	});
	await exposed(server, program, async (preview, port) => {
		const own = `http://${preview.host}:${server.port}`;
		const open = (path, options) => new WebSocket(`ws://127.0.0.1:${server.port}${path}`, options);
		const echoes = async (socket) => {
			await within('the open socket', new Promise((resolve, reject) => { socket.once('open', resolve).once('error', reject); }));
			for (const size of [1, 70_000, 3_000_000]) {
				const sent = Buffer.alloc(size, size);
				const back = new Promise((resolve) => { socket.once('message', resolve); });
				socket.send(sent);
				assert.ok((await within('the echo', back)).equals(sent));
			}
			const closed = new Promise((resolve) => { socket.once('close', resolve); });
			socket.close(4321);
			assert.equal(await within('the close', closed), 4321);
		};
		for (const path of ['/', '/ws/pty?sessionId=s']) await echoes(open(path, { headers: { Host: `${preview.host}:${server.port}` }, origin: own }));
		assert.deepEqual(new Set(origins), new Set([`http://localhost:${port}`]));
		await echoes(open(`/proxy/${port}/ws`, { headers: { Authorization: `Bearer ${server.token}` } }));
		await assert.rejects(echoes(open(`/proxy/${port}/ws`)), /401/);
		await until('the end of all connections', async () => (await server.api.call('GET', '/api/exposed-ports')).ports[0].connections === 0);
	});
	// A response without an upgrade does not become a WebSocket.
	await exposed(server, echo(), async (preview) => {
		await assert.rejects(within('the refusal', new Promise((resolve, reject) => {
			new WebSocket(`ws://127.0.0.1:${server.port}/`, { headers: { Host: `${preview.host}:${server.port}` } }).once('open', resolve).once('error', reject);
		})), /200/);
	});
});

shared("events are streamed without delay, and a client's disconnect reaches the program", async (server) => {
	const answers = [];
	let gone = 0;
	const program = http.createServer((asked, answer) => {
		answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
		answer.flushHeaders();
		answer.on('close', () => { gone += 1; });
		answers.push(answer);
	});
	await exposed(server, program, async (preview) => {
		const client = raw(server, preview, 'GET / HTTP/1.1\r\nHost: HOST\r\n\r\n');
		await until('the head', () => client.text.includes('event-stream'));
		for (let i = 0; i < 5; i += 1) {
			answers[0].write(`data: ${i}\n\n`);
			await until(`event ${i}`, () => client.text.includes(`data: ${i}\n`), { interval: 2 });
		}
		client.socket.destroy();
		await until('the close at the program', () => gone === 1);
	});
});

shared('revoking a preview ends its connections', async (server) => {
	const open = new Set();
	const program = http.createServer((asked, answer) => {
		answer.write('x');
		open.add(answer);
		answer.on('close', () => open.delete(answer));
	});
	await serving(program, async (port) => {
		const preview = await expose(server, port), other = await expose(server, port, { token: 'another_token' });
		assert.notEqual(other.token, preview.token);
		assert.equal((await expose(server, port)).token, preview.token, 'a second request returns the same preview');
		const client = raw(server, preview, 'GET / HTTP/1.1\r\nHost: HOST\r\n\r\n'), stays2 = raw(server, other, 'GET / HTTP/1.1\r\nHost: HOST\r\n\r\n');
		await until('both connections', () => open.size === 2);
		assert.equal((await server.api.call('DELETE', `/api/exposed-ports/${port}?token=${preview.token}`)).removed, 1);
		await client.untilClosed();
		assert.equal(stays2.closed, false);
		assertError(await visit(server, preview), 404, 'INVALID_TOKEN');
		assert.equal((await server.api.call('DELETE', `/api/exposed-ports/${port}`)).removed, 1);
		assert.equal((await server.api.call('DELETE', `/api/exposed-ports/${port}`)).removed, 0);
		await stays2.untilClosed();
		await until('the close at the program', () => open.size === 0);
	});
});

shared('previews outlive the server, and end with their session', async (server) => {
	await serving(echo(), async (port) => {
		await server.session({ id: 'My.Session' });
		const lasting = await expose(server, port), bound = await expose(server, port, { sessionId: 'My.Session' });
		assert.match(bound.host, new RegExp(`^${port}-my-session-`));
		const others = [];
		for (const id of ['a', 'b', 'c', 'd']) others.push(await expose(server, port, { sessionId: (await server.session({ id })).id }));
		await server.restart();
		for (const preview of [lasting, bound, ...others]) assert.equal((await visit(server, preview)).status, 200);
		for (const id of ['a', 'b', 'c', 'd']) await server.api.delete(id);
		const brief = await expose(server, port, { sessionId: (await server.session({ id: 'brief' })).id });
		await server.api.input('brief', 'exit\r');
		await until('the expiry', async () => (await visit(server, brief)).status === 410);
		await server.api.refused(409, 'RESOURCE_BUSY', 'POST', '/api/expose-port', { port, sessionId: 'brief' });
		// Its connections end too.
		await serving(http.createServer((_, answer) => { answer.write('held'); }), async (other) => {
			const client = raw(server, await expose(server, other, { sessionId: 'My.Session' }), 'GET / HTTP/1.1\r\nHost: HOST\r\n\r\n');
			await until('a response', () => client.text.includes('held'));
			await server.api.call('POST', '/api/session/delete', { sessionId: 'My.Session' });
			await until('the end of the connection', () => client.closed);
		});
		assertError(await visit(server, bound), 410, 'STALE_PREVIEW_URL');
		assert.deepEqual((await server.api.call('GET', '/api/exposed-ports')).ports.map(({ token }) => token), [lasting.token]);
		await server.kill('SIGTERM');
		await server.start();
		assert.equal((await visit(server, lasting)).status, 200);
		assertError(await visit(server, bound), 404, 'INVALID_TOKEN');
		await server.api.refused(404, 'SESSION_NOT_FOUND', 'POST', '/api/expose-port', { port, sessionId: 'none' });
		for (const body of [{}, { port: 1023 }, { port: 65_536 }, { port: '8080' }, { port: 8080.5 }, { port: server.port }]) await server.api.refused(400, 'INVALID_PORT', 'POST', '/api/expose-port', body);
		for (const body of [{ token: 'short' }, { token: 'UPPERCASE' }, { token: 'a-hyphen-there' }, { token: 'x'.repeat(17) }, { name: 'a\nb' }, { token: lasting.token, sessionId: '__DISABLE_SESSION__', port: port - 1 }]) await server.api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/expose-port', { port, ...body });
	});
});

trusting('previews of drivers end with their link', async (server) => {
	await serving(echo(), async (port) => {
		await server.session({ id: 's' });
		const { token, link } = await server.api.call('POST', '/api/session/s/links', { role: 'driver' });
		const driver = server.api.as(token);
		const owners = await expose(server, port);
		const preview = await driver.call('POST', '/api/expose-port', { port });
		assert.equal(preview.sessionId, 's');
		assert.deepEqual((await driver.call('GET', '/api/exposed-ports')).ports.map((each) => each.token), [preview.token]);
		assert.equal((await server.api.call('GET', '/api/exposed-ports')).count, 2);
		assert.equal((await driver.call('DELETE', `/api/exposed-ports/${port}?token=${owners.token}`)).removed, 0);
		assert.equal((await driver.raw('GET', `/proxy/${port}/`)).status, 200);
		const { token: watcher } = await server.api.call('POST', '/api/session/s/links', { role: 'viewer' });
		assertError(await server.api.as(watcher).raw('GET', `/proxy/${port}/`), 403, 'PERMISSION_DENIED');
		assert.equal((await visit(server, preview)).status, 200);
		for (let i = 1; i < 32; i += 1) await driver.call('POST', '/api/expose-port', { port: 3000 + i });
		assertError(await driver.raw('POST', '/api/expose-port', { port: 4000 }), 429, 'LIMIT_REACHED');
		await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
		assertError(await visit(server, preview), 404, 'INVALID_TOKEN');
		assertError(await driver.raw('GET', `/proxy/${port}/`), 401, 'UNAUTHENTICATED');
		assert.equal((await visit(server, owners)).status, 200);
	});
});

shared('a preview never reaches the server itself, not even indirectly', async (server) => {
	const round = net.createServer((socket) => {
		const there = net.connect(server.port, '127.0.0.1').on('error', () => socket.destroy());
		socket.on('error', () => there.destroy()).pipe(there).pipe(socket);
	});
	await exposed(server, round, async (preview, port) => {
		assertError(await visit(server, preview, '/api/ping'), 508, 'LOOP_DETECTED');
		assertError(await server.api.raw('GET', `/proxy/${port}/healthz`), 508, 'LOOP_DETECTED');
	});
});

shared('a listener on ::1 alone is found', async (server, t) => {
	try {
		await serving(echo(), async (port) => {
			assert.equal((await visit(server, await expose(server, port))).status, 200);
		}, '::1');
	} catch (error) {
		if (error.code !== 'EADDRNOTAVAIL' && error.code !== 'EAFNOSUPPORT') throw error;
		t.skip('there is no ::1');
	}
});

shared('bodies of any size pass both ways in little memory, with 100 Continue if requested', { timeout: 100_000 }, async (server) => {
	const size = times(24, 300) << 20;
	const down = Buffer.alloc(1 << 20, 'd');
	const program = http.createServer((asked, answer) => {
		let bytes = 0;
		asked.on('data', (data) => { bytes += data.length; }).on('end', () => {
			answer.setHeader('X-Bytes', String(bytes));
			if (asked.method === 'POST') { answer.end(); return; }
			let left = size / down.length;
			const more = () => {
				while (left > 0) {
					left -= 1;
					if (!answer.write(down)) { answer.once('drain', more); return; }
				}
				answer.end();
			};
			more();
		});
	});
	const memory = () => Number(/VmRSS:\s+(\d+) kB/.exec(readText(`/proc/${server.pid}/status`))[1]) << 10;
	await exposed(server, program, async (preview) => {
		const before = memory();
		for (const headers of [{ 'Content-Length': size }, { 'Transfer-Encoding': 'chunked', Expect: '100-continue' }]) {
			const answer = await within('the upload', new Promise((resolve, reject) => {
				const outgoing = http.request({ port: server.port, host: '127.0.0.1', method: 'POST', headers: { Host: preview.host, ...headers } }, (incoming) => incoming.resume().on('end', () => resolve(incoming))).on('error', reject);
				let left = size / down.length;
				const more = () => {
					while (left > 0) {
						left -= 1;
						if (!outgoing.write(down)) { outgoing.once('drain', more); return; }
					}
					outgoing.end();
				};
				if (headers.Expect) outgoing.once('continue', more).flushHeaders();
				else more();
			}), 40_000);
			assert.equal(answer.headers['x-bytes'], String(size));
		}
		const got = await within('the download', new Promise((resolve, reject) => {
			http.get({ port: server.port, host: '127.0.0.1', headers: { Host: preview.host } }, (incoming) => {
				let bytes = 0;
				incoming.on('data', (data) => { bytes += data.length; }).on('error', reject).on('end', () => resolve(bytes));
			}).on('error', reject);
		}), 40_000);
		assert.equal(got, size);
		if (!sanitized()) assert.ok(memory() - before < 8 << 20, `memory grew by ${memory() - before}`);
	});
});

shared('a client that stops reading blocks the program, and nothing else', async (server) => {
	const count = times(6, 20);
	let written = 0;
	const program = http.createServer((asked, answer) => {
		if (asked.url === '/quick') { answer.end('quick'); return; }
		if (asked.method === 'POST') { asked.pause(); return; }
		const piece = Buffer.alloc(64 << 10);
		const more = () => {
			let goes = true;
			while (goes && !answer.destroyed) {
				goes = answer.write(piece);
				written += piece.length;
			}
		};
		answer.on('drain', more);
		more();
	});
	await exposed(server, program, async (preview, port, sockets) => {
		const readers = Array.from({ length: count }, () => {
			const client = raw(server, preview, 'GET /flood HTTP/1.1\r\nHost: HOST\r\n\r\n');
			client.socket.pause();
			return client;
		});
		const writers = Array.from({ length: count }, () => raw(server, preview, 'POST /sink HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1000000000\r\n\r\n').send(Buffer.alloc(8 << 20)));
		let last = -1;
		await until('a blocked program', async () => {
			const before = last;
			last = written;
			return before === written && written > 0;
		}, { interval: 300 });
		await stays('the blocked program', () => written === last, 300);
		assert.ok(written < count * (24 << 20), `${written} bytes were accepted`);
		for (let i = 0; i < count; i += 1) assert.equal((await visit(server, preview, '/quick')).text, 'quick');
		const connections = async () => (await server.api.call('GET', '/api/exposed-ports')).ports[0].connections;
		[...readers, ...writers].forEach(({ socket }) => socket.destroy());
		// The close of a client comes after its unread bytes.
		await until('the end of the readers', async () => await connections() <= count);
		sockets.forEach((socket) => socket.destroy());
		await until('the end of all connections', async () => await connections() === 0);
	});
});

shared('a program or a server that dies ends its connections', async (server) => {
	const program = http.createServer((asked, answer) => {
		if (asked.url === '/begun') answer.write('x');
		if (asked.url === '/ends') answer.end('yes');
	});
	await exposed(server, program, async (preview, port, sockets) => {
		const waiting = visit(server, preview, '/'), begun = visit(server, preview, '/begun');
		begun.catch(() => {});
		await until('both connections', () => sockets.size === 2);
		sockets.forEach((socket) => socket.destroy());
		assertError(await waiting, 502, 'PORT_ANSWER_INVALID');
		// Incomplete, or not started yet: but never complete.
		const outcome = await begun.catch((error) => error);
		if (!(outcome instanceof Error)) assertError(outcome, 502, 'PORT_ANSWER_INVALID');
		const client = raw(server, preview, 'GET /begun HTTP/1.1\r\nHost: HOST\r\n\r\n');
		await until('the start of the response', () => client.text.includes('\r\n\r\n'));
		await server.kill('SIGKILL');
		await client.untilClosed();
		await until('the close at the program', () => sockets.size === 0);
		await server.start();
		assert.equal((await visit(server, preview, '/ends')).text, 'yes');
		const last = raw(server, preview, 'GET /begun HTTP/1.1\r\nHost: HOST\r\n\r\n');
		await until('the start of the response', () => last.text.includes('\r\n\r\n'));
		assert.equal((await server.kill('SIGTERM')).code, 0);
		await last.untilClosed();
		await server.start();
	});
});

shared('an early response to a large body is passed on', async (server) => {
	const program = net.createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno')));
	await exposed(server, program, async (preview) => {
		const client = raw(server, preview, 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100000000\r\n\r\n').send(Buffer.alloc(100_000));
		assert.equal(await client.status(), 413);
		await client.untilClosed();
	});
});

shared('twenty at once leave nothing', async (server) => {
	await exposed(server, echo(), async (preview) => {
		await visit(server, preview);
		const count = () => Object.keys(descriptors(server.pid)).length, before = count();
		for (let round = 0; round < times(2, 5); round += 1) {
			const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => visit(server, preview, `/${i}`, { method: 'POST', body: 'x'.repeat(i * 1000) })));
			answers.forEach(({ json }, i) => assert.deepEqual([json.url, json.bytes], [`/${i}`, i * 1000]));
		}
		await until('as few descriptors as before', () => count() <= before + 1);
	});
});

scenario('without a domain there are no preview hosts', { args: ['--preview-domain', 'none'] }, async (server) => {
	await exposed(server, echo(), async (preview, port) => {
		assert.equal(preview.url, null);
		assertError(await visit(server, { host: `${port}-s-${preview.token}.localhost` }), 403, 'HOST_NOT_ALLOWED');
		assert.equal((await server.api.raw('GET', preview.path)).status, 200);
	});
});

scenario('over TLS', secure, async (server) => {
	const program = echo();
	const sockets = new WebSocketServer({ server: program });
	sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
	await exposed(server, program, async (preview) => {
		assert.match(preview.url, /^https:/);
		const options = { port: server.port, host: '127.0.0.1', servername: preview.host, ca, checkServerIdentity: () => undefined };
		const body = Buffer.alloc(5 << 20, 'x');
		const answer = await within('the response', new Promise((resolve, reject) => {
			https.request({ ...options, method: 'POST', headers: { Host: `${preview.host}:${server.port}` } }, (incoming) => {
				let text = '';
				incoming.on('data', (data) => { text += data; }).on('end', () => resolve(JSON.parse(text)));
			}).on('error', reject).end(body);
		}));
		assert.equal(answer.digest, createHash('sha256').update(body).digest('hex'));
		assert.equal(answer.headers['x-forwarded-proto'], 'https');
		// A path of Ringside's own sockets, and a head in many TLS records: libwebsockets must not handle it.
		for (const [path, headers] of [['/', {}], ['/ws/pty?sessionId=s', { 'X-Long': 'y'.repeat(6000) }]]) {
			const socket = new WebSocket(`wss://127.0.0.1:${server.port}${path}`, { ...options, headers: { Host: `${preview.host}:${server.port}`, ...headers } });
			await within('the open socket', new Promise((resolve, reject) => { socket.once('open', resolve).once('error', reject); }));
			const back = new Promise((resolve) => { socket.once('message', resolve); });
			const sent = Buffer.alloc(300_000, 'z');
			socket.send(sent);
			assert.ok((await within('the echo', back)).equals(sent));
			socket.terminate();
		}
		const halves = tls.connect({ ...options }).on('error', () => {});
		let text = '';
		halves.on('data', (data) => { text += data; });
		await within('the handshake', new Promise((resolve) => { halves.once('secureConnect', resolve); }));
		halves.write('GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX: ');
		halves.write(`y\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\nHost: ${preview.host}\r\n\r\n`);
		await until('the upgrade', () => text.startsWith('HTTP/1.1 101'));
		halves.destroy();
	});
});

shared('a program that does not accept connections is awaited for a limited time', async (server) => {
	await server.session({ id: 's' });
	const { offset } = await server.api.get('s');
	// Its queue is full, and it never accepts.
	await server.api.input('s', `python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0); p = s.getsockname(); c = []; exec("for i in range(4):\\n x = socket.socket(); x.setblocking(False); x.connect_ex(p); c.append(x)"); print("at", p[1], flush=True); time.sleep(1000)' &\r`);
	const port = Number((await server.outputMatches('s', /at (\d+)\r\n/, offset))[1]);
	const preview = await expose(server, port);
	assertError(await visit(server, preview), 504, 'PORT_TIMEOUT');
});

scenario('clients of previews do not use up the connections of the server', { args: ['--max-connections', '120'] }, async (server) => {
	await exposed(server, net.createServer((socket) => socket.resume()), async (preview, port, sockets) => {
		const all = Array.from({ length: 110 }, () => raw(server, preview, 'GET / HTTP/1.1\r\nHost: HOST\r\n\r\n'));
		await until('the limit', () => sockets.size === 31 && all.filter(({ closed, text }) => closed || /"LIMIT_REACHED"/.test(text)).length === 79);
		// The server notices a moment later that refused clients have disconnected, and counts them until then.
		await until('a response', async () => (await server.api.raw('GET', '/api/ping').catch(() => ({}))).status === 200);
		assert.equal(sockets.size, 31);
		all.forEach(({ socket }) => socket.destroy());
	});
});
