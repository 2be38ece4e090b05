// The published client of the Sandbox container, over HTTP and over its WebSocket, with our server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { eventsOf, joined, sdk, transports } from '../sandbox/sdk.mjs';
import { cmdline } from './lib/proc.mjs';
import { long, times } from './lib/soak.mjs';
import { shared, tidy } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const sessionless = '__DISABLE_SESSION__';
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;

/** Returns the error that a promise must reject with. */
async function failure(promise) {
	let value;
	try {
		value = await promise;
	} catch (error) {
		return error;
	}
	return assert.fail(`it did not fail: ${JSON.stringify(value)}`);
}

/** Assert that the client rejects with its own error of this class, code and status, and with the server's context. */
async function fails(promise, name, code, status) {
	const error = await failure(promise);
	assert.equal(error.name, name, error.stack);
	assert.equal(error.code, code, error.message);
	assert.equal(error.httpStatus, status, error.message);
	assert.ok(error.message.length > 0);
	assert.match(error.errorResponse.timestamp, iso);
	return error;
}

/** A test over each transport. */
function clients(name, body) {
	shared(name, async (server) => {
		for (const [transport, make] of Object.entries(transports)) {
			const client = make(server);
			try {
				assert.equal(client.getTransportMode(), transport.toLowerCase());
				await body(client, server, transport);
			} catch (error) {
				throw new Error(`over ${transport}`, { cause: error });
			} finally {
				client.disconnect();
			}
			await tidy(server);
		}
	});
}

/** Streams fail differently: over HTTP with the client's error, over its WebSocket with a plain one that quotes it. */
async function streamFails(promise, transport, status, code) {
	const error = await failure(promise);
	if (transport === 'HTTP') {
		assert.equal(error.code, code, error.message);
		assert.equal(error.httpStatus, status);
	} else {
		assert.ok(error.message.startsWith(`Stream error: ${status} - {`), error.message);
		assert.equal(JSON.parse(error.message.slice(error.message.indexOf('{'))).code, code);
	}
}

async function listening(server) {
	await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
	return server.address().port;
}

clients('ping, version and commands', async (client) => {
	assert.equal(await client.utils.ping(), 'pong');
	assert.match(await client.utils.getVersion(), /^\d+\.\d+\.\d+/);
	const commands = await client.utils.getCommands();
	assert.ok(Array.isArray(commands));
	for (const each of ['bash', 'ls', 'cat']) assert.ok(commands.includes(each), `${each} is a command`);
	assert.deepEqual(commands, [...new Set(commands)].sort(), 'sorted, each once');
});

clients('sessions are created, distinguished and deleted', async (client, server) => {
	const made = await client.utils.createSession({ id: 'one', cwd: server.cwd, env: { NAME: 'it is me' } });
	assert.equal(made.success, true);
	assert.equal(made.containerPlacementId, null);
	assert.match(made.timestamp, iso);
	assert.equal(made.data.id, 'one');
	await client.utils.createSession({ id: 'two' });
	assert.deepEqual((await server.api.list()).data.sort(), ['one', 'two']);

	const twice = await fails(client.utils.createSession({ id: 'one' }),
		'SessionAlreadyExistsError', 'SESSION_ALREADY_EXISTS', 409);
	assert.equal(twice.sessionId, 'one');
	assert.equal(twice.containerPlacementId, null);

	const { stdout } = await client.commands.execute('echo "$NAME"; pwd', 'one');
	assert.equal(stdout, `it is me\n${server.cwd}`);
	assert.equal((await client.commands.execute('echo "<$NAME>"', 'two')).stdout, '<>');

	const gone = await client.utils.deleteSession('two');
	assert.equal(gone.success, true);
	assert.equal(gone.sessionId, 'two');
	assert.match(gone.timestamp, iso);
	assert.deepEqual((await server.api.list()).data, ['one']);
	const missing = await fails(client.utils.deleteSession('two'), 'SandboxError', 'INTERNAL_ERROR', 500);
	assert.equal(missing.message, 'Session not found', 'clients compare this text');
	await fails(client.utils.createSession({ id: '../x' }), 'ValidationFailedError', 'VALIDATION_FAILED', 400);
});

