// Screens and commands as resources: list, read, follow, and the access to them.
import assert from 'node:assert/strict';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect, connectModern, modernBridge, modernHttp, overBridge, overHttp } from './lib/mcp.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const screen = (id) => `ringside://session/${id}/screen`;
const block = (id, name) => `ringside://session/${id}/block/${name}`;

/** A client: {client, transport, read, updates}. */
async function connectReader(server, transport) {
	const connection = await connect(server, 'reader', { transport });
	const updates = [];
	connection.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.push(params.uri));
	return { ...connection, updates, read: async (uri) => (await connection.client.readResource({ uri })).contents[0] };
}

const ran = async (server, id, command) => (await server.api.call('POST', `/api/session/${id}/exec`, { command })).data;
const blocks = async (server, id) => (await server.api.call('GET', `/api/session/${id}/blocks`)).blocks;
const refused = (promise, code) => assert.rejects(promise, (error) => error.code === code);

shared('screens and blocks are listed and read', async (server) => {
	for (const id of ['one', 'two']) await server.session({ id, cols: 80, rows: 24 });
	await ran(server, 'one', "echo first; printf '\\e[31mred\\e[0m\\n'");
	await ran(server, 'one', 'seq 100000');
	const { client, read } = await connectReader(server);
	assert.deepEqual(client.getServerCapabilities().resources, { subscribe: true });
	const { resources } = await client.listResources();
	assert.ok([screen('one'), screen('two')].every((uri) => resources.some((one) => one.uri === uri)));
	const [first, second] = (await blocks(server, 'one')).slice(-2);
	const listed = resources.find(({ uri }) => uri === block('one', first.id));
	assert.deepEqual([listed.title, listed.mimeType], [first.command, 'text/plain']);
	const { resourceTemplates } = await client.listResourceTemplates();
	assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['ringside://session/{session}/screen', 'ringside://session/{session}/block/{block}']);
	assert.match((await read(screen('one'))).text, /\n100000\n/);
	const { text, _meta, uri } = await read(block('one', first.id));
	assert.deepEqual([text, uri], ['first\nred\n', block('one', first.id)]);
	assert.deepEqual([_meta.ringside.exitCode, _meta.ringside.state], [0, 'done']);
	const long = await read(block('one', second.id));
	assert.match(long.text, /^1\n2\n[^]*bytes omitted[^]*\n100000\n$/);
	assert.ok(long.text.length < 300_000 && long._meta.ringside.omitted > 0);
	// Invalid addresses, in every parameter.
	const strange = [screen('none'), block('one', 'b999999999'), `${screen('one')}\0`, screen('x'.repeat(5000)), 'file:///etc/passwd', ''];
	for (const one of strange) await refused(client.readResource({ uri: one }), one.includes('\0') ? -32602 : -32002);
	for (const one of strange) await refused(client.subscribeResource({ uri: one }), one.includes('\0') ? -32602 : -32002);
	for (const params of [{}, { uri: 7 }, { uri: null }, { uri: [screen('one')] }])
		await refused(client.request({ method: 'resources/read', params }, { parse: (x) => x }), -32002);
	for (const cursor of ['', 'a b', '../x', 'x'.repeat(5000)]) await refused(client.listResources({ cursor }), -32602);
	assert.deepEqual((await client.listResources({ cursor: 'two' })).resources, []);
	assert.ok(!(await client.listResources({ cursor: 'one' })).resources.some(({ uri: one }) => one.includes('/one/')));
	// The same in the revision without sessions.
	const { client: modern } = await connectModern(server, 'reader', { mode: 'auto' });
	assert.deepEqual(modern.getServerCapabilities().resources, { subscribe: true });
	assert.ok((await modern.listResources()).resources.some((one) => one.uri === screen('one')));
	assert.equal((await modern.listResourceTemplates()).resourceTemplates.length, 2);
	assert.match((await modern.readResource({ uri: screen('one') })).contents[0].text, /\n100000\n/);
	await refused(modern.readResource({ uri: screen('none') }), -32602);
});

shared('links see their own session only', async (server) => {
	for (const id of ['mine', 'other']) await server.session({ id });
	await ran(server, 'other', 'echo secret');
	const [{ id: theirs }] = await blocks(server, 'other');
	for (const role of ['viewer', 'driver']) {
		const { token, link } = await server.api.link('mine', role, 600_000);
		const { client, read, updates } = await connectReader(server, overHttp(server, token));
		const { resources } = await client.listResources();
		assert.deepEqual(resources.map(({ uri }) => uri).filter((uri) => !uri.includes('/mine/')), []);
		assert.ok((await read(screen('mine'))).text.length >= 0);
		for (const uri of [screen('other'), block('other', theirs)]) {
			await refused(client.readResource({ uri }), -32002);
			await refused(client.subscribeResource({ uri }), -32002);
		}
		await client.subscribeResource({ uri: screen('mine') });
		await ran(server, 'other', 'echo more');
		await ran(server, 'mine', 'echo more');
		await until('the update', () => updates.length > 0);
		assert.deepEqual([...new Set(updates)], [screen('mine')]);
		await server.api.call('DELETE', `/api/session/mine/links/${link.id}`);
		await assert.rejects(read(screen('mine')));
	}
});

