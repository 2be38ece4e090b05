// `ringside upgrade`: the running server is replaced by the program on the disk, and no client sees a failure.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { logIn } from './lib/api.mjs';
import { cli, good } from './lib/cli.mjs';
import { secure } from './lib/certificate.mjs';
import { ControlClient, metric } from './lib/control.mjs';
import { ask, Pipe } from './lib/pipe.mjs';
import { freePort } from './lib/port.mjs';
import { descendants, descriptors, parentOf, status } from './lib/proc.mjs';
import { binaries, sanitized, scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { until, within } from './lib/until.mjs';

const UPGRADES = sanitized() ? 10 : 100;

/** Copies of the programs, one of which can be put in the other's place, as a package manager does. */
const programs = mkdtempSync(path.join(os.tmpdir(), 'rs-programs-'));
after(() => rmSync(programs, { recursive: true, force: true }));
const place = (name) => path.join(programs, name);
for (const name of ['ringside', 'ringside-server', 'ringside-holder']) copyFileSync(path.join(binaries, name), place(name));
for (const name of ['even', 'odd']) copyFileSync(path.join(binaries, 'ringside-server'), place(name));
let installs = 0;
function install(file = place((installs += 1) % 2 ? 'odd' : 'even')) {
	linkSync(file, place('next'));
	renameSync(place('next'), place('ringside-server'));
}
const options = { binary: place('ringside') };
const count = (pid) => Object.keys(descriptors(pid)).length;
const instance = async (server) => (await server.api.call('GET', '/api/version')).instance;

/** Replace the program, and the server by it. */
async function upgrade(server, body) {
	install();
	const { status: answer, json, text } = await server.api.raw('POST', '/api/upgrade', body, { timeout: 60_000 });
	assert.equal(answer, 202, text);
	await until('another instance', async () => (await instance(server)) !== json.instance, { interval: 1 });
}

/** Requests, each a repetition of `body`, until stop() is called; the first failure is kept. */
class Load {
	constructor() {
		this.over = false;
		this.done = {};
		this.tasks = [];
	}

	add(name, body) {
		this.done[name] = 0;
		this.tasks.push((async () => {
			while (!this.over) {
				await body(this.done[name]);
				this.done[name] += 1;
			}
		})().catch((error) => {
			this.over = true;
			this.failure ??= Object.assign(error, { message: `${name} ${this.done[name]}: ${error.message}` });
		}));
	}

	check() {
		if (this.failure) throw this.failure;
	}

	async stop() {
		this.over = true;
		await Promise.all(this.tasks);
		this.check();
	}
}

/** A terminal client that connects again whenever the server closes its connection. */
async function follow(server, sessionId) {
	const client = await server.client({ sessionId }).connect({ history: true });
	client.resumes = 0;
	client.on('closed', ({ code }) => {
		if (client.over) return;
		client.codes = { ...client.codes, [code]: (client.codes?.[code] ?? 0) + 1 };
		client.resumes += 1;
		const again = () => client.connect().catch((error) => { client.trouble ??= error; });
		client.again = again();
	});
	return client;
}

function addLoad(load, server) {
	const { api } = server;
	const kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const several = new http.Agent({ keepAlive: true, maxSockets: 4 });
	load.add('list', () => api.call('GET', '/api/session/list', undefined, { agent: kept }));
	load.add('new connections', () => api.call('GET', '/api/ping'));
	load.add('command line socket', () => new Promise((resolve, reject) => {
		http.get({ socketPath: path.join(server.dir, 'ringside.sock'), path: '/api/ping', agent: false }, (answer) => {
			answer.resume().on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(String(answer.statusCode))))).on('error', reject);
		}).on('error', reject);
	}));
	load.add('create and delete', async (at) => {
		await api.call('POST', '/api/session/create', { id: `c${at}`, argv: ['cat'] }, { agent: several });
		await api.call('POST', '/api/session/delete', { sessionId: `c${at}` }, { agent: several });
	});
	load.add('exec', async (at) => {
		const { data } = await api.call('POST', '/api/session/e/exec', { command: `echo exec ${at}; test ${at} -ge 0` }, { agent: several });
		assert.deepEqual([data.exitCode, data.output, data.endedBy, data.outputExact], [0, `exec ${at}\n`, 'command', true]);
	});
	load.add('wait and input', async (at) => {
		const { data: { offset: from } } = await api.call('GET', '/api/session/w', undefined, { agent: several });
		const waits = api.call('POST', '/api/session/w/wait', { until: [{ type: 'match', pattern: `word${at}=` }], from, timeoutMs: 60_000 }, { agent: several });
		waits.catch(() => {});
		await api.call('POST', '/api/session/w/input', { data: `word${at}=\r` }, { agent: kept });
		assert.equal((await waits).fired, 0);
	});
	const pipe = new Pipe(server);
	load.add('pipelined', async (at) => {
		pipe.send(Array.from({ length: 5 }, (_, n) => ask(server, 'POST', '/api/session/p/rename', { body: JSON.stringify({ name: `n${at}-${n}` }) })).join(''));
		const answers = (await pipe.take(5 * (at + 1))).slice(5 * at);
		assert.deepEqual(answers.map(({ json }) => json.data.name), Array.from({ length: 5 }, (_, n) => `n${at}-${n}`));
	});
	return () => {
		load.over = true;
		kept.destroy();
		several.destroy();
		pipe.socket.destroy();
	};
}

