// The Model Context Protocol at /mcp: its rules, over plain HTTP.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { pause, until, within } from './lib/until.mjs';

const modern = '2026-07-28';
const legacy = ['2025-11-25', '2025-06-18', '2025-03-26'];
const meta = (more = {}) => ({
	'io.modelcontextprotocol/protocolVersion': modern,
	'io.modelcontextprotocol/clientCapabilities': {},
	'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
	...more,
});

/** Send one POST (or `method`); resolves with {status, headers, text, json, events, request}. */
function post(server, message, headers = {}, { token = server.token, method = 'POST', query = '', wait = true } = {}) {
	const payload = typeof message === 'string' ? message : JSON.stringify(message);
	let outgoing;
	const answer = new Promise((resolve, reject) => {
		outgoing = http.request(`${server.base}/mcp${query}`, {
			method,
			agent: false,
			headers: {
				...(token ? { Authorization: `Bearer ${token}` } : {}),
				...(method === 'POST' ? {
					'Content-Type': 'application/json',
					'Content-Length': Buffer.byteLength(payload),
					Accept: 'application/json, text/event-stream',
				} : {}),
				...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
			},
		}, (incoming) => {
			let text = '';
			const done = () => {
				const streams = /event-stream/.test(incoming.headers['content-type'] ?? '');
				const events = streams ? text.split('\n\n').filter((block) => block.startsWith('data: '))
					.map((block) => JSON.parse(block.slice(6))) : [];
				resolve({
					status: incoming.statusCode, headers: incoming.headers, text, events, streams,
					json: streams ? events.find((each) => 'id' in each) : text ? JSON.parse(text) : undefined,
				});
			};
			incoming.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', done).on('error', reject);
		});
		outgoing.on('error', reject);
		outgoing.end(method === 'POST' ? payload : undefined);
	});
	if (!wait) {
		answer.catch(() => {});
		return { answer, abort: () => outgoing.destroy() };
	}
	return within('a response from /mcp', answer, 30_000);
}

let ids = 0;
const message = (method, params = {}, more = {}) => ({ jsonrpc: '2.0', id: (ids += 1), method, params: { ...params, _meta: meta(more) } });
const headersOf = ({ method, params }) => ({
	'MCP-Protocol-Version': modern, 'Mcp-Method': method, ...(params.name ? { 'Mcp-Name': params.name } : {}),
});

/** Send a request of the revision without sessions. */
function ask(server, method, params, { more, headers = {}, ...options } = {}) {
	const request = message(method, params, more);
	return post(server, request, { ...headersOf(request), ...headers }, options);
}

const tool = (server, name, args = {}, options) => ask(server, 'tools/call', { name, arguments: args }, options);

/** Call a tool that must succeed; returns its structured content. */
async function use(server, name, args, options) {
	const { json, text } = await tool(server, name, args, options);
	assert.ok(json?.result && !json.result.isError, `${name}: ${text}`);
	assert.equal(json.result.content[0].type, 'text');
	return json.result.structuredContent;
}

function failed(answer, code) {
	assert.equal(answer.json.result?.isError, true, answer.text);
	assert.equal(answer.json.result.structuredContent.error.code, code, answer.text);
	assert.ok(answer.json.result.content[0].text.startsWith(`${code}: `), answer.text);
}

function refused({ status, json, text }, expected, code) {
	assert.equal(status, expected, text);
	assert.equal(json.error.code, code, text);
	assert.equal(json.jsonrpc, '2.0');
	assert.equal(typeof json.error.message, 'string');
}

