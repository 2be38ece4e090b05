// Windows and the size of a session: policies, over the API and the terminal socket.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { stays, until } from './lib/until.mjs';

const policies = ['latest', 'smallest', 'fixed', 'owner'];

/** The size of a session, for tests. */
function sizes(server, id) {
	const size = async () => {
		const { cols, rows } = await server.api.get(id);
		return `${cols}x${rows}`;
	};
	let last;
	return {
		size,
		is: (expected) => until(() => `size ${expected}: it is ${last}`, async () => {
			last = await size();
			return last === expected;
		}),
		/** The size does not change after the server has processed all messages of these clients. */
		async stays(expected, ...clients) {
			for (const client of clients) await processed(client);
			await stays(`the size ${expected}`, async () => await size() === expected, 100);
		},
		set: (policy, fields) => server.api.call('POST', `/api/session/${id}/size`, { policy, ...fields })
			.then(({ data }) => data),
	};
}

/** Wait until the server has processed all messages of the client. */
async function processed(client) {
	const t = Math.random();
	client.control({ type: 'ping', t });
	await client.untilMessage('pong', (pong) => pong.t === t);
}

const resize = (client, cols, rows) => client.control({ type: 'resize', cols, rows });

/** The client gets this policy and the client that sets the size. */
const untilPresence = (client, policy, sizeBy, options) => client.untilMessage('presence',
	(each) => each.sizePolicy === policy && each.sizeBy === sizeBy, options);

scenario('latest is the default policy, and is reported everywhere', async (server) => {
	const { api } = server;
	assert.equal((await api.create({ id: 's' })).sizePolicy, 'latest');
	assert.equal((await api.list()).sessions[0].sizePolicy, 'latest');
	const { set } = sizes(server, 's');
	const one = await server.client({ sessionId: 's', cols: 90, rows: 25 }).connect();
	assert.equal(one.attached.sizePolicy, 'latest');
	await untilPresence(one, 'latest', one.attached.clientId);
	for (const policy of ['smallest', 'owner', 'fixed', 'latest']) {
		const from = one.messages.length;
		assert.equal((await set(policy)).sizePolicy, policy);
		assert.equal((await api.get('s')).sizePolicy, policy);
		assert.equal((await api.list()).sessions[0].sizePolicy, policy);
		await untilPresence(one, policy, policy === 'fixed' ? null : one.attached.clientId, { from });
		const late = await server.client({ sessionId: 's' }).connect();
		assert.equal(late.attached.sizePolicy, policy);
		await late.untilMessage('presence', ({ sizePolicy }) => sizePolicy === policy);
		await late.close();
	}
});

scenario('smallest: the minimum of rows and columns of all clients that may type', async (server) => {
	const { api } = server;
	const { is, set, stays: remains } = sizes(server, 's');
	await server.session({ id: 's', cols: 80, rows: 24 });
	const driver = await api.link('s', 'driver', 60_000);
	const watching = await api.link('s', 'viewer', 60_000);
	const wide = await server.client({ sessionId: 's', cols: 132, rows: 30, name: 'Wide' }).connect();
	const tall = await server.client({ sessionId: 's', cols: 100, rows: 50, token: driver.token }).connect();
	const viewer = await server.client({ sessionId: 's', cols: 20, rows: 5, token: watching.token }).connect();
	const windowless = await server.client({ sessionId: 's' }).connect();
	await is('132x30');
	assert.deepEqual((({ cols, rows }) => [cols, rows])(await set('smallest')), [100, 30], 'the response has the new size');
	for (const client of [wide, tall, viewer, windowless]) {
		await untilPresence(client, 'smallest', null);
		const message = await client.untilMessage('resize', ({ cols, rows }) => cols === 100 && rows === 30);
		assert.equal(message.by, null);
	}
	tall.type('stty size\r');
	await tall.untilText('30 100\r\n');
	wide.type('echo ty""ped\r');
	await wide.untilText('typed\r\n');
	resize(viewer, 10, 4);
	await remains('100x30', tall, wide, viewer);

	const small = await server.client({ sessionId: 's', cols: 70, rows: 20, name: 'Small' }).connect();
	await is('70x20');
	await untilPresence(wide, 'smallest', small.attached.clientId);
	resize(windowless, 60, 40);
	await is('60x20');
	resize(small, 71, 21);
	await is('60x21');
	resize(windowless, 200, 60);
	await is('71x21');
	small.terminate();
	await is('100x30');
	await tall.close();
	await is('132x30');
	await untilPresence(windowless, 'smallest', wide.attached.clientId);
	await wide.close();
	await is('200x60');
	await windowless.close();
	await remains('200x60', viewer);
	const back = await server.client({ sessionId: 's', cols: 90, rows: 28 }).connect();
	await is('90x28');
	await untilPresence(viewer, 'smallest', back.attached.clientId);
});

scenario('smallest: a dead client does not count', { args: ['--ping-interval', '1'] }, async (server) => {
	const { is, set } = sizes(server, 's');
	await server.session({ id: 's' });
	const one = await server.client({ sessionId: 's', cols: 120, rows: 40 }).connect();
	const dead = server.client({ sessionId: 's', cols: 60, rows: 20 });
	dead.mute = true;
	await dead.connect();
	await set('smallest');
	await is('60x20');
	await is('120x40');
	assert.ok(one.socket, 'the live client was closed');
});

