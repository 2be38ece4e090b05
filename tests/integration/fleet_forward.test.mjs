// Requests and sockets for sessions and processes of other nodes.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { assertError, keeping } from './lib/api.mjs';
import { ca, cert, secure } from './lib/certificate.mjs';
import { ControlClient } from './lib/control.mjs';
import { fleetTest } from './lib/fleet.mjs';
import { connect, connectModern } from './lib/mcp.mjs';
import { Mux } from './lib/mux.mjs';
import { EventStream } from './lib/sse.mjs';
import { until } from './lib/until.mjs';

fleetTest('any node answers for the session of another', async ({ a, b, c }) => {
	assert.equal((await a.api.create({ id: 's', node: 'b' })).id, 's');
	for (const node of [a, b, c]) {
		const answer = await node.api.raw('GET', '/api/session/s');
		assert.equal(answer.status, 200, answer.text);
		assert.equal(answer.headers['ringside-node'], 'b');
	}
	await c.shellReady('s');
	const { data: exec } = await c.api.call('POST', '/api/session/s/exec', { command: 'echo $((6 * 7)); false' });
	assert.deepEqual([exec.output, exec.exitCode], ['42\n', 1]);
	assert.equal(await a.run('s', 'echo hello'), 'hello\n');
	const screens = await Promise.all([a, b].map((node) => node.api.raw('GET', '/api/session/s/screen?format=text')));
	assert.match(screens[0].text, /hello/);
	for (const what of ['text', 'status']) assert.equal(screens[0][what], screens[1][what]);
	assert.equal(screens[0].headers['content-type'], screens[1].headers['content-type']);

	// Errors keep status and code.
	assertError(await a.api.raw('GET', '/api/session/s/output?from=999999999'), 416, 'RANGE_GONE');
	assertError(await a.api.raw('POST', '/api/session/s/wait', { until: [] }), 400, 'VALIDATION_FAILED');
	assertError(await a.api.raw('GET', '/api/session/nowhere'), 404, 'SESSION_NOT_FOUND');
	assertError(await a.api.raw('GET', '/api/process/nowhere'), 404, 'PROCESS_NOT_FOUND');
	const page = await a.api.raw('GET', '/api/session/s/output?from=999999999', undefined, { headers: { Accept: 'text/html' } });
	assert.match(page.headers['content-type'], /^text\/html/);

	// A node by its name.
	assertError(await a.api.raw('GET', '/api/version?node=x'), 404, 'NODE_NOT_FOUND');
	assertError(await a.api.raw('POST', '/api/session/create', { id: 'x', node: 'x' }), 404, 'NODE_NOT_FOUND');
	for (const name of ['a', 'b', 'c']) {
		assert.equal((await a.api.raw('GET', `/api/version?node=${name}`)).headers['ringside-node'], name);
		assert.equal((await a.api.raw('GET', '/api/version', undefined, { headers: { 'Ringside-Node': name } })).headers['ringside-node'], name);
	}

	assertError(await a.api.raw('GET', '/api/session/s?node=x'), 404, 'NODE_NOT_FOUND');
	for (const name of ['a', 'c']) for (const node of [a, b, c]) assertError(await node.api.raw('GET', `/api/session/s?node=${name}`), 404, 'SESSION_NOT_FOUND');
	assert.equal((await c.api.raw('GET', '/api/session/s?node=b')).status, 200);
	assert.equal((await a.api.raw('GET', '/')).headers['ringside-node'], 'a');

	// An id exists once, and is free again after its session.
	assertError(await c.api.raw('POST', '/api/session/create', { id: 's' }), 409, 'SESSION_ALREADY_EXISTS');
	assert.equal((await c.api.open({ id: 's' })).created, false);
	await c.api.delete('s');
	assertError(await b.api.raw('GET', '/api/session/s'), 404, 'SESSION_NOT_FOUND');
	assert.equal((await a.api.create({ id: 's', node: 'c' })).id, 's');
	assert.equal((await b.api.raw('GET', '/api/session/s')).headers['ringside-node'], 'c');
});

