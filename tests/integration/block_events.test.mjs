// The start and end events of commands: each once, in order, with true values; live, from an offset, after a restart,
// over HTTP and the control socket.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ControlClient } from './lib/control.mjs';
import { EventStream } from './lib/sse.mjs';
import { long, times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const id = 's';

const exec = (server, command, fields = {}, of = id) => server.api.call('POST', `/api/session/${of}/exec`, { command, queue: true, ...fields }).then(({ data }) => data);
const blocks = async (server) => (await server.api.call('GET', `/api/session/${id}/blocks?limit=1000`)).blocks;
/** Line numbers are those of now: events have none. */
const withoutLines = (list) => list.map(({ line, endLine, ...block }) => block);
const types = 'types=block';
const follow = (server, query = `${types}&from=0`, of = id) => new EventStream(server, `/api/session/${of}/stream?${query}`);
const blockEvents = ({ events }) => events.filter((e) => e.type === 'block');
const shown = (events) => events.map(({ event, block }) => `${event} ${block.command ?? block.start} ${block.exitCode}`);
const file = (server, name) => path.join(server.cwd, name);

/** Each command has one start, and one end after it if it is over, before the next start. */
function check(events) {
	const seen = JSON.stringify(events, null, 1);
	let open;
	let last = -1;
	const ids = new Set();
	for (const { event, block, offset } of events) {
		assert.ok(offset >= last, `offsets never decrease: ${seen}`);
		last = offset;
		if (event === 'started') {
			assert.equal(open, undefined, `only one command at a time: ${block.id} in ${seen}`);
			assert.ok(!ids.has(block.id), `one start: ${block.id} in ${seen}`);
			ids.add(block.id);
			assert.equal(offset, block.start);
			assert.deepEqual([block.state, block.exitCode, block.end, block.endedAt, block.cwdAfter, block.pipeStatus],
				['running', null, null, null, null, null], seen);
			open = block.id;
		} else {
			assert.equal(block.id, open, `the end of the running command: ${seen}`);
			assert.equal(block.state, 'done');
			assert.ok(block.end >= block.start, seen);
			open = undefined;
		}
	}
	return open;
}

/** Wait until the last event is the end of a matching block. */
const untilEnd = (stream, fits) => until(() => `that end in ${shown(blockEvents(stream)).join('\n')}`,
	() => blockEvents(stream).find(({ event, block }) => event === 'ended' && fits(block)));

shared('people and programs: one start, one end, in order, and the same when replayed', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	const live = follow(server);
	const count = times(5, 10);
	const counted = Array.from({ length: count }, (_, at) => at);
	for (const at of counted) {
		await exec(server, `echo ${at} | cat; (exit ${at})`, at % 2 ? { streams: 'pipes', stdin: null } : {});
		await server.api.input(id, `(exit ${100 + at})\r`);
	}
	await server.api.input(id, '\r\r: last; false | (exit 77)\r');
	const end = await untilEnd(live, ({ command }) => command?.startsWith(': last'));
	assert.deepEqual([end.block.exitCode, end.block.pipeStatus, end.block.cwdAfter], [77, [1, 77], server.cwd]);
	const all = blockEvents(live);
	assert.equal(check(all), undefined);
	assert.deepEqual(all.filter(({ event }) => event === 'ended').map(({ block }) => block), withoutLines(await blocks(server)));
	assert.deepEqual(all.filter(({ event, block }) => event === 'ended' && block.by === 'exec').map(({ block }) => block.exitCode), counted);
	assert.deepEqual(all.filter(({ event, block }) => event === 'ended' && block.by === 'human' && block.exitCode >= 100).map(({ block }) => block.exitCode),
		counted.map((at) => 100 + at), shown(all).join('\n'));
	const again = async (from, wanted) => {
		const stream = follow(server, `${types}&from=${from}`);
		const socket = await new ControlClient(server).connect();
		const asked = socket.ask('GET', `/api/session/${id}/stream?${types}&from=${from}`);
		const over = () => socket.of(asked).filter((frame) => frame.type === 'stream' && frame.data).map((frame) => JSON.parse(frame.data)).filter((e) => e.type === 'block');
		await until(() => `the same events: ${shown(blockEvents(stream)).join('\n')}`, () => blockEvents(stream).length >= wanted.length && over().length >= wanted.length);
		const plain = (list) => list.map(({ event, block }) => ({ event, block }));
		assert.deepEqual(plain(blockEvents(stream)), plain(wanted));
		assert.deepEqual(plain(over()), plain(wanted));
		stream.terminate();
		socket.terminate();
	};
	await again(0, all);
	const middle = all[13];
	await again(middle.offset, all.filter(({ offset }) => offset >= middle.offset));
	for (let round = 0; round < 2; round += 1) {
		await server.restart();
		await again(0, all);
		await again(middle.block.start, all.slice(all.findIndex(({ event, block }) => block.start > middle.block.start || (block.start === middle.block.start && event === 'started'))));
	}
});

