// Agents at work through the Model Context Protocol, with its published clients, over HTTP and over `ringside mcp`.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { bridge, modernHttp, overBridge } from './lib/mcp.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const running = async (server, session) =>
	(await server.api.call('GET', `/api/session/${session}/exec`)).data.find(({ state }) => state === 'running');

/**
 * Clients with their transports; each calls tools and checks results against their schemas. mcp_elicit.test.mjs has each client
 * over each transport.
 */
const clients = {
	'2026-07-28 over HTTP': (server) => [new ModernClient({ name: 'sdk', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), modernHttp(server)],
	'2025-11-25 over stdio': (server) => [new LegacyClient({ name: 'sdk', version: '1' }), overBridge(server)],
};

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

for (const [name, make] of Object.entries(clients))
	shared(`an agent's work: ${name}`, { timeout: 90_000 }, async (server) => {
		const [client, transport] = make(server);
		await client.connect(transport);
		const call = async (name, args = {}) => {
			const result = await client.callTool({ name, arguments: args });
			assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${result.content[0].text}`);
			return { ...result.structuredContent, contentText: result.content[0].text };
		};
		if (client instanceof ModernClient) assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
		const { tools } = await client.listTools();
		assert.equal(tools.length, 14);
		const cwd = server.cwd;
		await call('session_create', { session_id: 'work', cwd, cols: 80, rows: 24 });
		const work = { session_id: 'work' };
		// Over HTTP the server cannot tell clients of 2026-07-28 apart, so it does not track what they have read.
		const tracksReads = name !== '2026-07-28 over HTTP';
		const screen = (what, fits) => until(what, async () => {
			const shown = await call('snapshot', { ...work, whole: true });
			return fits(shown.text, shown) ? shown : undefined;
		});

		// files: read, changed, and not overwritten after a change by another program
		const written = Array.from({ length: 5000 }, (_, i) => `line ${i + 1} ü`);
		const first = await call('write_file', { ...work, path: 'dir/notes.txt', content: `${written.join('\n')}\n`, expected_hash: '' });
		assert.equal(first.size, readFileSync(path.join(cwd, 'dir/notes.txt')).length);
		const page = await call('read_file', { ...work, path: 'dir/notes.txt' });
		assert.deepEqual([page.content, page.next_offset, page.hash, page.size], [`${written.slice(0, 2000).join('\n')}\n`, 2001, first.hash, first.size]);
		assert.ok(page.contentText.endsWith('[there is more: offset 2001]'));
		const last = await call('read_file', { ...work, path: 'dir/notes.txt', offset: 4999, limit: 10 });
		assert.deepEqual([last.content, last.next_offset], ['line 4999 ü\nline 5000 ü\n', undefined]);
		const second = await call('write_file', { ...work, path: path.join(cwd, 'dir/notes.txt'), content: 'mine', expected_hash: first.hash });
		const lost = await client.callTool({ name: 'write_file', arguments: { ...work, path: 'dir/notes.txt', content: 'theirs', expected_hash: first.hash } });
		assert.deepEqual([lost.isError, lost.structuredContent.error.code], [true, 'PRECONDITION_FAILED']);
		assert.equal((await call('read_file', { ...work, path: 'dir/notes.txt' })).hash, second.hash);
		writeFileSync(path.join(cwd, 'picture'), Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0', 'latin1'));
		const picture = await call('read_file', { ...work, path: 'picture' });
		assert.deepEqual([picture.binary, picture.content, picture.mime_type], [true, '', 'image/png']);
		assert.equal(picture.contentText, '[image/png, 18 bytes: not text, and not shown]');

		if (has('vi')) {
			// edit a file in an editor
			const verses = Array.from({ length: 12 }, (_, i) => `verse ${i + 1} of a long poem\n`).join(''); // longer than the change
			writeFileSync(path.join(cwd, 'poem.txt'), `${verses}violets are green\n`);
			await call('exec', { ...work, command: 'vi -u NONE poem.txt', yield_ms: 500, queue: true });
			const opened = await screen('the editor', (text) => text.includes('violets are green'));
			assert.ok(opened.cursor.row >= 1, opened.contentText);
			await call('send_keys', { ...work, keys: ['G', '$', 'b'], text: '' });
			await call('send_keys', { ...work, text: 'cwblue' });
			const typed = await call('send_keys', { ...work, keys: 'Escape' });
			if (!tracksReads) assert.match(typed.text, /^verse 1 of a long poem\n[^]*\nviolets are/);
			else assert.ok(typed.changed.some(({ row, text }) => row === typed.cursor.row && text.includes('violets are')), 'changed rows of a screen that it has read');
			assert.match((await call('snapshot', work)).text, /^verse 1 of a long poem\n[^]*\nviolets are/, 'a snapshot shows a full-screen program completely');
			await screen('the other word', (text) => text.includes('violets are blue'));
			await call('send_keys', { ...work, text: ':wq', submit: true });
			await call('wait', { ...work, until: [{ type: 'prompt' }], timeout_ms: 10_000 });
			assert.equal(readFileSync(path.join(cwd, 'poem.txt'), 'utf8'), `${verses}violets are blue\n`);
		}

		// a REPL
		await call('wait', { ...work, until: [{ type: 'prompt' }], timeout_ms: 10_000 });
		const repl = await call('exec', { ...work, command: 'python3 -q', yield_ms: 600_000 });
		assert.match(repl.output, />>>/, 'the result comes when input is awaited');
		assert.deepEqual([repl.state, repl.terminal.status], ['running', 'waiting_input'], repl.contentText);
		const asked = await call('send_keys', { ...work, text: 'print(6 * 7)', submit: true, timeout_ms: 20_000 });
		assert.match(asked.output, /print\(6 \* 7\)\n42\n>>> $/, 'only new output');
		assert.ok(asked.terminal.foreground.name.startsWith('python3'), asked.contentText);
		assert.ok(await screen('the output', (text) => /^42$/m.test(text)));
		await call('send_keys', { ...work, keys: ['C-d'] });
		assert.equal((await call('exec_read', { exec_id: repl.exec_id, wait_ms: 10_000 })).exit_code, 0);

		// a command that hangs
		const hung = await call('exec', { ...work, command: 'cat', yield_ms: 300 });
		assert.equal(hung.state, 'running');
		const waits = await call('wait', { ...work, until: [{ type: 'input' }, { type: 'exec', exec_id: hung.exec_id }] });
		assert.deepEqual([waits.fired, waits.terminal.status, waits.terminal.foreground.name], [0, 'waiting_input', 'cat'], waits.contentText);
		await call('send_keys', { ...work, keys: ['C-c'], snapshot: false });
		assert.equal((await call('exec_read', { exec_id: hung.exec_id, wait_ms: 10_000 })).exit_code, 130);

		// the history
		const { blocks } = await call('history', work);
		const commands = blocks.map(({ command }) => command);
		assert.ok(commands.includes('python3 -q') && commands.includes('cat'), JSON.stringify(blocks));
		await call('exec', { ...work, command: 'echo needle in a haystack' });
		const { blocks: [newest], next } = await call('history', { ...work, limit: 1 });
		assert.equal((await call('history', { ...work, block_id: newest.id })).output, 'needle in a haystack\n');
		assert.ok((await call('history', { ...work, search: 'needle' })).matches.length > 0);
		const filtered = (await call('history', { ...work, exit_code: 130, author: 'owner', label: 'sdk', state: 'done' })).blocks;
		assert.deepEqual(filtered.map(({ command }) => command), ['cat']);
		const older = await call('history', { ...work, limit: 1, before: next });
		assert.deepEqual(older.blocks.map(({ command }) => command), ['cat']);
		assert.match(older.contentText, /^b\d+ owner "sdk", exit code 130, in .*: cat\nolder ones: before \d+\n$/);
		assert.equal((await call('history', { ...work, from_line: 0 })).from_line, 0);

		// only changes
		await call('snapshot', work);
		await call('exec', { ...work, command: 'echo once' });
		await call('wait', { ...work, until: [{ type: 'prompt' }], timeout_ms: 10_000 });
		const nothing = await call('snapshot', work);
		if (tracksReads) assert.deepEqual([nothing.output.includes('once'), nothing.text], [false, undefined], 'results of exec count as read');
		else assert.match(nothing.text, /^once$/m);
		const { version: since } = await call('snapshot', { ...work, whole: true });
		await call('exec', { ...work, command: 'tput cup 0 0; printf CHANGED; tput cup 23 0' });
		const { changed, text } = await call('snapshot', { ...work, since });
		assert.equal(text, undefined);
		assert.ok(changed.length < 24 && changed.some((row) => row.row === 1 && row.text.startsWith('CHANGED')));

		const progress = [];
		const slow = await client.callTool({ name: 'exec', arguments: { ...work, command: 'sleep 1.4' } },
			...(client instanceof ModernClient ? [{ onprogress: (each) => progress.push(each) }] : [undefined, { onprogress: (each) => progress.push(each) }]));
		assert.equal(slow.structuredContent.exit_code, 0);
		assert.ok(progress.length >= 1);
		const abort = new AbortController();
		const options = { signal: abort.signal };
		const aborted = client.callTool({ name: 'exec', arguments: { ...work, command: 'sleep 100', yield_ms: 60_000, on_cancel: 'interrupt' } },
			...(client instanceof ModernClient ? [options] : [undefined, options]));
		aborted.catch(() => {});
		await until('the start of the command', () => running(server, 'work'));
		abort.abort();
		await assert.rejects(aborted);
		await until('the interruption of the command', async () => !(await running(server, 'work')));
		await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), (error) => error.code === -32602);
		await client.close();
	});

shared('cancelled requests over stdio get no response', async (server) => {
	const { command, args, env } = bridge(server);
	const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
	server.clients.add({ terminate: () => child.kill('SIGKILL') });
	let text = '';
	child.stdout.setEncoding('utf8').on('data', (data) => { text += data; });
	const lines = () => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
	const exec = (id, _meta) => send({
		id, method: 'tools/call',
		params: { name: 'exec', arguments: { command: `sleep 100 # ${id}`, yield_ms: 60_000, on_cancel: 'interrupt', queue: true }, _meta },
	});
	const mine = async () => running(server, (await server.api.list()).data.find((id) => /^agent-[0-9a-f]{6}$/.test(id)));
	send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } });
	await until('the response', () => lines().some(({ id }) => id === 0));
	for (const [id, _meta] of [['quiet'], ['telling', { progressToken: 'p' }]]) {
		exec(id, _meta);
		await until('the start of the command', () => mine().catch(() => undefined));
		if (_meta) await until('the progress', () => lines().some(({ method }) => method === 'notifications/progress'));
		send({ method: 'notifications/cancelled', params: { requestId: id } });
		await until('the interruption of the command', async () => !(await mine()));
	}
	send({ id: 1, method: 'notifications/cancelled', params: { requestId: 1 } }); // would cancel itself
	send({ id: 2, method: 'ping' });
	await until('the response', () => lines().some(({ id }) => id === 2));
	assert.deepEqual(lines().filter(({ method, error }) => !method && !error).map(({ id }) => id), [0, 2]);
	child.stdin.end();
	await until('the end of the client', () => child.exitCode === 0);
});