/** Begin a session in a revision that has them: {post, ask, close}. */
async function begin(server, version = legacy[0], options = {}) {
	const first = await post(server, { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } }, {}, options);
	assert.equal(first.status, 200, first.text);
	const session = first.headers['mcp-session-id'];
	assert.match(session, /^[\x21-\x7e]{32,}$/);
	const headers = { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': first.json.result.protocolVersion };
	const send = (body, more = {}, rest = {}) => post(server, body, { ...headers, ...more }, { ...options, ...rest });
	assert.equal((await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
	return {
		session, headers, first, post: send,
		ask: (method, params = {}, rest = {}) => send({ jsonrpc: '2.0', id: (ids += 1), method, params }, {}, rest),
	};
}

/** The session of a client that names none; its name contains the client's id, if there is one. */
const own = async (server, like = /^agent-raw$/) => (await server.api.list()).data.find((id) => like.test(id));
const running = async (server, session = 'agent-raw') =>
	(await server.api.call('GET', `/api/session/${session}/exec`)).data.find(({ state }) => state === 'running');

shared('2026-07-28: discovery, tools, results', async (server) => {
	const found = await ask(server, 'server/discover');
	assert.equal(found.status, 200, found.text);
	const { result } = found.json;
	assert.equal(result.resultType, 'complete');
	assert.ok(result.supportedVersions.includes(modern));
	assert.deepEqual(result.capabilities, { tools: {}, resources: { subscribe: true } });
	assert.equal(result._meta['io.modelcontextprotocol/serverInfo'].name, 'ringside');
	assert.ok(result.ttlMs >= 0 && result.cacheScope === 'public' && result.instructions.length > 50);
	const list = (await ask(server, 'tools/list')).json.result;
	assert.equal(list.resultType, 'complete');
	assert.ok(list.ttlMs >= 0 && list.cacheScope === 'private');
	assert.deepEqual(list.tools.map(({ name }) => name), ['session_create', 'session_list', 'session_close', 'exec',
		'exec_read', 'exec_signal', 'send_keys', 'lease', 'wait', 'snapshot', 'resize', 'history', 'read_file', 'write_file']);
	const codex = (await ask(server, 'tools/list', {}, { more: { 'io.modelcontextprotocol/clientInfo': { name: 'codex-mcp-client', version: '1' } } })).json.result;
	assert.deepEqual(codex.tools.slice(14).map(({ name }) => name), ['exec_command', 'write_stdin'], 'Codex gets its own tools');
	for (const { name, title, description, inputSchema, annotations, ...rest } of list.tools) {
		assert.ok(title && description.length < 500, name);
		assert.equal(inputSchema.type, 'object', name);
		assert.equal(typeof annotations.readOnlyHint, 'boolean', name);
		assert.deepEqual(rest, {}, name);
	}
	assert.deepEqual((await ask(server, 'tools/list')).json.result, list, 'the list is constant');
	refused(await ask(server, 'tools/list', { cursor: 'x' }), 200, -32602);
	const done = await tool(server, 'exec', { command: 'echo hi; false' });
	assert.equal(done.headers['content-type'], 'application/json');
	assert.equal(done.json.result.resultType, 'complete');
	const { cwd, ...result1 } = done.json.result.structuredContent;
	assert.deepEqual(result1, { state: 'done', exit_code: 1, output: 'hi\n', also: ['session agent-raw is shared by all clients of this name: session_create makes one of your own'] }, 'the result has no other fields');
	assert.match(done.json.result.content[0].text, /^exit code 1, .*\nhi\n$/);
	assert.equal(done.json.result.content[1].text, 'also: session agent-raw is shared by all clients of this name: session_create makes one of your own');
	assert.ok(done.json.result.content[0].text.includes(cwd));
	const all = await use(server, 'exec', { command: 'echo hi; false', verbose: true });
	assert.deepEqual([all.session_id, all.output_exact, all.pipe_status, typeof all.exec_id], ['agent-raw', true, [1], 'string']);
	const trivial = await use(server, 'exec', { command: 'true' });
	assert.ok(JSON.stringify(trivial).length / 4 <= 40, JSON.stringify(trivial));
	const exec = (await server.api.call('GET', '/api/session/agent-raw/exec')).data.at(-1);
	assert.deepEqual([exec.author, exec.label], ['owner', 'raw'], 'the author is recorded');
});

shared('2026-07-28: a client without an id gets complete results, because another client may have read the rest', async (server) => {
	assert.match((await ask(server, 'server/discover')).json.result.instructions, /share one session/);
	await use(server, 'session_create', { session_id: 's', shell_args: ['-l'] });
	assert.deepEqual((await server.api.get('s')).shellArgs, ['-l']);
	for (let round = 0; round < 2; round += 1) {
		const { cwd, output } = await use(server, 'exec', { session_id: 's', command: 'echo seen' });
		assert.deepEqual([cwd, output], [server.cwd, 'seen\n']);
		assert.match((await use(server, 'snapshot', { session_id: 's' })).text, /seen/);
	}
});

shared('2026-07-28: the form of requests', async (server) => {
	const request = message('tools/call', { name: 'session_list', arguments: {} });
	const good = headersOf(request);
	assert.equal((await post(server, request, good)).status, 200);
	refused(await post(server, '{', good), 400, -32700);
	refused(await post(server, { ...request, id: null }, good), 400, -32600);
	refused(await post(server, [request], good), 400, -32022);
	for (const name of Object.keys(good)) {
		refused(await post(server, request, { ...good, [name]: undefined }), 400, -32020);
		refused(await post(server, request, { ...good, [name]: 'other' }), 400, -32020);
		refused(await post(server, request, { ...good, [name]: 'x'.repeat(600) }), 400, -32020);
	}
	assert.equal((await post(server, request, { ...good, 'Mcp-Name': `=?base64?${btoa('session_list')}?=` })).status, 200);
	refused(await post(server, request, { ...good, 'Mcp-Name': `=?base64?${btoa('exec')}?=` }), 400, -32020);
	refused(await post(server, request, { ...good, 'Mcp-Name': '=?base64?§?=' }), 400, -32020);
	const without = (key) => ({ ...request, params: { ...request.params, _meta: { ...request.params._meta, [`io.modelcontextprotocol/${key}`]: undefined } } });
	refused(await post(server, without('protocolVersion'), good), 400, -32602);
	refused(await post(server, without('clientCapabilities'), good), 400, -32602);
	const other = structuredClone(request);
	other.params._meta['io.modelcontextprotocol/protocolVersion'] = '1900-01-01';
	const unknown = await post(server, other, { ...good, 'MCP-Protocol-Version': '1900-01-01' });
	refused(unknown, 400, -32022);
	assert.deepEqual(unknown.json.error.data, { supported: [modern, ...legacy], requested: '1900-01-01' });
	assert.equal(unknown.json.id, request.id);
	for (const method of ['nothing', 'ping', 'resources/subscribe']) refused(await ask(server, method), 404, -32601);
	refused(await tool(server, 'nothing'), 200, -32602);
	refused(await ask(server, 'tools/call', { name: 'exec', arguments: [] }), 200, -32602);
	const reply = await post(server, { jsonrpc: '2.0', method: 'notifications/anything', params: { _meta: meta() } }, { 'MCP-Protocol-Version': modern });
	assert.deepEqual([reply.status, reply.text], [202, '']);
	refused(await post(server, request, { ...good, Accept: 'text/html' }), 406, -32600);
	const only = await post(server, request, { ...good, Accept: 'text/event-stream' });
	assert.ok(only.streams && only.json.result, only.text);
	assert.equal(only.headers['x-accel-buffering'], 'no');
	refused(await ask(server, 'nothing', {}, { headers: { Accept: 'text/event-stream' } }), 404, -32601);
	assert.equal((await post(server, request, { ...good, Accept: '*/*' })).headers['content-type'], 'application/json');
	const ignored = await post(server, request, { ...good, 'Mcp-Session-Id': 'whatever', 'Last-Event-ID': '5' });
	assert.equal(ignored.status, 200);
	assert.equal(ignored.headers['mcp-session-id'], undefined);
	for (const method of ['GET', 'DELETE', 'PUT']) assert.equal((await post(server, '', {}, { method })).status, 405, method);
	const large = await post(server, JSON.stringify(request) + ' '.repeat(1 << 20), good);
	assert.equal(large.status, 413);
});

shared('access: origins, tokens, links', async (server) => {
	const evil = await ask(server, 'tools/list', {}, { headers: { Origin: 'http://evil.example' } });
	assert.equal(evil.status, 403, evil.text);
	assert.equal((await ask(server, 'tools/list', {}, { headers: { Origin: server.base } })).status, 200);
	assert.equal((await ask(server, 'tools/list', {}, { token: null })).status, 401);
	assert.equal((await ask(server, 'tools/list', {}, { token: 'x'.repeat(20) })).status, 401);
	await server.session({ id: 's' });
	const { token: viewer } = await server.api.link('s', 'viewer', 60_000);
	const { token: driver } = await server.api.link('s', 'driver', 60_000);
	const mine = await use(server, 'exec', { command: 'echo driver', verbose: true }, { token: driver });
	assert.equal(mine.session_id, 's', "the link's session");
	assert.equal((await use(server, 'exec_read', { exec_id: mine.exec_id }, { token: viewer })).output, 'driver\n');
	failed(await tool(server, 'exec_read', { exec_id: 'other/../s/exec/x' }, { token: viewer }), 'EXEC_NOT_FOUND');
	failed(await tool(server, 'snapshot', { session_id: 's/links' }, { token: viewer }), 'VALIDATION_FAILED');
	// A session of the earlier revisions belongs to the client that began it.
	const theirs = await begin(server, legacy[0], { token: driver });
	refused(await post(server, { jsonrpc: '2.0', id: 1, method: 'ping' }, theirs.headers), 404, -32600);
});

for (const version of legacy)
	shared(`${version}: sessions`, async (server) => {
		const s = await begin(server, version);
		assert.equal(s.first.json.result.protocolVersion, version);
		assert.deepEqual(s.first.json.result.capabilities, { tools: {}, logging: {}, resources: { subscribe: true } });
		assert.deepEqual((await s.ask('logging/setLevel', { level: 'info' })).json.result, {});
		assert.equal(s.first.json.result.serverInfo.name, 'ringside');
		assert.deepEqual((await s.ask('ping')).json.result, {});
		assert.equal((await s.ask('tools/list')).json.result.tools.length, 14);
		assert.equal((await s.ask('tools/list')).json.result.resultType, undefined);
		const { result } = (await s.ask('tools/call', { name: 'exec', arguments: { command: 'echo hi' } })).json;
		assert.equal(result.structuredContent.output, 'hi\n');
		assert.match(result.structuredContent.also[0], /^session agent-raw-[0-9a-f]{6} is yours$/);
		refused(await s.ask('nothing'), 200, -32601);
		refused(await s.ask('server/discover'), 200, -32601);
		refused(await s.ask('tools/call', { name: 'nothing' }), 200, -32602);
		const batch = await s.post([
			{ jsonrpc: '2.0', id: 'a', method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/x' }, { jsonrpc: '2.0', id: 'b' },
			{ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'exec', arguments: { command: 'true' } } },
		]);
		if (version === '2025-03-26') {
			assert.equal(batch.status, 200, batch.text);
			assert.deepEqual(batch.json.map(({ id, error }) => [id, error?.code]), [['a', undefined], ['b', -32600], ['c', undefined]]);
			assert.equal((await s.post([{ jsonrpc: '2.0', method: 'notifications/x' }])).status, 202);
			assert.equal((await s.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'MCP-Protocol-Version': undefined })).status, 200);
			refused(await s.post([]), 400, -32600);
		} else {
			refused(batch, 400, -32600);
		}
		const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
		refused(await s.post(ping, { 'MCP-Protocol-Version': '1900-01-01' }), 400, -32022);
		refused(await s.post(ping, { 'Mcp-Session-Id': undefined }), 400, -32600);
		refused(await s.post(ping, { 'Mcp-Session-Id': 'gone' }), 404, -32600);
		assert.equal((await s.post({ jsonrpc: '2.0', id: 5, result: {} })).status, 202);
		assert.equal((await post(server, '', s.headers, { method: 'GET' })).status, 405);
		assert.equal((await post(server, '', s.headers, { method: 'DELETE' })).status, 204);
		refused(await s.post(ping), 404, -32600);
		assert.equal((await post(server, '', s.headers, { method: 'DELETE' })).status, 404);
		const newest = await begin(server, '2099-01-01');
		assert.equal(newest.first.json.result.protocolVersion, legacy[0]);
	});

