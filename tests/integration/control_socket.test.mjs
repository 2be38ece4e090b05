// The control socket: the API over one WebSocket.
import assert from 'node:assert/strict';
import { breakOff, ControlClient, metric, untilMetric } from './lib/control.mjs';
import { RawClient, frame } from './lib/client.mjs';
import { allPids, cmdline, rssAnon } from './lib/proc.mjs';
import { Road } from './lib/road.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

const MiB = 1 << 20;
const pendingMax = 128; // of a connection

shared('many requests at a time and their responses; a header or the query names the session, on either transport', async (server) => {
	await server.session({ id: 's' });
	const control = await new ControlClient(server).connect();
	const body = { command: 'echo $$' };
	const { body: named } = await control.request('POST', '/api/execute', { ...body, sessionId: 's' });
	assert.match(named.stdout, /^\d+\n?$/);
	const over = {
		http: async (path, headers) => (await server.api.raw('POST', path, body, { headers })).json,
		ws: async (path, headers) => (await control.request('POST', path, body, { ...headers, 'content-type': 'application/json' })).body,
	};
	for (const [name, ask] of Object.entries(over)) {
		assert.equal((await ask('/api/execute', { 'X-Session-Id': 's' })).stdout, named.stdout, name);
		assert.equal((await ask('/api/execute?session=s')).stdout, named.stdout, name);
		assert.equal((await ask('/api/execute?sessionId=s')).stdout, named.stdout, name);
		assert.equal((await ask('/api/execute?session=none', { 'x-session-id': 's' })).stdout, named.stdout, name);
		assert.equal((await ask('/api/execute', { 'X-Session-Id': '../s' })).code, 'VALIDATION_FAILED', name);
	}
	assert.deepEqual((await server.api.list()).data, ['s']);

	{
		for (const path of ['/ws', '/api/ws']) {
			const control = await new ControlClient(server, { path }).connect();
			const pong = await control.request('GET', '/api/ping');
			assert.deepEqual([Object.keys(pong).sort(), pong.type, pong.status, pong.body.status], [['body', 'done', 'id', 'status', 'type'], 'response', 200, 'healthy']);
			await control.close();
		}
		const control = await new ControlClient(server).connect();
		const created = await control.request('POST', '/api/session/create', { id: 'made' }, { 'content-type': 'application/json' });
		assert.deepEqual([created.status, created.body.data.id], [200, 'made']);
		const again = await control.request('POST', '/api/session/create', { id: 'made' });
		assert.deepEqual([again.status, again.body.code], [409, 'SESSION_ALREADY_EXISTS']);
		await server.shellReady('made');
		assert.equal(await server.run('made', 'printf "a b+c%%"'), 'a b+c%');
		const found = await control.request('GET', '/api/session/made/search?q=a+b%2Bc%25&limit=1');
		assert.equal(found.body.matches?.length ?? found.body.data?.matches?.length, 1, JSON.stringify(found));
		const output = await control.request('GET', '/api/session/made/output?from=0');
		const same = await server.api.output('made');
		assert.deepEqual(Buffer.from(output.body.base64, 'base64'), same.subarray(0, Number(output.headers['ringside-to'])));
		assert.equal((await control.request('GET', '/healthz')).body, 'ok\n');
		assert.equal((await control.request('POST', '/api/session/delete', { sessionId: 'made' })).body.success, true);
	}

	// Responses come as they are ready.
	const ids = Array.from({ length: 100 }, () => control.ask('GET', '/api/session/list'));
	for (const id of ids) assert.equal((await control.end(id)).status, 200);
});