shared('a new session: input before its first prompt', { timeout: 120_000 }, async (server) => {
	for (let round = 0; round < times(2, 6); round += 1) {
		await server.api.open({ id });
		const stream = follow(server);
		const lines = [`cd /; (exit ${round})`, 'cd /usr', 'sleep 0.3; (exit 9)', 'true'];
		for (const line of lines) {
			await server.api.input(id, `${line}\r`);
			if (round % 2) await pause(round * 10);
		}
		await until(() => `four ends in ${shown(blockEvents(stream)).join('\n')}`, () => blockEvents(stream).filter(({ event, block }) => event === 'ended' && block.command !== null).length >= 1
			&& blockEvents(stream).filter(({ event }) => event === 'ended').length >= 4);
		check(blockEvents(stream));
		const list = (await blocks(server)).slice(-4);
		assert.deepEqual(list.map(({ exitCode, state }) => [state, exitCode]), [['done', round], ['done', 0], ['done', 9], ['done', 0]], JSON.stringify(list, null, 1));
		await until('the last values of the block', async () => (await blocks(server)).at(-1).cwdAfter);
		assert.deepEqual((await blocks(server)).slice(-4).map(({ cwdAfter }) => cwdAfter), ['/', '/usr', '/usr', '/usr']);
		const slow = (await blocks(server)).at(-2);
		assert.ok(Date.parse(slow.endedAt) - Date.parse(slow.startedAt) >= 290, JSON.stringify(slow));
		stream.terminate();
		await server.api.delete(id);
	}
});

shared('running commands have no status and no end; Ctrl-C, signals, Ctrl-Z, empty lines', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	const stream = follow(server);
	const run = async (line, wanted, stop) => {
		const count = (await blocks(server)).length;
		await server.api.input(id, `${line}\r`);
		if (stop) {
			const running = await until(`the start of ${line}`, async () => {
				const list = await blocks(server);
				return list.length > count && list.at(-1);
			});
			for (const block of [running, (await blocks(server)).at(-1)])
				assert.deepEqual([block.state, block.exitCode, block.end, block.endedAt, block.pipeStatus], ['running', null, null, null, null], line);
			await stop();
		}
		const { block } = await untilEnd(stream, ({ command }) => command === line);
		assert.equal(block.exitCode, wanted, JSON.stringify(block));
		return block;
	};
	const interrupt = async () => {
		await pause(400); // the duration is compared
		// bash's child loses a SIGINT that comes between fork and exec.
		for (let over = false; !over;) {
			await server.api.input(id, '\x03');
			over = await until('the end of the command', async () => (await blocks(server)).at(-1).state === 'done', { timeout: 3000 }).catch(() => false);
		}
	};
	for (const loop of ['while :; do :; done', 'while :; do sleep 0.05; done']) {
		const block = await run(loop, 130, interrupt);
		assert.ok(Date.parse(block.endedAt) - Date.parse(block.startedAt) >= 390, JSON.stringify(block));
	}
	await run('read never', 130, interrupt);
	await run('cat >/dev/null', 0, async () => {
		await until('cat', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.foreground?.name === 'cat');
		await server.api.input(id, '\x04');
	});
	await run('sh -c "kill -9 \\$\\$"', 137);
	await run('sh -c "kill -TERM \\$\\$"', 143);
	await run('sleep 60', 148, async () => {
		await until('sleep', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.foreground?.name === 'sleep');
		await server.api.input(id, '\x1a');
	});
	await run('kill -9 %1', 0);
	// These are no commands: empty lines, a cancelled line, a syntax error.
	const count = (await blocks(server)).length;
	for (const nothing of ['\r', '\r\r', 'half a line\x03']) {
		const { offset } = await server.api.get(id);
		await server.api.input(id, nothing);
		await until('the prompt', async () => {
			const { state } = await server.api.call('GET', `/api/session/${id}/state`);
			return state.offset > offset + nothing.length && state.status === 'prompt' && state.quietMs > 200;
		});
	}
	await run('true', 0);
	assert.equal((await blocks(server)).length, count + 1);
	assert.equal(check(blockEvents(stream)), undefined);
});

shared('several lines, and several commands in one paste', { timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const stream = follow(server);
	await server.api.input(id, 'for i in 1 2; do\r  echo $i\rdone | (cat; exit 5)\r');
	assert.deepEqual((await untilEnd(stream, ({ command }) => command?.startsWith('for i'))).block.exitCode, 5);
	await server.api.call('POST', `/api/session/${id}/keys`, { paste: '(exit 3)\nsleep 0.2\n(exit 4)', submit: true });
	await until(() => `the end of the pasted commands: ${shown(blockEvents(stream)).join('\n')}`, () => blockEvents(stream).at(-1)?.event === 'ended' && blockEvents(stream).at(-1).block.exitCode === 4);
	assert.equal(check(blockEvents(stream)), undefined);
	for (const { event, block } of blockEvents(stream)) if (event === 'ended' && block.exitCode === null) assert.equal(block.outputExact, false);
});