shared('messages of a program that forwards its standard input', async (server) => {
	const query = '?stdio=client-1';
	const first = await post(server, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: legacy[0] } }, {}, { query });
	assert.equal(first.headers['mcp-session-id'], undefined);
	assert.ok(first.json.result);
	assert.deepEqual((await post(server, { jsonrpc: '2.0', id: 2, method: 'ping' }, {}, { query })).json.result, {});
	assert.equal((await post(server, message('tools/list'), {}, { query })).json.result.resultType, 'complete');
	refused(await post(server, { jsonrpc: '2.0', id: 2, method: 'ping' }, {}, { query: '?stdio=a%20b' }), 400, -32600);
	for (const era of ['modern', 'legacy']) {
		const params = { name: 'exec', arguments: { command: `sleep 100 # ${era}`, yield_ms: 60_000, on_cancel: 'interrupt' }, ...(era === 'modern' ? { _meta: meta() } : {}) };
		const { answer } = post(server, { jsonrpc: '2.0', id: 'same', method: 'tools/call', params }, {}, { query, wait: false });
		const session = await until('the session', () => own(server, era === 'modern' ? /^agent-raw-[0-9a-f]{6}$/ : /^agent-[0-9a-f]{6}$/));
		await until('the start of the command', () => running(server, session));
		const cancel = (key, options) => post(server, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'same', ...(era === 'modern' ? { _meta: meta() } : {}) } }, {}, { query: key, ...options });
		assert.equal((await cancel('?stdio=another')).status, 202);
		for (const role of ['viewer', 'driver']) {
			const { token } = await server.api.link(session, role, 60_000);
			const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: legacy[0] } };
			if (era === 'legacy') assert.ok((await post(server, initialize, {}, { query, token })).json.result, 'another client may use the same key');
			assert.equal((await cancel(query, { token })).status, 202);
		}
		assert.ok(await running(server, session), "another client's ids are its own");
		assert.equal((await cancel(query)).status, 202);
		await until('the interruption of the command', async () => !(await running(server, session)));
		const { text, status } = await within('the end of the call', answer);
		assert.equal(text, '', 'a cancelled call has no response');
		assert.ok([200, 202].includes(status));
	}
});

