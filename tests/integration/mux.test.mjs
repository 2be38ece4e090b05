// The multiplex socket: channels are terminals and control sockets, each as if it had a WebSocket of its own.
import assert from 'node:assert/strict';
import { ControlClient, untilMetric } from './lib/control.mjs';
import { Refused } from './lib/client.mjs';
import { Mux, muxFrame } from './lib/mux.mjs';
import { sanitized } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const closes = (code, reason = '') => ({ code, reason });

shared('terminals and requests on one socket', async (server) => {
	const mux = await new Mux(server).connect();
	const ids = ['a', 'b', 'c'];
	for (const id of ids) await server.session({ id });
	const clients = await Promise.all(ids.map((sessionId) => server.client({ sessionId, mux, acks: 1 }).connect()));
	const control = await new ControlClient(server, { mux }).connect();
	for (const [index, client] of clients.entries()) client.type(`echo chan""nel ${index}\r`);
	await Promise.all(clients.map((client, index) => client.untilText(`channel ${index}`)));
	assert.deepEqual((await control.request('GET', '/api/session/list')).body.data.sort(), ids);
	assert.equal((await server.api.get('a')).clients, 1);
	await untilMetric(server, 'mux_sockets', 1);
	await untilMetric(server, 'clients', 3);
	// A request with an answer of many frames, while terminals print.
	for (const client of clients) client.type('seq 100000\r');
	const pages = await Promise.all(Array.from({ length: 8 }, () => control.request('GET', '/api/openapi.json')));
	for (const { body } of pages) assert.ok(body.openapi);
	await Promise.all(clients.map((client) => client.untilText(/\n100000\r\n[^]*\n.{0,40}# $|100000\r\n/)));
	for (const client of clients) assert.deepEqual(client.gaps, []);
	await clients[0].close();
	await until('no client of a', async () => (await server.api.get('a')).clients === 0);
	clients[1].type('echo still""here\r');
	await clients[1].untilText('stillhere');
	// A session that is deleted closes its channel alone.
	await server.api.delete('b');
	assert.deepEqual(await clients[1].untilClosed(), closes(4410, 'session deleted'));
	await clients[0].connect();
	clients[0].type('echo ag""ain\r');
	await clients[0].untilText('again');
	mux.socket.close();
	assert.equal((await clients[2].untilClosed()).code, 1005);
	await untilMetric(server, 'mux_sockets', 0);
	await untilMetric(server, 'clients', 0);
	await untilMetric(server, 'control_sockets', 0);
});

shared('channels are refused as their WebSockets would be', async (server) => {
	await server.session({ id: 's' });
	const mux = await new Mux(server).connect();
	const refused = async (path, status, code) => {
		const error = await new Promise((resolve) => { mux.open(path).on('error', resolve); });
		assert.ok(error instanceof Refused);
		assert.deepEqual([error.status, error.json.code], [status, code], path);
	};
	await refused('/ws/pty?sessionId=..%2fs', 400, 'VALIDATION_FAILED');
	await refused('/ws/pty?sessionId=none&epoch=0000000000000001&offset=0', 404, 'SESSION_NOT_FOUND');
	await refused('/ws/pty', 400, 'VALIDATION_FAILED');
	await refused('/ws/pty?sessionId=%00', 400, 'VALIDATION_FAILED');
	await refused('/rpc', 404, 'UNKNOWN_ERROR');
	await refused('ws', 404, 'UNKNOWN_ERROR');
	await refused(`/ws?${'x&'.repeat(1000)}`, 400, 'VALIDATION_FAILED');
	const fill = async (path, channels) => {
		for (let count = 0; count < channels; count += 1) await new Promise((resolve) => { mux.open(path).on('open', resolve); });
		await refused(path, 429, 'LIMIT_REACHED');
	};
	await fill('/ws', 8);
	await fill('/ws/pty?sessionId=s', 56);
	// A viewer's link is for its session, and cannot type.
	const { token } = await server.api.link('s', 'viewer', 60_000);
	const guest = await new Mux(server, { token }).connect();
	const other = await new Promise((resolve) => { guest.open('/ws/pty?sessionId=other').on('error', resolve); });
	assert.equal(other.status, 403);
	const viewer = await server.client({ sessionId: 's', mux: guest }).connect();
	viewer.type('x');
	await viewer.untilMessage('error', ({ code }) => code === 'READ_ONLY');
	const { links } = await server.api.call('GET', '/api/session/s/links');
	await server.api.call('DELETE', `/api/session/s/links/${links[0].id}`);
	assert.equal((await viewer.untilClosed()).code, 4401);
	const late = guest.open('/ws/pty?sessionId=s').on('error', () => {});
	assert.equal((await guest.closed).code, 4401);
	assert.ok(!guest.messages.some(({ type, channel }) => type === 'opened' && channel === late.number));
	await assert.rejects(new Mux(server, { token: 'wrong' }).connect(), ({ status }) => status === 401);
});

shared('invalid frames close the socket, and frames of a closed channel are dropped', async (server) => {
	await server.session({ id: 's' });
	const wrong = [
		(mux) => mux.socket.send(muxFrame(3, 1, Buffer.from('x'))),
		(mux) => mux.socket.send(muxFrame(2, 1, Buffer.from('x'))),
		(mux) => mux.socket.send(muxFrame(0, 0, Buffer.from('x'))),
		(mux) => mux.control('[]'),
		(mux) => mux.control('{"type":"open","channel":0,"path":"/ws"}'),
		(mux) => mux.control({ type: 'open', channel: 2 ** 24, path: '/ws' }),
		(mux) => mux.control({ type: 'open', channel: 1 }),
		(mux) => [mux.open('/ws', 1), mux.open('/ws', 1)],
		(mux) => mux.control(`{"type":"open","channel":1,"path":"/${'x'.repeat(17_000)}"}`),
	];
	for (const [index, act] of wrong.entries()) {
		const mux = await new Mux(server).connect();
		act(mux);
		assert.equal((await mux.closed).code, 1008, `${index}`);
	}
	const mux = await new Mux(server).connect();
	mux.control({ type: 'future', channel: 'x' });
	mux.socket.send(muxFrame(0, 77, Buffer.alloc(100_000)));
	const client = await server.client({ sessionId: 's', mux }).connect();
	// In any pieces, and several in one message.
	const bytes = Buffer.concat(['echo ', 'pie""', 'ces\r'].map((text) => muxFrame(0, client.socket.number, Buffer.from(text))));
	for (const byte of bytes.subarray(0, 20)) mux.socket.send(Buffer.from([byte]));
	mux.socket.send(bytes.subarray(20));
	await client.untilText('pieces');
	// A message beyond the channel's limit ends the channel, not the socket.
	const control = await new ControlClient(server, { mux }).connect();
	control.send({ type: 'request', id: '1', method: 'GET', path: `/${'x'.repeat(70_000)}` });
	await until('the end of the channel', () => control.closed);
	assert.equal(control.closed.code, 1009);
	client.type('y'.repeat(1 << 20).slice(1));
	mux.socket.send(muxFrame(0, client.socket.number, Buffer.alloc((1 << 20) + 1, 'z')));
	assert.equal((await client.untilClosed()).code, 1009);
	assert.equal((await (await new ControlClient(server, { mux }).connect()).request('GET', '/api/ping')).status, 200);
});

shared('a flooded channel does not delay another one, and a stopped reader loses nothing', { timeout: 120_000 }, async (server) => {
	const mux = await new Mux(server).connect();
	for (const id of ['flood', 'calm']) await server.session({ id });
	const flood = await server.client({ sessionId: 'flood', mux, sink: () => {}, keepLog: false }).connect();
	const calm = await server.client({ sessionId: 'calm', mux }).connect();
	flood.type('while :; do seq 10000; done\r');
	await until('the flood', () => flood.received > 1 << 20);
	let slowest = 0;
	for (let count = 0; count < times(20, 200); count += 1) {
		const begin = performance.now();
		calm.type(`echo n""${count}.\r`);
		await calm.untilText(`n${count}.`, { interval: 1 });
		slowest = Math.max(slowest, performance.now() - begin);
	}
	assert.ok(sanitized || slowest < 2000, `${slowest} ms`);
	mux.socket.pause();
	await server.api.input('calm', 'seq 5000\r');
	await server.outputMatches('calm', /\n5000\r/);
	mux.socket.resume();
	await calm.untilText(/\n5000\r/);
	assert.deepEqual(calm.gaps, []);
	flood.type('\x03');
});

shared('a restarted server: both channels resume on the next socket', async (server) => {
	for (const id of ['a', 'b']) await server.session({ id });
	let mux = await new Mux(server).connect();
	const clients = await Promise.all(['a', 'b'].map((sessionId) => server.client({ sessionId, mux }).connect()));
	for (const client of clients) client.type('for i in $(seq 300); do echo line $i; sleep 0.01; done\r');
	await Promise.all(clients.map((client) => client.untilText('line 10\r')));
	await server.kill('SIGKILL');
	for (const client of clients) await client.untilClosed();
	await server.start();
	mux = await new Mux(server).connect();
	for (const client of clients) {
		client.mux = mux;
		await client.connect();
		await client.untilText('line 300\r');
		const all = (await server.api.output(client.sessionId, client.since)).subarray(0, client.bytes.length);
		assert.ok(client.bytes.equals(all));
		assert.deepEqual(client.gaps, []);
	}
});