scenario(`${UPGRADES} upgrades under load: no request fails`, { ...options, memory: true, timeout: 150_000 }, async (server, t) => {
	const { api } = server;
	for (const id of ['e', 'p', 't', 'once']) await server.session({ id });
	await api.create({ id: 'w', argv: ['cat'] });
	const { pid } = server;
	const go = path.join(server.cwd, 'go');
	await upgrade(server);
	const before = { descriptors: count(pid) };

	const terminal = await follow(server, 't');
	await api.input('t', 'n=0; while [ ! -e go ]; do echo line $((n++)); sleep 0.01; done; echo fin""ished\r');
	const once = api.call('POST', '/api/session/once/exec', { command: 'echo once >>runs; while [ ! -e go ]; do sleep 0.02; done; echo "the end"' }, { timeout: 120_000 });
	once.catch(() => {});
	const load = new Load();
	const close = addLoad(load, server);
	t.after(close);
	for (let n = 0; n < UPGRADES; n++) {
		const half = ask(server, 'GET', '/api/session/list');
		const slow = new Pipe(server).send(half.slice(0, half.length / 2));
		await upgrade(server);
		slow.send(half.slice(half.length / 2));
		assert.equal((await slow.take(1))[0].status, 200);
		slow.socket.destroy();
		load.check();
		assert.ok(!terminal.trouble, String(terminal.trouble));
	}
	writeFileSync(go, '');
	const { data } = await once;
	assert.deepEqual([data.output, data.exitCode, data.endedBy], ['the end\n', 0, 'command']);
	assert.equal(readFileSync(path.join(server.cwd, 'runs'), 'utf8'), 'once\n');
	await load.stop();
	for (const [name, count] of Object.entries(load.done)) assert.ok(count >= UPGRADES / 5, `${name}: ${count}`);

	await server.outputMatches('t', /finished\r\n/);
	await until('the rest of the terminal', async () => terminal.offset >= (await api.get('t')).offset);
	const { oldest } = await api.outputPiece('t', 0, 1);
	assert.equal(oldest, 0);
	assert.deepEqual(terminal.gaps, []);
	assert.ok(terminal.bytes.equals(await api.output('t', 0, terminal.offset)), 'the terminal has the exact bytes');
	assert.ok(terminal.resumes >= UPGRADES, String(terminal.resumes));
	terminal.over = true;

	assert.equal(server.pid, pid);
	assert.equal(await metric(server, 'upgrades_total'), UPGRADES + 1);
	terminal.terminate();
	close();
	await until(() => `no more descriptors than ${before.descriptors}: ${JSON.stringify(descriptors(pid))}`, () => count(pid) <= before.descriptors);
	assert.ok(await metric(server, 'upgrade_held_milliseconds') < 5000);
});