scenario('fixed: windows do not change it, the API does', async (server) => {
	const { api } = server;
	const { is, set, stays: remains } = sizes(server, 's');
	await server.session({ id: 's', cols: 80, rows: 24 });
	const one = await server.client({ sessionId: 's', cols: 90, rows: 25 }).connect();
	await is('90x25');
	const present = await set('fixed');
	assert.deepEqual([present.cols, present.rows], [90, 25], 'the default is the current size');
	await untilPresence(one, 'fixed', null);
	const two = await server.client({ sessionId: 's', cols: 100, rows: 30 }).connect();
	two.type('echo tw""o\r');
	await two.untilText('two\r\n');
	resize(one, 50, 15);
	await remains('90x25', one, two);
	await one.close();
	await remains('90x25', two);

	const other = await set('fixed', { cols: 111, rows: 33 });
	assert.deepEqual([other.cols, other.rows], [111, 33]);
	const message = await two.untilMessage('resize', ({ cols }) => cols === 111);
	assert.equal(message.by, null);
	two.type('stty size\r');
	await two.untilText('33 111\r\n');
	const narrower = await set('fixed', { cols: 77 });
	assert.deepEqual([narrower.cols, narrower.rows], [77, 33], 'an omitted value is unchanged');
	await api.resize('s', 66, 22);
	await is('66x22');
	two.type(':\r');
	resize(two, 101, 31);
	await remains('66x22', two);
	assert.equal((await api.get('s')).sizePolicy, 'fixed');

	await set('latest');
	await is('101x31');
	await untilPresence(two, 'latest', two.attached.clientId);
});

scenario('owner: the window of the owner that typed last', async (server) => {
	const { api } = server;
	const { is, set, stays: remains } = sizes(server, 's');
	await server.session({ id: 's', cols: 80, rows: 24 });
	const { token } = await api.link('s', 'driver', 60_000);
	const driver = await server.client({ sessionId: 's', cols: 70, rows: 20, token }).connect();
	await is('70x20');
	await set('owner');
	await untilPresence(driver, 'owner', null);
	driver.type(':\r');
	resize(driver, 71, 21);
	await remains('70x20', driver);

	const one = await server.client({ sessionId: 's', cols: 90, rows: 25 }).connect();
	await is('90x25');
	const two = await server.client({ sessionId: 's', cols: 100, rows: 30 }).connect();
	driver.type(':\r');
	await remains('90x25', driver, two);
	two.type(':\r');
	await is('100x30');
	await untilPresence(driver, 'owner', two.attached.clientId);
	resize(two, 101, 31);
	await is('101x31');
	resize(one, 91, 26);
	await remains('101x31', one);
	await two.close();
	await is('91x26');
	const from = driver.messages.length;
	await one.close();
	await untilPresence(driver, 'owner', null, { from });
	await remains('91x26', driver);
	await set('latest');
	await is('71x21');
});

scenario('resize over the API: under latest until a client types, refused if windows decide', async (server) => {
	const { api } = server;
	const { is, set, stays: remains } = sizes(server, 's');
	await server.session({ id: 's', cols: 80, rows: 24 });
	const one = await server.client({ sessionId: 's', cols: 90, rows: 25 }).connect();
	await is('90x25');
	await api.resize('s', 50, 15);
	await untilPresence(one, 'latest', null);
	await remains('50x15', one);
	one.type(':\r');
	await is('90x25');
	for (const policy of ['smallest', 'owner']) {
		await set(policy);
		const error = await api.refused(409, 'SIZE_POLICY', 'POST', '/api/session/s/resize', { cols: 50, rows: 15 });
		assert.deepEqual(error.context, { sessionId: 's', sizePolicy: policy });
		await remains('90x25', one);
		await one.close();
		await api.refused(409, 'SIZE_POLICY', 'POST', '/api/session/s/resize', { cols: 50, rows: 15 });
		await one.connect();
	}
	await set('latest');
	await api.resize('s', 51, 16);
	await is('51x16');
});

scenario('a new session with the id of an ended one starts with latest', async (server) => {
	const { api } = server;
	const { set } = sizes(server, 's');
	await server.session({ id: 's' });
	await set('smallest');
	await api.input('s', 'exit\r');
	const ended = await until('the end of the session', async () => {
		const session = await api.get('s');
		return session.state === 'exited' && session;
	});
	assert.equal(ended.sizePolicy, 'smallest');
	assert.equal((await api.create({ id: 's' })).sizePolicy, 'latest');
});

scenario('policies survive the server', async (server) => {
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

	const fixed = await server.client({ sessionId: 'fixed', cols: 60, rows: 20 }).connect();
	assert.equal(fixed.attached.sizePolicy, 'fixed');
	await sizes(server, 'fixed').stays('97x31', fixed);
	const { is } = sizes(server, 'smallest');
	await server.client({ sessionId: 'smallest', cols: 100, rows: 20 }).connect();
	await server.client({ sessionId: 'smallest', cols: 60, rows: 30 }).connect();
	await is('60x20');
});

scenario('a session of a server without policies has latest', async (server) => {
	const { api } = server;
	const { is, set } = sizes(server, 's');
	await server.session({ id: 's', cols: 80, rows: 24 });
	await set('smallest');
	await server.kill('SIGKILL');
	const sessions = path.join(server.dir, 'sessions');
	const [folder] = readdirSync(sessions);
	const file = path.join(sessions, folder, 'meta.json');
	const { sizePolicy, ...older } = JSON.parse(readFileSync(file, 'utf8'));
	assert.equal(sizePolicy, 'smallest');
	writeFileSync(file, JSON.stringify(older));
	await server.start();
	await until('the adoption', async () => (await api.get('s')).state === 'running');
	assert.equal((await api.get('s')).sizePolicy, 'latest');
	await server.client({ sessionId: 's', cols: 90, rows: 25 }).connect();
	await server.client({ sessionId: 's', cols: 60, rows: 20 }).connect();
	await is('90x25');
});
