// The server determines the author of a command. The client's label is only shown beside it.
import assert from 'node:assert/strict';
import { cli } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** Wait for `count` finished blocks of s; those that have waited for the shell are left out. */
const blocks = (api, count, query = '') => until(`${count} blocks`, async () => {
	const list = (await api.call('GET', `/api/session/s/blocks${query}`)).blocks.filter(({ state, command }) => state === 'done' && !command.startsWith('echo awake'));
	return list.length === count && list;
});

shared('no client can pass for another', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const { token, link } = await api.link('s', 'driver', 60_000);
	const driver = api.as(token);
	const author = `driver/${link.id}`;
	const claims = { label: 'owner', author: 'owner', name: 'owner', owner: 'owner' };

	const { data } = await driver.call('POST', '/api/session/s/exec', { command: 'echo asked', ...claims });
	assert.deepEqual([data.author, data.label], [author, 'owner']);
	const plain = await api.call('POST', '/api/session/s/exec', { command: 'true' });
	assert.deepEqual([plain.data.author, plain.data.label], ['owner', null]);
	const named = await api.call('POST', '/api/session/s/exec', { command: 'true', label: 'robot' });
	assert.deepEqual([named.data.author, named.data.label], ['owner', 'robot']);
	// Input before the shell reads a line is not shown, and its text is not kept.
	await server.shellReady('s');
	await driver.call('POST', '/api/session/s/keys', { text: 'echo typed', submit: true, ...claims });
	await blocks(api, 4);
	await api.call('POST', '/api/session/s/wait', { until: [{ type: 'prompt' }] });
	const client = await server.client({ sessionId: 's', name: 'owner', token }).connect();
	client.type('echo at a terminal\r');
	const all = await blocks(api, 5);
	assert.deepEqual(all.map((b) => [b.by, b.author, b.label]), [
		['exec', author, 'owner'], ['exec', 'owner', null], ['exec', 'owner', 'robot'], ['human', author, 'owner'], ['human', author, 'owner']]);
	// Lines typed within a moment may be one entry.
	const typed = (await api.call('GET', '/api/session/s/typed')).typed.filter(({ text }) => /echo (typed|at)/.test(text));
	assert.match(typed.map(({ text }) => text).join(''), /echo typed[^]*echo at a terminal/);
	for (const t of typed) assert.deepEqual([t.author, t.label, t.by], [author, 'owner', undefined]);
	const { lease } = await driver.call('POST', '/api/session/s/lease', { ...claims });
	assert.deepEqual([lease.author, lease.owner], [author, 'owner']);
	await api.call('DELETE', '/api/session/s/lease');

	// author matches the server's names, label the client's own.
	assert.deepEqual((await blocks(api, 2, '?author=owner')).map((b) => b.command), ['true', 'true']);
	assert.deepEqual((await blocks(api, 3, '?label=owner')).map((b) => b.author), [author, author, author]);
	const listed = await cli(server, ['blocks', '--json', '--author', author, 's']);
	assert.equal(JSON.parse(listed.stdout).blocks.length, 3);
	assert.match((await cli(server, ['blocks', 's'])).stdout, new RegExp(`^\\S+ +0 +${author.slice(0, 12)} +"owner" echo asked$`, 'm'));

	// The log has neither the command nor its environment.
	assert.match(server.stderr, new RegExp(`msg=ended id=${data.id} .*principal=${author} label=owner .*command="10 bytes digest [0-9a-f]{16}"`));
	assert.ok(!server.stderr.includes('echo asked'));

	// The next server has the same records.
	await server.restart();
	assert.deepEqual((await blocks(api, 5)).map((b) => [b.author, b.label]), all.map((b) => [b.author, b.label]));
	const again = (await api.call('GET', `/api/session/s/exec/${data.id}`)).data;
	assert.deepEqual([again.author, again.label], [author, 'owner']);
});

shared('the author of a waiting command may cancel it, also while another client has a lease', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const { token } = await api.link('s', 'driver', 60_000);
	await api.call('POST', '/api/session/s/exec', { command: 'sleep 100', yieldMs: 0 });
	const queue = async (caller) => (await caller.call('POST', '/api/session/s/exec', { command: 'true', queue: true, yieldMs: 0 })).data.id;
	const mine = await queue(api.as(token));
	const others = await queue(api);
	await api.call('POST', '/api/session/s/lease', {});
	await api.as(token).refused(409, 'LEASED', 'POST', `/api/session/s/exec/${others}/cancel`, {});
	const { data } = await api.as(token).call('POST', `/api/session/s/exec/${mine}/cancel`, {});
	assert.deepEqual([data.state, data.endedBy], ['done', 'cancelled']);
});
