// When MCP results come, and what they report: served ports, awaited input, commands that have ended, new shells.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect } from './lib/mcp.mjs';
import { freePort } from './lib/port.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const FOREVER = 300_000; // a test that waits this long has failed

shared('a wait for a port', async (server) => {
	await server.session({ id: 's' });
	const a = await connect(server, 'porter');
	const port = await freePort();
	const waiting = a.use('wait', { session_id: 's', until: [{ type: 'port', port }, { type: 'exit' }], timeout_ms: 60_000 });
	const program = `import socket,time; s=socket.socket(); s.bind(('127.0.0.1',${port})); s.listen(); print('up'); time.sleep(1000)`;
	const serving = await a.use('exec', { session_id: 's', command: `python3 -uc "${program}"`, yield_ms: 0 });
	const met = await waiting;
	assert.deepEqual([met.type, met.fired], ['port', 0], met.contentText);
	assert.match((await a.use('snapshot', { session_id: 's' })).contentText, /up\n/, 'output during the wait counts as unread');
	await a.use('exec_signal', { exec_id: serving.exec_id });
});

shared('a result comes when input is certainly awaited', async (server) => {
	await server.session({ id: 's' });
	const a = await connect(server, 'news');
	const s = { session_id: 's' };
	const line = await a.use('exec', { ...s, command: 'read -p "name? " x; echo "hello $x"', yield_ms: FOREVER });
	assert.deepEqual([line.state, line.terminal.input, line.output], ['running', 'line', 'name? '], line.contentText);
	assert.ok(!('pid' in line.terminal) && !('human_url' in line.terminal), line.contentText);
	// A client that has read that waits for changes.
	const later = await a.use('exec_read', { exec_id: line.exec_id, wait_ms: 700 });
	assert.equal(later.state, 'running');
	const reading = a.use('exec_read', { exec_id: line.exec_id, wait_ms: FOREVER });
	const { output } = await a.use('send_keys', { ...s, text: 'you', keys: ['Enter'] });
	assert.match(output, /^you\nhello you\n/);
	const typo = await a.fail('send_keys', { ...s, keys: ['Entr'] });
	assert.match(typo.message, /"Entr" is no key; nearest: Enter/);
	assert.deepEqual([(await reading).state, (await reading).exit_code], ['done', 0]);
	const secret = await a.use('exec', { ...s, command: 'read -s -p "Password: " x; echo; read -p "again? " y', yield_ms: FOREVER });
	assert.equal(secret.terminal.input, 'password', secret.contentText);
	assert.match(secret.terminal.human_url, /^http/);
	assert.match(secret.contentText, /have a person type it/);
	const next = a.use('exec_read', { exec_id: secret.exec_id, cursor: secret.cursor, wait_ms: FOREVER });
	await server.api.input('s', 'hunter2\r');
	const again = await next;
	assert.deepEqual([again.terminal.input, again.state], ['line', 'running'], again.contentText);
	assert.equal(again.output.trim(), 'again?');
	await a.use('send_keys', { ...s, keys: ['hello', 'ctrl+u', 'Ctrl-C'] });
	assert.equal((await a.use('exec_read', { exec_id: secret.exec_id, wait_ms: FOREVER })).exit_code, 130);
	// A program that polls its terminal while it works does not count as waiting.
	const busy = await a.use('exec', { ...s, command: 'python3 -c "import select,sys; print(1, flush=True); select.select([sys.stdin], [], [], 60)"', yield_ms: 2500 });
	assert.deepEqual([busy.state, busy.output], ['running', '1\n'], busy.contentText);
	await a.use('exec_signal', { exec_id: busy.exec_id });
	const { session_id: number, exit_code: code } = await a.use('exec_command', { cmd: 'read -p "codex? " x; exit 3', yield_time_ms: FOREVER });
	assert.equal(code, undefined);
	assert.equal((await a.use('write_stdin', { session_id: number, chars: 'x\n', yield_time_ms: FOREVER })).exit_code, 3);
});

