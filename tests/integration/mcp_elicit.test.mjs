// A command waits for a password: a client that can open addresses asks its user, and never gets the secret.
import assert from 'node:assert/strict';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect, connectModern, modernBridge, modernHttp, overBridge, overHttp } from './lib/mcp.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const ASKS = 'read -s -p "Password: " x; echo; echo "length ${#x}"';
/** A client: {client, transport, use, asked, ended}; answer: the reaction of its user. */
async function connectAsker(server, transport, { elicitation = { url: {} }, answer = async () => ({ action: 'accept' }) } = {}) {
	const connection = await connect(server, 'asker', { transport, capabilities: elicitation ? { elicitation } : {} });
	const asked = [], ended = [];
	if (elicitation) connection.client.setRequestHandler(ElicitRequestSchema, ({ params }) => { asked.push(params); return answer(params); });
	connection.client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => { ended.push(params.elicitationId); });
	return { ...connection, asked, ended };
}

for (const [way, transport] of [['HTTP', overHttp], ['ringside mcp', overBridge]])
	shared(`by ${way} the user is asked once per prompt, and its end is reported, also by the next server`, async (server) => {
		const a = await connectAsker(server, transport(server));
		await server.session({ id: 's' });
		for (let round = 0; round < 2; round += 1) {
			const exec = await a.use('exec', { session_id: 's', command: ASKS, yield_ms: 60_000 });
			assert.deepEqual([exec.terminal.input, exec.terminal.elicited, exec.terminal.human_url], ['password', true, undefined], exec.contentText);
			assert.match(exec.contentText, /A secret is asked for: the person has been asked to type it/);
			assert.doesNotMatch(exec.contentText, /link=/);
			await until('the request to the client', () => a.asked.length === round + 1);
			const { mode, elicitationId, url, message } = a.asked[round];
			assert.equal(mode, 'url');
			assert.match(message, /^\S+ in the terminal s asks for a secret\./);
			const again = await until('the next result', async () => {
				const read = await a.use('exec_read', { exec_id: exec.exec_id });
				return read.terminal.elicited && read;
			});
			assert.deepEqual([again.terminal.human_url, a.asked.length, a.ended.length], [undefined, round + 1, round]);
			// The user opens it, and types.
			const token = new URL(url).hash.slice('#link='.length);
			const { session } = await (await fetch(`${server.base}/api/auth/whoami`, { headers: { Authorization: `Bearer ${token}` } })).json();
			assert.equal(session ?? 's', 's');
			await server.api.input('s', 'hunter2\r');
			await until('the notification of the end', () => a.ended.length === round + 1);
			assert.equal(a.ended[round], elicitationId);
			const { output } = await a.use('exec_read', { exec_id: exec.exec_id, wait_ms: 20_000 });
			assert.match(output, /length 7/);
			// Session ids and keys encode the client's capabilities.
			if (round === 0) await server.restart();
		}
	});