scenario('requests that wait are answered by the next server', options, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	await api.create({ id: 'w', argv: ['cat'] });
	await api.call('POST', '/api/process/start', { command: 'read x; echo "got $x"; exit 3', processId: 'p', stdin: 'pipe' });
	const waits = async () => (await server.api.raw('GET', '/metrics')).text.match(/^ringside_http1_connections (\d+)$/m)[1];
	const body = 'x'.repeat(200_000);
	const held = [
		api.call('POST', '/api/session/w/wait', { until: [{ type: 'match', pattern: 'second' }] }),
		api.call('POST', '/api/session/w/wait', { until: [{ type: 'bytes', count: 1_000_000 }], timeoutMs: 1500 }),
		api.call('POST', '/api/process/p/wait', { for: 'exit' }),
		api.call('POST', '/api/session/s/exec', { command: 'echo once >>runs; until [ -e go ]; do sleep 0.02; done; printf "a\\r\\nb\\n"', format: 'base64', timeoutMs: 60_000 }),
	];
	await until('the requests', async () => Number(await waits()) === held.length + 1);
	await until('the command', () => existsSync(path.join(server.cwd, 'runs')));
	const { data: [{ id }] } = await api.call('GET', '/api/session/s/exec');
	held.push(api.call('GET', `/api/session/s/exec/${id}?waitMs=60000`));
	// A body of which a part has come: the request has not begun.
	const posted = ask(server, 'POST', '/api/write', { body: JSON.stringify({ path: 'written', content: body }) });
	const slow = new Pipe(server).send(posted.slice(0, 150_000));
	const half = new Pipe(server).send(ask(server, 'GET', '/api/ping') + ask(server, 'GET', '/api/version').slice(0, 20));
	await half.take(1);
	await until('all connections', async () => Number(await waits()) === held.length + 3);
	for (let n = 0; n < 3; n++) await upgrade(server);
	slow.send(posted.slice(150_000));
	half.send(ask(server, 'GET', '/api/version').slice(20));
	assert.equal((await slow.take(1))[0].status, 200);
	assert.equal((await half.take(2))[1].json.version, (await api.call('GET', '/api/version')).version);
	assert.equal(readFileSync(path.join(server.cwd, 'written'), 'utf8'), body);
	await api.input('w', 'first\rsecond\r');
	await api.call('POST', '/api/process/p/input', { data: 'it\n' });
	writeFileSync(path.join(server.cwd, 'go'), '');
	const [match, bytes, exit, exec, result] = await Promise.all(held);
	assert.deepEqual([match.fired, match.text, bytes.type], [0, 'second', 'timeout']);
	assert.equal(exit.exitCode, 3);
	assert.equal(Buffer.from(exec.data.output, 'base64').toString(), 'a\r\r\nb\r\n');
	assert.deepEqual([exec.data.id, exec.data.exitCode, result.data.exitCode, result.data.output], [id, 0, 0, 'a\r\nb\n']);
	assert.equal(readFileSync(path.join(server.cwd, 'runs'), 'utf8'), 'once\n');
});