// Each command with its status.
const ends = [['exit 3', 3], ['exec sh -c "exit 7"', 7], ['kill -9 $$', 137], ['set -e; (exit 5)', 5]];
/** For each kind of restart, the ends that are tested in an ordinary run, and in a long one. */
const follows = { respawn: [[0, 2], [0, 1, 2, 3]], reexec: [[0], [0, 3]], close: [[1, 3], [0, 1, 2, 3]] };

shared('the shell ends with exit, exec or a signal; then a new one comes, it executes itself, or none comes', { timeout: 120_000 }, async (server) => {
	const lived = 2500; // a busy machine may take a second to start it
	const all = Object.entries(follows).flatMap(([onShellExit, which]) => which[long ? 1 : 0].map((at) => ({ of: `${onShellExit}${at}`, onShellExit, line: ends[at][0], status: ends[at][1] })));
	await Promise.all(all.map(({ of, onShellExit }) => server.session({ id: of, onShellExit })));
	await pause(lived);
	await Promise.all(all.map(async ({ of, onShellExit, line, status }) => {
		const stream = follow(server, undefined, of);
		await server.api.input(of, `${line}\r`);
		const { block } = await untilEnd(stream, ({ command }) => command === line);
		assert.deepEqual([block.exitCode, block.state], [status, 'done'], `${of}: ${JSON.stringify(block)}`);
		assert.ok(block.endedAt, JSON.stringify(block));
		if (onShellExit !== 'close') {
			await pause(lived);
			const e = await exec(server, 'exit 4', {}, of);
			assert.deepEqual([e.exitCode, e.endedBy], [4, 'shell'], `${of}: ${line}`);
			assert.equal((await untilEnd(stream, ({ execId }) => execId === e.id)).block.exitCode, 4);
			const next = await exec(server, '(exit 6)', {}, of);
			assert.equal((await untilEnd(stream, ({ execId }) => execId === next.id)).block.exitCode, 6);
		}
		assert.equal(check(blockEvents(stream)), undefined, of);
		stream.terminate();
	}));
});

shared('missing marks: unknown values are null', { timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const stream = follow(server);
	// The hook is gone: there is no record, but the end is still detected.
	await server.api.input(id, 'unset PROMPT_COMMAND\r');
	assert.equal((await untilEnd(stream, ({ command }) => command === 'unset PROMPT_COMMAND')).block.exitCode, 0);
	await server.api.input(id, '(exit 8)\r');
	assert.equal((await untilEnd(stream, ({ command }) => command === '(exit 8)')).block.exitCode, 8);
	// The prompt is gone as well: nothing reports the end of this command.
	await server.api.input(id, 'PS1="% " PS2= PS0=\r');
	const e = await exec(server, '(exit 2)');
	await untilEnd(stream, ({ execId }) => execId === e.id);
	const lost = blockEvents(stream).find(({ event, block }) => event === 'ended' && block.command?.startsWith('PS1')).block;
	assert.deepEqual([lost.state, lost.exitCode, lost.endedAt, lost.outputExact], ['done', null, null, false]);
	assert.equal(check(blockEvents(stream)), undefined);
});

shared('commands that run while there is no server', { timeout: 60_000 }, async (server) => {
	await server.session({ id });
	await exec(server, 'true', { cwd: server.cwd });
	await server.api.input(id, `cd ${server.cwd}; until [ -e go ]; do sleep 0.02; done; echo after; (exit 3)\r(exit 4)\r`);
	await until('the start of the command', async () => (await blocks(server)).at(-1).state === 'running');
	const before = withoutLines(await blocks(server));
	await server.kill('SIGKILL');
	writeFileSync(file(server, 'go'), '');
	await pause(1000);
	const back = Date.now();
	await server.start();
	const stream = follow(server);
	await untilEnd(stream, ({ exitCode }) => exitCode === 4);
	assert.ok(existsSync(file(server, 'go')));
	assert.equal(check(blockEvents(stream)), undefined);
	const after = withoutLines(await blocks(server)), list = after.slice(-2), running = before.pop();
	assert.deepEqual(after.slice(0, -2), before);
	assert.deepEqual([list[0].id, list[0].command, list[0].startedAt], [running.id, running.command, running.startedAt]);
	assert.deepEqual(list.map(({ exitCode }) => exitCode), [3, 4]);
	assert.match((await server.api.raw('GET', `/api/session/${id}/blocks/${list[0].id}/output`)).text, /^after\n/m);
	for (const block of list) assert.ok(Date.parse(block.endedAt) <= back, `${JSON.stringify(block)} ended before ${new Date(back).toISOString()}`);
	await server.restart();
	const again = follow(server);
	await untilEnd(again, ({ exitCode }) => exitCode === 4);
	assert.deepEqual(shown(blockEvents(again)), shown(blockEvents(stream)));
});
