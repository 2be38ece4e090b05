// An ended process is moved to a file and its holder ends; clients see no difference.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { metric } from './lib/control.mjs';
import { descriptors, rssAnon } from './lib/proc.mjs';
import { Processes } from './lib/process.mjs';
import { sanitized } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const kept = (name, options, body) => {
	if (typeof options === 'function') [options, body] = [{}, options];
	shared(name, options, (server) => body(new Processes(server), server));
};

const holders = (server) => metric(server, 'process_holders');
// The server tries again after seconds: polling faster only costs CPU time.
const letGo = (server) => until('the end of all holders', async () => await holders(server) === 0, { interval: 100 });
/** A holder that is not counted any more may still be exiting. */
const alone = (server) => until('the end of all other processes', () => server.leftovers().every((pid) => pid === server.pid));
const directoryOf = (server, id) => path.join(server.dir, 'processes',
	readdirSync(path.join(server.dir, 'processes')).find((name) => name.startsWith(`${id}+`)));
/** Descriptors other than sockets, of which clients may open any number. */
const opened = (server) => Object.values(descriptors(server.pid)).filter((name) => !name.startsWith('socket:')).length;
const shown = ({ members, ...rest }) => rest; // it counts live processes, perhaps with the supervisor

/** All events of a stream, up to the exit. */
async function eventsToExit(stream) {
	await stream.until('exit', ({ type }) => type === 'exit');
	return stream.events.map(({ at, ...event }) => event);
}

/** Everything that the API reports about a process, over all routes. */
async function viewsOf(p, id) {
	const events = await eventsToExit(p.stream(id));
	return {
		show: shown(await p.get(id)),
		listed: (await p.list()).find((each) => each.id === id),
		logs: { ...await p.logs(id), timestamp: 0 },
		chunks: { ...await p.output(id), timestamp: 0 },
		stderr: { ...await p.output(id, 'stream=stderr&encoding=base64&cursor=7'), timestamp: 0 },
		wait: { ...await p.wait(id, { for: 'exit' }), timestamp: 0, elapsedMs: 0 },
		line: { ...await p.wait(id, { for: 'log', pattern: '199' }), timestamp: 0, elapsedMs: 0 },
		events: events.map((event) => ({ ...event, timestamp: 0 })),
	};
}

const script = 'read x; for i in {1..200}; do echo $i; echo e$i >&2; done; printf "\\303\\n\\r\\0x"; exit 5';

/** End a process whose output cannot be moved to a file, because a directory is in its place. */
async function blocked(p, server, id) {
	await p.start(script, { processId: id, stdin: 'pipe' });
	mkdirSync(path.join(directoryOf(server, id), 'output.new'));
	await p.input(id, { data: '\n' });
	await p.ended(id);
}
const unblock = (server, id) => rmdirSync(path.join(directoryOf(server, id), 'output.new'));

kept('an ended process has no holder and no descriptors, and is reported as before', async (p, server) => {
	await p.finish('true');
	await letGo(server);
	const before = opened(server);
	await blocked(p, server, 'a');
	await until('the end of the tree', async () => (await p.get('a')).members === 0);
	const live = await viewsOf(p, 'a');
	assert.equal(await holders(server), 1);
	assert.equal(live.show.exitCode, 5);
	assert.equal(live.logs.lost, 0);
	assert.ok(live.logs.stdout.includes('\n199\n200\n'));
	unblock(server, 'a');
	await letGo(server);
	assert.deepEqual(await viewsOf(p, 'a'), live);
	await until('as few descriptors as before', () => opened(server) <= before);
	await alone(server);
	for (let i = 0; i < 2; i++) {
		await server.restart();
		assert.deepEqual(await viewsOf(p, 'a'), live);
		assert.equal(await holders(server), 0);
	}
	await server.api.refused(404, 'COMMAND_NOT_FOUND', 'DELETE', '/api/process/a');
	await p.remove('a');
	await server.api.refused(404, 'PROCESS_NOT_FOUND', 'GET', '/api/process/a');
	assert.ok(!readdirSync(path.join(server.dir, 'processes')).some((name) => name.startsWith('a+')));
});

kept('the server is killed at any moment of the move', { timeout: 120_000 }, async (p, server) => {
	const output = `${'x'.repeat(100)}\n`.repeat(3000);
	const expected = new Map();
	for (let round = 0; round < times(4, 8); round++) {
		const ids = Array.from({ length: 4 }, (_, i) => `r${round}.${i}`);
		await Promise.all(ids.map((id) => p.start(
			`read x; yes ${'x'.repeat(100)} | head -3000; echo ${id} >&2; exit 4`, { processId: id, stdin: 'pipe' })));
		for (const id of ids) expected.set(id, `${id}\n`);
		await Promise.all(ids.map((id) => p.input(id, { data: '\n' })));
		// When some have ended, and others have not.
		await p.wait(ids[round % 4], { for: 'exit' });
		await server.restart();
	}
	for (const [id, stderr] of expected) {
		await p.wait(id, { for: 'exit' });
		const { exitCode, status } = await p.get(id);
		assert.deepEqual({ exitCode, status }, { exitCode: 4, status: 'failed' }, id);
		const logs = await p.logs(id);
		assert.equal(logs.stdout, output, id);
		assert.equal(logs.stderr, stderr);
		assert.equal(logs.lost, 0);
	}
	await letGo(server);
	assert.equal((await p.list()).length, expected.size);
	assert.equal(readdirSync(path.join(server.dir, 'processes')).length, expected.size);
});

kept('many ended processes cost almost nothing', { timeout: 120_000, memory: true }, async (p, server) => {
	// With sanitizers memory proves nothing, and a few processes suffice for the rest.
	const [first, count] = sanitized() ? [10, 10] : [40, 100];
	const run = async (from, to) => {
		for (let i = from; i < to; i += 10) {
			await Promise.all(Array.from({ length: 10 }, (_, k) => p.start('seq 1 20000', { processId: `p${i + k}` })));
		}
		await letGo(server);
	};
	await run(0, first); // allocations that the server makes only once
	const fds = opened(server);
	const before = rssAnon(server.pid);
	await run(first, first + count);
	assert.ok(opened(server) <= fds);
	const each = (rssAnon(server.pid) - before) / count;
	assert.ok(sanitized() || each < 4096, `${each} bytes each`);
	await alone(server);
});
