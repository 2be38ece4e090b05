// MCP clients that outlive the server: after kill -9 and a restart they continue, or get an error.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bridge, connect, connectModern, modernBridge, overBridge, overHttp } from './lib/mcp.mjs';
import { cmdline, kill } from './lib/proc.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** A client by `ringside mcp`, in either kind of revision. */
const bridged = (server, era) => (era === 'modern' ? connectModern(server, 'lasting', { transport: modernBridge(server), mode: 'auto' })
	: connect(server, 'lasting', { transport: overBridge(server) }));

/** The response to a request with this session id. */
async function ping(server, id, { token = server.token, method = 'POST' } = {}) {
	const { status } = await fetch(`${server.base}/mcp`, {
		method,
		headers: { Authorization: `Bearer ${token}`, 'Mcp-Session-Id': id, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
		...(method === 'POST' ? { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' } : {}),
	});
	return status;
}

shared('over HTTP a client continues with the next server without initializing again', async (server) => {
	const [a, b] = [await connect(server, 'lasting'), await connect(server, 'lasting')];
	const [mine] = (await a.use('exec', { command: 'mine=a' })).also;
	assert.match(mine, /^session agent-lasting-[0-9a-f]{6} is yours$/);
	await b.use('exec', { command: 'mine=b' });
	const id = a.transport.sessionId;
	await server.restart();
	assert.deepEqual(await Promise.all([a, b].map(async ({ use }) => (await use('exec', { command: 'echo "[$mine]"' })).output)), ['[a]\n', '[b]\n'],
		'each in the shell that it had');
	assert.equal(a.transport.sessionId, id);
	assert.equal((await a.client.listTools()).tools.length > 5, true);
	// The end of a command that was left running is reported once, with the next result of the next server.
	const before = await a.use('exec', { command: `until [ -e ${server.cwd}/go ]; do sleep 0.05; done; exit 4`, isolate: true, yield_ms: 0 });
	await server.kill();
	writeFileSync(path.join(server.cwd, 'go'), '');
	await server.start();
	await until('the end of the command', async () => (await server.api.call('GET', `/api/session/${mine.split(' ')[1]}/exec/${before.exec_id.split('/')[1]}`)).data.state === 'done');
	assert.equal((await b.use('session_list')).also, undefined, 'other clients are not told');
	assert.deepEqual((await a.use('session_list')).also, [`${before.exec_id} has ended: exit code 4`]);
	assert.equal((await a.use('session_list')).also, undefined);
	// A shell that ends while there is no server, and a deleted session.
	const name = mine.split(' ')[1];
	const left = await a.use('exec', { command: 'sleep 0.2; exit 3', yield_ms: 0 });
	assert.notEqual(left.state, 'done');
	await server.restart();
	await until('the end of the shell', async () => (await server.api.get(name)).state === 'exited');
	const again = await a.use('exec', { command: 'echo "[$mine]"' });
	assert.equal(again.output, '[]\n');
	assert.ok(again.also.includes(`the shell of ${name} had ended: this is a new one`), again.also.join());
	await server.api.delete(name);
	await server.restart();
	assert.deepEqual((await a.use('exec', { command: 'true' })).also, [`session ${name} is yours, and new: if you had one before it is gone`]);
	// A session has one stream of notifications: the newest.
	const follow = (more = {}) => fetch(`${server.base}/mcp`, { headers: { Authorization: `Bearer ${server.token}`, 'Mcp-Session-Id': id, Accept: 'text/event-stream', ...more } });
	const [older, newer] = [await follow(), await follow()];
	assert.deepEqual([older.status, newer.status], [200, 200]);
	assert.equal(await older.text(), '', 'the older stream has ended');
	assert.deepEqual([(await follow({ 'Mcp-Session-Id': `${id}0` })).status, (await follow({ Accept: 'application/json' })).status], [404, 405]);
	await a.transport.terminateSession();
	assert.equal(await newer.text(), '');
	assert.equal((await follow()).status, 404);
	assert.equal(await ping(server, id), 404, 'a deleted session stays deleted');
	assert.equal(await ping(server, id, { method: 'DELETE' }), 404);
	assert.equal((await b.use('exec', { command: 'echo "[$mine]"' })).output, '[b]\n');
});

shared('a session id is useless to other principals, also with the next server', async (server) => {
	await server.session({ id: 's' });
	const { token: driver } = await server.api.link('s', 'driver', 600_000);
	const { token: other } = await server.api.link('s', 'driver', 600_000);
	const theirs = await connect(server, 'lasting', { transport: overHttp(server, driver) });
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
	// Ids are limited per link; evicted ones can be used again.
	await server.restart();
	assert.equal(await ping(server, id, { token: driver, method: 'DELETE' }), 204, 'deleted without having been used');
	assert.equal(await ping(server, id, { token: driver }), 404);
});

for (const era of ['modern', 'legacy'])
	shared(`ringside mcp waits for the next server, and repeats requests that may be repeated: ${era}`, { timeout: 90_000 }, async (server) => {
		const a = await bridged(server, era);
		const file = (name) => path.join(server.cwd, name);
		const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '').split('\n').length - 1;
		const [notice] = (await a.use('exec', { command: `cd ${server.cwd}; mine=a` })).also;
		const name = notice.split(' ')[1];
		// A running command is answered by the next server, and has run once.
		const slow = a.use('exec', { command: 'echo x >> once; sleep 1.5; echo "slow $mine"', yield_ms: 300_000 });
		await until('the start of the command', () => lines('once') === 1);
		await server.session({ id: 'other' });
		const typed = a.call('send_keys', { session_id: 'other', text: 'zzz', settle_ms: 10_000, timeout_ms: 60_000 });
		await server.outputMatches('other', /zzz/);
		await server.kill();
		const meanwhile = [a.use('exec', { command: 'echo "[$mine]"' }), a.use('session_list'), a.client.listTools()];
		const unknown = await typed;
		assert.equal(unknown.isError, true);
		assert.match(unknown.content[0].text, /^ANSWER_LOST: .* it is not known whether send_keys was done\nnext: look/, 'the error comes at once, without a server');
		await server.start();
		assert.deepEqual([(await slow).output, (await slow).exit_code, lines('once')], ['slow a\n', 0, 1]);
		const [next, list, { tools }] = await Promise.all(meanwhile);
		assert.equal(next.output, '[a]\n', 'requests without a server run with the next one, in the same session');
		assert.deepEqual(list.sessions.map(({ session_id }) => session_id), [name, 'other']);
		assert.ok(tools.length > 5);
		// A command that ends its shell does not run again in the next one.
		const ends = a.use('exec', { command: `cd ${server.cwd}; echo x >> ends; sleep 0.5; exit 3`, yield_ms: 300_000 });
		await until('the start of the command', () => lines('ends') === 1);
		await server.restart();
		assert.deepEqual([(await ends).exit_code, lines('ends')], [3, 1]);
		assert.equal((await a.use('exec', { command: 'echo "[$mine]"' })).output, '[]\n', 'the next command has a new shell');
		// A command whose session is lost with the server may have run: the error says so, and it does not run again.
		const gone = a.call('exec', { command: `cd ${server.cwd}; echo x >> gone; sleep 100`, yield_ms: 300_000 });
		await until('the start of the command', () => lines('gone') === 1);
		await server.kill();
		const holders = () => server.leftovers().filter((pid) => /ringside-holder/.test(cmdline(pid)));
		for (const pid of holders()) kill(pid);
		await until('the end of the holders', () => holders().length === 0);
		await server.start();
		const lost = await gone;
		assert.match(lost.content[0].text, /^ANSWER_LOST: .*may have run, or not/);
		assert.deepEqual([lost.isError, lines('gone')], [true, 1]);
	});

shared('ringside mcp: a request that is cancelled while there is no server is not sent', async (server) => {
	const { command, args, env } = bridge(server);
	const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
	server.clients.add({ terminate: () => child.kill('SIGKILL') });
	let text = '';
	child.stdout.setEncoding('utf8').on('data', (data) => { text += data; });
	const answers = () => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const send = (...messages) => child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
	send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw & co', version: '1' } } });
	await until('the response', () => answers().length === 1);
	await server.kill();
	const exec = (id) => ({ id, method: 'tools/call', params: { name: 'exec', arguments: { command: `echo ${id} >> ${server.cwd}/ran` } } });
	send(exec('first'), exec('second'), { method: 'notifications/cancelled', params: { requestId: 'first' } }, ...Array.from({ length: 600 }, (_, i) => ({ id: i + 1, method: 'ping' })));
	await until('the limit', () => answers().some(({ error }) => /Too many/.test(error?.message)));
	await server.start();
	await until('all responses', () => answers().length === 602);
	assert.ok(!answers().some(({ id }) => id === 'first'));
	assert.match(answers().find(({ id }) => id === 'second').result.structuredContent.also[0], /^session agent-raw---co-[0-9a-f]{6} is yours/);
	assert.equal(readFileSync(path.join(server.cwd, 'ran'), 'utf8'), 'second\n');
	child.stdin.end();
	await until('the end of the client', () => child.exitCode === 0);
});
