// Acknowledged work is known afterwards, and its records are true: servers, holders and shells that are killed or stopped
// during commands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { mounted } from './lib/mounted.mjs';
import { parentOf, stop } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const id = 's';

const post = (server, command, fields = {}) => server.api.call('POST', `/api/session/${id}/exec`,
	{ command, queue: true, ...fields }).then(({ data }) => data);
const find = async (server, exec, wait = 0) => (await server.api.call('GET', `/api/session/${id}/exec/${exec.id ?? exec}?waitMs=${wait}`)).data;
const list = async (server) => (await server.api.call('GET', `/api/session/${id}/exec`)).data;
const ended = (server, exec) => until(`the end of ${exec.command}`, async () => {
	const now = await find(server, exec, 1000);
	return now.state === 'done' && now;
}, { timeout: 30_000 });
const running = (server, exec) => until(`the start of ${exec.command}`, async () => (await find(server, exec)).state === 'running');
const lines = (server, name) => {
	const file = path.join(server.cwd, name);
	return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
};
// The server has read the whole prompt, and can type the next command without the holder.
const atPrompt = async (server) => {
	const { type } = await server.api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'prompt' }], timeoutMs: 30_000 }, { timeout: 60_000 });
	assert.equal(type, 'prompt');
};

shared('the holder dies: a command that ran is never reported as not started', { timeout: 90_000 }, async (server) => {
	// Without a directory, which would be checked first, they run in this order.
	const ran = `${server.cwd}/ran`;
	const go = path.join(server.cwd, 'go');
	for (const command of [`echo ran >>${ran}; kill -9 $PPID`, `echo ran >>${ran}; kill -9 $PPID; read -t 60`]) {
		await server.session({ id });
		const before = lines(server, 'ran').length;
		const first = await post(server, `until [ -e ${go} ]; do sleep 0.01; done; ${command}`, { yieldMs: 0 });
		const second = await post(server, `echo no >>${ran}`, { yieldMs: 0 });
		writeFileSync(go, '');
		const [e, queued] = await Promise.all([ended(server, first), ended(server, second)]);
		rmSync(go);
		assert.equal(lines(server, 'ran').length, before + 1);
		assert.deepEqual([e.state, e.endedBy, e.exitCode], ['done', 'unknown', null], JSON.stringify(e));
		// The command after it was never typed, and the server knows that.
		assert.deepEqual([queued.state, queued.endedBy, queued.startedAt, queued.exitCode], ['done', 'not_started', null, null]);
		await server.api.delete(id);
	}
	await server.session({ id });
	const e = await post(server, 'read -t 60', { yieldMs: 0 });
	await running(server, e);
	process.kill(parentOf((await server.api.get(id)).pid), 'SIGKILL');
	assert.deepEqual((({ endedBy, exitCode }) => [endedBy, exitCode])(await ended(server, e)), ['unknown', null]);
	// The Sandbox client is not told that it may retry.
	await server.api.delete(id);
	await server.session({ id });
	const refused = await server.api.refused(500, 'COMMAND_EXECUTION_ERROR', 'POST', '/api/execute', { command: 'echo ran >>ran; kill -9 $PPID', sessionId: id });
	assert.match(refused.message, /outcome of the command is unknown/);
	assert.equal(refused.context.endedBy, 'unknown');
});

shared('the holder is stopped: the command runs, but its end is unknown', { timeout: 90_000 }, async (server) => {
	await server.session({ id });
	await post(server, 'true');
	await atPrompt(server);
	const holder = parentOf((await server.api.get(id)).pid);
	await stop(holder);
	const e = await post(server, 'echo ran >>ran', { yieldMs: 0, cwd: server.cwd });
	await until('the effect of the command', () => lines(server, 'ran').length === 1);
	const finished = await ended(server, e);
	assert.equal(finished.endedBy, 'unknown', JSON.stringify(finished));
	process.kill(holder, 'SIGCONT');
	assert.equal((await post(server, 'echo next >>ran')).endedBy, 'command');
	assert.deepEqual(lines(server, 'ran'), ['ran', 'next']);
});

shared('a stopped shell: a cancelled command never runs, and the next one runs once', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	await post(server, 'true', { cwd: server.cwd });
	const shell = (await server.api.get(id)).pid;
	for (const killed of [false, true]) {
		await atPrompt(server);
		await stop(shell);
		const first = await post(server, 'echo first >>ran', { yieldMs: 0 });
		const finished = await ended(server, first);
		assert.equal(finished.endedBy, 'unknown', JSON.stringify(finished));
		if (killed) await server.restart();
		assert.equal((await find(server, first)).endedBy, 'unknown');
		const second = await post(server, 'echo second >>ran', { yieldMs: 0 });
		assert.notEqual((await find(server, second)).state, 'done');
		process.kill(shell, 'SIGCONT');
		const e = await ended(server, second);
		assert.deepEqual([e.endedBy, e.exitCode], ['command', 0], JSON.stringify(e));
		assert.equal((await post(server, 'echo third >>ran')).endedBy, 'command');
		assert.deepEqual(lines(server, 'ran').splice(-2), ['second', 'third']);
	}
	assert.equal(lines(server, 'ran').length, 4);
});

