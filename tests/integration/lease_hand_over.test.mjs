// A lease passes from a program to a person and back: at once, or when its command has ended, with a note.
import assert from 'node:assert/strict';
import { connect } from './lib/mcp.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const lease = '/api/session/s/lease';
const TTL = { ttlMs: 60_000 };
const noted = (note) => `${lease}?${new URLSearchParams(note)}`;

shared('an owner takes a lease over, and returns it with a note', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const { token } = await api.link('s', 'driver', 60_000);
	const agent = api.as(token);
	const theirs = (await agent.call('POST', lease, { owner: 'robot', ...TTL })).lease.id;
	await api.refused(409, 'LEASED', 'POST', lease, TTL);
	const takeover = await api.call('POST', lease, { owner: 'Ada', take: 'now', ...TTL });
	assert.deepEqual([takeover.waits, takeover.note, takeover.lease.owner], [false, null, 'Ada']);
	assert.notEqual(takeover.lease.id, theirs);
	const held = await agent.refused(409, 'LEASED', 'POST', '/api/session/s/exec', { command: 'true', lease: theirs });
	assert.deepEqual([held.context.lease.owner, held.context.note], ['Ada', null]);
	const waiting = agent.call('POST', '/api/session/s/wait', { until: [{ type: 'lease' }], timeoutMs: 30_000 });
	await api.refused(400, 'VALIDATION_FAILED', 'DELETE', noted({ note: 'x'.repeat(501) }));
	await agent.refused(409, 'LEASED', 'DELETE', noted({ id: theirs, note: 'mine' }));
	const text = 'the path was wrong: é\nnow go on "as" before\u0007';
	assert.equal((await api.call('DELETE', noted({ id: takeover.lease.id, note: text }))).lease, null);
	const waited = await waiting;
	assert.deepEqual([waited.type, waited.note.text, waited.note.by, waited.note.author], ['lease', text, 'Ada', 'owner']);
	const over = await agent.refused(409, 'LEASED', 'POST', '/api/session/s/keys', { text: 'x', lease: theirs });
	assert.deepEqual([over.context.lease, over.context.note.text], [null, text]);
	const again = await agent.call('POST', lease, { owner: 'robot', renew: theirs, ...TTL });
	assert.equal(again.note.text, text);
	await agent.call('DELETE', noted({ id: again.lease.id }));
	assert.equal((await api.call('GET', lease)).note, null, 'the note is read once');
});

shared('a running command may finish, but no command is started after it', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const theirs = (await api.call('POST', lease, { owner: 'robot', ...TTL })).lease.id;
	const ada = await server.client({ sessionId: 's', name: 'Ada' }).connect();
	const running = await api.call('POST', '/api/session/s/exec', { command: 'cat', yieldMs: 0, lease: theirs });
	await until('the start of the command', async () => (await api.call('GET', `/api/session/s/exec/${running.data.id}`)).data.state === 'running');
	const takeover = await api.call('POST', lease, { owner: 'Ada', take: 'after', ...TTL });
	assert.deepEqual([takeover.waits, takeover.lease.owner, takeover.lease.heir], [true, 'robot', 'Ada']);
	ada.control({ type: 'lease', id: takeover.lease.id });
	const before = await ada.untilMessage('lease', ({ yours }) => yours === false);
	assert.equal(before.lease.heir, 'Ada');
	await api.refused(409, 'LEASED', 'POST', '/api/session/s/keys', { text: 'early', submit: true, lease: takeover.lease.id });
	await api.call('POST', '/api/session/s/keys', { keys: ['C-d'], lease: theirs });
	const end = await api.call('GET', `/api/session/s/exec/${running.data.id}?waitMs=30000`);
	assert.equal(end.data.state, 'done');
	const late = await api.refused(409, 'LEASED', 'POST', '/api/session/s/exec', { command: 'echo late', lease: theirs });
	assert.equal(late.context.lease.owner, 'Ada', 'the lease passes at once');
	await ada.untilMessage('lease', ({ yours }) => yours === true);
	ada.type('echo by-$((40+2))\r');
	await server.outputMatches('s', /by-42/);
	// A waiting owner may change its mind. If nothing runs, it does not wait.
	const now = await api.call('POST', lease, { owner: 'Bob', take: 'after', ...TTL });
	if (now.waits) // the prompt is not there yet
		await until('the lease of Bob', async () => (await api.call('GET', lease)).lease.owner === 'Bob');
	await api.call('DELETE', noted({ id: now.lease.id }));
	assert.equal((await api.call('GET', lease)).lease, null);
});

shared('an agent gets the note over MCP', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const robot = await connect(server, 'robot');
	const call = (name, args) => robot.call(name, { session_id: 's', ...args });
	const theirs = (await call('lease', { ttl_ms: 60_000 })).structuredContent.lease;
	const { id } = (await api.call('POST', lease, { owner: 'Ada', take: 'now', ...TTL })).lease;
	assert.equal((await call('exec', { command: 'true', lease: theirs })).structuredContent.error.context.lease.owner, 'Ada');
	const waiting = call('wait', { until: [{ type: 'lease' }], timeout_ms: 30_000 });
	await api.call('DELETE', noted({ id, note: 'use make check' }));
	assert.match((await waiting).content[0].text, /note of Ada: use make check/);
	const refused = await call('exec', { command: 'true', lease: theirs });
	assert.match(refused.content[0].text, /use make check/);
	const again = await call('lease', { lease: theirs });
	assert.match(again.content[0].text, /the keyboard is yours[^]*note of Ada: use make check/);
	const { lease: mine } = again.structuredContent;
	assert.equal((await call('exec', { command: 'echo on', lease: mine })).structuredContent.output, 'on\n');
	assert.match((await call('lease', { lease: mine, release: true })).content[0].text, /the keyboard is free/);
	assert.equal((await api.call('GET', lease)).lease, null);
});
