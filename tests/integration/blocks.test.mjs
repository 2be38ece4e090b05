// Every command of a session, of people and of programs, and the events of one session.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { typeLine } from './lib/blocks.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const id = 's';

const blocks = async (server, query = '') => (await server.api.call('GET', `/api/session/${id}/blocks${query}`)).blocks;
const exec = (server, command) => server.api.call('POST', `/api/session/${id}/exec`, { command });

const type = (server, line) => typeLine(server, id, line);
const outputOf = async (server, block, query = '') => (await server.api.raw('GET', `/api/session/${id}/blocks/${block.id}/output${query}`)).text;

shared('commands of people: text, result, directory, range, output', async (server) => {
	await server.session({ id });
	let b = await type(server, 'echo one; false | (exit 3)');
	assert.deepEqual([b.command, b.exitCode, b.pipeStatus, b.by, b.author, b.outputExact, b.inRing],
		['echo one; false | (exit 3)', 3, [1, 3], 'human', 'owner', true, true]);
	assert.equal(b.cwd, server.cwd);
	assert.ok(Date.parse(b.startedAt) <= Date.parse(b.endedAt) && Date.now() - Date.parse(b.startedAt) < 60_000);
	assert.equal(await outputOf(server, b), 'one\n');
	assert.equal((await server.api.output(id, b.start, b.end)).toString(), 'one\r\n');
	b = await type(server, 'mkdir "a b" && cd "a b"');
	assert.deepEqual([b.cwd, b.cwdAfter, await outputOf(server, b)], [server.cwd, path.join(server.cwd, 'a b'), '']);
	b = await type(server, "printf '\\e[31mred\\e[m\\n'");
	assert.match(await outputOf(server, b, '?format=ansi'), /\x1b\[[0-9;]*31mred/);
	// An edited line, a wrapped line, and several lines.
	await server.api.input(id, 'exho');
	b = await type(server, '\x1b[D\x1b[D\x7fc\x05 done');
	assert.equal(b.command, 'echo done');
	const long = `echo ${'word '.repeat(60)}end`;
	b = await type(server, long);
	assert.equal(b.command, long);
	b = await type(server, 'for i in 1 2; do\r  echo $i\rdone');
	assert.deepEqual([b.command, await outputOf(server, b)], ['for i in 1 2; do\n  echo $i\ndone', '1\n2\n']);
	b = await type(server, 'cat <<X\rtext\rX');
	assert.equal(await outputOf(server, b), 'text\n');
	await server.api.input(id, '\r\r');
	b = await type(server, 'true');
	assert.equal(b.command, 'true', 'empty lines are no commands');
	const all = await blocks(server);
	assert.equal(new Set(all.map((each) => each.id)).size, all.length);
	for (const each of all) assert.deepEqual((await server.api.call('GET', `/api/session/${id}/blocks/${each.id}`)).block, each);
});

shared('events: in order, with offsets', async (server) => {
	const { api } = server;
	await server.session({ id });
	const { offset } = await api.get(id);
	const stream = new EventStream(server, `/api/session/${id}/stream?from=${offset}`);
	const { events } = stream;
	const seen = (what, found) => stream.until(what, found);
	await seen('the beginning', (e) => e.type === 'begin' && e.offset === offset);
	await seen('the state', (e) => e.type === 'state' && e.state.status === 'prompt');
	await api.input(id, "echo hello; printf '\\e]9;look\\a'; mkdir d; cd d\r");
	const started = await seen('a block', (e) => e.type === 'block' && e.event === 'started');
	await seen('the end', (e) => e.type === 'block' && e.event === 'ended' && e.block.exitCode === 0);
	await seen('a notification', (e) => e.type === 'notification' && e.text === 'look');
	await seen('a directory', (e) => e.type === 'cwd' && e.cwd === path.join(server.cwd, 'd'));
	await api.input(id, 'read -s secret\r');
	await seen('a password prompt', (e) => e.type === 'state' && e.state.input === 'password');
	await api.input(id, 'x\r');
	const text = (list) => list.filter((e) => e.type === 'output').map((e) => e.data).join('');
	await until('the output', () => text(events).includes('hello\r\n'));
	let next = offset;
	for (const event of events.filter((e) => e.type === 'output')) {
		assert.equal(event.offset, next);
		next += event.bytes;
	}
	const first = events.find((e) => e.type === 'output' && e.data.startsWith('hello'));
	assert.equal(first.offset, started.offset);
	assert.ok(events.indexOf(started) < events.indexOf(first));
	await api.input(id, 'exit 3\r');
	await seen('the end', (e) => e.type === 'exit' && e.code === 3);
	await until('the end of the response', () => stream.closed);
});

/** The text of a block's lines in the scrollback. */
async function linesOf(server, block) {
	assert.ok(block.line !== null && block.endLine !== null, JSON.stringify(await blocks(server), null, 1));
	const { lines } = await server.api.call('GET', `/api/session/${id}/scrollback?from=${block.line}&to=${block.endLine + 1}`);
	return lines.map(({ text }) => text);
}

const found = async (server, text) => (await blocks(server, `?text=${encodeURIComponent(text)}`)).at(-1);

shared('the lines of a block: scrolled, rewrapped, after a restart, cleared', async (server) => {
	await server.session({ id, cols: 80, rows: 24 });
	await server.api.input(id, "PS1='me$ '\r");
	await server.untilPrompt(id);
	await type(server, 'echo alpha');
	await server.untilPrompt(id); // the echo of a line that is typed before belongs to the lines of the block before
	await type(server, "printf '%090d\\n' 7");
	const quiet = await type(server, 'true # nothing');
	await exec(server, 'echo program');
	const resize = async (cols) => {
		await server.api.call('POST', `/api/session/${id}/resize`, { cols, rows: 24 });
		await until('that size', async () => (await server.api.call('GET', `/api/session/${id}/screen`)).cols === cols);
	};
	const check = async () => {
		assert.deepEqual(await linesOf(server, await found(server, 'echo alpha')), ['me$ echo alpha', 'alpha']);
		const program = await linesOf(server, await found(server, 'echo program'));
		assert.deepEqual([program[0].slice(-12), program.slice(1)], ['echo program', ['program']]);
		const { line, endLine } = await found(server, 'true # nothing');
		assert.equal(line, endLine);
		return (await blocks(server)).map((block) => [block.line, block.endLine]);
	};
	const before = await check();
	assert.ok(before.slice(-4).every(([line, end]) => line !== null && end >= line), JSON.stringify(before));
	assert.ok(quiet.line > 0);
	await type(server, 'seq 100');
	assert.deepEqual((await check()).slice(0, before.length), before, 'scrolling changes no line numbers');
	await resize(40);
	await check();
	await server.kill('SIGKILL');
	await server.start();
	await resize(80);
	assert.deepEqual((await check()).slice(0, before.length), before);
	await server.api.input(id, 'until [ -e go ]; do sleep 0.02; done\r');
	const running = await until('the running block', async () => (await blocks(server, '?state=running'))[0]);
	assert.ok(Number.isInteger(running.line) && running.endLine === null);
	assert.equal((await server.api.call('GET', `/api/session/${id}/state`)).state.block, running.id);
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the directory of the last block', async () => (await blocks(server)).at(-1).cwdAfter);
	await type(server, "printf '\\e[H\\e[2J\\e[3J'");
	const after = await type(server, 'echo last');
	assert.deepEqual(await linesOf(server, after), ['me$ echo last', 'last']);
	const { line, endLine } = await found(server, 'echo alpha');
	assert.deepEqual([line, endLine], [null, null], 'cleared blocks have no lines');
});

scenario('blocks that have left the scrollback have no lines', { args: ['--scrollback', '50'] }, async (server) => {
	await server.session({ id });
	await type(server, 'echo alpha');
	await type(server, 'seq 300');
	const { line, endLine } = await found(server, 'echo alpha');
	assert.deepEqual([line, endLine], [null, null]);
	assert.equal((await found(server, 'seq 300')).line, null);
	assert.ok((await found(server, 'seq 300')).endLine > 200);
});