shared('a client that cannot ask, or declines, gets the address in the result', async (server) => {
	await server.session({ id: 's' });
	const { exec_id: id } = await (await connectAsker(server, overHttp(server), { elicitation: null })).use('exec', { session_id: 's', command: ASKS, yield_ms: 60_000 });
	for (const elicitation of [null, {}, { form: {} }]) {
		const plain = await connectAsker(server, overHttp(server), { elicitation });
		const { terminal } = await plain.use('exec_read', { exec_id: id });
		assert.match(terminal.human_url, /^http.*#link=/);
		assert.deepEqual([terminal.elicited, plain.asked], [undefined, []]);
	}
	for (const answer of [async () => ({ action: 'decline' }), async () => ({ action: 'cancel' }), async () => { throw new Error('no browser'); }]) {
		const a = await connectAsker(server, overHttp(server), { answer });
		assert.equal((await a.use('exec_read', { exec_id: id })).terminal.elicited, true);
		await until('the request to the client', () => a.asked.length === 1);
		assert.match((await a.use('exec_read', { exec_id: id })).terminal.human_url, /^http/, 'not answered yet, or declined');
		assert.equal(a.asked.length, 1);
	}
	// The client of a driver's link gets no such address, so it is not asked.
	const { token } = await server.api.link('s', 'driver', 600_000);
	const driver = await connectAsker(server, overHttp(server, token));
	const { terminal } = await driver.use('exec_read', { exec_id: id });
	assert.deepEqual([terminal.input, terminal.human_url, terminal.elicited, driver.asked], ['password', undefined, undefined, []]);
});

shared('a client that ends while its user is asked, and answers of other clients', async (server) => {
	await server.session({ id: 's' });
	let release;
	const held = new Promise((resolve) => { release = resolve; });
	const a = await connectAsker(server, overHttp(server), { answer: async () => { await held; return { action: 'accept' }; } });
	const other = await connectAsker(server, overHttp(server));
	const { exec_id: id } = await a.use('exec', { session_id: 's', command: ASKS, yield_ms: 60_000 });
	await until('the request to the client', () => a.asked.length === 1);
	const post = async (transport, message) => (await fetch(`${server.base}/mcp`, {
		method: 'POST',
		headers: { Authorization: `Bearer ${server.token}`, 'Mcp-Session-Id': transport.sessionId, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
		body: JSON.stringify({ jsonrpc: '2.0', ...message }),
	})).status;
	const accept = { id: a.asked[0].elicitationId, result: { action: 'accept' } };
	assert.equal(await post(other.transport, accept), 202, 'the answer of another client is ignored');
	assert.equal((await a.use('exec_read', { exec_id: id })).terminal.elicited, undefined);
	for (const message of [{ id: 'x'.repeat(256), result: {} }, { id: 1, result: { action: 7 } }, { id: accept.id, result: [1] }, { id: accept.id, result: { action: 'accept\0' } }, { result: {} }])
		assert.ok([202, 400].includes(await post(a.transport, message)), JSON.stringify(message));
	assert.match((await a.use('exec_read', { exec_id: id })).terminal.human_url, /^http/);
	assert.equal(await post(a.transport, accept), 202);
	assert.equal((await a.use('exec_read', { exec_id: id })).terminal.elicited, true);
	await a.transport.terminateSession();
	release();
	assert.equal(await post(a.transport, accept), 404);
	assert.equal((await other.use('exec_read', { exec_id: id })).terminal.elicited, true, 'another client gets its own request');
	await until('the request to the other client', () => other.asked.length === 1);
	await server.api.input('s', 'x\r');
	await until('the notification of the end', () => other.ended.length === 1);
	assert.deepEqual(a.ended, []);
});

for (const [way, transport] of [['HTTP', modernHttp], ['ringside mcp', modernBridge]])
	shared(`without sessions, by ${way}, the result asks, and the next call continues the command`, async (server) => {
		await server.session({ id: 's' });
		let action = 'accept';
		const asked = [];
		const { client, use } = await connectModern(server, 'asker', { transport: transport(server), capabilities: { elicitation: { url: {} } } });
		client.setRequestHandler('elicitation/create', async ({ params }) => {
			asked.push(params);
			if (action === 'accept') await server.api.input('s', 'hunter2\r');
			return { action };
		});
		const runs = async () => (await server.api.call('GET', '/api/session/s/exec')).data.length;
		const twice = await use('exec', { session_id: 's', command: `${ASKS}; ${ASKS}`, yield_ms: 60_000 });
		assert.deepEqual([twice.state, twice.exit_code, asked.length, await runs()], ['done', 0, 2, 1], twice.contentText);
		assert.match(twice.output, /length 7[^]*length 7/);
		assert.match(asked[0].message, /^\S+ in the terminal s asks for a secret\./);
		assert.match(asked[0].url, /^http.*#link=/);
		// A client that declines has the address in the result, and is not asked again.
		action = 'decline';
		const declined = await use('exec', { session_id: 's', command: ASKS, yield_ms: 60_000 });
		assert.deepEqual([declined.state, declined.terminal.input, declined.terminal.elicited, asked.length, await runs()], ['running', 'password', undefined, 3, 2], declined.contentText);
		assert.match(declined.terminal.human_url, /^http/);
		action = 'accept';
		const read = await use('exec_read', { exec_id: declined.exec_id, wait_ms: 3000 });
		assert.deepEqual([read.exit_code, asked.length], [0, 4], read.contentText);
		// Tools that type never ask: a repeated call would type again.
		const typed = await use('send_keys', { session_id: 's', text: ASKS, submit: true, timeout_ms: 20_000 });
		assert.deepEqual([typed.terminal.input, asked.length], ['password', 4], typed.contentText);
		await server.api.input('s', 'x\r');
	});

shared('the state of a continued call is signed for its principal', async (server) => {
	await server.session({ id: 's' });
	const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
	const call = async (more, token = server.token) => (await (await fetch(`${server.base}/mcp`, {
		method: 'POST',
		headers: {
			Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json',
			'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'exec',
		},
		body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: meta, name: 'exec', arguments: { session_id: 's', command: ASKS, yield_ms: 60_000 }, ...more } }),
	})).json());
	const { result } = await call();
	assert.deepEqual([result.resultType, Object.keys(result.inputRequests), result.content], ['input_required', ['secret'], undefined]);
	const state = result.requestState;
	const { token } = await server.api.link('s', 'driver', 600_000);
	for (const forged of [`${state}0`, state.replace(/:s\//, ':t/'), state.replace(/.$/, (c) => (c === '0' ? '1' : '0')), '', '.', 7, null, 'x'.repeat(4000)])
		assert.equal((await call({ requestState: forged })).error?.code, -32602, String(forged));
	assert.equal((await call({ requestState: state }, token)).error.code, -32602, 'it belongs to another principal');
	// A missing or invalid answer counts as declined, and nothing runs twice.
	for (const inputResponses of [undefined, {}, { secret: 7 }, { secret: { action: 'cancel' } }, [], { other: { action: 'accept' } }]) {
		const { result: { resultType, structuredContent: exec } } = await call({ requestState: state, inputResponses });
		assert.deepEqual([resultType, exec.state, exec.terminal.input, /^http/.test(exec.terminal.human_url)], ['complete', 'running', 'password', true]);
	}
	const waits = call({ requestState: state, inputResponses: { secret: { action: 'accept' } } });
	await server.api.input('s', 'hunter2\r');
	const { result: { structuredContent: done } } = await waits;
	assert.match(done.output, /length 7/);
	assert.equal((await server.api.call('GET', '/api/session/s/exec')).data.length, 1);
	await server.api.delete('s');
	const { result: gone } = await call({ requestState: state });
	assert.equal(gone.isError, true, 'a removed command does not run again');
});
