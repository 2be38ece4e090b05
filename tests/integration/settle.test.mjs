// The screen that an agent gets after typing: it includes the program's reaction, however late, even if the server was
// stopped meanwhile.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const id = 's';
let ids = 0;

async function tool(server, name, args) {
	const meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientCapabilities': {},
		'io.modelcontextprotocol/clientInfo': { name: 'settle', version: '1' },
	};
	const { json, text } = await server.api.raw('POST', '/mcp', {
		jsonrpc: '2.0', id: (ids += 1), method: 'tools/call', params: { name, arguments: { session_id: id, ...args }, _meta: meta },
	}, { headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name }, timeout: 60_000 });
	const answer = json ?? JSON.parse(text.split('\n').find((line) => line.startsWith('data: ')).slice(6));
	assert.ok(answer.result && !answer.result.isError, text);
	return answer.result.structuredContent;
}

const keys = (server, args) => tool(server, 'send_keys', { timeout_ms: 20_000, ...args });
const file = (server, name) => path.join(server.cwd, name);

/** Start a program in raw mode: at a key it prints `before` at once, and its answer when `slow` has run. */
async function start(server, slow) {
	writeFileSync(file(server, 'program'), `stty raw -echo
printf 'ready\\r\\n'
while IFS= read -r -n 1 k; do
	printf 'before\\r\\n'
	${slow}
	printf 'answer %s\\r\\n' "$k"
done
`);
	await server.session({ id });
	await server.api.input(id, `cd ${server.cwd}; bash program\r`);
	await server.outputMatches(id, /ready\r\n/);
}

shared('output that comes after a delay', { timeout: 120_000 }, async (server) => {
	await start(server, 'sleep 0.7');
	for (const key of ['a', 'b', 'c']) {
		const { output: text, terminal } = await keys(server, { text: key });
		assert.match(text, new RegExp(`answer ${key}`));
		assert.equal(terminal.input, 'raw');
	}
});

shared('immediate output and silence, with lines and with commands', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	for (let at = 0; at < 8; at += 1) {
		const { output: text, terminal } = await keys(server, { text: `sleep 0.${at % 4}; echo $((${at} * 1000 + 7))`, submit: true, settle_ms: at % 3 ? 1 : 150 });
		assert.match(text, new RegExp(`^${at * 1000 + 7}$`, 'm'), `${JSON.stringify(terminal)}\n${text}`);
		assert.equal(terminal.status, 'prompt');
	}
	// Nothing is printed: the result comes without waiting for the whole time.
	await keys(server, { text: 'read -s secret', submit: true });
	const began = Date.now();
	const { terminal } = await keys(server, { text: 'hidden', timeout_ms: 60_000 });
	assert.equal(terminal.input, 'password');
	assert.ok(Date.now() - began < 50_000);
	await keys(server, { keys: 'Enter' });
	// A slow command: the screen so far.
	const { output: text, terminal: busy } = await keys(server, { text: 'echo begun; read -t 600 <>/dev/zero; sleep 600', submit: true, timeout_ms: 1500 });
	assert.match(text, /begun/);
	assert.equal(busy.status, 'running');
	await keys(server, { keys: 'C-c' });
	await keys(server, { keys: 'C-c' });
});

shared('a stopped server: pending output is processed first', { timeout: 120_000 }, async (server) => {
	await start(server, 'until [ -e go ]; do sleep 0.02; done; rm go');
	for (const key of ['a', 'b', 'c', 'd']) {
		const { offset } = await server.api.get(id);
		const typed = keys(server, { text: key, settle_ms: 50 });
		await server.outputMatches(id, /before\r\n/, offset);
		server.child.kill('SIGSTOP');
		writeFileSync(file(server, 'go'), '');
		await until('the output', () => !existsSync(file(server, 'go')));
		await pause(300); // longer than all its delays
		server.child.kill('SIGCONT');
		assert.match((await typed).output, new RegExp(`answer ${key}`));
	}
});

shared('stable and ready, over HTTP', { timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const { offset } = await server.api.get(id);
	await server.api.input(id, 'echo one; sleep 1; echo two\r');
	const wait = (fields) => server.api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'stable', ms: 100, ...fields }], after: offset, timeoutMs: 30_000 });
	const { type, state } = await wait({ ready: true });
	assert.deepEqual([type, state.status], ['stable', 'prompt']);
	assert.match(await server.api.text(id, offset), /^two\r\n/m);
});