shared('clients get changes, over HTTP and by ringside mcp', async (server) => {
	await server.session({ id: 's' });
	await server.api.call('POST', '/api/session/create', { id: 'last', argv: ['sleep', '1000'] });
	const [a, b] = [await connectReader(server), await connectReader(server, overBridge(server))];
	await a.client.subscribeResource({ uri: screen('s') });
	const busy = server.api.call('POST', '/api/session/s/exec', { command: 'echo one; read x; echo two', yieldMs: 60_000 });
	const running = await until('the running block', async () => (await blocks(server, 's')).find(({ state }) => state === 'running'));
	await until('the screen\'s update', () => a.updates.length > 0);
	await b.client.subscribeResource({ uri: block('s', running.id) });
	await server.api.input('s', 'x\r');
	await busy;
	await until('the block\'s update', () => b.updates.length > 0);
	assert.deepEqual([new Set(a.updates), new Set(b.updates)], [new Set([screen('s')]), new Set([block('s', running.id)])]);
	assert.match((await b.read(block('s', running.id))).text, /\ntwo\n$/);
	const both = [a, b];
	for (const { client } of both) await client.subscribeResource({ uri: screen('last') });
	await server.api.delete('last');
	await until('the end of the session', () => both.every(({ updates }) => updates.includes(screen('last'))));
	await refused(a.client.readResource({ uri: screen('last') }), -32002);
});

shared('without sessions clients listen to what they may see, over HTTP and by ringside mcp', async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const { token, link } = await server.api.link('s', 'viewer', 600_000);
	const clients = [];
	for (const [transport, all] of [[modernHttp(server), true], [modernBridge(server), true], [modernHttp(server, token), false]]) {
		const { client } = await connectModern(server, 'listener', { transport });
		const updates = [];
		client.setNotificationHandler('notifications/resources/updated', ({ params }) => { updates.push(params.uri); });
		const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [screen('s'), screen('other'), screen('none'), block('s', 'b999'), 'file:///etc/passwd'] });
		assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: all ? [screen('s'), screen('other')] : [screen('s')] });
		clients.push({ client, subscription, updates, all });
	}
	await ran(server, 'other', 'echo other');
	await ran(server, 's', 'echo mine');
	for (const { updates, all } of clients) {
		await until('the updates', () => updates.includes(screen('s')) && (!all || updates.includes(screen('other'))));
		assert.ok(all || !updates.includes(screen('other')));
	}
	// A cancelled subscription gets no updates; others do.
	const [{ subscription, updates: mine }, { updates: theirs }, last] = clients;
	await subscription.close();
	assert.equal(await subscription.closed, 'local');
	mine.length = theirs.length = 0;
	await ran(server, 's', 'echo more');
	await until('the update of the others', () => theirs.includes(screen('s')));
	assert.deepEqual(mine, []);
	// The end of access, and of the server, is reported.
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	assert.equal(await last.subscription.closed, 'remote');
	for (const notifications of [undefined, 7, []]) {
		const answer = await fetch(`${server.base}/mcp`, {
			method: 'POST',
			headers: { Authorization: `Bearer ${server.token}`, Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' },
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } }),
		});
		assert.deepEqual([answer.status, (await answer.json()).error.code], [400, -32602]);
	}
});

shared('lists have pages, subscriptions have limits, and clients that do not read their stream delay nothing', async (server) => {
	await server.session({ id: 's' });
	const ids = Array.from({ length: 27 }, (_, i) => `s${String(i).padStart(2, '0')}`);
	await Promise.all(ids.map((id) => server.api.call('POST', '/api/session/create', { id, argv: ['sleep', '1000'] })));
	const a = await connectReader(server);
	const found = [];
	for (let cursor; ;) {
		const { resources, nextCursor } = await a.client.listResources(cursor ? { cursor } : {});
		found.push(...resources.map(({ uri }) => uri));
		cursor = nextCursor;
		if (!cursor) break;
	}
	assert.deepEqual(found.filter((uri) => uri.endsWith('/screen')), ['s', ...ids].map(screen));
	await server.api.input('s', ':\r'.repeat(64));
	const all = await until('the blocks', async () => {
		const some = (await blocks(server, 's')).filter(({ state }) => state === 'done');
		return some.length >= 64 && some.slice(-64);
	});
	for (const { id } of all) await a.client.subscribeResource({ uri: block('s', id) });
	await refused(a.client.subscribeResource({ uri: screen('s') }), 429);
	await a.client.unsubscribeResource({ uri: block('s', all[0].id) });
	await a.client.subscribeResource({ uri: screen('s') });
	// An open stream that is not read.
	const idle = await connectReader(server);
	await idle.client.subscribeResource({ uri: screen('s') });
	const silent = await fetch(`${server.base}/mcp`, { headers: { Authorization: `Bearer ${server.token}`, 'Mcp-Session-Id': idle.transport.sessionId, Accept: 'text/event-stream' } });
	assert.equal(silent.status, 200);
	await ran(server, 's', 'seq 10000');
	await until('the updates of the reading client', () => a.updates.includes(screen('s')));
	await a.transport.terminateSession();
	await silent.body.cancel();
	assert.match((await idle.read(screen('s'))).text, /\n10000\n/);
});
