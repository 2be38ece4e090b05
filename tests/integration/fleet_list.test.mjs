// Lists that cover the fleet, and nodes that are away.
import assert from 'node:assert/strict';
import { assertError } from './lib/api.mjs';
import { fleetTest } from './lib/fleet.mjs';
import { connect } from './lib/mcp.mjs';
import { EventStream } from './lib/sse.mjs';
import { until, within } from './lib/until.mjs';

const placed = async (node) => (await node.api.list()).sessions.map((s) => `${s.node}/${s.id}${s.state === 'unreachable' ? '!' : ''}`).sort().join(' ');

fleetTest('each node lists all sessions, processes and nodes; pages', async ({ a, b, c }) => {
	for (const [i, node] of ['a', 'b', 'c', 'a', 'b'].entries()) await c.api.create({ id: `s${i}`, node });
	for (const node of [a, b, c]) assert.equal(await placed(node), 'a/s0 a/s3 b/s1 b/s4 c/s2');
	assert.deepEqual((await b.api.list()).data.sort(), ['s0', 's1', 's2', 's3', 's4']);
	assert.equal((await b.api.call('GET', '/api/session/list?node=a')).data.sort().join(), 's0,s3');
	await a.api.call('POST', '/api/process/start', { command: 'sleep 60', processId: 'p', node: 'c' });
	const { processes } = await b.api.call('GET', '/api/process/list');
	assert.deepEqual(processes.map(({ id, node }) => [id, node]), [['p', 'c']]);

	const seen = [];
	for (let next = ''; next !== undefined;) {
		const page = await b.api.call('GET', `/api/session/list?limit=2${next ? `&after=${encodeURIComponent(next)}` : ''}`);
		assert.ok(page.sessions.length <= 2);
		seen.push(...page.data);
		({ next } = page);
	}
	assert.deepEqual(seen, ['s0', 's3', 's1', 's4', 's2']);

	assertError(await b.api.raw('GET', '/api/session/list?limit=x'), 400, 'VALIDATION_FAILED');

	const { nodes, registry } = await b.api.call('GET', '/api/nodes');
	assert.deepEqual(nodes.map(({ name, state, self }) => [name, state, self]), [['a', 'alive', false], ['b', 'alive', true], ['c', 'alive', false]]);
	assert.deepEqual([registry.connected, nodes[0].url], [true, a.base]);
	const mcp = await connect(c, 'agent');
	assert.match((await mcp.use('session_list')).contentText, /s0[^]*s4/);
});

fleetTest('a node that dies: unreachable within 5 s, back with its sessions; forgotten by force', async ({ a, b, c }) => {
	await Promise.all([a.api.create({ id: 'one', node: 'b' }), a.api.create({ id: 'two', node: 'b' }), a.api.create({ id: 'mine', node: 'a' })]);
	const events = new EventStream(a, '/api/session/events');
	const told = (text) => events.until(text, ({ type, sessions }) => type === 'sessions'
		&& sessions.map((s) => `${s.node}/${s.id}${s.state === 'unreachable' ? '!' : ''}`).sort().join(' ') === text);
	await told('a/mine b/one b/two');
	await b.kill('SIGKILL');
	const killed = Date.now();
	assertError(await a.api.raw('GET', '/api/session/one'), 503, 'NODE_UNREACHABLE');
	assertError(await c.api.raw('POST', '/api/session/create', { id: 'one' }), 503, 'NODE_UNREACHABLE');
	await until('the lost sessions', async () => await placed(c) === 'a/mine b/one! b/two!');
	assert.ok(Date.now() - killed < 5000 * Number(process.env.RINGSIDE_TIMEOUT_FACTOR ?? 1), `after ${Date.now() - killed} ms`);
	await told('a/mine b/one! b/two!');
	const refused = await a.api.raw('GET', '/api/session/one');
	assertError(refused, 503, 'NODE_UNREACHABLE');
	assert.match(refused.headers['retry-after'], /^\d+$/);

	// Forgotten: the id is free, and the node ends its session when it comes back.
	assertError(await a.api.raw('POST', '/api/session/delete', { sessionId: 'mine', force: 'x' }), 400, 'VALIDATION_FAILED');
	await until('the removal', async () => (await a.api.raw('POST', '/api/session/delete', { sessionId: 'one', force: true })).status === 200);
	assert.equal(await placed(a), 'a/mine b/two!');
	await c.api.create({ id: 'one', node: 'c' });
	await b.start();
	await until('the return', async () => await placed(a) === 'a/mine b/two c/one');
	await told('a/mine b/two c/one');
	assert.equal((await b.api.raw('GET', '/api/session/one')).headers['ringside-node'], 'c');
	assert.equal(await a.run('two', 'echo back'), 'back\n');
});

fleetTest('a name belongs to one living node', { nodes: 2 }, async (fleet) => {
	const second = fleet.node('a');
	await second.start({ wait: false });
	const { code } = await within('its end', second.ended);
	assert.equal(code, 1);
	assert.match(second.stderr, /another living node of the fleet has this name/);
	await second.cleanup({ graceful: false });
	assert.equal((await fleet.b.api.call('GET', '/api/nodes')).nodes.find(({ name }) => name === 'a').url, fleet.a.base);
});

fleetTest('without the registry: what is known goes on, chosen ids wait, random ones are registered later', async ({ a, b, c, nats }) => {
	await a.api.create({ id: 's', node: 'b' });
	assert.equal((await a.api.get('s')).id, 's');
	await nats.kill();
	assert.equal(await a.run('s', 'echo still'), 'still\n');
	assert.equal(await b.run('s', 'echo here'), 'here\n');
	const refused = await c.api.raw('POST', '/api/session/create', { id: 'chosen' });
	assertError(refused, 503, 'REGISTRY_UNREACHABLE');
	assert.match(refused.headers['retry-after'], /^\d+$/);
	const { id } = await c.api.create({});
	assert.equal((await c.api.raw('GET', `/api/session/${id}`)).headers['ringside-node'], 'c');
	assert.ok((await c.api.list()).data.includes(id));
	await until('the loss of the registry', async () => !(await a.api.call('GET', '/api/nodes')).registry.connected);
	await nats.start();
	await until('the random id at another node', async () => (await a.api.raw('GET', `/api/session/${id}`)).status === 200);
	await until('the chosen id', async () => (await c.api.raw('POST', '/api/session/create', { id: 'chosen' })).status === 200);

	// A node starts without the registry if it has been a member before.
	await nats.kill();
	await b.kill('SIGKILL');
	await b.start();
	assert.equal(await b.run('s', 'echo again'), 'again\n');
	await nats.start();
	await until('all three', async () => (await a.api.list()).sessions.every(({ state }) => state !== 'unreachable'));
});
