// An id exists once in a fleet, whatever happens at once.
import assert from 'node:assert/strict';
import { fleetTest } from './lib/fleet.mjs';
import { until } from './lib/until.mjs';

/** Each of the clients creates all ids, in its own order; calls by node. Returns the statuses by id. */
async function race(nodes, ids, clients) {
	const statuses = new Map(ids.map((id) => [id, []]));
	await Promise.all(Array.from({ length: clients }, async (_, client) => {
		for (let i = 0; i < ids.length; i++) {
			const id = ids[(i * 7 + client * 13) % ids.length];
			const answer = await nodes[(client + i) % nodes.length].api.raw('POST', '/api/session/create', { id, argv: ['sleep', '600'] });
			assert.ok([200, 409, 503].includes(answer.status), answer.text);
			statuses.get(id).push(answer.status);
		}
	}));
	return statuses;
}

/** Each session's node, by asking each node for its own. */
async function owners(nodes) {
	const found = new Map();
	for (const node of nodes) {
		const { data } = await node.api.call('GET', `/api/session/list?node=${node.name}`);
		for (const id of data) found.set(id, [...found.get(id) ?? [], node.name]);
	}
	return found;
}

const numbers = (count, prefix) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

fleetTest('twenty clients race for ids at three nodes', { args: ['--max-sessions', '1000'] }, async ({ nodes }) => {
	const ids = numbers(60, 'r');
	const statuses = await race(nodes, ids, 20);
	for (const [id, all] of statuses) {
		assert.deepEqual(all.sort(), [200, ...Array(19).fill(409)], `${id}: ${all}`);
	}
	const found = await owners(nodes);
	assert.deepEqual([...found.keys()].sort(), ids.toSorted());
	for (const [id, names] of found) assert.equal(names.length, 1, `${id} is at ${names}`);
	const spread = nodes.map(({ name }) => [...found.values()].filter(([each]) => each === name).length);
	assert.ok(spread.every((count) => count > 0), `each node has some: ${spread}`);
});

fleetTest('the registry is killed and started during the race', { args: ['--max-sessions', '1000'] }, async ({ nodes, nats }) => {
	const ids = numbers(30, 'k');
	let racing = true;
	const chaos = (async () => {
		while (racing) {
			await nats.kill();
			await nats.start();
			await until('the registry', async () => !racing || (await nodes[0].api.call('GET', '/api/nodes')).registry.connected);
		}
	})();
	const statuses = await race(nodes, ids, 6);
	racing = false;
	await chaos;
	for (const [id, all] of statuses) {
		assert.ok(all.filter((status) => status === 200).length <= 1, `${id}: ${all}`);
	}
	const found = await owners(nodes);
	for (const [id, names] of found) assert.equal(names.length, 1, `${id} is at ${names}`);
	// Afterwards every id can be had once.
	await until('the registry at all nodes', async () => (await Promise.all(nodes.map((node) => node.api.call('GET', '/api/nodes'))))
		.every(({ registry }) => registry.connected));
	const again = await race(nodes, ids, 2);
	for (const [id, all] of again) assert.equal(all.filter((status) => status === 200).length, found.has(id) ? 0 : 1, `${id}: ${all}`);
});
