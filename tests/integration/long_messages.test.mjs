// Messages of many MiB on /ws and /rpc: threads parse them, in order, also if the socket closes meanwhile.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { ControlClient, untilMetric } from './lib/control.mjs';
import { secure } from './lib/certificate.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const MiB = 1 << 20;
/** The slowest content to parse: each character is six bytes of JSON. */
const slow = (length) => '\u0001'.repeat(length);
const file = (server, name) => `${server.cwd}/${name}`;
const push = (server, name, content) => JSON.stringify(['push', ['pipeline', 0, ['files', 'writeFile'], [file(server, name), content]]]);

/** CPU time of a process in ticks: the first thread, which runs the loop, and all others. */
function worked(pid) {
	const ticks = (id) => {
		const fields = readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1').split(') ')[1].split(' ');
		return Number(fields[11]);
	};
	const others = readdirSync(`/proc/${pid}/task`).filter((id) => Number(id) !== pid);
	return { loop: ticks(pid), others: others.reduce((sum, id) => sum + ticks(id), 0) };
}

/** Send the messages one after the other; returns the response to the last. */
async function rpc(server, count, content) {
	const socket = await new ControlClient(server, { path: '/rpc' }).connect();
	for (let n = 1; n <= count; n += 1) {
		// A pull must come after its push.
		socket.send(push(server, `r${n}`, content));
		socket.send(['pull', n]);
	}
	const all = () => socket.frames.filter(([type]) => type === 'resolve').length;
	await until('all responses', () => all() === count || socket.closed, { progress: all, timeout: 40_000 });
	assert.equal(all(), count, JSON.stringify(socket.frames).slice(0, 500));
	socket.socket.terminate();
}

shared('a thread parses a long message, not the loop', async (server) => {
	const content = slow(MiB / 2);
	const before = worked(server.pid);
	await rpc(server, 2, content);
	const control = await new ControlClient(server).connect();
	for (const n of [1, 2]) control.ask('POST', '/api/write', { path: file(server, `w${n}`), content });
	await until('both responses', () => control.frames.filter(({ status }) => status === 200).length === 2, { timeout: 40_000 });
	for (const name of ['r1', 'r2', 'w1', 'w2']) assert.equal(readFileSync(file(server, name), 'latin1'), content);
	const after = worked(server.pid);
	assert.ok(after.others - before.others > after.loop - before.loop, JSON.stringify({ before, after }));
});

shared('a thread makes a long response', async (server) => {
	const content = '"'.repeat(4 * MiB);
	writeFileSync(file(server, 'long'), content);
	const before = worked(server.pid);
	const socket = await new ControlClient(server, { path: '/rpc' }).connect();
	for (const n of [1, 2, 3]) {
		socket.send(['push', ['pipeline', 0, ['files', 'readFile'], [file(server, n === 2 ? 'none' : 'long')]]]);
		socket.send(['pull', n]);
	}
	await until('all responses', () => socket.frames.length === 3, { timeout: 40_000 });
	for (const n of [1, 3]) assert.equal(socket.frames.find(([, id]) => id === n)[2].content, content);
	assert.equal(socket.frames.find(([, id]) => id === 2)[0], 'reject');
	const after = worked(server.pid);
	assert.ok(after.others - before.others > after.loop - before.loop, JSON.stringify({ before, after }));
	// Closed connections, and cancelled requests.
	await Promise.all(Array.from({ length: 10 }, async (_, at) => {
		const brief = await new ControlClient(server, { path: '/rpc' }).connect();
		brief.send(['push', ['pipeline', 0, ['files', 'readFile'], [file(server, 'long')]]]);
		brief.send(['pull', 1]);
		if (at % 2) brief.send(['release', 1, 1]);
		await brief.socket.ping();
		brief.socket.terminate();
	}));
	socket.socket.terminate();
	await untilMetric(server, 'rpc_sockets', 0);
});

scenario('the same over TLS, which has further buffers', secure, async (server) => {
	await rpc(server, 2, 'x'.repeat(2 * MiB));
	await Promise.all(Array.from({ length: 5 }, () => rpc(server, 2, 'x'.repeat(100_000))));
});

shared('pending messages of a closed connection are dropped, others go on', async (server) => {
	const sockets = await Promise.all(Array.from({ length: 6 }, () => new ControlClient(server, { path: '/rpc' }).connect()));
	await Promise.all(sockets.map(({ socket }, at) => new Promise((resolve) => {
		const text = at % 2 ? push(server, 'gone', slow(MiB / 2)) : 'x'.repeat(3 * MiB);
		socket.send(text, () => { socket.terminate(); resolve(); });
	})));
	await rpc(server, 2, 'x'.repeat(2 * MiB));
	await untilMetric(server, 'body_bytes', 0);
	await untilMetric(server, 'rpc_sockets', 0);
	const { socket } = await new ControlClient(server, { path: '/rpc' }).connect();
	await new Promise((resolve) => { socket.send(push(server, 'late', slow(MiB)), resolve); });
	// The server ends meanwhile.
	await server.kill('SIGTERM');
	await server.start();
});

shared('the number of values in a message is limited, to more than valid ones need', async (server) => {
	const many = (count) => JSON.stringify(['push', ['pipeline', 0, ['utils', 'ping'], [[Array(count).fill(1)]]]]);
	const { socket, ...own } = await new ControlClient(server, { path: '/rpc' }).connect();
	socket.send(many(8000));
	socket.send('["pull",1]');
	await until('the response', () => own.frames.some(([type, id]) => type === 'resolve' && id === 1));
	const other = await new ControlClient(server, { path: '/rpc' }).connect();
	other.send(many(9000));
	await until('the close', () => other.closed);
	assert.deepEqual([other.closed.code, other.frames[0][0]], [1008, 'abort']);
});