scenario('answers that are not read are sent by the next server', options, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	await api.call('POST', '/api/session/s/exec', { command: 'seq 200000 | head -c 1000000' });
	const target = '/api/session/s/output?from=0';
	const whole = await api.raw('GET', target);
	assert.ok(whole.body.length >= 1_000_000);
	const readers = [['one', ask(server, 'GET', target) + ask(server, 'GET', '/api/ping')], ['last', ask(server, 'GET', target, { headers: { Connection: 'close' } })],
		['page', ask(server, 'GET', '/', { token: null }).repeat(50)]].map(([name, text]) => {
		const pipe = new Pipe(server).send(text);
		pipe.socket.pause();
		return [name, pipe];
	});
	await until('the requests', async () => (await metric(server, 'http1_connections')) === readers.length + 1);
	await upgrade(server, { waitMs: 0 });
	await upgrade(server, { waitMs: 0 });
	for (const [, pipe] of readers) pipe.socket.resume();
	const [one, last, page] = readers.map(([, pipe]) => pipe);
	const [output, ping] = await one.take(2);
	assert.equal(output.text, whole.text);
	assert.equal(ping.status, 200);
	assert.equal((await last.take(1))[0].text, whole.text);
	await until('the end', () => last.closed);
	assert.ok((await page.take(50)).every(({ status: each, text }) => each === 200 && text === page.answers[0].text));
});

scenario('a program that does not start replaces nothing', options, async (server, t) => {
	const { api } = server;
	const before = await instance(server);
	const fails = async (pattern, make) => {
		writeFileSync(place('bad'), '');
		rmSync(place('bad'));
		make();
		install(place('bad'));
		const error = await api.refused(500, 'UPGRADE_FAILED', 'POST', '/api/upgrade');
		assert.match(error.message, pattern);
		const { code, stderr } = await cli(server, ['upgrade']);
		assert.notEqual(code, 0);
		assert.match(stderr, pattern);
		assert.equal(await instance(server), before);
	};
	t.after(() => install());
	const script = (text) => () => {
		writeFileSync(place('bad'), text, { mode: 0o755 });
	};
	await fails(/Exec format error/, script('garbage'));
	await fails(/Permission denied/, () => writeFileSync(place('bad'), 'x', { mode: 0o644 }));
	await fails(/ended with status 0/, script('#!/bin/true\n'));
	await fails(/unknown option/, script('#!/bin/sh\nprintf "\\033[31munknown option\\n" >&2; exit 2\n'));
	await fails(/killed by signal 9/, script('#!/bin/sh\nkill -9 $$\n'));
	await fails(/UTF-8/, script('#!/bin/sh\nprintf "\\377\\377"; exit 1\n'));
	assert.ok(!(await api.raw('GET', '/metrics')).text.includes('ringside_upgrades_total 1'));
	const at = server.stderr.length;
	process.kill(server.pid, 'SIGUSR2');
	await until('the log', () => /module=upgrade msg="not upgraded"/.test(server.stderr.slice(at)));
	rmSync(place('ringside-server'));
	assert.match((await api.refused(500, 'UPGRADE_FAILED', 'POST', '/api/upgrade')).message, /No such file/);
	assert.equal(await instance(server), before);
	// One that is replaced after its trial: the present program is executed again.
	script('#!/bin/sh\nprintf garbage >"$0.new"; chmod 755 "$0.new"; mv "$0.new" "$0"; echo "ringside: the options are valid"\n')();
	install(place('bad'));
	rmSync(place('bad'));
	await server.session({ id: 's' });
	assert.equal((await api.raw('POST', '/api/upgrade')).status, 202);
	await until('another instance', async () => (await instance(server)) !== before);
	assert.match(server.stderr, /cannot execute the new program/);
	assert.equal(await server.run('s', 'echo sa""fe'), 'safe\n');
	await upgrade(server);
	assert.notEqual(await instance(server), before);
});