clients("a command's result is exact, except for the last newline in a session", async (client, server, transport) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	const cases = [
		['echo out; echo err >&2; (exit 7)', { exitCode: 7, stdout: 'out\n', stderr: 'err\n' }],
		['true', { exitCode: 0, stdout: '', stderr: '' }],
		['printf "no newline"', { exitCode: 0, stdout: 'no newline', stderr: '' }],
		['printf "a\\r\\nb\\n\\n"', { exitCode: 0, stdout: 'a\r\nb\n\n', stderr: '' }],
		['printf "\\n"; printf "\\n\\n" >&2', { exitCode: 0, stdout: '\n', stderr: '\n\n' }],
		['printf "a\\r\\n\\0\\n"', { exitCode: 0, stdout: 'a\r\n\0\n' }],
		['printf "äöü 漢字 🚀\\n"', { exitCode: 0, stdout: 'äöü 漢字 🚀\n', stderr: '' }],
		['bash -c \'kill -TERM $$\'', { exitCode: 143 }],
		['cat <<END\nhello "there" $((1 + 2))\nEND', { exitCode: 0, stdout: 'hello "there" 3\n', stderr: '' }],
		['seq 1 20000', { exitCode: 0, stdout: `${Array.from({ length: 20_000 }, (_, i) => i + 1).join('\n')}\n` }],
		['cat', { exitCode: 0, stdout: '', stderr: '' }],
		['[ -t 1 ]', { exitCode: 1 }],
	];
	for (const id of ['s', sessionless])
		for (const [command, want] of cases.slice(0, long || transport === 'HTTP' ? undefined : 4)) {
			const result = await client.commands.execute(command, id);
			for (const [field, value] of Object.entries(want))
				assert.equal(result[field], id === 's' && typeof value === 'string' ? value.replace(/\n$/, '') : value, `${field} of ${command} in ${id}: ${JSON.stringify(result).slice(0, 500)}`);
			assert.equal(result.success, result.exitCode === 0);
			assert.equal(result.command, command);
			assert.equal(typeof result.duration, 'number');
			assert.match(result.timestamp, iso);
			if (id === 's') assert.equal(result.sessionId, 's');
		}
	for (const command of ['echo "open', 'if then', 'nosuchcommand_at_all']) {
		const result = await client.commands.execute(command, 's');
		assert.ok(result.exitCode > 0 && result.stderr.length > 0, JSON.stringify(result));
	}
	assert.equal((await client.commands.execute('nosuchcommand_at_all', sessionless)).exitCode, 127);
	assert.equal((await client.commands.execute('echo well', 's')).stdout, 'well', 'the shell survives');
});

clients('cwd and env', async (client, server) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	const out = async (command, options) => (await client.commands.execute(command, 's', options)).stdout;

	assert.equal(await out('pwd; echo $ONCE', { cwd: '/', env: { ONCE: 'a $b "c" \'d\'\nsecond' } }),
		'/\na $b "c" \'d\' second');
	assert.equal(await out('pwd; echo "<$ONCE>"'), `${server.cwd}\n<>`, 'neither affects the session');

	assert.equal((await client.commands.execute('pwd', sessionless, { cwd: '/usr' })).stdout, '/usr\n');
	const nowhere = await failure(client.commands.execute('pwd', sessionless, { cwd: `${server.cwd}/gone` }));
	assert.ok(nowhere.message.includes(`${server.cwd}/gone`), nowhere.message);
	assert.ok(nowhere.httpStatus >= 400 && nowhere.httpStatus !== 503, `${nowhere.httpStatus}`);
});

clients('a timeout ends the command, but neither the shell nor the next command', async (client, server) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	await client.commands.execute('here=still', 's');
	const late = (id) => client.commands.execute('echo before; sleep 300', id, { timeoutMs: 300 });
	const error = await fails(late('s'), 'CommandError', 'COMMAND_EXECUTION_ERROR', 500);
	assert.match(error.message, /timeout|timed out/i);
	const { exitCode, success, stdout } = await late(sessionless);
	assert.deepEqual([exitCode, success, stdout], [124, false, 'before\n'], 'partial output is kept');
	await until('the end of both commands', () => !server.leftovers().some((pid) => cmdline(pid).startsWith('sleep')));
	assert.equal((await client.commands.execute('echo $here', 's')).stdout, 'still');
	assert.equal((await client.commands.execute('echo next', sessionless)).stdout, 'next\n');
});

