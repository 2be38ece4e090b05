// Clients of MCP that outlive the server: it is killed and started anew, and they go on as if nothing had been, or are told.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cmdline, kill } from './lib/proc.mjs';
import { binary, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const http = (server, token) => new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });

/** The published client: {client, transport, use}. */
async function connect(server, transport, name = 'lasting') {
	const client = new Client({ name, version: '1' });
	await client.connect(transport);
	server.clients.add({ terminate: () => client.close() });
	const call = (tool, args = {}) => client.callTool({ name: tool, arguments: args }, undefined, { timeout: 60_000 });
	const use = async (tool, args) => {
		const { content, structuredContent, isError } = await call(tool, args);
		assert.ok(!isError, `${tool}: ${content[0].text}`);
		return structuredContent;
	};
	return { client, transport, call, use };
}

/** The same by `ringside mcp`, in either kind of revision. */
async function bridge(server, era) {
	const started = { command: binary, args: ['mcp'], env: { ...process.env, RINGSIDE_SOCKET: path.join(server.dir, 'ringside.sock') } };
	if (era !== 'modern') return connect(server, new LegacyStdio(started));
	const client = new ModernClient({ name: 'lasting', version: '1' }, { versionNegotiation: { mode: 'auto' } });
	await client.connect(new ModernStdio(started));
	server.clients.add({ terminate: () => client.close() });
	const call = (name, args = {}) => client.callTool({ name, arguments: args }, { timeout: 60_000 });
	const use = async (tool, args) => {
		const { content, structuredContent, isError } = await call(tool, args);
		assert.ok(!isError, `${tool}: ${content[0].text}`);
		return structuredContent;
	};
	return { client, call, use };
}