shared('progress, streams, and the effect of cancelling', { timeout: 90_000 }, async (server) => {
	const reply = await tool(server, 'exec', { command: 'sleep 2.5' }, { more: { progressToken: 'p' } });
	assert.ok(reply.streams, reply.text);
	const progress = reply.events.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
	assert.ok(progress.length >= 1, reply.text);
	for (const [i, each] of progress.entries()) {
		assert.equal(each.progressToken, 'p');
		assert.match(each.message, /^running: sleep/);
		if (i > 0) assert.ok(each.progress > progress[i - 1].progress);
	}
	assert.equal(reply.events.at(-1).result.structuredContent.exit_code, 0);
	const quick = await tool(server, 'exec', { command: 'true' }, { more: { progressToken: 'p' } });
	assert.equal(quick.headers['content-type'], 'application/json');
	const long = await tool(server, 'exec', { command: 'sleep 5.5' });
	assert.ok(long.streams && long.json.result.structuredContent.exit_code === 0, 'a slow response becomes a stream');

	// 2026-07-28: the end of the connection cancels.
	const hang = (on_cancel, options, more) => tool(server, 'exec', { command: `sleep 100 # ${on_cancel}`, yield_ms: 60_000, on_cancel, ...more }, { wait: false, ...options });
	for (const streams of [false, true]) {
		const call = hang('interrupt', ...(streams ? [{ more: { progressToken: 1 } }, { key: 'mine' }] : []));
		await until('the start of the command', () => running(server));
		if (streams) await pause(1500);
		call.abort();
		await until('the interruption of the command', async () => !(await running(server)));
	}
	const detached = hang('detach');
	const exec = await until('the start of the command', () => running(server));
	detached.abort();
	const read = await use(server, 'exec_read', { exec_id: `agent-raw/${exec.id}`, wait_ms: 300 });
	assert.equal(read.state, 'running', 'the command goes on, and can be read later');
	await until('the running command in the list', async () =>
		(await use(server, 'exec_read', { exec_id: `agent-raw/${exec.id}` })).terminal.foreground?.name === 'sleep');
	const ended = await use(server, 'exec_signal', { exec_id: `agent-raw/${exec.id}` });
	assert.deepEqual([ended.state, ended.exit_code, ended.signal], ['done', 130, 'INT']);

	// Earlier revisions: a notification cancels, the end of the connection does not.
	const s = await begin(server);
	const params = { name: 'exec', arguments: { command: 'sleep 100', yield_ms: 60_000, on_cancel: 'interrupt' } };
	const gone = s.post({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params }, {}, { wait: false });
	const session = await until('the session', () => own(server, /^agent-raw-[0-9a-f]{6}$/));
	const kept = await until('the start of the command', () => running(server, session));
	gone.abort();
	assert.equal((await use(server, 'exec_read', { exec_id: `${session}/${kept.id}`, wait_ms: 500 })).state, 'running');
	const over = await use(server, 'exec_signal', { exec_id: `${session}/${kept.id}` });
	assert.deepEqual([over.state, over.exit_code, over.signal], ['done', 130, 'INT'], JSON.stringify(over));
	const { answer } = s.post({ jsonrpc: '2.0', id: 'told', method: 'tools/call', params }, {}, { wait: false });
	await until('the start of the command', () => running(server, session));
	const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'told', reason: 'enough' } };
	await (await begin(server)).post(cancel);
	assert.ok(await running(server, session), 'request ids belong to their session');
	await s.post(cancel);
	await until('the interruption of the command', async () => !(await running(server, session)));
	assert.equal((await within('the end of the call', answer)).text, '');
});

