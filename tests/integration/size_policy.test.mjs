// Windows and the size of a session: policies, over the API and the terminal socket.
import assert from 'node:assert/strict';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const policies = ['latest', 'smallest', 'fixed', 'owner'];

/** The size of a session, for tests. */
function sizes(server, id) {
	let last;
	return {
		is: (expected) => until(() => `size ${expected}: it is ${last}`, async () => {
			const { cols, rows } = await server.api.get(id);
			last = `${cols}x${rows}`;
			return last === expected;
		}),
		set: (policy, fields) => server.api.call('POST', `/api/session/${id}/size`, { policy, ...fields })
			.then(({ data }) => data),
	};
}

const resize = (client, cols, rows) => client.control({ type: 'resize', cols, rows });

/** The client gets this policy and the client that sets the size. */
const untilPresence = (client, policy, sizeBy) => client.untilMessage('presence',
	(each) => each.sizePolicy === policy && each.sizeBy === sizeBy);

shared('windows and policies decide the size; clients get the policy, and which client sets the size', async (server) => {
	const { api } = server;
	const { is, set } = sizes(server, 's');
	assert.equal((await server.session({ id: 's', cols: 80, rows: 24 })).sizePolicy, 'latest');
	const driver = await api.link('s', 'driver', 60_000);
	const watching = await api.link('s', 'viewer', 60_000);
	const wide = await server.client({ sessionId: 's', cols: 132, rows: 30, name: 'Wide' }).connect();
	assert.equal(wide.attached.sizePolicy, 'latest');
	await untilPresence(wide, 'latest', wide.attached.clientId);
	const tall = await server.client({ sessionId: 's', cols: 100, rows: 50, token: driver.token }).connect();
	const viewer = await server.client({ sessionId: 's', cols: 20, rows: 5, token: watching.token }).connect();
	resize(tall, 101, 31);
	tall.type(':\r');
	await is('101x31');
	assert.equal((await wide.untilMessage('resize', ({ cols }) => cols === 101)).by, tall.attached.clientId);
	await untilPresence(wide, 'latest', tall.attached.clientId);
	assert.deepEqual((({ cols, rows }) => [cols, rows])(await set('smallest')), [101, 30], 'the response has the new size');
	for (const client of [wide, tall, viewer]) {
		await untilPresence(client, 'smallest', null);
		const message = await client.untilMessage('resize', ({ cols, rows }) => cols === 101 && rows === 30);
		assert.equal(message.by, null);
	}
	tall.type('stty size\r');
	await tall.untilText('30 101\r\n');
	const fixed = await set('fixed', { cols: 77 });
	assert.deepEqual([fixed.cols, fixed.rows], [77, 30], 'an omitted value is unchanged');
	await untilPresence(wide, 'fixed', null);
});

shared('policies survive the server', async (server) => {
	const { api } = server;
	for (const policy of policies) {
		await api.create({ id: policy, cols: 80, rows: 24 });
		await sizes(server, policy).set(policy, { cols: 97, rows: 31 });
	}
	await api.call('POST', '/api/session/owner/rename', { name: 'renamed' });
	await server.kill('SIGKILL');
	await server.start();
	for (const policy of policies) {
		const session = await until(`the adoption with ${policy}`, async () => {
			const found = await api.get(policy);
			return found.state === 'running' && found;
		});
		assert.deepEqual([session.sizePolicy, session.cols, session.rows],
			[policy, ...policy === 'fixed' ? [97, 31] : [80, 24]]);
	}
	assert.equal((await api.get('owner')).name, 'renamed');
});