scenario('what the next server could not continue is waited for, and ended by force', options, async (server) => {
	const { api } = server;
	const before = await instance(server);
	const busy = (fields) => api.refused(409, 'UPGRADE_BUSY', 'POST', '/api/upgrade', { waitMs: 0, ...fields });
	const run = api.raw('POST', '/api/run', { command: 'until [ -e go ]; do sleep 0.02; done; echo ran' }, { timeout: 60_000 });
	await until('the run', async () => (await api.call('GET', '/api/drain')).runs === 1);
	const { context, message } = await busy();
	assert.deepEqual([context.requests, context.runs, context.contexts], [1, 1, 0], message);
	assert.equal(await instance(server), before);
	assert.equal((await cli(server, ['upgrade', '--wait', '0'])).code, 125);
	// Patience: it ends meanwhile.
	const patient = api.raw('POST', '/api/upgrade', { waitMs: 60_000 }, { timeout: 60_000 });
	assert.match((await busy()).message, /under way/);
	writeFileSync(path.join(server.cwd, 'go'), '');
	assert.equal((await run).json.stdout, 'ran\n');
	assert.equal((await patient).status, 202);
	await until('another instance', async () => (await instance(server)) !== before);

	// A caller that disconnects does not want it any more.
	rmSync(path.join(server.cwd, 'go'));
	const second = await instance(server);
	const lost = api.raw('POST', '/api/run', { command: 'sleep 1000' }, { timeout: 60_000 }).catch((error) => error.code);
	await until('the run', async () => (await api.call('GET', '/api/drain')).runs === 1);
	const caller = new Pipe(server).send(ask(server, 'POST', '/api/upgrade', { body: JSON.stringify({ waitMs: 600_000 }) }));
	await until('the upgrade', async () => /under way/.test((await api.raw('POST', '/api/upgrade', { waitMs: 0 })).text));
	caller.socket.destroy();
	await until('its end', async () => !/under way/.test((await api.raw('POST', '/api/upgrade', { waitMs: 0 })).text));
	assert.equal(await instance(server), second);
	assert.match(await good(server, ['upgrade', '--force', '--wait', '0.1']), /^upgraded from (\S+) to \1\n$/);
	const { json: ended } = await lost; // its client is told, as in a shutdown
	assert.deepEqual([ended.success, ended.signal ?? ended.exitCode], [false, 'TERM']);
	assert.notEqual(await instance(server), second);
	assert.equal((await api.call('GET', '/api/drain')).runs, 0);
});

scenario('SIGUSR2, drains and queued commands', options, async (server) => {
	const { api } = server;
	const { pid } = server;
	await server.session({ id: 's' });
	await api.call('POST', '/api/drain');
	const since = (await api.call('GET', '/api/drain')).since;
	let before = await instance(server);
	install();
	for (let n = 0; n < 5; n++) process.kill(pid, 'SIGUSR2');
	await until('another instance', async () => (await instance(server)) !== before);
	assert.deepEqual((({ draining, since: at }) => [draining, at])(await api.call('GET', '/api/drain')), [true, since]);
	// A command in the queue would be lost.
	const first = api.call('POST', '/api/session/s/exec', { command: 'until [ -e go ]; do sleep 0.02; done' }, { timeout: 60_000 });
	await until('the command', async () => (await api.call('GET', '/api/session/s/state')).state.status === 'running');
	const second = api.call('POST', '/api/session/s/exec', { command: 'echo second', queue: true }, { timeout: 60_000 });
	await until('the queue', async () => (await api.call('GET', '/api/session/s/exec')).data.some(({ state }) => state === 'queued'));
	const { context } = await api.refused(409, 'UPGRADE_BUSY', 'POST', '/api/upgrade', { waitMs: 0 });
	assert.equal(context.sessions, 1);
	writeFileSync(path.join(server.cwd, 'go'), '');
	assert.equal((await first).data.exitCode, 0);
	assert.equal((await second).data.output, 'second\n');
	before = await instance(server);
	assert.deepEqual(Object.keys(JSON.parse(await good(server, ['upgrade', '--json']))), ['from', 'to', 'instance']);
	assert.notEqual(await instance(server), before);
	assert.equal(server.pid, pid);
});