shared('commands: output, cursors, limits, two sessions', async (server) => {
	const part = await use(server, 'exec', { command: 'for i in 1 2 3; do echo part $i; sleep 0.4; done', yield_ms: 200 });
	assert.equal(part.state, 'running');
	assert.match(part.output, /^part 1\n/);
	let { cursor, output } = part;
	for (let state = 'running'; state !== 'done' || output.length < 21;) {
		const next = await use(server, 'exec_read', { exec_id: part.exec_id, cursor, wait_ms: 5000 });
		output += next.output;
		({ cursor, state } = next);
	}
	assert.equal(output, 'part 1\npart 2\npart 3\n', 'the pieces are the complete output');
	assert.equal((await use(server, 'exec_read', { exec_id: part.exec_id })).output, output);

	const many = await use(server, 'exec', { command: 'seq 20000', max_output_tokens: 100 });
	assert.equal(typeof many.exec_id, 'string', 'omitted output can be read');
	assert.ok(many.truncated && many.omitted_bytes > 100_000 && many.output.length < 600);
	assert.match(many.output, /^1\n2\n3\n[^]*… \d+ bytes omitted …[^]*20000\n$/);
	let whole = '';
	for (let at = 0, end = false; !end;) {
		const page = await use(server, 'exec_read', { exec_id: many.exec_id, cursor: at, max_output_tokens: 5000 });
		assert.ok(page.output.length <= 20_000);
		whole += page.output;
		at = page.cursor;
		end = !page.truncated;
	}
	assert.equal(whole, Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''), 'the pages are the complete output');

	const both = await use(server, 'exec', { command: 'echo out; echo err >&2', streams: 'pipes' });
	assert.deepEqual([both.stdout, both.stderr, both.output], ['out\n', 'err\n', undefined]);
	assert.equal((await use(server, 'exec', { command: 'cat; pwd', stdin: 'in', cwd: '/usr', isolate: true })).output, 'in/usr\n');
	assert.equal((await use(server, 'exec', { command: 'sleep 100', timeout_ms: 300 })).timed_out, true);

	const busy = await use(server, 'exec', { command: 'sleep 100', yield_ms: 100 });
	await until('the start of the command', async () => (await use(server, 'exec_read', { exec_id: busy.exec_id })).state === 'running'); // it is queued behind the killed command
	const refusal = await tool(server, 'exec', { command: 'true', queue: false });
	failed(refusal, 'RESOURCE_BUSY');
	assert.match(refusal.json.result.structuredContent.error.next, /exec_read.*exec_signal/);
	assert.ok(refusal.json.result.content[0].text.includes('\nnext: wait with exec_read'));
	assert.equal(refusal.json.result.structuredContent.error.context.exec_id, busy.exec_id);
	const waits = await use(server, 'exec', { command: 'echo turn', yield_ms: 50 });
	assert.deepEqual([waits.state, waits.exit_code, waits.output], ['queued', undefined, '']);
	const nothing = await use(server, 'exec_read', { exec_id: waits.exec_id, cursor: 0 });
	assert.deepEqual([nothing.state, nothing.output], ['queued', ''], 'a queued command has no output');
	const two = await use(server, 'session_create', { session_id: 'two', cwd: '/usr', cols: 100, rows: 30 });
	assert.deepEqual([two.session_id, two.cols, two.rows], ['two', 100, 30]);
	assert.equal((await use(server, 'exec', { session_id: 'two', command: 'pwd', queue: true })).output, '/usr\n', 'another session is free');
	const page = await use(server, 'session_list', { limit: 1 });
	assert.deepEqual([page.sessions.map((each) => each.session_id), page.next_cursor], [['agent-raw'], 'agent-raw']);
	const rest = await use(server, 'session_list', { limit: 1, cursor: page.next_cursor });
	assert.deepEqual([rest.sessions.map((each) => each.session_id), rest.next_cursor], [['two'], undefined]);
	assert.equal((await use(server, 'exec_signal', { exec_id: busy.exec_id })).state, 'done');
	const turn = await use(server, 'exec_read', { exec_id: waits.exec_id, cursor: nothing.cursor, wait_ms: 10_000 });
	assert.deepEqual([turn.state, turn.output], ['done', 'turn\n']);
	assert.deepEqual((({ cols, rows }) => [cols, rows])(await use(server, 'resize', { session_id: 'two', cols: 120, rows: 40 })), [120, 40]);
	failed(await tool(server, 'session_create', { session_id: 'two' }), 'SESSION_ALREADY_EXISTS');
	await use(server, 'session_close', { session_id: 'two' });
	failed(await tool(server, 'session_close', { session_id: 'two' }), 'SESSION_NOT_FOUND');
	failed(await tool(server, 'exec', { session_id: 'two', command: 'true' }), 'SESSION_NOT_FOUND');
	failed(await tool(server, 'exec_read', { exec_id: 'agent-raw/nothing' }), 'EXEC_NOT_FOUND');
	failed(await tool(server, 'exec', { cmd: 'true' }), 'VALIDATION_FAILED');
	failed(await tool(server, 'exec', { command: 'a\0b' }), 'INVALID_COMMAND');
	failed(await tool(server, 'session_create', { session_id: 'a\0b' }), 'VALIDATION_FAILED');
});