shared('the client that left a command running gets its end with the next result', async (server) => {
	const [a, b] = [await connect(server, 'news'), await connect(server, 'other')];
	const messages = [], others = [];
	a.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => messages.push(params.data));
	b.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => others.push(params.data));
	const left = await a.use('exec', { command: 'sleep 0.6; exit 3', yield_ms: 0, isolate: true });
	assert.equal(left.state === 'done', false);
	const [mine] = left.also;
	assert.match(mine, /^session agent-news-[0-9a-f]{6} is yours$/);
	await until('the end of the command', async () => {
		const { data } = await server.api.call('GET', `/api/session/${left.exec_id.split('/')[0]}/exec/${left.exec_id.split('/')[1]}`);
		return data.state === 'done';
	});
	await until('the notification', () => messages.length === 1);
	assert.equal((await b.use('session_list')).also, undefined, 'other clients are not told');
	assert.deepEqual(others, []);
	const listed = await a.use('session_list');
	assert.deepEqual(listed.also, [`${left.exec_id} has ended: exit code 3`]);
	assert.match(listed.contentText, /\nalso: .* has ended: exit code 3$/);
	assert.equal((await a.use('session_list')).also, undefined, 'once');
	assert.ok(messages.includes(`${left.exec_id} has ended: exit code 3`), 'it comes at once on an open stream');
	const read = await a.use('exec', { command: 'sleep 0.5; echo read', yield_ms: 0 });
	assert.equal((await a.use('exec_read', { exec_id: read.exec_id, wait_ms: 20_000 })).exit_code, 0);
	assert.equal((await a.use('session_list')).also, undefined, 'a result that was read is not reported');
	const waited = await a.use('exec', { command: 'sleep 0.3', yield_ms: 0 });
	assert.match((await a.use('wait', { until: [{ type: 'exec', exec_id: waited.exec_id }] })).also[0], /exit code 0$/);
	const failing = await a.use('exec', { command: 'sleep 0.3', yield_ms: 0 });
	await b.use('exec_read', { exec_id: failing.exec_id, wait_ms: 20_000 });
	assert.match((await a.client.callTool({ name: 'exec_read', arguments: { exec_id: 'x/y' } })).content[1].text, /has ended: exit code 0/, 'failed calls report it too');
});

shared('a command that was not run is a failure', async (server) => {
	await server.session({ id: 's' });
	const a = await connect(server, 'news'), gate = path.join(server.cwd, 'gate');
	const running = a.use('exec', { session_id: 's', command: `until [ -e '${gate}' ]; do sleep 0.05; done; exit 3`, yield_ms: FOREVER });
	await until('the start of the command', async () => (await server.api.call('GET', '/api/session/s/exec')).data[0]?.state === 'running');
	const queued = a.client.callTool({ name: 'exec', arguments: { session_id: 's', command: 'echo no', yield_ms: FOREVER } }, undefined, { timeout: FOREVER });
	await until('the queued command', async () => (await server.api.call('GET', '/api/session/s/exec')).data[1]?.state === 'queued');
	writeFileSync(gate, '');
	assert.equal((await running).exit_code, 3);
	const { content, structuredContent: never, isError } = await queued;
	assert.deepEqual([isError, never.state, never.ended_by, never.exit_code], [true, 'done', 'not_started', undefined], content[0].text);
	assert.match(never.next, /^it has not run: exec again, in another session \(session_create\)/);
	assert.match(content[0].text, /^not run to its end: not_started.*\nnext: it has not run/);
});

shared("a client's own session, and its new shell", async (server) => {
	const [a, b] = [await connect(server, 'news'), await connect(server, 'news')];
	await a.use('exec', { command: 'mine=a' });
	assert.equal((await b.use('exec', { command: 'echo "[$mine]"' })).output, '[]\n', 'two clients of one program have two sessions');
	assert.equal((await a.use('exec', { command: 'echo "[$mine]"' })).output, '[a]\n');
	const end = await a.use('exec', { command: 'exit 3' });
	assert.deepEqual([end.state, end.exit_code], ['done', 3]);
	assert.match((await a.use('snapshot', { whole: true })).text, /exit/, 'a snapshot shows the old screen');
	const fresh = await a.use('exec', { command: 'echo "[$mine]"' });
	assert.equal(fresh.output, '[]\n');
	assert.match(fresh.also[0], /^the shell of agent-news-[0-9a-f]{6} had ended: this is a new one$/);
	// `wait` starts where the last result ended, also in the new shell.
	const begun = await a.use('exec', { command: 'echo ready to serve; sleep 60', yield_ms: 1000 });
	await a.use('exec_signal', { exec_id: begun.exec_id });
	const server_ = await a.use('exec', { command: 'sleep 0.4; echo listening now; sleep 60', yield_ms: 0 });
	await until('the output', async () => /listening/.test((await b.use('exec_read', { exec_id: server_.exec_id })).output));
	const seen = await a.use('wait', { until: [{ type: 'match', pattern: 'listening' }], timeout_ms: 20_000 });
	assert.equal(seen.type, 'match', 'earlier output counts');
	await a.use('exec_signal', { exec_id: server_.exec_id });
	await server.session({ id: 'named' });
	await a.use('exec', { session_id: 'named', command: 'exit 0' });
	const refused = await a.fail('exec', { session_id: 'named', command: 'true' });
	assert.equal(refused.code, 'SESSION_TERMINATED');
	assert.match(refused.next, /session_create/);
	assert.match(refused.contentText, /\nnext: /);
	const both = await Promise.all([1, 2, 3, 4].map((i) => a.use('exec', { command: `sleep 0.1; echo ${i}` })));
	assert.deepEqual(both.map(({ output }) => output), ['1\n', '2\n', '3\n', '4\n'], 'concurrent calls are queued');
});