clients('a command is streamed', async (client, server, transport) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	for (const id of ['s', sessionless]) {
		const events = await eventsOf(await client.commands.executeStream(
			'echo one; echo two >&2; printf three; exit_code=4; (exit $exit_code)', id));
		assert.equal(events[0].type, 'start');
		assert.match(events[0].command, /^echo one/);
		assert.equal(events.at(-1).type, 'complete', JSON.stringify(events));
		assert.equal(events.at(-1).exitCode, 4);
		assert.equal(joined(events, 'stdout'), 'one\nthree');
		assert.equal(joined(events, 'stderr'), 'two\n');
		for (const event of events) assert.match(event.timestamp, iso);
	}
	// The first line comes while the command still runs.
	const stream = await client.commands.executeStream(`echo first; until [ -e ${server.cwd}/go ]; do sleep 0.02; done; echo last`, 's');
	const seen = [];
	for await (const event of sdk.parseSSEStream(stream)) {
		seen.push(event);
		if (event.type === 'stdout' && event.data.startsWith('first'))
			await client.commands.execute(`touch ${server.cwd}/go`, sessionless);
	}
	assert.equal(joined(seen, 'stdout'), 'first\nlast\n');
	assert.equal(seen.at(-1).exitCode, 0);
	await streamFails(client.commands.executeStream('   ', 's'), transport, 400, 'INVALID_COMMAND');
});

clients('processes: started, listed, read, followed, killed', async (client, server) => {
	const { processes } = client;
	const quick = await processes.startProcess('echo out; echo err >&2; exit 5', sessionless);
	assert.equal(quick.success, true);
	assert.match(quick.processId, /^proc_/);
	assert.equal(typeof quick.pid, 'number');
	assert.equal(quick.command, 'echo out; echo err >&2; exit 5');
	assert.match(quick.timestamp, iso);
	const events = await eventsOf(await processes.streamProcessLogs(quick.processId));
	assert.equal(events[0].type, 'process_info');
	assert.equal(events[0].processId, quick.processId);
	assert.equal(events[0].command, quick.command);
	assert.equal(joined(events, 'stdout'), 'out\n');
	assert.equal(joined(events, 'stderr'), 'err\n');
	assert.equal(events.at(-1).type, 'exit');
	assert.equal(events.at(-1).exitCode, 5);
	assert.equal(events.at(-1).processId, quick.processId);
	const { process: ended } = await processes.getProcess(quick.processId);
	assert.equal(ended.id, quick.processId);
	assert.equal(ended.status, 'failed');
	assert.equal(ended.exitCode, 5);
	assert.equal(ended.pid, quick.pid);
	assert.match(ended.startTime, iso);
	assert.match(ended.endTime, iso);
	const logs = await processes.getProcessLogs(quick.processId);
	assert.deepEqual([logs.success, logs.processId, logs.stdout, logs.stderr], [true, quick.processId, 'out\n', 'err\n']);

	const named = await processes.startProcess('trap "" HUP; echo up; sleep 300 & wait', sessionless,
		{ processId: 'my-own', cwd: server.cwd, env: { ONE: '1' } });
	assert.equal(named.processId, 'my-own');
	const list = await processes.listProcesses();
	assert.equal(list.success, true);
	const mine = list.processes.find(({ id }) => id === 'my-own');
	assert.equal(mine.status, 'running');
	assert.equal(mine.pid, named.pid);
	assert.equal(mine.exitCode, undefined);
	assert.ok(list.processes.some(({ id, status }) => id === quick.processId && status === 'failed'));
	const killed = await processes.killProcess('my-own');
	assert.deepEqual([killed.success, killed.processId], [true, 'my-own']);
	const after = await until('the end of the process', async () => {
		const { process: now } = await processes.getProcess('my-own');
		return now.status !== 'running' && now;
	});
	assert.equal(after.status, 'killed');
	assert.equal(after.exitCode, 143);
	assert.equal((await failure(processes.killProcess('my-own'))).httpStatus, 404, 'it has ended already');

	const several = await Promise.all(Array.from({ length: times(2, 4) }, () => processes.startProcess('sleep 300', sessionless)));
	const all = await processes.killAllProcesses();
	assert.equal(all.success, true);
	assert.equal(all.cleanedCount, several.length);
	for (const { processId } of several)
		await until('the end of each', async () => (await processes.getProcess(processId)).process.status === 'killed');
});

