// Commands over the terminal socket: their events, and their position in the terminal, live and after a snapshot.
import assert from 'node:assert/strict';
import { blocksOf, typeLine } from './lib/blocks.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const id = 's';
const list = (server) => blocksOf(server, id);
const blockMessages = (client) => client.messages.filter(({ type }) => type === 'block');

/** Marks in a snapshot, by offset. */
const marksIn = (bytes) => new Map([...bytes.toString('latin1').matchAll(/\x1b\]7007;m([BD])([01])(\d+),(\d+)\x07/g)]
	.map(([, kind, left, offset, line]) => [Number(offset), { kind, left: left === '0', line: Number(line) }]));

const type = (server, line) => typeLine(server, id, line);

shared('block messages and marks for terminal sockets that request them', { timeout: 60_000 }, async (server) => {
	await server.session({ id, cols: 80, rows: 24 });
	const client = server.client({ sessionId: id, blocks: 1 });
	const silent = server.client({ sessionId: id });
	await client.connect();
	await silent.connect();
	const block = await type(server, "printf '\\e]7007;mD0%s,1\\a' 77; (exit 3)");
	await until('both messages', () => blockMessages(client).length >= 2);
	const [started, ended] = blockMessages(client);
	assert.deepEqual([started.event, started.block.id, started.block.state, started.block.endMark], ['started', block.id, 'running', null]);
	assert.deepEqual([ended.event, ended.block.id, ended.block.exitCode], ['ended', block.id, 3]);
	assert.equal(started.block.inputMark, block.inputMark);
	const bytes = Buffer.from(await server.api.text(id, 0));
	const before = (offset) => bytes.subarray(0, offset).toString('latin1');
	assert.match(before(block.inputMark), /\x1b\]133;B;[^\x07]*\x07$/);
	assert.match(before(block.endMark), /\x1b\]133;D;3;[^\x07]*\x07$/);
	await type(server, "printf '%0100d\\n' 1; seq 30");

	const check = async () => {
		const other = server.client({ sessionId: id, blocks: 1 });
		await other.connect();
		const marks = marksIn(other.snapshots[0].data);
		const blocks = await list(server);
		assert.equal(marks.has(77), false, 'a mark of a program is in the snapshot');
		for (const each of blocks) {
			assert.equal(marks.get(each.inputMark)?.line ?? null, each.line);
			const end = marks.get(each.endMark);
			assert.equal(end ? Math.max(each.line, end.line - Number(end.left)) : null, each.endLine);
		}
		await other.close();
		return blocks.map(({ line, endLine }) => [line, endLine]);
	};
	const first = await check();
	assert.ok(first.slice(-2).every(([line, end]) => line !== null && end >= line), JSON.stringify(first));
	await server.api.call('POST', `/api/session/${id}/resize`, { cols: 40, rows: 24 });
	await until('that size', async () => (await server.api.call('GET', `/api/session/${id}/screen`)).cols === 40);
	await check();
	await client.close();
	await silent.close();
	assert.deepEqual(blockMessages(silent), []);
	assert.equal(marksIn(silent.snapshots[0].data).size, 0);
	await server.kill('SIGKILL');
	await server.start();
	await server.api.call('POST', `/api/session/${id}/resize`, { cols: 80, rows: 24 });
	await until('that size', async () => (await server.api.call('GET', `/api/session/${id}/screen`)).cols === 80);
	assert.deepEqual(await check(), first);
	await type(server, "printf '\\e[H\\e[2J\\e[3J'");
	assert.ok((await check()).slice(0, first.length).every(([line]) => line === null));
});

shared('a client that misses block messages gets a message that says so', { timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const client = server.client({ sessionId: id, blocks: 1 });
	await client.connect();
	await server.kill('SIGSTOP');
	const lines = Array.from({ length: 40 }, (_, at) => `(exit ${at})\r`).join('');
	client.socket.send(Buffer.from(lines));
	await server.kill('SIGCONT');
	await until('the last', () => blockMessages(client).some(({ block }) => block?.exitCode === 39));
	const missed = blockMessages(client).some(({ event }) => event === 'missed');
	const ends = new Set(blockMessages(client).filter(({ event }) => event === 'ended').map(({ block }) => block.exitCode));
	assert.ok(missed || ends.size === 40, `${ends.size} of 40, and no message says so`);
});