shared('a shell that accepts no line: the server proves that nothing was started', { timeout: 90_000 }, async (server) => {
	await server.session({ id });
	// The key binding types another line that calls nothing; the key for the state still works.
	await post(server, `bind -x '"\\e[57399;17~": READLINE_LINE=": "'`);
	const e = await post(server, 'echo ran >>ran', { cwd: server.cwd, key: 'k' });
	assert.deepEqual([e.endedBy, e.startedAt], ['not_started', null], JSON.stringify(e));
	await server.api.input(id, '__rs_bind 2>/dev/null\r');
	// The same key tries again.
	const again = await post(server, 'echo ran >>ran', { cwd: server.cwd, key: 'k' });
	assert.deepEqual([again.endedBy, again.key, again.id === e.id], ['command', 'k', false]);
	assert.equal((await post(server, 'echo ran >>ran', { key: 'k' })).id, again.id);
	assert.deepEqual(lines(server, 'ran'), ['ran']);
});

shared('queued and typed commands are known after kill -9, and a key runs nothing twice', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	const first = await post(server, 'echo first >>ran; until [ -e go ]; do sleep 0.1; done; (exit 7)', { yieldMs: 0, cwd: server.cwd, key: 'first' });
	await running(server, first);
	const queued = [];
	for (let at = 0; at < times(12, 60); at += 1)
		queued.push(await post(server, `echo ${at} >>ran`, { yieldMs: 0, ...at % 2 ? { key: `key ${at}` } : {} }));
	const cancelled = await post(server, 'echo no >>ran', { yieldMs: 0 });
	await server.api.call('POST', `/api/session/${id}/exec/${cancelled.id}/cancel`, {});
	for (let round = 0; round < 2; round += 1) {
		await server.restart();
		for (const e of queued) {
			const now = await find(server, e);
			assert.deepEqual([now.state, now.endedBy, now.startedAt, now.command, now.key, now.submittedAt],
				['done', 'not_started', null, e.command, e.key, e.submittedAt], JSON.stringify(now));
		}
		assert.equal((await find(server, cancelled)).endedBy, 'cancelled');
		assert.equal((await find(server, first)).state, 'running');
	}
	assert.deepEqual(lines(server, 'ran'), ['first']);
	await server.api.raw('POST', '/api/run', { command: 'touch go', cwd: server.cwd });
	assert.equal((await ended(server, first)).exitCode, 7);
	// Requests with the same key: it runs once.
	const again = await Promise.all([1, 3, 5, 3].map((at) => post(server, `echo ${at} >>ran`, { key: `key ${at}`, cwd: server.cwd })));
	assert.equal(again[1].id, again[3].id);
	assert.ok(again.every((e) => e.endedBy === 'command'));
	assert.equal((await post(server, first.command, { key: 'first' })).id, first.id);
	assert.deepEqual(lines(server, 'ran').sort(), ['1', '3', '5', 'first']);
	await server.api.refused(409, 'KEY_IN_USE', 'POST', `/api/session/${id}/exec`, { command: 'other', key: 'key 7' });
	const all = await list(server);
	assert.equal(new Set(all.map((e) => e.id)).size, all.length);
});

/** Records of commands, once there is space again, before and after kill -9. */
async function recordsOf(server, execs) {
	const log = () => {
		const root = path.join(server.dir, 'sessions');
		return readdirSync(root).map((name) => path.join(root, name, 'execs')).filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8')).join('');
	};
	const blocks = (await server.api.call('GET', `/api/session/${id}/blocks`)).blocks.map(({ id: block }) => block);
	await until('all commands in the log', () => execs.every((e) => log().split('\n').some((line) => line.includes(e.id) && line.includes('"end"'))));
	await until('the metric', async () => /^ringside_logs_behind 0$/m.test((await server.api.raw('GET', '/metrics')).text));
	await server.restart();
	for (const e of execs) {
		const now = await find(server, e);
		assert.deepEqual([now.state, now.endedBy, now.exitCode, now.key], ['done', 'command', 3, e.key]);
		assert.equal((await post(server, e.command, { key: e.key })).id, e.id);
	}
	assert.equal(lines(server, 'ran').length, execs.length);
	assert.deepEqual((await server.api.call('GET', `/api/session/${id}/blocks`)).blocks.map(({ id: block }) => block), blocks);
}