clients('processes of a session have its directory and environment', async (client, server) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	await client.commands.execute('mkdir deep; cd deep; export FROM_SESSION=yes; shopt -s expand_aliases; twice() { echo "$1$1"; }', 's');
	const started = await client.processes.startProcess('pwd; echo $FROM_SESSION; twice x; cd /; FROM_SESSION=no', 's');
	const events = await eventsOf(await client.processes.streamProcessLogs(started.processId));
	assert.equal(joined(events, 'stdout'), `${server.cwd}/deep\nyes\nxx\n`);
	assert.equal(events.at(-1).exitCode, 0);
	assert.equal((await client.commands.execute('pwd; echo $FROM_SESSION', 's')).stdout, `${server.cwd}/deep\nyes`);
});

clients('errors about processes', async (client, _, transport) => {
	const { processes } = client;
	const missing = await fails(processes.getProcess('missing'), 'ProcessNotFoundError', 'PROCESS_NOT_FOUND', 404);
	assert.equal(missing.processId, 'missing');
	await streamFails(processes.streamProcessLogs('missing'), transport, 404, 'PROCESS_NOT_FOUND');
	await fails(processes.startProcess('   ', sessionless), 'CommandError', 'INVALID_COMMAND', 400);
});

clients('waiting for ports', async (client) => {
	const closed = net.createServer();
	const port = await listening(closed);
	await new Promise((resolve) => { closed.close(resolve); });
	const watch = eventsOf(await client.ports.watchPort({ port, mode: 'tcp', interval: 100 }));
	const late = net.createServer((socket) => socket.destroy());
	await new Promise((resolve) => { late.listen(port, '127.0.0.1', resolve); });
	try {
		const events = await within('the readiness', watch);
		assert.deepEqual(events.map(({ type }) => type), ['watching', 'ready']);
		for (const event of events) assert.equal(event.port, port);
	} finally {
		late.close();
	}

	let status = 500;
	const web = http.createServer((request, response) => {
		response.writeHead(request.url === '/health' ? status : 404).end();
	});
	const webPort = await listening(web);
	try {
		const stream = await client.ports.watchPort(
			{ port: webPort, mode: 'http', path: '/health', statusMin: 200, statusMax: 299, interval: 100 });
		const events = [];
		for await (const event of sdk.parseSSEStream(stream)) {
			events.push(event);
			if (event.type === 'watching') status = 204;
		}
		assert.deepEqual(events.map(({ type }) => type), ['watching', 'ready']);
		assert.equal(events[1].statusCode, 204);
	} finally {
		web.close();
	}
});

clients('files of several megabytes', async (client, server) => {
	const text = 'ä "quoted"\n'.repeat(times(200_000, 500_000));
	assert.equal((await client.files.writeFile(`${server.cwd}/text`, text, sessionless)).success, true);
	assert.equal(readFileSync(`${server.cwd}/text`, 'utf8'), text);
	const bytes = Buffer.alloc(times(3, 9) << 20, Buffer.from(Array.from({ length: 256 }, (_, n) => (n * 7) % 256)));
	await client.files.writeFile(`${server.cwd}/bytes`, bytes.toString('base64'), sessionless, { encoding: 'base64' });
	assert.ok(readFileSync(`${server.cwd}/bytes`).equals(bytes));
});

clients('many concurrent calls get their own results', async (client, server) => {
	await client.utils.createSession({ id: 's', cwd: server.cwd });
	const results = await Promise.all(Array.from({ length: times(18, 60) }, (_, i) =>
		client.commands.execute(`echo ${i}; echo e${i} >&2; (exit ${i})`, i % 3 ? sessionless : 's')));
	for (const [i, result] of results.entries()) {
		const end = i % 3 ? '\n' : '';
		assert.deepEqual([result.stdout, result.stderr, result.exitCode], [`${i}${end}`, `e${i}${end}`, i]);
	}
});
