// The preview of the Sandbox's next release: /rpc with its main object, and /ws/terminal, by its published client and by hand.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { next, nextNamespace } from '../sandbox/next.mjs';
import { untilMetric } from './lib/control.mjs';
import { isAlive } from './lib/proc.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

// Its log of what it does is none of ours.
console.debug = () => {};

const utf8 = (text) => new TextEncoder().encode(text);
const decoded = (bytes) => Buffer.from(bytes).toString();
/** A cursor as ours are made, which clients must not do. */
const forged = (store, offset) => Buffer.from(`v1.${store}.${offset}`).toString('base64url');

async function eventsOf(stream) {
	const events = [];
	for await (const event of stream) events.push(event);
	return events;
}
const joined = (events, type) => decoded(Buffer.concat(events.filter((event) => event.type === type).map(({ data }) => data)));

async function failure(promise) {
	let value;
	try {
		value = await within('answer', Promise.resolve(promise));
	} catch (error) {
		return error;
	}
	return assert.fail(`it did not fail: ${JSON.stringify(value)}`);
}

async function fails(promise, code) {
	const error = await failure(promise);
	assert.equal(error.code, code, `${error.code}: ${error.message}`);
	return error;
}

function open(server, { token = server.token } = {}) {
	const socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}/rpc`, { headers: { Authorization: `Bearer ${token}` } });
	server.clients.add({ terminate: () => socket.terminate() });
	return { socket, main: newWebSocketRpcSession(socket) };
}

/** The preview's main object, by a socket of its own. */
async function active(server, options) {
	const own = open(server, options);
	own.metadata = await own.main.utils.getRuntimeMetadata();
	await own.main.utils.activateControlSession(own.metadata.runtimeIncarnationID);
	return own;
}

const shared = together();
const brief = together({ args: ['--ring-size', '64K'] });

function raw(name, body, group = shared) {
	group(name, { timeout: 100_000 }, async (server) => {
		const own = await active(server);
		try {
			await body(own.main, server, own);
		} finally {
			own.socket.terminate();
		}
	});
}

const sandboxes = (name, body) => shared(name, { timeout: 100_000 }, (server) => body(next.getSandbox(nextNamespace(server), 'box'), server));

shared('whoever activates it has the main object of the preview, and nobody else', async (server) => {
	const { main, socket } = open(server);
	const metadata = await main.utils.getRuntimeMetadata();
	assert.match(metadata.runtimeIncarnationID, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
	assert.deepEqual([metadata.controlProtocolVersion, typeof metadata.sandboxVersion], [1, 'string']);
	await fails(main.processes.list(), 'CONTROL_PROTOCOL_INCOMPATIBLE');
	await fails(main.terminals.create({ command: ['true'] }), 'CONTROL_PROTOCOL_INCOMPATIBLE');
	await fails(main.extensions.health('x'), 'CONTROL_PROTOCOL_INCOMPATIBLE');
	assert.equal((await main.commands.execute('echo main', '__DISABLE_SESSION__')).stdout, 'main\n', 'as long as it has not');
	for (const wrong of ['', 'x', undefined, 5, metadata.runtimeIncarnationID.toUpperCase()])
		await fails(main.utils.activateControlSession(wrong), 'CONTROL_PROTOCOL_INCOMPATIBLE');
	assert.deepEqual(await main.utils.activateControlSession(metadata.runtimeIncarnationID), metadata);
	assert.deepEqual(await main.utils.activateControlSession(metadata.runtimeIncarnationID), metadata, 'twice is as good as once');
	assert.deepEqual(await main.processes.list(), []);
	await assert.rejects(async () => await main.commands.execute('echo', 's'), TypeError);
	assert.equal(await main.utils.ping(), 'healthy');
	for (const [space, method] of [['extensions', 'connect'], ['extensions', 'health'], ['extensions', 'stop']])
		await fails(main[space][method]({}), 'NOT_IMPLEMENTED');
	socket.terminate();
	// Another connection is the container's again, and a server that was killed is the same runtime.
	const other = open(server);
	await fails(other.main.processes.list(), 'CONTROL_PROTOCOL_INCOMPATIBLE');
	other.socket.terminate();
	await server.kill('SIGKILL');
	await server.start();
	const again = open(server);
	assert.deepEqual(await again.main.utils.getRuntimeMetadata(), metadata);
	again.socket.terminate();
});

sandboxes('processes of the published client', async (sandbox, server) => {
	const quick = await sandbox.exec(['sh', '-c', 'echo out; echo "it\'s $1" >&2; exit 5', 'x', 'an "argument"\n$HOME \'quoted\'']);
	assert.deepEqual(await quick.waitForExit(), { code: 5, timedOut: false });
	const output = await quick.output({ encoding: 'utf8' });
	assert.deepEqual([output.stdout, output.stderr], ['out\n', 'it\'s an "argument"\n$HOME \'quoted\'\n']);
	const status = await quick.status();
	assert.deepEqual([status.state, status.exit.code, status.command.length, status.command[4]], ['exited', 5, 5, 'an "argument"\n$HOME \'quoted\'']);
	assert.ok(Date.parse(status.startedAt) <= Date.parse(status.endedAt));
	const events = await eventsOf(await quick.logs({ follow: true }));
	assert.deepEqual([joined(events, 'stdout'), events.at(-1).type, events.at(-1).exit.code], ['out\n', 'terminal', 5]);
	assert.equal(await quick.exitCode, 5);

	const env = await sandbox.exec(['sh', '-c', 'pwd; echo $WHO'], { cwd: '/usr', env: { WHO: 'me' } });
	assert.equal((await env.output({ encoding: 'utf8' })).stdout, '/usr\nme\n');
	const bytes = await sandbox.exec(['printf', '\\000\\377\\n']);
	assert.deepEqual([...(await bytes.output()).stdout], [0, 255, 10], 'bytes as they are');

	const slow = await sandbox.exec(['sh', '-c', `echo begun; until [ -e ${server.cwd}/go ]; do sleep 0.02; done; echo "listening on 80"; sleep 300`]);
	assert.equal((await slow.status()).state, 'running');
	assert.equal((await slow.waitForLog('begun', { timeout: 10_000 })).match, 'begun');
	const log = slow.waitForLog(/listening on (\d+)/, { timeout: 10_000 });
	writeFileSync(`${server.cwd}/go`, '');
	assert.match((await log).text, /80/);
	assert.equal((await failure(slow.waitForExit({ timeout: 200 }))).name, 'ProcessWaitTimeoutError');
	const found = await sandbox.getProcess(slow.id);
	assert.equal(found.pid, slow.pid);
	assert.ok((await sandbox.listProcesses()).some(({ id }) => id === slow.id));
	await slow.kill();
	assert.deepEqual(await slow.waitForExit({ timeout: 10_000 }), { code: 143, signal: 15, timedOut: false });
	await slow.kill();
	assert.equal(await sandbox.getProcess('nobody'), null);

	const limited = await sandbox.exec(['sleep', '300'], { timeout: 200 });
	assert.equal((await limited.waitForExit({ timeout: 20_000 })).timedOut, true);

	assert.equal((await failure(sandbox.exec(['/nonexistent/program']))).name, 'ProcessSpawnFailedError');
	assert.equal((await failure(sandbox.exec(['no-such-program-anywhere']))).name, 'ProcessSpawnFailedError');
	assert.equal((await failure(sandbox.exec(['true'], { cwd: '/nonexistent' }))).name, 'InvalidProcessCwdError');
	assert.equal((await failure(sandbox.exec(['true'], { env: { 'not a name': 'x' } }))).name, 'InvalidProcessEnvironmentError');
});

sandboxes('a port that a process serves', async (sandbox, server) => {
	const probe = http.createServer();
	await new Promise((resolve) => { probe.listen(0, '127.0.0.1', resolve); });
	const { port } = probe.address();
	await new Promise((resolve) => { probe.close(resolve); });
	const web = await sandbox.exec([process.execPath, '-e', `setTimeout(() => require('http').createServer((q, a) => { a.statusCode = q.url === '/up' ? 200 : 503; a.end(); }).listen(${port}, '127.0.0.1'), 100)`], { cwd: server.cwd });
	await web.waitForPort(port, { timeout: 20_000 });
	await web.waitForPort(port, { mode: 'http', path: '/up', status: 200, timeout: 20_000 });
	await web.waitForPort(port, { mode: 'http', path: '/', status: { min: 500, max: 599 }, interval: 100, timeout: 20_000 });
	await web.kill(9);
	assert.equal((await web.waitForExit({ timeout: 10_000 })).signal, 9);
	assert.equal((await failure(web.waitForPort(port, { timeout: 10_000 }))).name, 'ProcessExitedBeforeReadyError');
});

sandboxes('files of the published client', async (sandbox, server) => {
	const at = (name) => `${server.cwd}/${name}`;
	await sandbox.mkdir(at('a/b'), { recursive: true });
	await sandbox.writeFile(at('a/b/text'), 'ä text');
	assert.equal((await sandbox.readFile(at('a/b/text'))).content, 'ä text');
	assert.equal((await sandbox.exists(at('a/b/text'))).exists, true);
	await sandbox.writeFile(at('bytes'), Buffer.from([0, 255, 1]).toString('base64'), { encoding: 'base64' });
	assert.deepEqual([...readFileSync(at('bytes'))], [0, 255, 1]);
	const large = Buffer.alloc(5_000_001, 'stream');
	const { bytesWritten } = await sandbox.writeFile(at('large'), new Blob([large]).stream());
	assert.equal(bytesWritten, large.length);
	const { content, size } = await sandbox.readFile(at('large'), { encoding: 'none' });
	assert.equal(size, large.length);
	assert.ok(Buffer.from(await new Response(content).arrayBuffer()).equals(large));
	await sandbox.renameFile(at('bytes'), at('renamed'));
	await sandbox.moveFile(at('renamed'), at('a/moved'));
	assert.deepEqual((await sandbox.listFiles(at('a'))).files.map(({ name }) => name).sort(), ['b', 'moved']);
	await sandbox.deleteFile(at('a/moved'));
	assert.equal((await sandbox.exists(at('a/moved'))).exists, false);
	assert.equal((await failure(sandbox.readFile(at('nothing')))).code, 'FILE_NOT_FOUND');
	assert.ok((await next.collectFile(await sandbox.readFileStream(at('a/b/text')))).content.includes('ä text'));
});

sandboxes('watches of the published client', async (sandbox, server) => {
	mkdirSync(`${server.cwd}/w`);
	const check = await sandbox.checkChanges(`${server.cwd}/w`);
	assert.equal(check.status, 'unchanged');
	const stream = await sandbox.watch(`${server.cwd}/w`);
	const seen = [];
	const reading = (async () => {
		for await (const event of next.parseSSEStream(stream)) {
			seen.push(event);
			if (event.type === 'watching') writeFileSync(`${server.cwd}/w/new`, 'x');
			if (event.type === 'event') break;
		}
	})();
	await within('event', reading);
	assert.equal(seen.find(({ type }) => type === 'event').path, `${server.cwd}/w/new`);
	assert.equal((await sandbox.checkChanges(`${server.cwd}/w`, { since: check.version })).status, 'changed');
	await untilMetric(server, 'streams', 0);
});

sandboxes('terminals of the published client', async (sandbox, server) => {
	const terminal = await sandbox.createTerminal({ command: ['bash', '--norc', '--noprofile'], cwd: '/usr', env: { PS1: '$ ', WHO: 'me' }, cols: 90, rows: 30 });
	const snapshot = await terminal.getSnapshot();
	assert.deepEqual([snapshot.status, snapshot.command, snapshot.cwd, typeof snapshot.pid], ['running', ['bash', '--norc', '--noprofile'], '/usr', 'number']);
	await terminal.write(utf8('pwd; echo "<$WHO $TERM>"; stty size\r'));
	let text = '';
	let cursor;
	for await (const event of await terminal.output({ follow: true })) {
		assert.deepEqual([event.type, event.terminalId], ['data', terminal.id]);
		text += decoded(event.data);
		cursor = event.cursor;
		if (/30 90\r\n/.test(text)) break;
	}
	assert.match(text, /\/usr\r\n<me xterm-256color>\r\n30 90\r\n/);
	await terminal.resize(100, 40);
	await terminal.write(utf8('sh -c "stty size; exec sleep 300"\r'));
	await until('the sleep', async () => /40 100/.test(joined(await eventsOf(await terminal.output({ since: cursor })), 'data')));
	await terminal.interrupt();
	await terminal.write(utf8('echo again\r'));
	await until('the shell again', async () => /again\r\n/.test(joined(await eventsOf(await terminal.output({ since: cursor })), 'data')));
	const rest = joined(await eventsOf(await terminal.output({ since: cursor })), 'data');
	assert.ok(!rest.includes('xterm-256color'), 'from the cursor on, and not before');
	assert.deepEqual((await sandbox.listTerminals()).map(({ id }) => id), [terminal.id]);
	assert.equal((await (await sandbox.getTerminal(terminal.id)).getSnapshot()).pid, snapshot.pid);

	await terminal.write(utf8('exit 7\r'));
	assert.deepEqual(await terminal.waitForExit({ timeout: 10_000 }), { code: 7, timedOut: false });
	assert.deepEqual((await terminal.getSnapshot()).exit, { code: 7, timedOut: false });
	const last = (await eventsOf(await terminal.output({ follow: true }))).at(-1);
	assert.deepEqual([last.type, last.state, last.exit.code], ['terminal', 'exited', 7]);
	assert.deepEqual(await eventsOf(await terminal.output({ since: last.cursor, replay: false })).then((all) => all.map(({ type }) => type)), ['terminal']);
	assert.equal((await failure(terminal.write(utf8('x')))).name, 'TerminalControlError');
	await terminal.terminate();

	// One that does not heed TERM.
	const stubborn = await sandbox.createTerminal({ command: ['bash', '-c', 'trap "" TERM INT HUP; echo up; while :; do sleep 0.1; done'] });
	await until('up', async () => /up/.test(joined(await eventsOf(await stubborn.output()), 'data')));
	const { pid } = await stubborn.getSnapshot();
	await stubborn.terminate();
	assert.equal((await stubborn.waitForExit({ timeout: 10_000 })).signal, 9);
	await until('its end', () => !isAlive(pid));
	assert.equal(await sandbox.getTerminal('nobody'), null);
	assert.equal((await failure(sandbox.createTerminal({ command: [] }))).code, 'INVALID_COMMAND');
	assert.equal((await failure(sandbox.createTerminal({ command: ['true'], cwd: '/nonexistent' }))).name, 'InvalidTerminalCwdError');
	assert.equal((await failure(sandbox.createTerminal({ command: ['/nonexistent'] }))).name, 'TerminalControlError');
	assert.equal((await failure(terminal.output({ since: 'garbage' }))).name, 'InvalidTerminalCursorError');
	assert.equal(await server.api.list().then(({ data }) => data.length), 2, 'they are sessions');
});

/* By hand */

raw('cursors: where to go on, and what is none', async (main, server) => {
	const script = 'for i in 1 2 3 4; do echo line $i; sleep 0.05; done';
	const { id } = await main.processes.start(['sh', '-c', script]);
	const logs = async (options, of = id) => eventsOf(await (await main.processes.openLogs(of, options)).stream());
	const all = await logs({ follow: true });
	assert.deepEqual([joined(all, 'stdout'), all.at(-1).type], ['line 1\nline 2\nline 3\nline 4\n', 'terminal']);
	assert.equal(joined(await logs({}), 'stdout'), joined(await logs({ replay: true, follow: false }), 'stdout'), 'what there is');
	for (const [n, { cursor }] of all.entries()) {
		const rest = await logs({ since: cursor, follow: true });
		assert.equal(joined(rest, 'stdout'), joined(all.slice(n + 1), 'stdout'), 'exactly the rest');
		assert.equal(rest.at(-1).type, 'terminal');
	}
	assert.deepEqual((await logs({ replay: false, follow: true })).map(({ type }) => type), ['terminal']);
	const other = await main.processes.start(['sleep', '300']);
	assert.deepEqual(await logs({}, other.id), [], 'nothing yet, and it is not waited for');
	const bad = ['', 'garbage', '%%%', 'x'.repeat(100_000), all[0].cursor.slice(1), `${all[0].cursor}=`, ` ${all[0].cursor}`, 5, null, {}, true, '\0',
		forged(other.id, 0), forged(id, -1), forged(id, 999_999), forged(id, '1e3'), forged(id, '007'), forged(id, 2 ** 53), forged(id, '9007199254740993'),
		forged(id, '9223372036854775807'), forged(id, '9223372036854775808'), forged(id, '99999999999999999999999'), Buffer.from(`v2.${id}.1`).toString('base64url')];
	for (const since of bad.filter((value) => value !== null))
		await fails(main.processes.openLogs(id, { since }), 'INVALID_PROCESS_CURSOR');
	await fails(main.processes.openLogs('nobody', {}), 'PROCESS_NOT_FOUND');
	await fails(main.processes.openLogs('../x', {}), 'PROCESS_NOT_FOUND');
	await fails(main.processes.kill('nobody'), 'PROCESS_NOT_FOUND');
	for (const signal of [0, -9, 65, 1.5, 'NOPE', 2 ** 53, {}]) await fails(main.processes.kill(other.id, signal), 'PROCESS_ERROR');
	for (const command of [undefined, null, 'true', [], [''], [5], ['a\0b'], Array.from({ length: 5000 }, () => 'x')])
		await fails(main.processes.start(command), 'INVALID_COMMAND');
	await fails(main.processes.start(['true'], { timeout: 0 }), 'INVALID_COMMAND');
	await fails(main.processes.start(['true'], { cwd: 'relative' }), 'INVALID_PROCESS_CWD');
	assert.equal(await main.processes.hasActive(), true);
	await main.processes.kill(other.id, 9);
	await until('nothing active', async () => !await main.processes.hasActive());
	assert.equal(await server.api.raw('GET', `/api/process/${id}/stream?cursor=99999999`).then(({ status }) => status), 400);
});

raw('what has fallen out of the log is told once', async (main) => {
	const { id } = await main.terminals.create({ command: ['sh', '-c', 'head -c 300000 /dev/zero | tr "\\0" x; echo; echo last; sleep 300'] });
	await until('the last line', async () => joined(await eventsOf(await (await main.terminals.output(id)).stream()), 'data').includes('last'));
	for (const since of [undefined, forged(id, 0), forged(id, 5)]) {
		const events = await eventsOf(await (await main.terminals.output(id, { since })).stream());
		assert.deepEqual(events.map(({ type }) => type).filter((type) => type === 'truncated'), ['truncated']);
		assert.equal(events[0].type, 'truncated');
		assert.match(joined(events, 'data'), /xxx\r\nlast\r\n$/);
	}
	await fails(main.terminals.output(id, { since: forged(id, 4_000_000) }), 'INVALID_TERMINAL_CURSOR');
	await fails(main.terminals.output(id, { since: forged('other', 4) }), 'INVALID_TERMINAL_CURSOR');
	await fails(main.terminals.output('nobody'), 'TERMINAL_NOT_FOUND');
	await main.terminals.terminate(id);
	assert.equal((await main.terminals.get(id)).status, 'exited');
}, brief);

/** Says something all the time, and starts nothing. */
const ticking = ['perl', '-e', '$| = 1; while (1) { print "tick\\n"; select undef, undef, undef, 0.02 }'];

raw('subscriptions: opened once, cancelled, let go', async (main, server, own) => {
	const { id } = await main.processes.start(ticking);
	const first = await main.processes.openLogs(id, { follow: true });
	const reader = (await first.stream()).getReader();
	assert.equal((await reader.read()).value.type, 'stdout');
	assert.match((await failure(first.stream())).message, /already opened/);
	await first.cancel();
	await within('end', (async () => { while (!(await reader.read()).done); })());
	await first.cancel();
	await untilMetric(server, 'streams', 0);
	// Cancelled before it is opened: a stream of nothing. Let go without a word. Pipelined.
	const second = await main.processes.openLogs(id, { follow: true });
	await second.cancel();
	assert.deepEqual(await eventsOf(await second.stream()), []);
	const third = await main.processes.openLogs(id, { follow: true });
	await untilMetric(server, 'streams', 1);
	third[Symbol.dispose]();
	await untilMetric(server, 'streams', 0);
	const piped = await main.processes.openLogs(id, { follow: true }).stream();
	const pipedReader = piped.getReader();
	assert.equal((await pipedReader.read()).value.type, 'stdout');
	await pipedReader.cancel();
	await untilMetric(server, 'streams', 0);
	const fourth = await main.processes.openLogs(id, { follow: true });
	const going = (await fourth.stream()).getReader();
	await going.read();
	fourth[Symbol.dispose]();
	await within('end', (async () => { while (!(await going.read()).done); })());
	await untilMetric(server, 'streams', 0);
	// More than there may be.
	const many = await Promise.allSettled(Array.from({ length: 140 }, () => main.processes.openLogs(id, { follow: true })));
	assert.ok(many.filter(({ status }) => status === 'fulfilled').length <= 128);
	assert.ok(many.filter(({ status }) => status === 'rejected').every(({ reason }) => reason.code === 'LIMIT_REACHED'));
	for (const { value } of many) value?.[Symbol.dispose]();
	await untilMetric(server, 'streams', 0);
	assert.equal((await (await main.processes.openLogs(id)).stream().then(eventsOf)).length > 0, true, 'and there is room again');
	// Twenty at once, read in part, and the socket closes: all of it ends but the process.
	await Promise.all(Array.from({ length: 20 }, async () => {
		const { value } = await (await (await main.processes.openLogs(id, { follow: true })).stream()).getReader().read();
		assert.equal(value.type, 'stdout');
	}));
	own.socket.terminate();
	await untilMetric(server, 'streams', 0);
	await untilMetric(server, 'rpc_sockets', 0);
	const again = await active(server);
	assert.equal((await again.main.processes.get(id)).state, 'running');
	await again.main.processes.kill(id, 9);
	again.socket.terminate();
});

shared('roles at the main object of the preview', async (server) => {
	const { main, socket } = await active(server);
	const { id } = await main.terminals.create({ command: ['cat'] });
	const { id: hidden } = await main.terminals.create({ command: ['cat'] });
	const { token: driver } = await server.api.link(id, 'driver', 600_000);
	const { token: viewer } = await server.api.link(id, 'viewer', 600_000);
	const drives = await active(server, { token: driver });
	const watches = await active(server, { token: viewer });
	await drives.main.terminals.write(id, utf8('typed\r'));
	await until('echo', async () => joined(await eventsOf(await (await watches.main.terminals.output(id)).stream()), 'data').includes('typed'));
	await fails(watches.main.terminals.write(id, utf8('x')), 'READ_ONLY');
	for (const who of [drives, watches]) {
		await fails(who.main.terminals.get(hidden), 'PERMISSION_DENIED');
		assert.deepEqual((await who.main.terminals.list()).map((each) => each.id), [id]);
		await fails(who.main.terminals.create({ command: ['true'] }), 'PERMISSION_DENIED');
		await fails(who.main.processes.start(['true']), 'PERMISSION_DENIED');
		await fails(who.main.files.readFile('/etc/passwd'), 'PERMISSION_DENIED');
		await fails(who.main.files.readFile('/etc/passwd', { encoding: 'none' }), 'PERMISSION_DENIED');
		who.socket.terminate();
	}
	socket.terminate();
});

/* /ws/terminal */

class Terminal {
	constructor(server, query, token = server.token) {
		this.messages = [];
		this.text = '';
		this.expects = 0;
		const url = `${server.base.replace(/^http/, 'ws')}/ws/terminal?${new URLSearchParams(query)}`;
		this.socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
		server.clients.add({ terminate: () => this.socket.terminate() });
		this.opened = new Promise((resolve) => {
			this.socket.on('open', () => resolve(101));
			this.socket.on('unexpected-response', (request, answer) => {
				answer.resume();
				resolve(answer.statusCode);
			});
			this.socket.on('error', () => {});
		});
		this.closed = new Promise((resolve) => { this.socket.on('close', resolve); });
		this.socket.on('message', (data, binary) => this.take(data, binary));
	}

	take(data, binary) {
		if (binary) {
			assert.equal(data.length, this.expects, 'exactly as many bytes as were announced');
			this.expects = 0;
			this.text += data.toString();
			return;
		}
		assert.equal(this.expects, 0, 'nothing between a chunk and its bytes');
		const message = JSON.parse(data.toString());
		if (message.type === 'chunk') {
			this.expects = message.byteLength;
			this.cursor = message.cursor;
		}
		this.messages.push(message);
	}

	of(type) { return this.messages.find((message) => message.type === type); }
}

raw('the terminal socket of the preview', async (main, server, own) => {
	const runtimeIncarnationID = own.metadata.runtimeIncarnationID;
	const { id } = await main.terminals.create({ command: ['bash', '--norc', '--noprofile'], env: { PS1: '$ ' } });
	const connect = (query = {}, token) => new Terminal(server, { terminalId: id, runtimeIncarnationID, ...query }, token);
	const first = connect({ cols: 91, rows: 31 });
	assert.equal(await first.opened, 101);
	await until('ready', () => first.of('ready'));
	assert.deepEqual(first.messages[0], { type: 'ready' });
	first.socket.send(Buffer.from('stty size\r'));
	await until('the size', () => /31 91\r\n/.test(first.text));
	first.socket.send(JSON.stringify({ type: 'resize', cols: 77, rows: 22 }));
	first.socket.send(Buffer.from('stty size\r'));
	await until('the other size', () => /22 77\r\n/.test(first.text));
	await until('all of it', () => first.expects === 0 && /\$ $/.test(first.text.replace(/\x1b\[\?2004h/g, '')));
	const { cursor } = first;
	const seen = first.text;
	first.socket.terminate();

	// It goes on where it was, and what came meanwhile is there, once.
	await main.terminals.write(id, utf8('echo mean""while\r'));
	const second = connect({ cursor });
	await until('what came meanwhile', () => /meanwhile\r\n/.test(second.text));
	assert.deepEqual(second.of('ready'), { type: 'ready', cursor });
	assert.ok(!second.text.includes('22 77'));
	const whole = connect();
	await until('all', () => /meanwhile\r\n/.test(whole.text));
	assert.ok(whole.text.startsWith(seen) && whole.text.includes(second.text.slice(0, 20)));

	second.socket.send(Buffer.from('sh -c "echo sl\'\'eeps; exec sleep 300"\r')); // what is not in the foreground yet is not interrupted
	await until('the sleep', () => /sleeps\r\n/.test(second.text));
	second.socket.send(JSON.stringify({ type: 'interrupt' }));
	second.socket.send(Buffer.from('echo still"" here\r'));
	await until('it is back', () => /still here\r\n/.test(second.text));
	for (const bad of ['no JSON', '{}', '[]', '{"type":"resize"}', '{"type":"resize","cols":0,"rows":-1}', '{"type":"resize","cols":1e300,"rows":5}', '{"type":"nothing"}', `{"type":"${'x'.repeat(10_000)}"}`]) {
		const before = second.messages.length;
		second.socket.send(bad);
		await until('an error', () => second.messages.slice(before).some(({ type, message }) => type === 'error' && message === 'Invalid control message'));
	}
	second.socket.send(JSON.stringify({ type: 'terminate' }));
	await until('exit', () => second.of('exit') && whole.of('exit'));
	assert.equal(second.of('exit').exit.timedOut, false);
	assert.equal(await second.closed, 1000);
	assert.equal(await whole.closed, 1000);
	// Afterwards: all of it again, and its end.
	const late = connect({ cursor: second.of('exit').cursor });
	await late.closed;
	assert.deepEqual(late.messages.map(({ type }) => type), ['ready', 'exit']);

	for (const [query, status] of [[{ terminalId: '' }, 400], [{ runtimeIncarnationID: 'x' }, 409], [{ runtimeIncarnationID: '' }, 409]]) {
		const refused = connect(query);
		assert.equal(await refused.opened, status, JSON.stringify(query));
	}
	assert.equal(await connect({}, 'wrong').opened, 401);
	const unknown = connect({ terminalId: 'nobody' });
	assert.deepEqual([await unknown.closed, unknown.of('error').message], [1008, 'Terminal not found']);
	for (const wrong of ['garbage', forged(id, -1), forged(id, 10_000_000), forged('other', 1), forged(id, '9223372036854775808'), forged(id, 2 ** 53)]) {
		const strange = connect({ cursor: wrong });
		assert.deepEqual([await strange.closed, strange.messages.map(({ type, code }) => `${type} ${code}`)], [1011, ['error INVALID_TERMINAL_CURSOR']], wrong);
	}
	await untilMetric(server, 'clients', 0);
});

raw('followers that are slow, several at once, and who may', async (main, server, own) => {
	const runtimeIncarnationID = own.metadata.runtimeIncarnationID;
	const length = 12_000_000; // more than sockets take for somebody who does not read
	const { id } = await main.terminals.create({ command: ['bash', '-c', `read; head -c ${length} /dev/zero | tr "\\0" x; echo; echo last; read`] });
	const connect = (token) => new Terminal(server, { terminalId: id, runtimeIncarnationID }, token);
	const many = Array.from({ length: times(3, 20) }, () => connect());
	const stopped = connect();
	await Promise.all([...many, stopped].map(({ opened }) => opened));
	await until('ready', () => [...many, stopped].every((each) => each.of('ready')));
	stopped.socket.pause();
	many[0].socket.send(Buffer.from('\r'));
	await until('the end for all who read', () => many.every(({ text }) => text.endsWith('last\r\n')), { timeout: 60_000 });
	assert.equal((await server.api.raw('GET', '/api/ping')).status, 200);
	stopped.socket.resume();
	await until('the end for who had stopped', () => stopped.text.endsWith('last\r\n'), { timeout: 60_000 });
	assert.ok(stopped.text.length < length ? stopped.of('truncated') : true, 'what is missing is told');
	assert.equal(stopped.socket.readyState, WebSocket.OPEN, 'and nobody is closed for it');
	for (const each of many) each.socket.terminate();

	const { token: viewer, link } = await server.api.link(id, 'viewer', 600_000);
	const { token: elsewhere } = await server.api.link((await server.session({ id: 'other' })).id ?? 'other', 'driver', 600_000);
	assert.equal(await connect(elsewhere).opened, 403);
	const watching = connect(viewer);
	await until('ready', () => watching.of('ready'));
	watching.socket.send(Buffer.from('x'));
	await until('refusal', () => watching.of('error')?.code === 'READ_ONLY');
	watching.socket.send(JSON.stringify({ type: 'terminate' }));
	await until('another', () => watching.messages.filter(({ type }) => type === 'error').length === 2);
	assert.equal((await main.terminals.get(id)).status, 'running');
	await server.api.call('DELETE', `/api/session/${id}/links/${link.id}`);
	assert.equal(await within('close', watching.closed), 4401);
	await server.api.call('POST', '/api/session/delete', { sessionId: id });
	assert.equal(await within('close', stopped.closed), 4410);
	await untilMetric(server, 'clients', 0);
}, brief);