/** What a session id is answered with, outside of any client. */
async function ping(server, id, { token = server.token, method = 'POST' } = {}) {
	const { status } = await fetch(`${server.base}/mcp`, {
		method,
		headers: { Authorization: `Bearer ${token}`, 'Mcp-Session-Id': id, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
		...(method === 'POST' ? { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' } : {}),
	});
	return status;
}

scenario('over HTTP a client that never initializes again goes on with the next server', async (server) => {
	const [a, b] = [await connect(server, http(server, server.token)), await connect(server, http(server, server.token))];
	const [mine] = (await a.use('exec', { command: 'mine=a' })).also;
	assert.match(mine, /^session agent-lasting-[0-9a-f]{6} is yours$/);
	await b.use('exec', { command: 'mine=b' });
	const id = a.transport.sessionId;
	await server.restart();
	assert.deepEqual(await Promise.all([a, b].map(async ({ use }) => (await use('exec', { command: 'echo "[$mine]"' })).output)), ['[a]\n', '[b]\n'],
		'each in the shell that it had');
	assert.equal(a.transport.sessionId, id);
	assert.equal((await a.client.listTools()).tools.length > 5, true);
	// The end of a command that was left running before is told with the next answer of the next server, and once.
	const before = await a.use('exec', { command: `until [ -e ${server.cwd}/go ]; do sleep 0.05; done; exit 4`, isolate: true, yield_ms: 0 });
	await server.kill();
	writeFileSync(path.join(server.cwd, 'go'), '');
	await server.start();
	await until('its end', async () => (await server.api.call('GET', `/api/session/${mine.split(' ')[1]}/exec/${before.exec_id.split('/')[1]}`)).data.state === 'done');
	assert.equal((await b.use('session_list')).also, undefined, 'others have not left it');
	assert.deepEqual((await a.use('session_list')).also, [`${before.exec_id} has ended: exit code 4`]);
	assert.equal((await a.use('session_list')).also, undefined);
	// A shell that ends while there is no server, and a session that is gone altogether.
	const name = mine.split(' ')[1];
	const left = await a.use('exec', { command: 'sleep 0.2; exit 3', yield_ms: 0 });
	assert.notEqual(left.state, 'done');
	await server.restart();
	await until('its end', async () => (await server.api.get(name)).state === 'exited');
	const again = await a.use('exec', { command: 'echo "[$mine]"' });
	assert.equal(again.output, '[]\n');
	assert.ok(again.also.includes(`the shell of ${name} had ended: this is a new one`), again.also.join());
	await server.api.delete(name);
	await server.restart();
	assert.deepEqual((await a.use('exec', { command: 'true' })).also, [`session ${name} is yours, and new: if you had one before it is gone`]);
	// A stream for what happens meanwhile is the session's, and the newest counts.
	const follow = (more = {}) => fetch(`${server.base}/mcp`, { headers: { Authorization: `Bearer ${server.token}`, 'Mcp-Session-Id': id, Accept: 'text/event-stream', ...more } });
	const [older, newer] = [await follow(), await follow()];
	assert.deepEqual([older.status, newer.status], [200, 200]);
	assert.equal(await older.text(), '', 'it has ended');
	assert.deepEqual([(await follow({ 'Mcp-Session-Id': `${id}0` })).status, (await follow({ Accept: 'application/json' })).status], [404, 405]);
	await a.transport.terminateSession();
	assert.equal(await newer.text(), '');
	assert.equal((await follow()).status, 404);
	assert.equal(await ping(server, id), 404, 'who has ended it has ended it');
	assert.equal(await ping(server, id, { method: 'DELETE' }), 404);
	assert.equal((await b.use('exec', { command: 'echo "[$mine]"' })).output, '[b]\n');
});

scenario('a session id is worth nothing to others, also with the next server', async (server) => {
	await server.session({ id: 's' });
	const { token: driver } = await server.api.link('s', 'driver', 600_000);
	const { token: other } = await server.api.link('s', 'driver', 600_000);
	const theirs = await connect(server, http(server, driver));
	const id = theirs.transport.sessionId;
	for (let round = 0; round < 2; round += 1) {
		assert.equal(await ping(server, id, { token: driver }), 200);
		for (const token of [other, server.token]) {
			assert.equal(await ping(server, id, { token }), 404);
			assert.equal(await ping(server, id, { token, method: 'DELETE' }), 404);
		}
		for (const forged of [`${id}0`, id.slice(0, -1), id.replace(/^./, (c) => (c === '0' ? '1' : '0')), '.', 'x'.repeat(400), id.split('.')[0]])
			assert.equal(await ping(server, forged, { token: driver }), 404, forged);
		assert.equal((await theirs.use('exec', { command: 'echo here' })).output, 'here\n');
		if (round === 0) await server.restart();
	}
	// The place that an id takes is its owner's: at most so many of a link, and the next ones are taken up again all the same.
	await server.restart();
	assert.equal(await ping(server, id, { token: driver, method: 'DELETE' }), 204, 'ended without having been used');
	assert.equal(await ping(server, id, { token: driver }), 404);
});

for (const era of ['modern', 'legacy'])
	scenario(`ringside mcp waits for the next server, and asks it what may be asked twice: ${era}`, { timeout: 90_000 }, async (server) => {
		const a = await bridge(server, era);
		const file = (name) => path.join(server.cwd, name);
		const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '').split('\n').length - 1;
		const [told] = (await a.use('exec', { command: `cd ${server.cwd}; mine=a` })).also;
		const name = told.split(' ')[1];
		// A command that is under way when the server goes is answered by the next one, and was run once.
		const slow = a.use('exec', { command: 'echo x >> once; sleep 1.5; echo "slow $mine"', yield_ms: 300_000 });
		await until('it runs', () => lines('once') === 1);
		await server.session({ id: 'other' });
		const typed = a.call('send_keys', { session_id: 'other', text: 'zzz', settle_ms: 10_000, timeout_ms: 60_000 });
		await server.outputMatches('other', /zzz/);
		await server.kill();
		const meanwhile = [a.use('exec', { command: 'echo "[$mine]"' }), a.use('session_list'), a.client.listTools()];
		const unknown = await typed;
		assert.equal(unknown.isError, true);
		assert.match(unknown.content[0].text, /^ANSWER_LOST: .* it is not known whether send_keys was done\nnext: look/, 'said at once, without any server');
		await server.start();
		assert.deepEqual([(await slow).output, (await slow).exit_code, lines('once')], ['slow a\n', 0, 1]);
		const [next, list, { tools }] = await Promise.all(meanwhile);
		assert.equal(next.output, '[a]\n', 'what came while there was none is done by the next one, in the same session');
		assert.deepEqual(list.sessions.map(({ session_id }) => session_id), [name, 'other']);
		assert.ok(tools.length > 5);
		// One that ends its shell is not run again in another.
		const ends = a.use('exec', { command: `cd ${server.cwd}; echo x >> ends; sleep 0.5; exit 3`, yield_ms: 300_000 });
		await until('it runs', () => lines('ends') === 1);
		await server.restart();
		assert.deepEqual([(await ends).exit_code, lines('ends')], [3, 1]);
		assert.equal((await a.use('exec', { command: 'echo "[$mine]"' })).output, '[]\n', 'and the next one has a new shell');
		// One whose session is gone with the server may have run or not: that is said, and it is not run.
		const gone = a.call('exec', { command: `cd ${server.cwd}; echo x >> gone; sleep 100`, yield_ms: 300_000 });
		await until('it runs', () => lines('gone') === 1);
		await server.kill();
		const holders = () => server.leftovers().filter((pid) => /ringside-holder/.test(cmdline(pid)));
		for (const pid of holders()) kill(pid);
		await until('their end', () => holders().length === 0);
		await server.start();
		const lost = await gone;
		assert.match(lost.content[0].text, /^ANSWER_LOST: .*may have run, or not/);
		assert.deepEqual([lost.isError, lines('gone')], [true, 1]);
	});

scenario('ringside mcp: what is cancelled while there is no server is not asked for', async (server) => {
	const child = spawn(binary, ['mcp'], { env: { ...process.env, RINGSIDE_SOCKET: path.join(server.dir, 'ringside.sock') }, stdio: ['pipe', 'pipe', 'inherit'] });
	server.clients.add({ terminate: () => child.kill('SIGKILL') });
	let text = '';
	child.stdout.setEncoding('utf8').on('data', (data) => { text += data; });
	const answers = () => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const send = (...messages) => child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
	send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw & co', version: '1' } } });
	await until('the answer', () => answers().length === 1);
	await server.kill();
	const exec = (id) => ({ id, method: 'tools/call', params: { name: 'exec', arguments: { command: `echo ${id} >> ${server.cwd}/ran` } } });
	send(exec('first'), exec('second'), { method: 'notifications/cancelled', params: { requestId: 'first' } }, ...Array.from({ length: 600 }, (_, i) => ({ id: i + 1, method: 'ping' })));
	await until('that there are too many', () => answers().some(({ error }) => /Too many/.test(error?.message)));
	await server.start();
	await until('all answers', () => answers().length === 602);
	assert.ok(!answers().some(({ id }) => id === 'first'));
	assert.match(answers().find(({ id }) => id === 'second').result.structuredContent.also[0], /^session agent-raw---co-[0-9a-f]{6} is yours/);
	assert.equal(readFileSync(path.join(server.cwd, 'ran'), 'utf8'), 'second\n');
	child.stdin.end();
	await until('its end', () => child.exitCode === 0);
});