shared('exec_command and write_stdin', async (server) => {
	const sessions = async () => (await server.api.list()).data.filter((each) => each.startsWith('exec-'));
	const done = await tool(server, 'exec_command', { cmd: 'echo $TERM; tty >/dev/null && echo tty; pwd; exit 3', workdir: '/usr' });
	const { chunk_id: chunk, ...rest } = done.json.result.structuredContent;
	assert.deepEqual({ ...rest, wall_time_seconds: 0 }, { exit_code: 3, output: 'dumb\ntty\n/usr\n', original_token_count: 4, wall_time_seconds: 0 });
	assert.match(chunk, /^[0-9a-f]{6}$/);
	assert.match(done.json.result.content[0].text, /^Chunk ID: .*\nWall time: \d+\.\d+ seconds\nProcess exited with code 3\nOriginal token count: 4\nOutput:\ndumb\n/);
	await until('the end of the terminal', async () => (await sessions()).length === 0);
	const repl = await use(server, 'exec_command', { cmd: 'python3 -q', tty: true, yield_time_ms: 500 });
	assert.equal(typeof repl.session_id, 'number');
	assert.equal(repl.exit_code, undefined);
	let seen = repl.output;
	const write = async (chars, fields = {}) => {
		const chunk = await use(server, 'write_stdin', { session_id: repl.session_id, chars, ...fields });
		seen += chunk.output;
		return chunk;
	};
	await until('the prompt', async () => seen.includes('>>>') || (await write('', { yield_time_ms: 1000 }), false));
	await write('x = 6 * 7\n');
	await write('print("x is", x)\n');
	await until('the output', async () => seen.includes('x is 42') || (await write(''), false));
	assert.equal(seen.match(/x is 42/g).length, 1, 'output is returned once');
	const end = await write('exit(5)\n', { yield_time_ms: 10_000 });
	assert.deepEqual([end.exit_code, end.session_id], [5, undefined]);
	failed(await tool(server, 'write_stdin', { session_id: repl.session_id, chars: 'x' }), 'SESSION_NOT_FOUND');
	const large = await use(server, 'exec_command', { cmd: 'seq 30000', max_output_tokens: 50 });
	assert.ok(large.original_token_count > 40_000 && large.output.length < 300, JSON.stringify(large).slice(0, 500));
	assert.equal((await use(server, 'exec_command', { cmd: "echo \"it's $0\"", shell: '/bin/sh' })).output, "it's /bin/sh\n");
	failed(await tool(server, 'exec_command', { cmd: 'true', workdir: '/nowhere' }), 'VALIDATION_FAILED');
	// A cancelled call leaves no unknown terminal.
	const call = tool(server, 'exec_command', { cmd: 'sleep 100', yield_time_ms: 60_000 }, { wait: false });
	await until('the terminal', async () => (await sessions()).length === 1);
	await until('the start of the command', async () => running(server, (await sessions())[0]).catch(() => undefined));
	call.abort();
	await until('the end of the terminal', async () => (await sessions()).length === 0);
});

