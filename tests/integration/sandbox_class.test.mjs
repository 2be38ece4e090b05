// The whole Sandbox class of the published client, as a Worker uses it, with our server for its container.
import assert from 'node:assert/strict';
import http from 'node:http';
import { eventsOf, joined, sdk } from '../sandbox/sdk.mjs';
import { namespaceOf } from '../sandbox/local.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

/** A scenario for each transport. */
function sandboxes(name, body, options = {}) {
	for (const transport of ['http', 'websocket'])
		scenario(`${name}, over ${transport}`, options, async (server) => {
			const namespace = namespaceOf(server, { SANDBOX_TRANSPORT: transport });
			const sandbox = sdk.getSandbox(namespace, 'box');
			await namespace.started('box');
			try {
				await body(sandbox, server, namespace);
			} finally {
				namespace.disconnect();
			}
		});
}

async function failure(promise) {
	let value;
	try {
		value = await promise;
	} catch (error) {
		return error;
	}
	return assert.fail(`it did not fail: ${JSON.stringify(value)}`);
}

async function freePort() {
	const server = http.createServer();
	await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
	const { port } = server.address();
	await new Promise((resolve) => { server.close(resolve); });
	return port;
}

sandboxes('exec in the default session', async (sandbox, server) => {
	const result = await sandbox.exec('echo out; echo err >&2; (exit 4)');
	assert.deepEqual([result.success, result.exitCode, result.stdout, result.stderr, result.sessionId],
		[false, 4, 'out\n', 'err\n', 'sandbox-box']);
	assert.equal(result.command, 'echo out; echo err >&2; (exit 4)');
	assert.deepEqual((await server.api.list()).data, ['sandbox-box'], 'one session, which it made');

	await sandbox.exec('cd /usr; export SEEN="by the next"');
	assert.equal((await sandbox.exec('pwd; echo $SEEN')).stdout, '/usr\nby the next\n');
	assert.equal((await sandbox.exec('pwd; echo $X', { cwd: '/', env: { X: 'once' } })).stdout, '/\nonce\n');

	// A new object finds its session.
	const elsewhere = namespaceOf(server);
	const again = sdk.getSandbox(elsewhere, 'box');
	await elsewhere.started('box');
	assert.equal((await again.exec('pwd')).stdout, '/usr\n');
	await assert.rejects(sandbox.deleteSession('sandbox-box'), /default session/);
});

sandboxes('exec with callbacks, and as a stream', async (sandbox) => {
	const pieces = { stdout: '', stderr: '' };
	let completed;
	const result = await sandbox.exec('echo one; echo two >&2; echo three; (exit 3)', {
		stream: true,
		onOutput(stream, data) { pieces[stream] += data; },
		onComplete(value) { completed = value; },
	});
	assert.deepEqual(pieces, { stdout: 'one\nthree\n', stderr: 'two\n' });
	assert.deepEqual([result.stdout, result.stderr, result.exitCode, result.success], ['one\nthree\n', 'two\n', 3, false]);
	assert.equal(completed, result);

	const events = await eventsOf(await sandbox.execStream('seq 1 5000'));
	assert.equal(events[0].type, 'start');
	assert.equal(joined(events, 'stdout').split('\n').length, 5001);
	assert.deepEqual([events.at(-1).type, events.at(-1).exitCode], ['complete', 0]);

	const ended = await failure(sandbox.exec('exit 3', { stream: true, onOutput() {} }));
	assert.match(ended.message, /shell has ended/, 'an event of an error has its text in data');
	assert.equal((await sandbox.exec('echo again')).stdout, 'again\n');
});

sandboxes('sessions of its own', async (sandbox, server) => {
	const session = await sandbox.createSession({ id: 'mine', cwd: server.cwd, env: { NAME: 'Ada' } });
	assert.equal(session.id, 'mine');
	assert.equal((await session.exec('echo $NAME; pwd')).stdout, `Ada\n${server.cwd}\n`);
	await session.exec('count=1');
	const same = await sandbox.getSession('mine');
	assert.equal((await same.exec('echo $count')).stdout, '1\n');

	await session.setEnvVars({ TOKEN: 'it\'s "quoted" $HOME', NAME: undefined });
	assert.equal((await session.exec('printf "%s|%s" "$TOKEN" "${NAME-unset}"')).stdout, 'it\'s "quoted" $HOME|unset');
	assert.equal((await sandbox.exec('echo "<$NAME$TOKEN$count>"')).stdout, '<>\n', 'apart from the default one');

	const twice = await failure(sandbox.createSession({ id: 'mine' }));
	assert.equal(twice.name, 'SessionAlreadyExistsError');

	const ended = await failure(session.exec('exit 3'));
	assert.ok(ended instanceof sdk.SessionTerminatedError, ended.stack);
	assert.equal(ended.exitCode, 3);
	assert.equal((await session.exec('echo again')).stdout, 'again\n');

	const deleted = await sandbox.deleteSession('mine');
	assert.deepEqual([deleted.success, deleted.sessionId], [true, 'mine']);
	assert.deepEqual((await server.api.list()).data, ['sandbox-box']);
});

sandboxes('variables for all that comes', async (sandbox) => {
	await sandbox.setEnvVars({ EARLY: 'before the session' });
	assert.equal((await sandbox.exec('echo $EARLY')).stdout, 'before the session\n');
	await sandbox.setEnvVars({ LATE: 'in the session', EARLY: undefined });
	assert.equal((await sandbox.exec('echo "$LATE|${EARLY-unset}"')).stdout, 'in the session|unset\n');
});

