// /rpc: the calls of the Sandbox SDK, by the published capnweb client and by hand. sandbox_class.test.mjs tests the SDK itself.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { eventsOf, joined } from '../sandbox/sdk.mjs';
import { RawClient, frame } from './lib/client.mjs';
import { breakOff, ControlClient, metric, untilMetric } from './lib/control.mjs';
import { allPids, cmdline, isAlive, rssAnon } from './lib/proc.mjs';
import { Road } from './lib/road.mjs';
import { sanitized } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared, together } from './lib/together.mjs';
import { stays, until, within } from './lib/until.mjs';

const MiB = 1 << 20;

/** The main object, over a new socket, which is its `socket`. */
function session(server, { token = server.token, base = server.base, headers = {} } = {}) {
	const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/rpc`, {
		headers: { Authorization: `Bearer ${token}`, ...headers },
	});
	server.clients.add({ terminate: () => socket.terminate() });
	const closed = new Promise((resolve) => { socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })); });
	return { socket, closed, main: newWebSocketRpcSession(socket) };
}

const pinging = together({ args: ['--ping-interval', '1'] });

/** A test with a capnweb client. */
function rpc(name, options, body, group = shared) {
	if (typeof options === 'function') [options, body] = [{}, options];
	group(name, options, async (server) => {
		const own = session(server);
		try {
			await body(own.main, server, own);
		} finally {
			own.socket.terminate();
		}
	});
}

/** A client that sends frames directly. */
const byHand = (server, options) => new ControlClient(server, { path: '/rpc', ...options }).connect();
const answerTo = (control, id) => control.until(`answer to ${id}`, ([type, of]) => /^(resolve|reject)$/.test(type) && of === id);

async function fails(promise, code, message) {
	let value;
	try {
		value = await within('answer', Promise.resolve(promise));
	} catch (error) {
		assert.equal(error.code, code, `${error.code}: ${error.message}`);
		assert.match(error.message, message);
		assert.equal(typeof error.details, 'object');
		return error;
	}
	return assert.fail(`it did not fail: ${JSON.stringify(value)}`);
}

rpc('methods, their results and their errors', async (main, server) => {
	assert.equal(await main.utils.ping(), 'healthy');
	assert.match(await main.utils.getVersion(), /^\d+\.\d+\.\d+/);
	assert.ok((await main.utils.getCommands()).includes('bash'));
	const made = await main.utils.createSession({ id: 's', env: { NAME: 'me', NOT: undefined }, cwd: server.cwd });
	assert.deepEqual([made.success, made.id, typeof made.message, made.containerPlacementId], [true, 's', 'string', null]);
	assert.deepEqual(await main.utils.listSessions(), { sessions: ['s'] });
	const twice = await fails(main.utils.createSession({ id: 's' }), 'SESSION_ALREADY_EXISTS', /s/);
	assert.equal(twice.details.sessionId, 's');
	const result = await main.commands.execute('echo $NAME; echo $X >&2; pwd; (exit 3)', 's', { env: { X: 'x' }, cwd: '/usr' });
	assert.deepEqual([result.success, result.exitCode, result.stdout, result.stderr], [false, 3, 'me\n/usr', 'x']);
	assert.equal((await main.commands.execute('printf "ä 🚀 \\0\\001"', 's')).stdout, 'ä 🚀 \0\u0001', 'text of all kinds');
	assert.equal((await main.commands.execute('printf %s "\ud800x"', 's')).stdout, '\ufffdx', 'half a pair');
	assert.equal((await main.utils.deleteSession('s')).success, true);
	const gone = await fails(main.utils.deleteSession('s'), 'INTERNAL_ERROR', /^Session not found$/);
	assert.equal(gone.details.originalError, 'Session not found');
	await fails(main.commands.execute('', 's'), 'INVALID_COMMAND', /./);
	await fails(main.commands.execute('true', 's', 'no object'), 'VALIDATION_FAILED', /./);
	await fails(main.processes.getProcess('../kill-all'), 'VALIDATION_FAILED', /./);
	await fails(main.processes.getProcess('nothing'), 'PROCESS_NOT_FOUND', /./);
	const later = await fails(main.tunnels.destroyTunnel('t'), 'NOT_IMPLEMENTED', /not available/);
	assert.equal(JSON.parse(later.message).code, 'NOT_IMPLEMENTED', 'the SDK reads unknown codes from the text');
	await assert.rejects(async () => await main.utils.nothing(), { name: 'TypeError', message: '\'utils.nothing\' is not a function.' });
	await assert.rejects(async () => await main.nothing.at.all(), TypeError);
	await assert.rejects(async () => await main.utils.map((x) => x), /not supported/);
	assert.equal(await main.utils.ping(), 'healthy', 'and the session goes on');
});

rpc('calls on pending results', async (main) => {
	const made = main.utils.createSession({ id: 'p' });
	assert.equal((await main.commands.execute('echo hi', made.id)).stdout, 'hi', 'a property of a result is an argument');
	assert.equal(await main.commands.execute('echo more', 'p').stdout, 'more');
	const failed = main.utils.createSession({ id: 'p' });
	await assert.rejects(async () => await main.commands.execute('echo never', failed.id), { code: 'SESSION_ALREADY_EXISTS' });
	await assert.rejects(async () => await failed.id.and.so.on(), { code: 'SESSION_ALREADY_EXISTS' });
	const { commands } = main;
	const again = commands.dup();
	assert.equal((await again.execute('echo dup', 'p')).stdout, 'dup', 'a part of the main object can be duplicated');
	again[Symbol.dispose]();
});

rpc('streams are complete, several at once', async (main, server) => {
	await main.utils.createSession({ id: 's' });
	const streams = await Promise.all([1, 2, 3, 4].map((n) => main.commands.executeStream(`seq 1 ${n}0000`, '__DISABLE_SESSION__')));
	const all = await Promise.all(streams.map((stream) => eventsOf(stream)));
	for (const [at, events] of all.entries()) {
		assert.equal(joined(events, 'stdout').split('\n').length, (at + 1) * 10_000 + 1);
		assert.deepEqual([events[0].type, events.at(-1).type, events.at(-1).exitCode], ['start', 'complete', 0]);
	}
	const raw = await new Response(await main.commands.executeStream('echo x', 's')).text();
	assert.match(raw, /^event: start\ndata: \{"type":"start"/);
	assert.match(raw, /\nevent: stdout\ndata: .*\n\nevent: complete\ndata: /);
	await fails(main.commands.executeStream('', 's'), 'INVALID_COMMAND', /./);

	const { processId } = await main.processes.startProcess('echo one; echo two >&2; exit 5', 's', { processId: 'p' });
	const logs = await eventsOf(await main.processes.streamProcessLogs(processId));
	assert.deepEqual([...new Set(logs.map(({ type }) => type))].sort(), ['exit', 'stderr', 'stdout'], 'without process_info');
	assert.equal(logs.at(-1).exitCode, 5);
	assert.deepEqual([(await main.processes.getProcessLogs('p')).stdout, (await main.processes.listProcesses()).processes.length], ['one\n', 1]);
	await untilMetric(server, 'streams', 0);
});

rpc('a cancelled reader and a closed socket end streams, but not processes', {}, async (main, server, own) => {
	await main.processes.startProcess('exec perl -e \'$| = 1; while (1) { print "tick\\n"; select undef, undef, undef, 0.02 }\'', '__DISABLE_SESSION__', { processId: 'p' });
	const first = await main.processes.streamProcessLogs('p');
	const second = await main.processes.streamProcessLogs('p');
	await untilMetric(server, 'streams', 2);
	await first.cancel();
	await untilMetric(server, 'streams', 1);
	assert.match(new TextDecoder().decode((await second.getReader().read()).value), /tick/);
	own.socket.terminate();
	await untilMetric(server, 'streams', 0);
	await untilMetric(server, 'rpc_sockets', 0);
	const { process } = (await server.api.call('GET', '/api/process/p'));
	assert.equal(process.status, 'running');
	assert.ok(isAlive(process.pid));
	await server.api.call('DELETE', '/api/process/p');
}, pinging);

rpc('a silent stream sends comments', {}, async (main) => {
	await main.processes.startProcess('sleep 1000', '__DISABLE_SESSION__', { processId: 'p' });
	const reader = (await main.processes.streamProcessLogs('p')).getReader();
	assert.equal(new TextDecoder().decode((await within('comment', reader.read(), 30_000)).value), ':\n\n');
	await reader.cancel();
	await main.processes.killProcess('p');
}, pinging);

/** A stream of `count` pieces, each made on demand. */
function pieces(count, size, { end = (controller) => controller.close() } = {}) {
	let n = 0;
	return new ReadableStream({
		pull(controller) {
			if (n < count) controller.enqueue(new Uint8Array(size).fill(97 + (n++ % 26)));
			else return end(controller);
			return undefined;
		},
	});
}

const whole = async (stream) => Buffer.from(await new Response(stream).arrayBuffer());

rpc('files as streams of bytes, both ways', { memory: true, timeout: 100_000 }, async (main, server) => {
	await main.utils.createSession({ id: 's', cwd: server.cwd });
	const [count, size] = [times(180, 300), 100_001]; // more than may be in flight
	const written = await main.files.writeFileStream('deep/er/file', pieces(count, size), 's');
	assert.deepEqual([written.success, written.path, written.bytesWritten, typeof written.timestamp], [true, 'deep/er/file', count * size, 'string']);
	const expected = await whole(pieces(count, size));
	assert.ok(readFileSync(`${server.cwd}/deep/er/file`).equals(expected));
	assert.deepEqual(readdirSync(`${server.cwd}/deep/er`), ['file'], 'no temporary file is left');
	const before = sanitized() ? 0 : rssAnon(server.pid);
	const read = await main.files.readFile(`${server.cwd}/deep/er/file`, 's', { encoding: 'none' });
	assert.deepEqual([read.success, read.path, read.size, read.mimeType, typeof read.timestamp],
		[true, `${server.cwd}/deep/er/file`, count * size, 'application/octet-stream', 'string']);
	assert.ok((await whole(read.content)).equals(expected));
	if (!sanitized()) assert.ok(rssAnon(server.pid) - before < count * size, `memory grew by ${rssAnon(server.pid) - before}`);

	await main.files.writeFileStream('empty.txt', pieces(0), 's');
	const empty = await main.files.readFile('empty.txt', 's', { encoding: 'none' });
	assert.deepEqual([empty.size, empty.mimeType, (await whole(empty.content)).length], [0, 'text/plain', 0]);
	assert.equal((await whole((await main.files.readFile('/proc/version', 's', { encoding: 'none' })).content)).length > 10, true, 'a file with size 0');

	await fails(main.files.readFile('nothing', 's', { encoding: 'none' }), 'FILE_NOT_FOUND', /nothing/);
	await fails(main.files.readFile(server.cwd, 's', { encoding: 'none' }), 'FILE_NOT_FOUND', /./);
	await fails(main.files.writeFileStream(`${server.cwd}/deep`, pieces(50, 100_000), 's'), 'IS_DIRECTORY', /./);
	await fails(main.files.writeFileStream('empty.txt/x', pieces(50, 100_000), 's'), 'FILE_NOT_FOUND', /./);
	await fails(main.files.writeFileStream('', pieces(1, 1), 's'), 'VALIDATION_FAILED', /./);
	await fails(main.files.writeFileStream('a\0b', pieces(1, 1), 's'), 'VALIDATION_FAILED', /./);
	await fails(main.files.writeFileStream('x'.repeat(5000), pieces(1, 1), 's'), 'VALIDATION_FAILED', /./);
	await fails(main.files.writeFileStream('x', 'no stream', 's'), 'VALIDATION_FAILED', /./);
	await fails(main.files.writeFileStream('x', pieces(1, 1), '../s'), 'VALIDATION_FAILED', /./);
	assert.ok(!existsSync(`${server.cwd}/x`));
	assert.equal(await main.utils.ping(), 'healthy', 'and the session goes on');
});

rpc('interrupted streams of bytes leave nothing', { timeout: 100_000 }, async (main, server, own) => {
	await main.utils.createSession({ id: 's', cwd: server.cwd });
	const kept = () => readdirSync(server.cwd).filter((name) => !name.startsWith('.')).sort();
	await main.files.writeFile('old', 'as it was', 's');
	const list = kept();
	await fails(main.files.writeFileStream('old', pieces(3, 200_000, { end: (controller) => controller.error(new Error('mine')) }), 's'), 'STREAM_ERROR', /broken off/);
	assert.deepEqual(kept(), list);
	assert.equal(readFileSync(`${server.cwd}/old`, 'utf8'), 'as it was');
	// An endless stream, on a socket that closes.
	const other = session(server);
	const never = other.main.files.writeFileStream(`${server.cwd}/old`, pieces(3, 200_000, { end: () => new Promise(() => {}) }), 's');
	never.catch(() => {});
	await until('the temporary file', () => allPids().length && readdirSync(server.cwd).length >= list.length && metric(server, 'rpc_sockets').then((n) => n === 2));
	other.socket.terminate();
	await untilMetric(server, 'rpc_sockets', 1);
	await until('the end of the temporary file', () => kept().join() === list.join());
	assert.equal(readFileSync(`${server.cwd}/old`, 'utf8'), 'as it was');
	// A reader that cancels, and one whose file is truncated meanwhile.
	await main.files.writeFileStream('big', pieces(40, 100_000), 's');
	const { content } = await main.files.readFile('big', 's', { encoding: 'none' });
	const reader = content.getReader();
	assert.ok((await reader.read()).value.length > 0);
	await reader.cancel();
	await untilMetric(server, 'streams', 0);
	const cut = (await main.files.readFile('big', 's', { encoding: 'none' })).content;
	truncateSync(`${server.cwd}/big`, 10);
	await assert.rejects(whole(cut), /any further/);
	// Twenty at once, each complete.
	const count = (n) => times(3, 20) + n;
	const all = await Promise.all(Array.from({ length: 20 }, (_, n) => main.files.writeFileStream(`n${n}`, pieces(count(n), 20_000), 's')));
	assert.deepEqual(all.map(({ bytesWritten }) => bytesWritten), Array.from({ length: 20 }, (_, n) => count(n) * 20_000));
	const back = await Promise.all(all.map(async (_, n) => (await whole((await main.files.readFile(`n${n}`, 's', { encoding: 'none' })).content)).length));
	assert.deepEqual(back, all.map(({ bytesWritten }) => bytesWritten));
	await untilMetric(server, 'streams', 0);
	own.socket.terminate();
	await untilMetric(server, 'rpc_sockets', 0);
});

shared('a stalled stream of a client delays nothing else, and costs no memory', { memory: true, timeout: 100_000 }, async (server) => {
	const control = await byHand(server);
	control.send(['pipe']);
	control.send(['push', ['pipeline', 0, ['files', 'writeFileStream'], [`${server.cwd}/stuck`, ['readable', 1], '__DISABLE_SESSION__']]]);
	control.send(['pull', 2]);
	const piece = Buffer.alloc(60_000, 'x').toString('base64').replace(/=+$/, '');
	for (let n = 0; n < 5; n += 1) control.send(['stream', ['pipeline', 1, ['write'], [['bytes', piece]]]]);
	await until('five accepted chunks', () => control.frames.filter(([type]) => type === 'resolve').length === 5);
	assert.ok(!existsSync(`${server.cwd}/stuck`), 'the file appears when it is complete');
	assert.equal((await server.api.raw('GET', '/api/ping')).status, 200);
	control.send(['stream', ['pipeline', 1, ['close'], []]]);
	assert.equal((await answerTo(control, 2))[2].bytesWritten, 300_000);
	assert.equal(statSync(`${server.cwd}/stuck`).size, 300_000);
	control.terminate();
	await untilMetric(server, 'rpc_sockets', 0);
});

shared('a revoked link ends its session; foreign sites and wrong tokens get none', async (server) => {
	await server.session({ id: 's' });
	const { token, link } = await server.api.link('s', 'viewer', 600_000);
	const watches = session(server, { token });
	assert.equal(await watches.main.utils.ping(), 'healthy');
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	assert.equal((await within('close', watches.closed)).code, 4401);
	for (const [headers, status] of [[{ Origin: 'http://evil.example' }, 403], [{ Host: 'evil.example' }, 403],
		[{ Authorization: 'Bearer wrong' }, 401], [{ Authorization: undefined }, 401]]) {
		const raw = new RawClient(server).upgrade('/rpc', headers);
		assert.equal(await raw.status(), status, JSON.stringify(headers));
		raw.terminate();
	}
	assert.equal((await server.api.raw('GET', '/rpc')).status, 426);
});

const nested = (depth, inner) => '{"a":'.repeat(depth) + inner + '}'.repeat(depth);
/** Messages that end a session, with the reason. unit/ws/rpc/test_engine.c tests limits that need no socket. */
const hostile = {
	'a depth bomb': [[`["push",${nested(5000, '1')}]`], /too deep/],
	'references in nested values': [[['push', { a: { b: 1 }, c: [Array(15_000).fill(['import', 0])] }], ['push', ['pipeline', 1, ['a']]],
		['push', [Array(15_000).fill(['pipeline', 2])]]].map((message) => JSON.stringify(message)), /too large|too much/],
	'a message that is too large': [[JSON.stringify(['push', 'x'.repeat(17 * MiB)])], /too large/],
	'bytes': [[Buffer.from('["push",1]')], /text/],
};
shared('messages that end a session affect nothing else', { memory: true, timeout: 200_000 }, async (server) => {
	const good = session(server);
	for (const [name, [messages, why]] of Object.entries(hostile)) {
		assert.equal(await good.main.utils.ping(), 'healthy', name);
		const before = sanitized() ? 0 : rssAnon(server.pid);
		const control = await byHand(server);
		for (const message of messages) control.send(message);
		await control.untilClosed({ timeout: 30_000 });
		assert.equal(control.closed.code, 1008, name);
		assert.match(control.closed.reason, why, name);
		const abort = control.frames.find(([type]) => type === 'abort');
		if (abort) assert.match(abort[1][2], why, name);
		assert.equal(await good.main.utils.ping(), 'healthy', name);
		if (!sanitized()) assert.ok(rssAnon(server.pid) - before < 200 * MiB, `${name}: memory grew by ${rssAnon(server.pid) - before}`);
		await untilMetric(server, 'rpc_sockets', 1);
	}
	good.socket.terminate();
});

shared('a chain of promises is resolved once', { timeout: 120_000 }, async (server) => {
	/** Time to resolve the end of a chain of this length many times. */
	const took = async (length) => {
		const control = await byHand(server);
		control.send(['push', ['promise', -1]]);
		for (let n = 1; n < length; n += 1) control.send(['resolve', -n, ['promise', -n - 1]]);
		const ask = async (id) => {
			control.send(['pull', id]);
			await control.until('the response', ([type, of]) => type === 'resolve' && of === id, { timeout: 60_000 });
		};
		control.send(['push', 0]);
		await ask(2);
		const began = performance.now();
		const last = 3 + times(15, 160);
		for (let id = 3; id < last; id += 1) {
			control.send(['push', [Array(2500).fill(['pipeline', 1])]]);
			control.send(['release', id, 1]);
		}
		control.send(['push', 0]);
		await ask(last);
		control.terminate();
		return performance.now() - began;
	};
	const short = await took(1);
	const long = await took(15_000);
	assert.ok(long < 5 * short + 500, `${long} ms, and ${short} ms without the chain`);
});

shared('fragmented frames', async (server) => {
	for (const sent of [frame({ payload: '["push",' , fin: false }), frame({ payload: '["push",1]', length: 5000 }),
		Buffer.concat([frame({ payload: '["push",["pipel', fin: false }), frame({ opcode: 0, payload: 'ine",0,["utils","ping"],[]]]' }), frame({ payload: '["pull",1]' })])]) {
		const raw = new RawClient(server).upgrade('/rpc');
		assert.equal(await raw.status(), 101);
		raw.send(sent);
		if (sent.length > 60) await until('the response', () => raw.text.includes('["resolve",1,"healthy"]'));
		raw.terminate();
	}
	await untilMetric(server, 'rpc_sockets', 0);
	assert.equal((await server.api.raw('GET', '/api/ping')).status, 200);
});

shared('a client that never reads costs no memory, and delays nothing else', { memory: true, timeout: 100_000 }, async (server) => {
	const road = await Road.build(server, Infinity);
	const control = await byHand(server, { base: road.base, headers: { Host: server.host } });
	control.send(['push', ['pipeline', 0, ['utils', 'ping'], []]]);
	control.send(['pull', 1]);
	await answerTo(control, 1);
	const before = sanitized() ? 0 : rssAnon(server.pid);
	road.pace = 0;
	// Responses of 1 MiB, and endless streams.
	const big = 'head -c 1000000 /dev/zero | tr "\\0" x';
	const endless = `yes ${server.port}`;
	for (let n = 2; n < times(10, 60); n += 1) {
		control.send(['push', ['pipeline', 0, ['commands', n % 2 ? 'execute' : 'executeStream'], [n % 2 ? big : endless, '__DISABLE_SESSION__']]]);
		control.send(['pull', n]);
	}
	let highest = 0;
	await stays('other requests are served, in bounded memory', async () => {
		highest = Math.max(highest, sanitized() ? 0 : rssAnon(server.pid) - before);
		return (await server.api.raw('GET', '/api/ping')).status === 200;
	}, times(1000, 3000));
	assert.ok(highest < 64 * MiB, `memory grew by ${highest}`);
	control.terminate();
	await untilMetric(server, 'rpc_sockets', 0);
	await untilMetric(server, 'streams', 0);
	await until('the end of the commands', () => !allPids().some((pid) => cmdline(pid) === endless), { timeout: 30_000 });
});

shared('connections that end halfway leave nothing', { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's' });
	const rounds = times(12, 48); // 12 rounds combine each kind of work with each end
	for (let n = 0; n < rounds; n += 1) {
		const control = await byHand(server);
		const id = n % 5 === 0 ? `n${n}` : 's'; // this session exists already
		const calls = [['commands', 'executeStream', ['seq 1 100000', '__DISABLE_SESSION__']], ['commands', 'execute', ['sleep 0.05', '__DISABLE_SESSION__']],
			['utils', 'createSession', [{ id }]], ['commands', 'execute', ['echo', ['pipeline', 3, ['id']]]]];
		for (const [at, [space, method, args]] of calls.entries()) {
			control.send(['push', ['pipeline', 0, [space, method], args]]);
			control.send(['pull', at + 1]);
		}
		control.send(['push', [[['pipeline', 1], ['promise', -1], ['export', -2]]]]);
		control.send(['pull', 5]);
		await breakOff(control, n);
	}
	await untilMetric(server, 'streams', 0);
	await untilMetric(server, 'rpc_sockets', 0);
	assert.ok(await metric(server, 'http_requests_total') > 0);
});

shared('the server ends', async (server) => {
	const own = session(server);
	const stream = await own.main.commands.executeStream('echo up; sleep 1000', '__DISABLE_SESSION__');
	await stream.getReader().read();
	const stalled = await byHand(server);
	stalled.socket.pause();
	const { code } = await server.kill('SIGTERM');
	assert.equal(code, 0);
	assert.equal((await own.closed).code, 1001);
	await server.start();
});

rpc('code runs, with callbacks', async (main) => {
	const context = await main.interpreter.createCodeContext({ language: 'python', cwd: '/tmp', envVars: { NAME: 'me' } });
	assert.deepEqual([context.language, context.cwd, context.createdAt instanceof Date], ['python', '/tmp', true]);
	const seen = { stdout: '', results: [] };
	const value = await main.interpreter.runCodeStream(context.id, 'import os\nprint("out", os.environ["NAME"])\n[1]', 'python', {
		onStdout({ text, timestamp }) { seen.stdout += timestamp > 0 ? text : 'no time'; },
		onResult({ json }) { seen.results.push(json); },
	});
	assert.deepEqual([value, seen], [undefined, { stdout: 'out me\n', results: [[1]] }]);
	// A callback that throws, or is missing, affects nothing else.
	await main.interpreter.runCodeStream(context.id, 'print(1)', 'python', { onStdout() { throw new Error('mine'); } });
	await main.interpreter.runCodeStream(context.id, 'print(1)', 'python', {});
	const listed = await main.interpreter.listCodeContexts();
	assert.deepEqual(listed.map(({ id }) => id), [context.id]);
	assert.ok(listed[0].lastUsed instanceof Date);
	assert.equal(await main.interpreter.deleteCodeContext(context.id), undefined);
	await fails(main.interpreter.runCodeStream(context.id, '1', 'python', {}), 'CONTEXT_NOT_FOUND', /./);
	await fails(main.interpreter.deleteCodeContext(context.id), 'CONTEXT_NOT_FOUND', /./);
});
