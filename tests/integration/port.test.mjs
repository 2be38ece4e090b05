// Waiting until a port is served: as a stream of events, and as one response.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { assertError } from './lib/api.mjs';
import { freePort } from './lib/port.mjs';
import { Processes } from './lib/process.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

const listen = (listener, port = 0, host = '127.0.0.1') => new Promise((resolve, reject) => {
	listener.once('error', reject).listen(port, host, () => resolve(listener.address().port));
});
const close = (listener) => new Promise((resolve) => {
	listener.closeAllConnections?.();
	listener.close(resolve);
});

const watch = (server, body) => new EventStream(server, '/api/port-watch', { method: 'POST', body });
const plain = (events) => events.map(({ at, ...event }) => event);

shared('a port is ready at once, or when a process listens', async (server) => {
	const sockets = new Set();
	const listener = net.createServer((socket) => { sockets.add(socket.on('error', () => {})); });
	const port = await freePort();
	const stream = watch(server, { port, mode: 'tcp', interval: 100 });
	await stream.until('watching', ({ type }) => type === 'watching');
	await stays('only the watching event', () => stream.events.length === 1, 250);
	assert.match(stream.headers['content-type'], /^text\/event-stream/);
	await listen(listener, port);
	await stream.until('ready', ({ type }) => type === 'ready');
	await until('the end of the stream', () => stream.closed);
	assert.deepEqual(plain(stream.events), [{ type: 'watching', port }, { type: 'ready', port }]);
	const at = watch(server, { port, mode: 'tcp' });
	await until('the end of the stream', () => at.closed);
	assert.deepEqual(plain(at.events), [{ type: 'watching', port }, { type: 'ready', port }]);
	for (const socket of sockets) socket.destroy();
	await close(listener);
});

shared('HTTP is ready with a status in the range, on either loopback address', async (server) => {
	const seen = [];
	let status = 503;
	const listener = http.createServer((request, response) => {
		seen.push([request.method, request.url, request.headers.host]);
		response.writeHead(status).end('x'.repeat(100_000));
	});
	const port = await listen(listener);
	const stream = watch(server, { port, mode: 'http', path: '/health?x=1', interval: 100 });
	await until('a few requests', () => seen.length >= 2);
	assert.deepEqual(seen[0], ['GET', '/health?x=1', `localhost:${port}`]);
	assert.deepEqual(plain(stream.events), [{ type: 'watching', port }]);
	const wide = watch(server, { port, mode: 'http', statusMin: 500, statusMax: 599 });
	assert.equal((await wide.until('ready', ({ type }) => type === 'ready')).statusCode, 503);
	status = 204;
	const ready = await stream.until('ready', ({ type }) => type === 'ready');
	assert.deepEqual([ready.port, ready.statusCode], [port, 204]);
	await until('the end of the stream', () => stream.closed);
	await close(listener);
	const six = http.createServer((_, response) => response.writeHead(302).end());
	let sixPort;
	try {
		sixPort = await listen(six, 0, '::1');
	} catch {
		return; // no IPv6 here
	}
	const sixth = watch(server, { port: sixPort, mode: 'http' });
	assert.equal((await sixth.until('ready', ({ type }) => type === 'ready')).statusCode, 302);
	await close(six);
});

shared('a server without HTTP, or that never responds, is not ready and does no harm', async (server) => {
	const answers = ['SSH-2.0-x\r\n', '', `HTTP/1.1 ${'9'.repeat(5000)}`, 'HTTP/1.1 200', 'x'.repeat(1_000_000)];
	const listeners = [];
	const streams = [];
	for (const answer of answers) {
		const listener = net.createServer((socket) => {
			socket.on('error', () => {}).on('data', () => {});
			socket.end(answer);
		});
		listeners.push(listener);
		streams.push(watch(server, { port: await listen(listener), mode: 'http', interval: 100 }));
	}
	const silent = new Set();
	const mute = net.createServer((socket) => silent.add(socket.on('error', () => {})));
	streams.push(watch(server, { port: await listen(mute), mode: 'http' }));
	await until('a connection to the silent server', () => silent.size > 0);
	await stays('no port is ready', () => streams.every(({ events }) => events.every(({ type }) => type === 'watching')), 500);
	for (const stream of streams) stream.terminate();
	for (const socket of silent) socket.destroy();
	for (const listener of [...listeners, mute]) await close(listener);
});

shared('waiting until a process serves a port', async (server) => {
	const p = new Processes(server);
	const port = await freePort();
	const { processId } = await p.start(`read x; exec ${process.execPath} -e `
		+ `'require("http").createServer((q, s) => { s.statusCode = q.url === "/up" ? 200 : 500; s.end(); }).listen(${port}, "127.0.0.1")'`,
	{ stdin: 'pipe' });
	const wait = (status, code, body) => server.api.refused(status, code, 'POST', `/api/process/${processId}/wait`, body);
	await wait(408, 'PROCESS_READY_TIMEOUT', { for: 'port', port, timeoutMs: 100 });
	await wait(400, 'INVALID_PORT', { for: 'port', port: 0 });
	const tcp = p.wait(processId, { for: 'port', port, mode: 'tcp', interval: 100 });
	const up = p.wait(processId, { for: 'port', port, mode: 'http', path: '/up', interval: 100 });
	await p.input(processId, { data: '\n' });
	assert.equal((await tcp).port, port);
	const { statusCode, status, elapsedMs } = await up;
	assert.deepEqual([statusCode, status], [200, 'running']);
	assert.ok(elapsedMs >= 0);
	await wait(408, 'PROCESS_READY_TIMEOUT', { for: 'port', port, mode: 'http', path: '/down', timeoutMs: 300 });
	const never = server.api.raw('POST', `/api/process/${processId}/wait`, { for: 'port', port, mode: 'http', path: '/down' });
	await p.kill(processId);
	assertError(await never, 500, 'PROCESS_EXITED_BEFORE_READY');
});