scenario('a server with TLS', { ...options, ...secure }, async (server) => {
	await server.session({ id: 's' });
	const idle = new Pipe(server, { secure: true }).send(ask(server, 'GET', '/api/ping'));
	await idle.take(1);
	const terminal = await server.client({ sessionId: 's' }).connect();
	await upgrade(server);
	await until('the end of both', () => idle.closed && terminal.closed);
	assert.ok(!idle.error, 'it has ended with close_notify');
	assert.equal(terminal.closed.code, 1001);
	await terminal.connect();
	assert.deepEqual(terminal.gaps, []);
	assert.equal(await server.run('s', 'echo sa""fe'), 'safe\n');
	assert.match(await good(server, ['upgrade']), /^upgraded/);
});

scenario('event streams end, and the token of the environment stays', { ...options, env: { RINGSIDE_TOKEN: 'a-token-of-the-environment' } }, async (server) => {
	await server.session({ id: 's' });
	const events = new EventStream(server, '/api/session/events');
	await events.until('the list', ({ type }) => type === 'sessions');
	await upgrade(server);
	await upgrade(server);
	await until('the end of the stream', () => events.closed);
	assert.equal((await server.api.list()).data.join(), 's');
	for (const file of ['environ', 'cmdline']) {
		assert.ok(!readFileSync(`/proc/${server.pid}/${file}`, 'latin1').includes('a-token-of'), file);
	}
	assert.ok(!server.stderr.includes('a-token-of'));
	assert.ok(!Object.values(descriptors(server.pid)).some((name) => name.includes('memfd:ringside-inheritance')));
});

scenario('killed during an upgrade: the next server starts as always', { ...options, mayHaveDied: true }, async (server) => {
	await server.session({ id: 's' });
	for (let n = 0; n < 5; n++) {
		install();
		const asked = server.api.raw('POST', '/api/upgrade').catch(() => undefined);
		const at = server.stderr.length;
		await until('the upgrade', () => /msg=upgrading/.test(server.stderr.slice(at)), { interval: 1 });
		const pauses = n * 15;
		await new Promise((resolve) => { setTimeout(resolve, pauses); });
		await server.kill('SIGKILL');
		await asked;
		await server.start();
		assert.equal(await server.run('s', `echo ${n}""x`), `${n}x\n`);
	}
	await upgrade(server);
	const local = path.join(server.dir, 'ringside.sock');
	for (let n = 0; n < 5; n++) {
		install();
		assert.equal((await server.api.raw('POST', '/api/upgrade')).status, 202);
		const pauses = n * 10;
		await new Promise((resolve) => { setTimeout(resolve, pauses); });
		assert.deepEqual(await server.kill('SIGTERM'), { code: 0, signal: null });
		assert.ok(!existsSync(local), 'an orderly end removes the socket');
		await server.start();
		assert.equal(await server.run('s', `echo ${n}""y`), `${n}y\n`);
	}
});

const activate = (...what) => ['python3', fileURLToPath(new URL('lib/activate.py', import.meta.url)), 'serve', ...what, '--'];

scenario('passed sockets stay, and the service manager is notified', { ...options, start: false, mayHaveDied: true }, async (server) => {
	const port = await freePort();
	mkdirSync(server.dir, { mode: 0o700 });
	const command = path.join(server.dir, 'ringside.sock');
	server.options.prefix = activate(`tcp:127.0.0.1:${port}`, `unix:${command}`);
	await server.start({ listen: [], wait: false });
	await until('the sockets', () => existsSync(command));
	assert.equal(await good(server, ['ls']), '');
	await server.ready();
	await server.session({ id: 's' });
	const sockets = () => [statSync(command).ino, server.port];
	const before = sockets();
	for (let n = 1; n <= 3; n++) {
		install();
		assert.match(await good(server, ['upgrade']), /^upgraded/);
		const notified = () => server.stderr.match(/^notified (READY|RELOADING)=1$/mg)?.map((line) => line.slice(9)).join(' ');
		await until('the notifications', () => notified() === `READY=1${' RELOADING=1 READY=1'.repeat(n)}`);
		assert.match(server.stderr, /^MONOTONIC_USEC=\\d+$|RELOADING=1/m);
	}
	assert.equal(await server.run('s', 'env | grep -cE "^(LISTEN_|RINGSIDE_INH)"'), '0\n');
	assert.deepEqual(sockets(), before);
	assert.equal((await server.api.list()).data.join(), 's');
	await server.api.delete('s');
	await server.kill('SIGTERM');
	assert.equal(statSync(command).ino, before[0], 'the file belongs to the service manager');
});