sandboxes('processes: logs, callbacks, waiting, killing', async (sandbox, server) => {
	const output = { stdout: '', stderr: '' };
	let code;
	const called = await sandbox.startProcess('echo to stdout; echo to stderr >&2; exit 6', {
		onOutput(stream, data) { output[stream] += data; },
		onExit(value) { code = value; },
	});
	await until('exit', () => code !== undefined);
	assert.equal(code, 6);
	assert.deepEqual(output, { stdout: 'to stdout\n', stderr: 'to stderr\n' });
	assert.deepEqual(await called.getLogs(), { stdout: 'to stdout\n', stderr: 'to stderr\n' });
	assert.equal(await called.getStatus(), 'failed');
	assert.deepEqual(await called.waitForExit(10_000), { exitCode: 6 });

	const slow = await sandbox.startProcess(
		`echo starting; until [ -e ${server.cwd}/go ]; do sleep 0.02; done; echo "listening on 80"; echo odd >&2; sleep 300`);
	assert.equal(slow.status, 'running');
	assert.equal(typeof slow.pid, 'number');
	assert.equal((await slow.waitForLog('starting', 10_000)).line, 'starting');
	const log = slow.waitForLog(/listening on (\d+)/, 10_000);
	await sandbox.exec(`touch ${server.cwd}/go`);
	assert.equal((await log).match[1], '80');
	assert.equal((await slow.waitForLog('odd', 10_000)).line, 'odd');
	const never = await failure(slow.waitForLog('never said', 200));
	assert.ok(never instanceof sdk.ProcessReadyTimeoutError, never.stack);
	assert.ok(await failure(slow.waitForExit(100)) instanceof sdk.ProcessReadyTimeoutError);
	await slow.kill();
	await until('killed', async () => await slow.getStatus() === 'killed');
	assert.deepEqual(await slow.waitForExit(10_000), { exitCode: 143 });

	const early = await failure((await sandbox.startProcess('echo something else')).waitForLog('ready', 10_000));
	assert.ok(early instanceof sdk.ProcessExitedBeforeReadyError, early.stack);

	const all = await sandbox.listProcesses();
	assert.ok(all.length >= 3);
	assert.ok(all.every(({ startTime }) => startTime instanceof Date && !Number.isNaN(startTime.getTime())));
	assert.equal(all.find(({ id }) => id === slow.id).status, 'killed');
	assert.equal((await sandbox.getProcess(called.id)).exitCode, 6);
	assert.equal(await sandbox.getProcess('nobody'), null);

	await sandbox.startProcess('sleep 300');
	await sandbox.startProcess('sleep 300');
	assert.equal(await sandbox.killAllProcesses(), 2);
});

sandboxes('a process that serves a port', async (sandbox, server) => {
	const port = await freePort();
	const script = `require('http').createServer((q, a) => { a.statusCode = q.url === '/up' ? 200 : 503; a.end(); }).listen(${port}, '127.0.0.1')`;
	const web = await sandbox.startProcess(`sleep 0.2; exec '${process.execPath}' -e "${script}"`, { cwd: server.cwd });
	await web.waitForPort(port, { path: '/up', timeout: 20_000, interval: 100 });
	await web.waitForPort(port, { mode: 'tcp', timeout: 20_000 });
	const never = await failure(web.waitForPort(port, { path: '/other', timeout: 400, interval: 100 }));
	assert.ok(never instanceof sdk.ProcessReadyTimeoutError, never.stack);
	await web.kill();
	await until('end', async () => await web.getStatus() === 'killed');
	const early = await failure(web.waitForPort(port, { timeout: 10_000 }));
	assert.ok(early instanceof sdk.ProcessExitedBeforeReadyError, early.stack);
});

sandboxes('without the default session nothing is shared', async (sandbox, server, namespace) => {
	const bare = sdk.getSandbox(namespace, 'bare', { enableDefaultSession: false });
	const result = await bare.exec('cd /usr; X=1; echo $$');
	assert.equal(result.sessionId, undefined);
	assert.equal((await bare.exec('echo "<$X>"')).stdout, '<>\n');
	assert.deepEqual((await server.api.list()).data, []);
	const started = await bare.startProcess('echo hi');
	assert.deepEqual(await started.waitForExit(10_000), { exitCode: 0 });
	assert.equal((await started.getLogs()).stdout, 'hi\n');
});

sandboxes('its terminal is the shell that exec uses', async (sandbox) => {
	await sandbox.exec('cd /usr');
	const { status, webSocket } = await sandbox.terminal(
		new Request('http://localhost/terminal', { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } }),
		{ cols: 90, rows: 30 });
	assert.equal(status, 101);
	try {
		let text = '';
		let ready = false;
		webSocket.addEventListener('message', ({ data }) => {
			if (typeof data === 'string') ready ||= JSON.parse(data).type === 'ready';
			else text += Buffer.from(data).toString();
		});
		webSocket.accept();
		await until('ready', () => ready);
		webSocket.send(new TextEncoder().encode('pwd; stty size; cd /etc\r'));
		await until(() => `the answer in ${JSON.stringify(text)}`, () => /\/usr\r\n30 90\r\n/.test(text));
		await until('the new directory', async () => (await sandbox.exec('pwd')).stdout === '/etc\n');
	} finally {
		webSocket.close();
	}
});
