// Two conditions of waits, over MCP: a port is listened on, and the keyboard is free.
import assert from 'node:assert/strict';
import net from 'node:net';
import { connect } from './lib/mcp.mjs';
import { scenario } from './lib/server.mjs';

/** A port on which no process listens. */
const free = () => new Promise((resolve) => {
	const listener = net.createServer().listen(0, '127.0.0.1', () => {
		const { port } = listener.address();
		listener.close(() => resolve(port));
	});
});

scenario('a wait for a port', async (server) => {
	await server.session({ id: 's' });
	const a = await connect(server, 'porter');
	const port = await free();
	const waiting = a.use('wait', { session_id: 's', until: [{ type: 'port', port }, { type: 'exit' }], timeout_ms: 60_000 });
	const program = `import socket,time; s=socket.socket(); s.bind(('127.0.0.1',${port})); s.listen(); print('up'); time.sleep(1000)`;
	const serving = await a.use('exec', { session_id: 's', command: `python3 -uc "${program}"`, yield_ms: 0 });
	const met = await waiting;
	assert.deepEqual([met.type, met.fired], ['port', 0], met.contentText);
	assert.match((await a.use('snapshot', { session_id: 's' })).contentText, /up\n/, 'output during the wait counts as unread');
	await a.use('exec_signal', { exec_id: serving.exec_id });
});

scenario('a lease, and a wait for its end', async (server) => {
	await server.session({ id: 's' });
	const [a, b] = [await connect(server, 'first'), await connect(server, 'second')];
	const s = { session_id: 's' };
	const free_ = await b.use('wait', { ...s, until: [{ type: 'lease' }] });
	assert.equal(free_.type, 'lease', 'the session has no lease');
	const { lease, contentText, owner } = await a.use('lease', { ...s, ttl_ms: 60_000 });
	assert.match(contentText, /^the keyboard is yours: lease [0-9a-f]{32}, until 2/);
	assert.equal(owner, 'first');
	const refused = await b.call('exec', { ...s, command: 'true' });
	assert.equal(refused.structuredContent.error.code, 'LEASED');
	assert.match(refused.content[0].text, /wait until lease/);
	assert.equal((await b.call('lease', s)).structuredContent.error.code, 'LEASED');
	assert.equal((await a.use('exec', { ...s, command: 'echo mine', lease })).output, 'mine\n');
	assert.equal((await a.use('lease', { ...s, lease, ttl_ms: 50_000 })).lease, lease, 'the lease is renewed');
	const waiting = b.use('wait', { ...s, until: [{ type: 'lease' }], timeout_ms: 60_000 });
	assert.equal((await b.use('wait', { ...s, until: [{ type: 'lease' }], timeout_ms: 100 })).type, 'timeout');
	assert.match((await a.use('lease', { ...s, lease, release: true })).contentText, /the keyboard is free/);
	assert.equal((await waiting).type, 'lease');
	assert.equal((await b.use('exec', { ...s, command: 'echo theirs' })).output, 'theirs\n');
});