scenario('below the init process of a container', {
	...options, prefix: ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'], pids: true, mayHaveDied: true,
	skip: process.getuid() !== 0 && 'only root may make a namespace',
}, async (server) => {
	const first = descendants(server.pid).find((pid) => parentOf(pid) === server.pid);
	await server.session({ id: 's' });
	for (let n = 0; n < 3; n++) {
		const before = await instance(server);
		install();
		process.kill(first, 'SIGUSR2');
		await until('another instance', async () => (await instance(server)) !== before);
	}
	await server.api.delete('s');
	const below = () => descendants(server.pid);
	await until('no zombies', () => below().every((pid) => !status(pid).State?.startsWith('Z')));
	process.kill(first, 'SIGTERM');
	assert.deepEqual(await within('the end of the server', server.ended), { code: 0, signal: null });
});

const deep = path.join(mkdtempSync(path.join(os.tmpdir(), 'rs-deep-')), 'x'.repeat(120));
mkdirSync(deep);
after(() => rmSync(path.dirname(deep), { recursive: true, force: true }));
scenario('a long runtime directory, a cookie of a link, and requests by WebSocket', { ...options, dir: path.join(deep, 'run') }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const { token, link } = await api.link('s', 'driver');
	const cookie = await logIn(server, token);
	const browser = api.as(null, { Cookie: cookie, Origin: server.base });
	const command = (file) => `echo x >>${file}.runs; until [ -e ${file} ]; do sleep 0.02; done; echo ${file}`;
	const asked = browser.call('POST', `/api/session/s/exec?link=${link.id}`, { command: command('go') }, { timeout: 60_000 });
	await until('the command', () => existsSync(path.join(server.cwd, 'go.runs')));
	await upgrade(server);
	await upgrade(server);
	writeFileSync(path.join(server.cwd, 'go'), '');
	assert.equal((await asked).data.output, 'go\n');

	const control = await new ControlClient(server).connect();
	const reads = control.ask('GET', '/api/session/s/exec');
	await control.end(reads);
	control.ask('POST', '/api/session/s/exec', { command: command('then') });
	await until('the command', () => existsSync(path.join(server.cwd, 'then.runs')));
	const { context } = await api.refused(409, 'UPGRADE_BUSY', 'POST', '/api/upgrade', { waitMs: 0 });
	assert.equal(context.requests, 1);
	await control.end(control.ask('GET', '/api/ping')); // it is read again
	writeFileSync(path.join(server.cwd, 'then'), '');
	assert.match(await good(server, ['upgrade']), /^upgraded/);
	await until('the end of the socket', () => control.closed);
	assert.equal(control.closed.code, 1001);
	const asker = await new ControlClient(server).connect();
	assert.equal((await asker.end(asker.ask('POST', '/api/upgrade'))).status, 202);
	await until('the end of the socket', () => asker.closed);
	await api.call('GET', '/api/ping');
	for (const name of ['go', 'then']) assert.equal(readFileSync(path.join(server.cwd, `${name}.runs`), 'utf8'), 'x\n');
	await server.kill('SIGTERM');
	assert.ok(!existsSync(path.join(server.dir, 'ringside.sock')), 'its socket is removed at the end');
	await server.start();
});
