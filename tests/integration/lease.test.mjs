// A leased session has one user: other clients may neither type nor do anything equivalent.
import assert from 'node:assert/strict';
import { ControlClient } from './lib/control.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const take = async (api, id, fields = {}) => (await api.call('POST', `/api/session/${id}/lease`, { ttlMs: 60_000, ...fields })).lease.id;
const size = async (server, id) => {
	const { cols, rows } = await server.api.get(id);
	return `${cols}x${rows}`;
};
const sizeIs = (server, id, expected) => until(`size ${expected}`, async () => await size(server, id) === expected);

/** Call an MCP tool; returns its result. */
async function tool(server, name, args) {
	const { json, text } = await server.api.raw('POST', '/mcp', {
		jsonrpc: '2.0', id: 1, method: 'tools/call',
		params: { name, arguments: args, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' } } },
	}, { headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name, Accept: 'application/json, text/event-stream' } });
	assert.ok(json?.result, text);
	return json.result;
}

const tools = (exec) => [
	['exec', { session_id: 's', command: 'true' }],
	['exec_signal', { exec_id: `s/${exec}` }],
	['resize', { session_id: 's', cols: 90, rows: 30 }],
];

shared('MCP and /ws respect a lease; its holder may do everything', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const lease = await take(api, 's');
	const started = await api.call('POST', '/api/session/s/exec', { command: 'sleep 100', yieldMs: 0, lease });
	await until('the start of the command', async () => (await api.call('GET', `/api/session/s/exec/${started.data.id}`)).data.state === 'running');
	const before = await size(server, 's');
	const control = await new ControlClient(server).connect();
	const over = await control.request('POST', '/api/session/s/signal', { signal: 'INT' });
	assert.deepEqual([over.status, over.body.code], [409, 'LEASED'], 'over /ws as well');
	for (const [name, args] of tools(started.data.id)) {
		const { isError, structuredContent } = await tool(server, name, args);
		assert.deepEqual([isError, structuredContent.error.code], [true, 'LEASED'], `${name} of MCP`);
	}
	assert.equal((await api.call('GET', `/api/session/s/exec/${started.data.id}`)).data.state, 'running', 'nothing has reached the command');
	assert.equal(await size(server, 's'), before);

	// The holder of the lease may do all of it.
	assert.equal((await tool(server, 'resize', { session_id: 's', cols: 90, rows: 30, lease })).structuredContent.cols, 90);
	await api.call('POST', '/api/session/s/resize', { cols: 91, rows: 31, lease });
	assert.equal(await size(server, 's'), '91x31');
	assert.equal((await tool(server, 'exec_signal', { exec_id: `s/${started.data.id}`, signal: 'WINCH', grace_ms: 10, lease })).isError, undefined);
	const cancelled = await api.call('POST', `/api/session/s/exec/${started.data.id}/cancel`, { lease });
	assert.equal(cancelled.data.state, 'done');
	await api.call('POST', '/api/session/s/signal', { signal: 'WINCH', target: 'shell', lease });
	assert.equal((await api.call('POST', '/api/session/s/exec', { command: 'echo beside', fork: true, lease })).stdout, 'beside\n');
	const { processId } = await api.call('POST', '/api/process/start', { command: 'true', sessionId: 's', lease });
	assert.ok(processId);
	await api.call('POST', '/api/session/s/size', { policy: 'fixed', cols: 92, rows: 32, lease });
	assert.equal(await size(server, 's'), '92x32');
});

shared('windows of other clients do not count during a lease', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	await api.call('POST', '/api/session/s/size', { policy: 'smallest' });
	const ada = await server.client({ sessionId: 's', name: 'Ada', cols: 90, rows: 30 }).connect();
	await sizeIs(server, 's', '90x30');
	const lease = await take(api, 's');
	const bob = await server.client({ sessionId: 's', name: 'Bob', cols: 60, rows: 20 }).connect();
	ada.control({ type: 'resize', cols: 70, rows: 25 });
	const refused = await ada.untilMessage('error', ({ code }) => code === 'LEASED');
	assert.match(refused.message, /window/);
	assert.equal(await size(server, 's'), '90x30');
	bob.control({ type: 'lease', id: lease });
	await sizeIs(server, 's', '60x20');
	bob.control({ type: 'resize', cols: 61, rows: 21 });
	await sizeIs(server, 's', '61x21');
	bob.close();
	await sizeIs(server, 's', '90x30');
	await api.call('DELETE', '/api/session/s/lease');
	await sizeIs(server, 's', '70x25');
});

shared("an interrupt by another client does not use the size of the lease's holder", async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const ada = await server.client({ sessionId: 's', name: 'Ada', cols: 90, rows: 30 }).connect();
	const bob = await server.client({ sessionId: 's', name: 'Bob', cols: 60, rows: 20 }).connect();
	await sizeIs(server, 's', '90x30');
	await take(api, 's');
	const { offset } = await api.get('s');
	bob.type('\x03');
	await server.outputMatches('s', /\^C/, offset);
	assert.equal(await size(server, 's'), '90x30');
	await api.call('DELETE', '/api/session/s/lease');
	bob.type('\x03');
	await sizeIs(server, 's', '60x20');
	ada.close();
});