shared('the end of the server cancels nothing', async (server) => {
	for (const end of ['SIGTERM', 'SIGKILL']) {
		const call = tool(server, 'exec', { command: `sleep 100 # ${end}`, yield_ms: 60_000, on_cancel: 'interrupt', queue: true }, { wait: false });
		const { id } = await until('the start of the command', () => running(server).catch(() => undefined));
		await server.kill(end);
		await assert.rejects(call.answer);
		await server.start();
		const read = await use(server, 'exec_read', { exec_id: `agent-raw/${id}` });
		assert.equal(read.state, 'running', end);
		assert.equal((await use(server, 'exec_signal', { exec_id: `agent-raw/${id}` })).state, 'done');
	}
	// A running exec_command can be continued, from its first byte.
	const { session_id: session, output } = await use(server, 'exec_command', { cmd: 'echo first; read x; echo second $x', yield_time_ms: 500 });
	assert.equal(output, 'first\n');
	await server.restart();
	const { exit_code: code, output: all } = await use(server, 'write_stdin', { session_id: session, chars: 'word\n', yield_time_ms: 10_000 });
	assert.deepEqual([code, all], [0, 'first\nword\nsecond word\n']);
});

shared('limits', async (server) => {
	await server.session({ id: 's' });
	const { token } = await server.api.link('s', 'driver', 60_000);
	const { exec_id: exec } = await use(server, 'exec', { command: 'sleep 100', yield_ms: 100, queue: true }, { token });
	const calls = Array.from({ length: 64 }, () => tool(server, 'exec_read', { exec_id: exec, wait_ms: 60_000 }, { token, wait: false }));
	const refusal = await until('the limit', async () => {
		const answer = await tool(server, 'exec_read', { exec_id: exec }, { token });
		return answer.status === 429 ? answer : undefined;
	});
	refused(refusal, 429, 429);
	assert.deepEqual([refusal.json.error.data, refusal.headers['retry-after']], [{ code: 'QUOTA_REACHED', kind: 'mcp_calls' }, '1']);
	assert.equal((await use(server, 'exec_read', { exec_id: exec })).state, 'running', 'other principals are served');
	for (const { abort } of calls) abort();
	await until('a free slot', async () => (await tool(server, 'exec_read', { exec_id: exec }, { token })).status === 200);
	const { text } = await server.api.raw('GET', '/metrics');
	assert.match(text, /ringside_mcp_calls(_total)? \d{2}/);
});

