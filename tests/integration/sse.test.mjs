// Server-sent events: start, keep-alive and end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { RawClient } from './lib/client.mjs';
import { metric, untilMetric } from './lib/control.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared, together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const pinging = together({ args: ['--ping-interval', '1'] });
const raw = (server, path = '/api/session/events', version = '1.1', method = 'GET') => new RawClient(server)
	.send(`${method} ${path} HTTP/${version}\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);

pinging('a quiet stream gets comments', async (server) => {
	const client = raw(server);
	assert.equal(await client.status(), 200);
	assert.match(client.text, /content-type: text\/event-stream\r\n/i);
	await until('two comments', () => /:\n\n[^]*:\n\n/.test(client.text.split('\r\n\r\n')[1] ?? ''));
	const stream = new EventStream(server, '/api/session/events');
	await stream.until('the list', ({ type }) => type === 'sessions');
	await server.api.create({ id: 's' });
	await stream.until('the new session', ({ sessions }) => sessions.length === 1);
	assert.equal(stream.events.length, 2, 'a comment is not an event');
	await untilMetric(server, 'streams', 2);
});

shared('a reader that disconnects is detected', async (server) => {
	const clients = Array.from({ length: 20 }, () => raw(server));
	for (const client of clients) assert.equal(await client.status(), 200);
	await untilMetric(server, 'streams', 20);
	clients.forEach((client, n) => {
		if (n % 2) client.socket.resetAndDestroy();
		else client.socket.end();
	});
	await untilMetric(server, 'streams', 0);
});

/* Connects, sends a request, waits for the first event, and vanishes without closing, as when a cable is cut. */
const vanish = `use strict; use Socket;
my ($port, $request) = @ARGV;
socket(my $s, PF_INET, SOCK_STREAM, 0) or die; connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die;
syswrite($s, $request); my $answer = "";
while ($answer !~ /data: .*\\n\\n/) { sysread($s, $answer, 1000, length $answer) or die }
setsockopt($s, 6, 19, pack("i", 1)) or exit 77;
print "gone\\n"; exit 0;`;

pinging('a reader that vanishes is detected by the next comment', async (server, t) => {
	const request = `GET /api/session/events HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
	const child = spawn('perl', ['-e', vanish, String(server.port), request], { stdio: ['ignore', 'pipe', 'inherit'] });
	const code = await within('the end of the client', new Promise((resolve) => { child.on('close', resolve); }));
	if (code === 77) {
		t.diagnostic('TCP_REPAIR is not permitted here: not tested');
		return;
	}
	assert.equal(code, 0);
	await untilMetric(server, 'streams', 0);
});

pinging('HTTP/1.0 gets a stream without chunks', async (server) => {
	const client = raw(server, '/api/session/events', '1.0');
	assert.equal(await client.status(), 200);
	await until('an event and a comment', () => client.text.includes('\r\n\r\ndata: {') && client.text.endsWith('\n\n:\n\n'));
	assert.doesNotMatch(client.text, /chunked/);
});

shared('HEAD of a stream has no body', async (server) => {
	const client = raw(server, '/api/session/events', '1.1', 'HEAD');
	assert.equal(await client.status(), 200);
	// The connection can be used again.
	await until('the end of the head', () => client.text.includes('\r\n\r\n'));
	await untilMetric(server, 'streams', 0);
	client.send(`GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\nConnection: close\r\n\r\n`);
	await client.untilClosed();
	assert.ok(!client.text.includes('data:'));
	assert.equal(client.text.match(/HTTP\/1.1 200 OK/g).length, 2);
});

shared('a stream ends with the access of its reader', async (server) => {
	await server.session({ id: 's' });
	const brief = await server.api.link('s', 'viewer', 1000);
	const { token, link } = await server.api.link('s', 'viewer', 60_000);
	const streams = [token, brief.token, server.token].map((each) => new EventStream(server, '/api/session/events', { token: each }));
	for (const stream of streams) await stream.until('the list', () => true);
	await until('the end of the expired stream', () => streams[1].closed);
	assert.equal(await metric(server, 'streams'), 2);
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	await until('the end of the revoked stream', () => streams[0].closed);
	assert.equal(await metric(server, 'streams'), 1);
	assert.ok(!streams[2].closed);
});

shared('clients can distinguish the end of the server from the end of a stream', async (server) => {
	const answer = await within('the response', new Promise((resolve, reject) => {
		http.get(`${server.base}/api/session/events`, { agent: false, headers: { Authorization: `Bearer ${server.token}` } }, resolve).on('error', reject);
	}));
	let failure;
	answer.on('error', (error) => { failure = error; });
	answer.resume();
	await within('the first event', new Promise((resolve) => { answer.once('data', resolve); }));
	const { code } = await server.kill('SIGTERM');
	assert.equal(code, 0);
	await until('the error of the reader', () => failure);
	assert.equal(answer.complete, false);
	await server.start();
});

/** A stream that ends with its command. */
const run = (server, command) => within('the response', new Promise((resolve, reject) => {
	const body = JSON.stringify({ command, stream: true });
	http.request(`${server.base}/api/run`, {
		method: 'POST', agent: false,
		headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
	}, (response) => {
		let text = '';
		response.setEncoding('utf8').on('data', (piece) => { text += piece; });
		response.on('error', reject);
		response.on('end', () => resolve({ status: response.statusCode, complete: response.complete, headers: response.headers, text }));
	}).on('error', reject).end(body);
}), 30_000);

shared('a stream that completes ends properly, with all events', async (server) => {
	const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => run(server, `seq 1 ${n * 1000}; echo done`)));
	for (const { status, complete, headers, text } of answers) {
		assert.equal(status, 200);
		assert.ok(complete);
		assert.match(headers['content-type'], /event-stream/);
		const events = text.split('\n\n').filter((block) => block.startsWith('data: ')).map((block) => JSON.parse(block.slice(6)));
		assert.equal(events.filter(({ type }) => type === 'complete').length, 1);
		assert.equal(events.at(-1).type, 'complete');
		assert.ok(events.filter(({ type }) => type === 'stdout').map(({ data }) => data).join('').endsWith('done\n'));
	}
	const client = new RawClient(server);
	const body = JSON.stringify({ command: 'echo done', stream: true });
	client.send(`POST /api/run HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
	await client.untilClosed();
	assert.ok(client.text.endsWith('\r\n0\r\n\r\n'), JSON.stringify(client.text.slice(-200)));
	assert.equal(client.error, undefined, 'it was reset');
	await untilMetric(server, 'streams', 0);
});