shared('access, and the end of the server', async (server) => {
	await server.session({ id: 's' });
	await server.api.create({ id: 'other' });
	const refused = (status, options) => assert.rejects(new ControlClient(server, options).connect(), (error) => error.status === status, `${status} for ${JSON.stringify(options)}`);
	await refused(401, { token: 'wrong' });
	await refused(404, { path: '/ws/other' });
	const owner = await new ControlClient(server).connect();
	const { token, link } = await server.api.link('s', 'viewer', 60_000);
	const guest = await new ControlClient(server, { token }).connect();
	assert.deepEqual((await guest.request('GET', '/api/session/list')).body.data, ['s']);
	// Credentials of a single request do not count.
	assert.equal((await guest.request('POST', '/api/session/create', {}, { authorization: `Bearer ${server.token}` })).status, 403);
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	assert.equal((await guest.untilClosed()).code, 4401);
	assert.equal(owner.closed, undefined);

	{
		const control = await new ControlClient(server).connect();
		const stalled = await new ControlClient(server).connect();
		await control.event(control.ask('GET', '/api/session/events'));
		stalled.ask('GET', '/api/session/events');
		stalled.socket.pause();
		const { code } = await server.kill('SIGTERM');
		assert.equal(code, 0);
		assert.equal((await control.untilClosed()).code, 1001);
		stalled.terminate();
		await server.start();
	}
});

shared('invalid and large frames get an error, and do not affect other connections', async (server) => {
	const control = await new ControlClient(server).connect();
	control.send(Buffer.from('{"id":"\xff"}', 'latin1'));
	const { message, ...error } = await control.until('the error', ({ type }) => type === 'error');
	assert.deepEqual(error, { type: 'error', code: 'PARSE_ERROR', status: 400 });
	control.send(Buffer.from('{"type":"request","id":"bytes","method":"GET","path":"/api/ping"}'));
	assert.equal((await control.end('bytes')).status, 200);
	const large = await new ControlClient(server).connect();
	large.ask('POST', '/api/session/create', 'x'.repeat(17 * MiB));
	assert.equal((await large.untilClosed()).code, 1009);
	assert.deepEqual([large.frames[0].code, large.frames[0].status], ['REQUEST_TOO_LARGE', 413]);
	assert.equal((await control.request('GET', '/api/ping')).status, 200);
	// A length beyond the limit is refused before the message has come.
	const raw = new RawClient(server).upgrade('/ws');
	assert.equal(await raw.status(), 101);
	raw.send(frame({ opcode: 1, payload: '{"', length: 2 ** 40 }));
	await until('close frame', () => raw.closeCode() === 1009);
});

shared('streams: events, cancel, and the end of the connection', { timeout: 150_000 }, async (server) => {
	const a = await new ControlClient(server).connect();
	const [first, second] = [a.ask('GET', '/api/session/events'), a.ask('GET', '/api/session/events')];
	assert.deepEqual((await a.event(first)).sessions, []);
	await server.session({ id: 's' });
	assert.equal((await a.event(first, 1)).type, 'sessions');
	await untilMetric(server, 'streams', 2);
	a.cancel(second);
	assert.deepEqual(await a.end(second), { type: 'response', id: second, status: 200, done: true });
	await untilMetric(server, 'streams', 1);
	a.terminate();
	await untilMetric(server, 'streams', 0);
	await untilMetric(server, 'control_sockets', 0);
	assert.equal((await server.api.get('s')).state, 'running');

	// Finite streams deliver all events, then the end.
	{
		const control = await new ControlClient(server).connect();
		const command = (n) => `i=0; while [ $i -lt ${n} ]; do echo line $i; i=$((i + 1)); done`;
		const ids = Array.from({ length: times(6, 20) }, (_, n) => control.ask('POST', '/api/run', { command: command(n * 100), stream: true }));
		for (const [n, id] of ids.entries()) {
			assert.deepEqual(await control.end(id), { type: 'response', id, status: 200, done: true });
			assert.equal(control.of(id).at(-1).type, 'response', 'the end is the last message');
			const events = control.of(id).slice(0, -1).map(({ data }) => JSON.parse(data));
			assert.equal(events.at(-1).type, 'complete');
			assert.equal(events.filter(({ type }) => type === 'stdout').map(({ data }) => data).join(''),
				Array.from({ length: n * 100 }, (__, i) => `line ${i}\n`).join(''));
		}
		await untilMetric(server, 'streams', 0);
		// A request that fails responds without a stream.
		const wrong = await control.request('POST', '/api/run', { command: 'true', cwd: '/nowhere', stream: true });
		assert.ok(wrong.status >= 400);
		assert.equal(wrong.done, true);
		await control.close();
	}

	// Cancelling a stream ends its command; so does the end of the connection.
	{
		const control = await new ControlClient(server).connect();
		const mark = `3${Math.floor(Math.random() * 1e8)}`;
		const running = () => allPids().filter((pid) => cmdline(pid) === `sleep ${mark}`).length;
		const ids = [1, 2].map(() => control.ask('POST', '/api/run', { command: `echo up; sleep ${mark}`, stream: true }));
		await until('both commands', () => running() === 2);
		control.cancel(ids[0]);
		await control.end(ids[0]);
		await until('the end of one', () => running() === 1);
		control.terminate();
		await until('the end of the other', () => running() === 0);
	}

	// Connections that end halfway leave nothing.
	{
		await server.run('s', 'head -c 2000000 /dev/zero | tr "\\0" x');
		for (let n = 0; n < times(12, 40); n += 1) {
			const control = await new ControlClient(server).connect();
			control.ask('GET', '/api/session/events');
			control.ask('GET', '/api/session/s/output?from=1');
			control.ask('POST', '/api/session/open', { id: `n${n % times(3, 40)}` });
			await breakOff(control, n);
		}
		await untilMetric(server, 'streams', 0);
		await untilMetric(server, 'control_sockets', 0);
		assert.equal((await server.api.get('s')).state, 'running');
	}
});