shared('files: ranges of large files, and conflicting writes', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const { hash } = await use(server, 'write_file', { session_id: 's', path: 'one', content: 'first', expected_hash: '' });
	failed(await tool(server, 'write_file', { session_id: 's', path: 'one', content: 'x', expected_hash: '' }), 'PRECONDITION_FAILED');
	failed(await tool(server, 'write_file', { session_id: 's', path: 'none', content: 'x', expected_hash: hash }), 'PRECONDITION_FAILED');
	// Twenty clients have read the same file: one may write it.
	const writes = await Promise.all(Array.from({ length: 20 }, (_, i) => tool(server, 'write_file', { session_id: 's', path: 'one', content: `by ${i}`, expected_hash: hash })));
	const won = writes.filter(({ json }) => !json.result.isError);
	assert.equal(won.length, 1, 'one write succeeds');
	for (const each of writes) if (each !== won[0]) failed(each, 'PRECONDITION_FAILED');
	assert.equal((await use(server, 'read_file', { session_id: 's', path: 'one' })).hash, won[0].json.result.structuredContent.hash);
	// A line that is longer than one result, and the next line.
	writeFileSync(path.join(server.cwd, 'long'), `a\n${'x'.repeat(200_000)}\nb`);
	const a = await use(server, 'read_file', { session_id: 's', path: 'long' });
	assert.deepEqual([a.content, a.next_offset], ['a\n', 2]);
	const x = await use(server, 'read_file', { session_id: 's', path: 'long', offset: 2 });
	assert.deepEqual([x.content.length, x.line_cut, x.next_offset], [65536, true, 3]);
	const b = await use(server, 'read_file', { session_id: 's', path: 'long', offset: 3 });
	assert.deepEqual([b.content, b.next_offset, b.line_cut], ['b', undefined, undefined]);
	assert.equal((await use(server, 'read_file', { session_id: 's', path: 'long', offset: 99 })).content, '');
	// Invisible characters are escaped in the text; the structured content is the exact file, so that it can be written back.
	writeFileSync(path.join(server.cwd, 'marks'), 'a\u202eb\n');
	const { content: [{ text: shown }], structuredContent: { content: exact } } = (await tool(server, 'read_file', { session_id: 's', path: 'marks' })).json.result;
	assert.equal(exact, 'a\u202eb\n');
	assert.match(shown, /^a\\u\{202e\}b\n\n?\[\\u\{\.\.\.\} stands for/i);
	failed(await tool(server, 'read_file', { session_id: 's', path: 'nothing' }), 'FILE_NOT_FOUND');
	failed(await tool(server, 'read_file', { session_id: 's', path: '.' }), 'FILE_NOT_FOUND');
	failed(await tool(server, 'write_file', { session_id: 's', path: 'a\0b', content: 'x' }), 'VALIDATION_FAILED');
	failed(await tool(server, 'read_file', { session_id: 's', path: 'one', offset: 0 }), 'VALIDATION_FAILED');
});