scenario('records that could not be written without file descriptors are written later', { timeout: 90_000 }, async (server) => {
	await server.session({ id });
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const limit = (number) => assert.equal(spawnSync('prlimit', ['--pid', String(server.pid), `--nofile=${number}:4096`]).status, 0);
	const execs = [];
	await server.api.raw('GET', '/api/ping', undefined, { agent });
	limit(3); // no new descriptors; open ones still work
	for (let at = 0; at < 5; at += 1) {
		const { status, json } = await server.api.raw('POST', `/api/session/${id}/exec`, { command: 'echo ran >>ran; (exit 3)', cwd: server.cwd, key: `k${at}`, queue: true }, { agent });
		assert.equal(status, 200);
		execs.push(json.data);
	}
	limit(4096);
	agent.destroy();
	await recordsOf(server, execs);
});

const disk = mounted('tmpfs', 'size=512k,mode=0700');

scenario('records that could not be written to a full disk are written later', {
	skip: disk ? false : 'a small file system cannot be mounted here', dir: disk, timeout: 90_000,
}, async (server) => {
	await server.session({ id });
	await post(server, 'true', { cwd: server.cwd });
	const filler = path.join(disk, 'filler');
	assert.match(spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k'], { encoding: 'utf8' }).stderr, /No space left/);
	const execs = [];
	const long = 'x'.repeat(3500); // more than fits into the free space
	for (let at = 0; at < 5; at += 1)
		execs.push(await post(server, `: ${long}; echo ran >>'${server.cwd}/ran'; (exit 3)`, { key: `k${at}`, cwd: server.cwd }));
	rmSync(filler);
	await recordsOf(server, execs);
});

shared('kill -9 between typing and start', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	await post(server, 'true', { cwd: server.cwd });
	const shell = (await server.api.get(id)).pid;
	for (let round = 0; round < 2; round += 1) {
		const file = `ran${round}`;
		await atPrompt(server);
		await stop(shell);
		const e = await post(server, `echo it >>${file}; (exit ${round})`, { yieldMs: 0, key: `k${round}`, cwd: server.cwd });
		await until('the typed command', async () => (await find(server, e)).state === 'starting');
		await server.kill('SIGKILL');
		// It starts while there is no server, before the next one is ready, or afterwards.
		if (round === 0) {
			process.kill(shell, 'SIGCONT');
			await until('the effect of the command', () => lines(server, file).length === 1);
		}
		await server.start();
		assert.equal((await find(server, e)).id, e.id);
		if (round > 0) process.kill(shell, 'SIGCONT');
		const now = await post(server, e.command, { key: `k${round}` });
		assert.deepEqual([now.id, now.endedBy, now.exitCode], [e.id, 'command', round], JSON.stringify(now));
		assert.deepEqual(lines(server, file), ['it']);
	}
});

scenario('a long-running command is still running for the next server, whatever the ring has lost', { timeout: 120_000, args: ['--ring-size', '64K'] }, async (server) => {
	await server.session({ id });
	const e = await post(server, 'for i in 1 2; do seq 20000; seq 2000 >&2; done; until [ -e go ]; do sleep 0.1; done; (exit 3)', { yieldMs: 0, cwd: server.cwd, streams: 'pipes' });
	await running(server, e);
	const before = await find(server, e);
	await until('quiet', async () => {
		const { offset } = await server.api.get(id);
		return offset > 250_000 && (await server.api.call('GET', `/api/session/${id}/state`)).state.status !== 'prompt';
	});
	await server.restart();
	const now = await find(server, e);
	assert.deepEqual([now.state, now.startedAt], ['running', before.startedAt], JSON.stringify(now).slice(0, 500));
	await server.api.raw('POST', '/api/run', { command: 'touch go', cwd: server.cwd });
	const last = await ended(server, e);
	assert.deepEqual([last.exitCode, last.endedBy], [3, 'command']);
});

shared('the command line sends again what was not started when the server was killed', { timeout: 90_000 }, async (server) => {
	await server.session({ id });
	const first = await post(server, 'until [ -e go ]; do sleep 0.1; done', { yieldMs: 0, cwd: server.cwd });
	await running(server, first);
	const asked = cli(server, ['exec', '--queue', id, 'echo ran >>ran; echo mine; exit_is() { return 9; }; exit_is']);
	await until('the queued command', async () => (await list(server)).some((e) => e.state === 'queued'));
	await server.restart();
	await server.api.raw('POST', '/api/run', { command: 'touch go', cwd: server.cwd });
	const { code, stdout, stderr } = await asked;
	assert.deepEqual([code, stdout, stderr], [9, 'mine\n', '']);
	assert.deepEqual(lines(server, 'ran'), ['ran']);
});