fleetTest('streams, waits, files of any size and processes of other nodes', async ({ a, b, c }) => {
	await a.api.create({ id: 's', node: 'b' });
	await a.shellReady('s');
	const stream = new EventStream(c, '/api/session/s/stream?types=output&encoding=text');
	await until('the stream', () => stream.status === 200);
	await a.api.input('s', 'echo str""eam\r');
	await stream.until('the output', (event) => /stream/.test(JSON.stringify(event)));
	stream.terminate();

	const { offset: from } = await a.api.get('s');
	const waits = a.api.call('POST', '/api/session/s/wait', { until: [{ type: 'match', pattern: 'wai[t]ed' }], from, timeoutMs: 20_000 });
	await c.api.input('s', 'echo wai""ted\r');
	assert.equal((await waits).type, 'match');

	const bytes = randomBytes(10 << 20);
	const put = await a.api.raw('PUT', '/api/file/big?sessionId=s', bytes, { headers: { 'Content-Type': 'application/octet-stream' } });
	assert.ok(put.status < 300, put.text);
	const got = await c.api.raw('GET', '/api/file/big?sessionId=s');
	assert.ok(got.body.equals(bytes));
	const part = await c.api.raw('GET', '/api/file/big?sessionId=s', undefined, { headers: { Range: 'bytes=5-9' } });
	assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 5-9/${bytes.length}`]);
	assert.ok(part.body.equals(bytes.subarray(5, 10)));
	// An answer without a body, and another one on the same connection.
	await keeping(c.base, async (agent) => {
		for (let i = 0; i < 3; i++) {
			const same = await c.api.raw('GET', '/api/file/big?sessionId=s', undefined, { headers: { 'If-None-Match': got.headers.etag }, agent });
			assert.deepEqual([same.status, same.body.length], [304, 0]);
			assert.equal((await c.api.raw('GET', '/api/session/s', undefined, { agent })).status, 200);
		}
	});
	assertError(await c.api.raw('PUT', '/api/file/big?sessionId=s', Buffer.alloc(9 << 20), { headers: { 'Content-Type': 'application/octet-stream', 'If-Match': '"x"' } }), 412, 'PRECONDITION_FAILED');

	await a.api.call('POST', '/api/process/start', { command: 'echo out; exec sleep 60', processId: 'p', node: 'c' });
	await until('its output', async () => /out/.test((await b.api.raw('GET', '/api/process/p/logs')).text));
	assert.equal((await b.api.raw('GET', '/api/process/p')).headers['ringside-node'], 'c');
	assertError(await b.api.raw('POST', '/api/process/start', { command: 'true', processId: 'p' }), 409, 'PROCESS_ALREADY_EXISTS');
	const { processId: id } = await a.api.call('POST', '/api/process/start', { command: 'sleep 60', node: 'b' });
	await until('the random id', async () => (await c.api.raw('GET', `/api/process/${id}`)).headers['ringside-node'] === 'b');

	// The client of a stream that leaves ends it at the session's node too.
	const streams = async () => Number(/^ringside_streams (\d+)$/m.exec((await b.api.raw('GET', '/metrics')).text)?.[1] ?? -1);
	await until('the end of the first stream', async () => await streams() === 0);
	const second = new EventStream(a, '/api/session/s/stream');
	await until('a stream of b', async () => await streams() === 1);
	second.terminate();
	await until('its end', async () => await streams() === 0);
});

fleetTest('nodes reach each other over TLS, and trust no other certificates', { nodes: 2, args: [...secure.args, '--cluster-ca', cert], ca }, async (fleet) => {
	const { a, b } = fleet;
	await a.api.create({ id: 's', node: 'b' });
	assert.equal(await a.run('s', 'echo secret'), 'secret\n');
	const client = a.client({ sessionId: 's' });
	await client.connect();
	await b.api.input('s', 'echo o""ver\r');
	await client.untilText('over');
	await a.kill('SIGKILL');
	await a.start({ args: a.options.args.filter((word) => ![cert, '--cluster-ca'].includes(word)).flatMap((word) => (word === '--tls-cert' ? [word, cert] : [word])) });
	await until('the other node', async () => (await a.api.call('GET', '/api/nodes')).nodes.every(({ state }) => state === 'alive'));
	const refused = await a.api.raw('GET', '/api/session/s');
	assertError(refused, 503, 'NODE_UNREACHABLE');
	assert.match(refused.json.message, /certificate/);
	const untrusting = a.client({ sessionId: 's' });
	await untrusting.connect().catch(() => {});
	await untrusting.untilClosed();
	assert.equal(untrusting.closed.code, 1001);
});

fleetTest('other transports: the control socket, MCP', async ({ a, b, c }) => {
	await a.api.create({ id: 's', node: 'b' });
	await a.shellReady('s');
	const control = await new ControlClient(c).connect();
	const { status, body } = await control.request('GET', '/api/session/s');
	assert.deepEqual([status, body.data.id], [200, 's']);
	const missing = await control.request('GET', '/api/session/nowhere');
	assert.equal(missing.status ?? missing.code, 404);
	const follow = control.ask('GET', '/api/session/s/stream?types=output&encoding=text', undefined, { Accept: 'text/event-stream' });
	await a.api.input('s', 'echo con""trol\r');
	await control.until('the event', (frame) => frame.id === follow && /control/.test(JSON.stringify(frame)));

	for (const client of [await connect(c, 'old'), await connectModern(a, 'new')]) {
		const done = await client.use('exec', { session_id: 's', command: 'echo $((2 * 21))' });
		assert.match(done.contentText, /42/);
		const own = await client.use('exec', { command: 'echo own' });
		assert.match(own.contentText, /own/);
	}
	assert.ok(b);
});

fleetTest('terminals of other nodes: resume through another node, channels of one socket', async ({ a, b, c }) => {
	const ids = ['s-a', 's-b', 's-c'];
	await Promise.all(['a', 'b', 'c'].map((node) => a.api.create({ id: `s-${node}`, node })));
	await Promise.all(ids.map((id) => a.shellReady(id)));
	const client = a.client({ sessionId: 's-b', client: 'me' });
	await client.connect({ history: true });
	client.type('echo ty""ped\r');
	await client.untilText('typed');

	const mux = await new Mux(a).connect();
	const clients = ids.map((sessionId) => a.client({ sessionId, mux }));
	await Promise.all(clients.map((each) => each.connect()));
	await Promise.all(ids.map((id) => c.api.input(id, `echo "on ""${id}"\r`)));
	await Promise.all(clients.map((each) => each.untilText(`on ${each.sessionId}`)));

	// The node that passes the frames is killed: the client goes on through another, byte by byte.
	await c.api.input('s-b', 'seq 20000\r');
	await until('some output', () => client.offset > 20_000);
	await a.kill('SIGKILL');
	await client.untilClosed();
	await c.api.input('s-b', 'echo e""nd\r');
	await c.outputMatches('s-b', /end\r\n/);
	client.server = b;
	await client.connect();
	await client.untilText('end\r\n');
	const whole = await b.api.output('s-b');
	assert.ok(client.bytes.equals(whole.subarray(0, client.bytes.length)) && client.bytes.length === client.offset);

	// A size beyond every buffer, through a client that does not read for a while.
	const slow = c.client({ sessionId: 's-b' });
	await slow.connect();
	slow.stall();
	await b.api.input('s-b', 'seq 400000; echo d""one\r');
	await b.outputMatches('s-b', /done\r\n/, (await b.api.get('s-b')).offset, { timeout: 30_000 }).catch(() => {});
	await until('the end of the output', async () => /done\r\n/.test((await b.api.raw('GET', '/api/session/s-b/screen?format=text')).text.replaceAll('\n', '\r\n')));
	slow.unstall();
	await until('the slow client', async () => slow.offset === (await b.api.get('s-b')).offset);
	slow.check();

	const nowhere = c.client({ sessionId: 'nowhere' });
	await nowhere.connect({ resume: { epoch: '0123456789abcdef', offset: 0 } }).catch(() => {});
	await nowhere.untilClosed();
	assert.equal(nowhere.closed.code, 4410);
	const fresh = c.client({ sessionId: 'fresh' });
	await fresh.connect();
	assert.equal((await b.api.get('fresh')).id, 'fresh');
	await b.api.delete('fresh');
	await fresh.untilClosed();
	assert.equal(fresh.closed.code, 4410);
	await a.start();
});
