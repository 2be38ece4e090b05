// Fairness among principals: a link gets only its share of the common resources, and frees each slot whatever happens.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { assertError } from './lib/api.mjs';
import { Refused } from './lib/client.mjs';
import { ControlClient, metric } from './lib/control.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

/** The quota of a kind in /metrics: slots that links have, and the number of refusals. */
async function quota(server, kind) {
	const { text } = await server.api.raw('GET', '/metrics');
	const value = (name) => Number(new RegExp(`^ringside_quota_${name}\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
	return { had: value('had'), refused: value('refused_total') };
}

const untilHad = (server, kind, count) => until(async () => `${count} ${kind}`, async () => (await quota(server, kind)).had === count);

/** Send a request without waiting for the response; `abort` disconnects. */
function ask(server, token, method, path, body) {
	const text = body === undefined ? undefined : JSON.stringify(body);
	const asked = { status: undefined };
	const request = http.request(`${server.base}${path}`, {
		method,
		agent: false,
		headers: {
			Authorization: `Bearer ${token}`,
			...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
			...(path === '/mcp' ? { Accept: 'application/json, text/event-stream' } : {}),
		},
	}, (response) => {
		let whole = '';
		asked.headers = response.headers;
		response.setEncoding('utf8').on('data', (piece) => { whole += piece; });
		response.on('end', () => {
			asked.text = whole;
			asked.json = /^\{/.test(whole) ? JSON.parse(whole) : undefined;
			asked.status = response.statusCode;
		}).on('error', () => {});
	});
	request.on('error', () => {});
	request.end(text);
	asked.abort = () => request.destroy();
	asked.answer = () => until(`answer to ${method} ${path}`, () => asked.status !== undefined && asked);
	return asked;
}

const never = { until: [{ type: 'idle', ms: 3_000_000 }], timeoutMs: 3_000_000 };
const wait = (server, token, more = {}) => ask(server, token, 'POST', '/api/session/s/wait', { ...never, ...more });

async function refusedBy(kind, asked) {
	const answer = await asked.answer();
	assertError(answer, 429, 'QUOTA_REACHED', kind);
	assert.equal(answer.json.context.kind, kind);
	assert.equal(answer.headers['retry-after'], '1');
}

const links = (server, count, role = 'viewer') => Promise.all(Array.from({ length: count }, () => server.api.link('s', role)));

shared('waits, streams, terminals, commands and forks: a link has a share, all links leave some to owners, and each slot is freed', { timeout: 200_000 }, async (server) => {
	await server.session({ id: 's' });
	const [one, two, three, four] = await links(server, 4);
	const fill = async (link) => {
		const asked = Array.from({ length: 16 }, () => wait(server, link.token));
		await untilHad(server, 'waits', 16);
		await refusedBy('waits', wait(server, link.token));
		return asked;
	};
	// The client disconnects.
	for (const each of await fill(one)) each.abort();
	await untilHad(server, 'waits', 0);
	// The condition is met.
	const asked = Array.from({ length: 16 }, () => wait(server, one.token, { until: [{ type: 'match', pattern: 'x+yz' }] }));
	await untilHad(server, 'waits', 16);
	assert.equal((await quota(server, 'patterns')).had, 16);
	await server.api.input('s', 'echo xx\'\'yz\r');
	for (const each of asked) assert.equal((await each.answer()).status, 200);
	await untilHad(server, 'waits', 0);
	assert.equal((await quota(server, 'patterns')).had, 0);
	// The time limit passes.
	for (const each of Array.from({ length: 16 }, () => wait(server, one.token, { timeoutMs: 50 })))
		assert.equal((await each.answer()).json.type, 'timeout');
	await untilHad(server, 'waits', 0);
	// With a key it outlives its client, and ends at its time limit.
	for (let i = 0; i < 16; i += 1) wait(server, one.token, { key: `k${i}`, timeoutMs: 1000 }).abort();
	const keyed = Array.from({ length: 16 }, (_, i) => wait(server, one.token, { key: `k${i}`, timeoutMs: 2000 }));
	await untilHad(server, 'waits', 16);
	for (const each of keyed) each.abort();
	await untilHad(server, 'waits', 0);
	// Invalid requests need no slot.
	for (let i = 0; i < 20; i += 1)
		assert.equal((await wait(server, one.token, { from: 1e9 }).answer()).status, 400);
	assert.equal((await quota(server, 'waits')).had, 0);
	// All links together: 48 of 64.
	const full = [one, two, three].flatMap(({ token }) => Array.from({ length: 16 }, () => wait(server, token)));
	await untilHad(server, 'waits', 48);
	await refusedBy('waits', wait(server, four.token));
	const owners = Array.from({ length: 16 }, () => wait(server, server.token));
	await until('the limit of the owner', async () => (await server.api.raw('POST', '/api/session/s/wait', never)).json.code === 'LIMIT_REACHED');
	for (const each of owners) assert.equal(each.status, undefined, each.text);
	assert.ok((await quota(server, 'waits')).refused >= 2);
	// The session is deleted.
	await server.api.delete('s');
	for (const each of [...full, ...owners]) assertError(await each.answer(), 410, 'SESSION_DESTROYED');
	await untilHad(server, 'waits', 0);

	// Keys of waits belong to their principal.
	{
		await server.session({ id: 's' });
		const [viewer] = await links(server, 1);
		const mine = wait(server, server.token, { key: 'k', until: [{ type: 'match', pattern: 'ab*c' }] });
		const theirs = wait(server, viewer.token, { key: 'k' });
		await untilHad(server, 'waits', 1);
		await server.api.input('s', 'echo ab\'\'bc\r');
		assert.equal((await mine.answer()).json.type, 'match');
		assert.equal(theirs.status, undefined);
		theirs.abort();
	}

	// Event streams.
	{
		await server.session({ id: 's' });
		const [viewer] = await links(server, 1);
		const open = () => new EventStream(server, '/api/session/s/stream', { token: viewer.token });
		const fill = async () => {
			const streams = Array.from({ length: 32 }, open);
			await untilHad(server, 'streams', 32);
			await refusedBy('streams', ask(server, viewer.token, 'GET', '/api/session/s/stream'));
			return streams;
		};
		for (const each of await fill()) each.terminate();
		await untilHad(server, 'streams', 0);
		const streams = await fill();
		const mine = new EventStream(server, '/api/session/s/stream');
		await mine.until('begin', ({ type }) => type === 'begin');
		await server.api.delete('s');
		for (const each of [...streams, mine]) await until('the end of the stream', () => each.closed);
		await untilHad(server, 'streams', 0);
	}

	// Terminal sockets.
	{
		await server.session({ id: 's' });
		const [viewer] = await links(server, 1);
		const client = () => server.client({ sessionId: 's', token: viewer.token });
		const connect = async (count) => {
			const all = Array.from({ length: count }, client);
			await Promise.all(all.map((each) => each.connect()));
			assert.equal((await quota(server, 'terminals')).had, count);
			return all;
		};
		const fill = async () => {
			const all = await connect(128);
			await assert.rejects(client().connect(), (error) => error instanceof Refused && error.status === 429 && error.json.code === 'QUOTA_REACHED');
			return all;
		};
		const first = await fill();
		assert.ok((await quota(server, 'connections')).had >= 128);
		await server.client({ sessionId: 's' }).connect();
		first.forEach((each, i) => (i % 2 ? each.terminate() : each.socket.close()));
		await untilHad(server, 'terminals', 0);
		await connect(10);
		await server.api.delete('s');
		await untilHad(server, 'terminals', 0);
		await untilHad(server, 'connections', 0);
	}

	// Queued commands.
	{
		await server.session({ id: 's' });
		const [driver, other] = await links(server, 2, 'driver');
		const queue = (token, more = {}) => ask(server, token, 'POST', '/api/session/s/exec', { command: 'true', queue: true, yieldMs: 0, ...more });
		const running = (await server.api.call('POST', '/api/session/s/exec', { command: 'sleep 1000', yieldMs: 0 })).data;
		const fill = async () => {
			const asked = Array.from({ length: 16 }, () => queue(driver.token));
			const ids = [];
			for (const each of asked) ids.push((await each.answer()).json.data.id);
			assert.equal((await quota(server, 'commands')).had, 16);
			await refusedBy('commands', queue(driver.token));
			return ids;
		};
		// They are cancelled.
		for (const id of await fill()) await server.api.call('POST', `/api/session/s/exec/${id}/cancel`, {});
		await untilHad(server, 'commands', 0);
		// The time limit of the queue passes.
		for (const each of Array.from({ length: 16 }, () => queue(driver.token, { queueMs: 20, yieldMs: undefined })))
			assert.equal((await each.answer()).json.data.endedBy, 'busy');
		await untilHad(server, 'commands', 0);
		// They run.
		const ids = await fill();
		assert.equal((await queue(other.token).answer()).status, 200, 'the queue is free for another link');
		assert.equal((await queue(server.token).answer()).status, 200);
		await server.api.call('POST', `/api/session/s/exec/${running.id}/cancel`, { graceMs: 50 });
		for (const id of ids)
			assert.equal((await server.api.call('GET', `/api/session/s/exec/${id}?waitMs=10000`)).data.exitCode, 0);
		await untilHad(server, 'commands', 0);
		// The session is deleted.
		await server.api.call('POST', '/api/session/s/exec', { command: 'sleep 1000', yieldMs: 0, queue: true });
		await fill();
		await server.api.delete('s');
		await untilHad(server, 'commands', 0);
	}

	// Forks.
	{
		await server.session({ id: 's' });
		const [driver] = await links(server, 1, 'driver');
		const fork = (command) => ask(server, driver.token, 'POST', '/api/session/s/exec', { command, fork: true });
		const asked = Array.from({ length: 8 }, () => fork('sleep 1000'));
		await untilHad(server, 'forks', 8);
		await refusedBy('forks', fork('true'));
		for (const each of asked) each.abort();
		await untilHad(server, 'forks', 0);
		assert.equal((await fork('true').answer()).status, 200);
		await untilHad(server, 'forks', 0);
	}
});

scenario('connections, with any requests', { args: ['--max-connections', '64'] }, async (server) => {
	await server.session({ id: 's' });
	const [viewer, other] = await links(server, 2);
	const sockets = [];
	/** Send a request on a connection that stays open. */
	const keep = (token) => new Promise((resolve, reject) => {
		const socket = net.connect(server.port, '127.0.0.1');
		sockets.push(socket);
		socket.on('error', reject).once('data', (data) => resolve({ socket, status: Number(data.toString().split(' ')[1]) }));
		socket.write(`GET /api/ping HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
	});
	for (let i = 0; i < 16; i += 1) assert.equal((await keep(viewer.token)).status, 200);
	assert.equal((await quota(server, 'connections')).had, 16);
	const refused = await keep(viewer.token);
	assert.equal(refused.status, 429);
	await until('the end of the connection', () => refused.socket.destroyed || refused.socket.readableEnded);
	for (let i = 0; i < 16; i += 1) assert.equal((await keep(other.token)).status, 200);
	assert.equal((await keep(other.token)).status, 429);
	for (let i = 0; i < 8; i += 1) assert.equal((await keep(server.token)).status, 200, 'the owner');
	// A connection of a proxy counts for the latest principal.
	const [proxy] = sockets;
	await within('a response', new Promise((resolve) => {
		proxy.once('data', resolve);
		proxy.write(`GET /api/ping HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
	}));
	assert.equal((await quota(server, 'connections')).had, 31);
	for (const socket of sockets) socket.destroy();
	await untilHad(server, 'connections', 0);
	const control = new ControlClient(server, { token: viewer.token });
	await control.connect();
	assert.equal((await quota(server, 'connections')).had, 1);
	await control.close();
	await untilHad(server, 'connections', 0);
});

const initialize = {
	jsonrpc: '2.0', id: 1, method: 'initialize',
	params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
};

shared("MCP clients, requests and bodies: a link's new client evicts only its own", { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's' });
	const [viewer, other] = await links(server, 2);
	const begin = async (token) => {
		const answer = await ask(server, token, 'POST', '/mcp', initialize).answer();
		assert.equal(answer.status, 200, answer.text);
		return answer.headers['mcp-session-id'];
	};
	const responds = async (token, id) => (await server.api.as(token).raw('POST', '/mcp', { jsonrpc: '2.0', id: 2, method: 'ping' },
		{ headers: { 'Mcp-Session-Id': id, Accept: 'application/json, text/event-stream' } })).status === 200;
	const owners = await begin(server.token);
	const others = await begin(other.token);
	const first = await begin(viewer.token);
	const second = await begin(viewer.token);
	assert.ok(await responds(viewer.token, first));
	for (let i = 0; i < 70; i += 1) await begin(viewer.token);
	assert.equal((await quota(server, 'mcp_sessions')).had, 65);
	assert.ok(await responds(server.token, owners));
	assert.ok(await responds(other.token, others));
	// Evicted clients may initialize again, and evict others.
	assert.ok(await responds(viewer.token, first));
	assert.ok(await responds(viewer.token, second));
	assert.equal((await quota(server, 'mcp_sessions')).had, 65);
	// Clients end on request, and with a revoked link.
	await server.api.as(other.token).raw('DELETE', '/mcp', undefined, { headers: { 'Mcp-Session-Id': others } });
	assert.equal((await quota(server, 'mcp_sessions')).had, 64);
	await server.api.call('DELETE', `/api/session/s/links/${viewer.link.id}`);
	assert.equal((await quota(server, 'mcp_sessions')).had, 0);
	assert.ok(await responds(server.token, owners));

	// Requests under way, and bodies.
	{
		await server.session({ id: 's' });
		const [driver] = await links(server, 1, 'driver');
		const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'sleep 1000', yieldMs: 0 });
		const path = `/api/session/s/exec/${data.id}?waitMs=1000000`;
		const asked = Array.from({ length: 128 }, () => ask(server, driver.token, 'GET', path));
		await untilHad(server, 'requests', 128);
		await refusedBy('requests', ask(server, driver.token, 'GET', '/api/session/s'));
		await server.api.get('s');
		for (const each of asked) each.abort();
		await untilHad(server, 'requests', 0);
		assert.equal((await ask(server, driver.token, 'GET', '/api/session/s').answer()).status, 200);
		// Eight bodies of a megabyte may be sent at a time.
		const size = 1 << 20;
		const sockets = [];
		const send = () => new Promise((resolve) => {
			const socket = net.connect(server.port, '127.0.0.1');
			sockets.push(socket);
			socket.on('error', () => {}).once('data', (text) => resolve(text.toString()));
			socket.write(`POST /api/session/s/input HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${driver.token}\r\n`
				+ `Content-Type: application/json\r\nContent-Length: ${size}\r\n\r\n{`);
		});
		for (let i = 0; i < 8; i += 1) send();
		await untilHad(server, 'body_bytes', 8 * size);
		assert.match(await within('the refusal', send()), /^HTTP\/1.1 429 [^]*retry-after: 1\r\n[^]*QUOTA_REACHED/i);
		for (const socket of sockets) socket.destroy();
		await untilHad(server, 'body_bytes', 0);
	}
});

scenario('unread answers are limited, per link and in total', { args: ['--drivers-may-all'], timeout: 150_000 }, async (server) => {
	await server.session({ id: 's' });
	const [link] = await links(server, 1, 'driver');
	const size = 30 << 20, encoded = Math.ceil(size / 3) * 4;
	const body = { path: 'file', sessionId: 's', encoding: 'base64' };
	writeFileSync(join(server.cwd, 'file'), Buffer.alloc(size));
	const opened = [];
	const leave = (token, file = 'file') => {
		const request = http.request(`${server.base}/api/read`, {
			method: 'POST', agent: false, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
		}).on('error', () => {}).on('response', (response) => response.on('error', () => {}));
		request.end(JSON.stringify({ ...body, path: file }));
		opened.push(request);
	};
	const kept = (count) => until(`${count} answers`, async () => {
		const bytes = await metric(server, 'answer_bytes');
		return bytes >= count * encoded && bytes < count * (encoded + 1000) + 1;
	});
	leave(link.token);
	await kept(1);
	assert.ok((await quota(server, 'answer_bytes')).had >= encoded);
	await refusedBy('answer_bytes', ask(server, link.token, 'POST', '/api/read', body));
	// Then there is no space for a page either: it is refused as a page, without the headers of the refused answer.
	{
		const rest = (64 << 20) - await metric(server, 'answer_bytes') - (64 << 10);
		writeFileSync(join(server.cwd, 'rest'), Buffer.alloc(Math.floor(rest / 4) * 3));
		leave(link.token, 'rest');
		await until('another unread answer', async () => (await quota(server, 'answer_bytes')).had > encoded + rest / 2);
		await server.run('s', 'seq -f "line %060.0f" 1 3000');
		const response = await fetch(`${server.base}/api/session/s/scrollback?format=html&from=0`, { headers: { Authorization: `Bearer ${link.token}`, Accept: 'text/html' } });
		assert.deepEqual([response.status, response.headers.get('ringside-from'), response.headers.get('retry-after')], [429, null, '1'], await response.text());
		assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
		// Requests that have changed something are answered all the same.
		const run = await ask(server, link.token, 'POST', '/api/session/s/exec', { command: 'seq 1 50000' }).answer();
		assert.ok(run.status === 200 && run.text.length > 64 << 10, `${run.text.length} bytes: ${run.text.slice(0, 300)}`);
		opened.pop().destroy();
		await kept(1);
	}
	const most = Math.floor((512 << 20) / encoded);
	while (opened.length < most) {
		leave(server.token);
		await kept(opened.length);
	}
	const refused = await ask(server, server.token, 'POST', '/api/read', body).answer();
	assertError(refused, 429, 'LIMIT_REACHED', 'one answer too many');
	assert.equal(refused.headers['retry-after'], '1');
	assert.equal((await ask(server, server.token, 'GET', '/api/session/s').answer()).status, 200, 'small answers are not counted');
	for (const each of opened) each.destroy();
	await kept(0);
	assert.equal((await quota(server, 'answer_bytes')).had, 0);
	for (const token of [link.token, server.token]) {
		const { status, json } = await ask(server, token, 'POST', '/api/read', body).answer();
		assert.deepEqual([status, json.content.length], [200, encoded]);
	}
});

shared('expensive work is done for links in turn, and at once for the owner', async (server) => {
	await server.session({ id: 's' });
	await server.run('s', 'seq 1 10000');
	const [greedy, modest] = await links(server, 2);
	const path = '/api/session/s/search?regex=1&q=9.*[0-8]x%24';
	const asked = Array.from({ length: 40 }, () => ask(server, greedy.token, 'GET', path));
	const answered = () => asked.filter(({ status }) => status !== undefined).length;
	await until('the first response', () => answered() > 0);
	const behind = async (token) => {
		assert.equal((await ask(server, token, 'GET', path).answer()).status, 200);
		return answered();
	};
	const counts = await Promise.all([behind(modest.token), behind(server.token)]);
	for (const each of asked) assert.equal((await each.answer()).status, 200);
	assert.ok(Math.max(...counts) < 30, `behind ${counts} of 40`);
	// When the session is deleted, waiting requests get an error, and those of disconnected clients are dropped.
	const late = Array.from({ length: 24 }, () => ask(server, greedy.token, 'GET', path));
	await until('one more response', () => late.some(({ status }) => status !== undefined));
	for (const each of late.slice(16)) each.abort();
	await server.api.delete('s');
	for (const each of late.slice(0, 16)) assert.ok([200, 401, 404, 410].includes((await each.answer()).status));
	await untilHad(server, 'requests', 0);
});