scenario('a quiet stream is kept alive; a client that does not answer pings is closed', { args: ['--ping-interval', '1'] }, async (server) => {
	const alive = await new ControlClient(server).connect();
	const dead = await new ControlClient(server, { mute: true }).connect();
	const id = alive.ask('GET', '/api/session/events');
	assert.deepEqual(await alive.until('the keep-alive event', (each) => each.id === id && each.data === ''), { type: 'stream', id, data: '' });
	await dead.untilClosed({ timeout: 20_000 });
	await untilMetric(server, 'control_sockets', 1);
	assert.equal(alive.closed, undefined);
});

shared('a client that stops reading costs no memory, and gets everything later', { timeout: 100_000, memory: true }, async (server) => {
	await server.session({ id: 's' });
	await server.run('s', 'head -c 3000000 /dev/zero | tr "\\0" x');
	const whole = await server.api.outputPiece('s', 1);
	assert.ok(whole.bytes.length === MiB, 'there is too little output');
	const road = await Road.build(server, Infinity);
	const control = await new ControlClient(server, { base: road.base, headers: { Host: server.host } }).connect();
	control.ask('GET', '/api/session/events');
	const measure = () => (sanitized() ? 0 : rssAnon(server.pid));
	assert.equal((await control.request('GET', '/api/session/s/output?from=1')).status, 200);
	const before = measure();
	road.pace = 0;
	const ids = Array.from({ length: sanitized() ? 24 : pendingMax - 1 }, () => control.ask('GET', '/api/session/s/output?from=1'));
	let highest = 0;
	await stays('other requests are served, in bounded memory', async () => {
		highest = Math.max(highest, measure() - before);
		return (await server.api.raw('GET', '/api/ping')).status === 200;
	}, 1500);
	// Answers of 1 MiB: those that wait, one that is being sent, and memory that malloc keeps; 127 are requested.
	assert.ok(highest < 24 * MiB, `memory grew by ${highest}`);
	assert.ok(!control.closed);
	road.pace = Infinity;
	for (const id of ids) {
		const { status, body } = await control.end(id, { timeout: 60_000 });
		assert.equal(status, 200);
		assert.equal(Buffer.from(body.base64, 'base64').length, MiB);
		control.frames = control.frames.filter((each) => each.id !== id);
	}
});

shared('a client that floods and does not read is closed', { memory: true }, async (server) => {
	const raw = new RawClient(server).upgrade('/ws');
	assert.equal(await raw.status(), 101);
	raw.socket.pause();
	const nonsense = Buffer.concat(Array.from({ length: 1000 }, () => frame({ opcode: 1, payload: '{}' })));
	const before = sanitized() ? 0 : rssAnon(server.pid);
	await until('the close of the connection', async () => {
		raw.send(nonsense);
		return raw.closed || await metric(server, 'control_sockets') === 0;
	}, { timeout: 30_000 });
	if (!sanitized()) assert.ok(rssAnon(server.pid) - before < 8 * MiB, `memory grew by ${rssAnon(server.pid) - before}`);
});
