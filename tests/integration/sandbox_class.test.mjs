// The Sandbox class of the published client, as a Worker uses it, with our server as its container. Its clients are those that
// sandbox_client, context and git test.
import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bucket } from '../sandbox/bucket.mjs';
import { eventsOf, joined, sdk } from '../sandbox/sdk.mjs';
import { namespaceOf } from '../sandbox/local.mjs';
import { scenario } from './lib/server.mjs';
import { long } from './lib/soak.mjs';
import { tidy, together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const kept = ['sandbox-box']; // the sandbox's default session
const shared = together({}, { keep: kept });

/**
 * A test over each transport. fresh: with a new default session. only: over this transport alone, unless ./test --all runs.
 */
function sandboxes(name, body, { fresh, only, ...options } = {}) {
	shared(name, options, async (server) => {
		for (const transport of ['http', 'websocket', 'rpc']) {
			if (only && !long && only !== transport) continue;
			await tidy(server, fresh ? [] : kept);
			const namespace = namespaceOf(server, { SANDBOX_TRANSPORT: transport, BACKUP_BUCKET: new Bucket() });
			const sandbox = sdk.getSandbox(namespace, 'box');
			await namespace.started('box');
			try {
				await body(sandbox, server, namespace);
			} catch (error) {
				throw new Error(`over ${transport}`, { cause: error });
			} finally {
				namespace.disconnect();
			}
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

sandboxes('exec in the default session', async (sandbox, server) => {
	const result = await sandbox.exec('echo out; echo err >&2; (exit 4)');
	assert.deepEqual([result.success, result.exitCode, result.stdout, result.stderr, result.sessionId],
		[false, 4, 'out', 'err', 'sandbox-box']);
	assert.equal(result.command, 'echo out; echo err >&2; (exit 4)');
	assert.deepEqual((await server.api.list()).data, ['sandbox-box'], 'one session, which it made');

	await sandbox.exec('cd /usr; export SEEN="by the next"');
	assert.equal((await sandbox.exec('pwd; echo $SEEN')).stdout, '/usr\nby the next');
	assert.equal((await sandbox.exec('pwd; echo $X', { cwd: '/', env: { X: 'once' } })).stdout, '/\nonce');

	// A new object uses the same session.
	const elsewhere = namespaceOf(server);
	const again = sdk.getSandbox(elsewhere, 'box');
	await elsewhere.started('box');
	assert.equal((await again.exec('pwd')).stdout, '/usr');
	await assert.rejects(sandbox.deleteSession('sandbox-box'), /default session/);
}, { fresh: true });

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
	assert.match(ended.message, /shell has ended/, 'an error event has its text in data');
	assert.equal((await sandbox.exec('echo again')).stdout, 'again');
});

sandboxes('separate sessions', async (sandbox, server) => {
	const session = await sandbox.createSession({ id: 'mine', cwd: server.cwd, env: { NAME: 'Ada' } });
	assert.equal(session.id, 'mine');
	assert.equal((await session.exec('echo $NAME; pwd')).stdout, `Ada\n${server.cwd}`);
	await session.exec('count=1');
	const same = await sandbox.getSession('mine');
	assert.equal((await same.exec('echo $count')).stdout, '1');

	await session.setEnvVars({ TOKEN: 'it\'s "quoted" $HOME', NAME: undefined });
	assert.equal((await session.exec('printf "%s|%s" "$TOKEN" "${NAME-unset}"')).stdout, 'it\'s "quoted" $HOME|unset');
	assert.equal((await sandbox.exec('echo "<$NAME$TOKEN$count>"')).stdout, '<>', 'sessions are separate');

	const twice = await failure(sandbox.createSession({ id: 'mine' }));
	assert.equal(twice.name, 'SessionAlreadyExistsError');

	const ended = await failure(session.exec('exit 3'));
	assert.ok(ended instanceof sdk.SessionTerminatedError, ended.stack);
	assert.equal(ended.exitCode, 3);
	assert.equal((await session.exec('echo again')).stdout, 'again');

	const deleted = await sandbox.deleteSession('mine');
	assert.deepEqual([deleted.success, deleted.sessionId], [true, 'mine']);
	assert.deepEqual((await server.api.list()).data, ['sandbox-box']);
});

sandboxes('variables for all later commands', async (sandbox) => {
	await sandbox.setEnvVars({ EARLY: 'before the session' });
	assert.equal((await sandbox.exec('echo $EARLY')).stdout, 'before the session');
	await sandbox.setEnvVars({ LATE: 'in the session', EARLY: undefined });
	assert.equal((await sandbox.exec('echo "$LATE|${EARLY-unset}"')).stdout, 'in the session|unset');
}, { fresh: true });

sandboxes('processes: logs, callbacks, waiting, killing', async (sandbox, server) => {
	const output = { stdout: '', stderr: '' };
	let code;
	const called = await sandbox.startProcess('echo to stdout; echo to stderr >&2; exit 6', {
		onOutput(stream, data) { output[stream] += data; },
		onExit(value) { code = value; },
	});
	await until('the exit', () => code !== undefined);
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
	const never = await failure(slow.waitForLog('never printed', 200));
	assert.ok(never instanceof sdk.ProcessReadyTimeoutError, never.stack);
	assert.ok(await failure(slow.waitForExit(100)) instanceof sdk.ProcessReadyTimeoutError);
	await slow.kill();
	await until('the status killed', async () => await slow.getStatus() === 'killed');
	assert.deepEqual(await slow.waitForExit(10_000), { exitCode: 143 });

	const early = await failure((await sandbox.startProcess('echo something else')).waitForLog('ready', 10_000));
	assert.ok(early instanceof sdk.ProcessExitedBeforeReadyError, early.stack);

	const all = await sandbox.listProcesses();
	assert.ok(all.length >= 3);
	assert.ok(all.every(({ startTime }) => startTime instanceof Date && !Number.isNaN(startTime.getTime())));
	assert.equal(all.find(({ id }) => id === slow.id).status, 'killed');
	assert.equal((await sandbox.getProcess(called.id)).exitCode, 6);
	assert.equal(await sandbox.getProcess('missing'), null);

	await sandbox.startProcess('sleep 300');
	await sandbox.startProcess('sleep 300');
	assert.equal(await sandbox.killAllProcesses(), 2);
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
}, { fresh: true });

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
		await until('the ready message', () => ready);
		webSocket.send(new TextEncoder().encode('pwd; stty size; cd /etc\r'));
		await until(() => `the output in ${JSON.stringify(text)}`, () => /\/usr\r\n30 90\r\n/.test(text));
		await until('the new directory', async () => (await sandbox.exec('pwd')).stdout === '/etc');
	} finally {
		webSocket.close();
	}
});

sandboxes('files, and streams of them', async (sandbox, server) => {
	const at = (name) => path.join(server.cwd, name);
	await sandbox.exec(`cd ${server.cwd}`);
	await sandbox.writeFile('deep/er/text.txt', 'ä €\n');
	assert.equal(readFileSync(at('deep/er/text.txt'), 'utf8'), 'ä €\n', 'relative to the shell\'s directory');
	const { content, encoding, isBinary } = await sandbox.readFile('deep/er/text.txt');
	assert.deepEqual([content, encoding, isBinary], ['ä €\n', 'utf-8', false]);
	const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i * 31 % 251));
	await sandbox.writeFile(at('a.bin'), bytes.toString('base64'), { encoding: 'base64' });
	assert.ok(readFileSync(at('a.bin')).equals(bytes));
	// Without waiting for a keepalive, which comes after 15 s.
	const got = await within('the stream', sandbox.readFileStream(at('a.bin')).then(sdk.collectFile), 4000);
	assert.ok(Buffer.from(got.content).equals(bytes));
	assert.deepEqual([got.metadata.size, got.metadata.isBinary], [bytes.length, true]);
	const pieces = [];
	for await (const piece of sdk.streamFile(await sandbox.readFileStream(at('deep/er/text.txt')))) pieces.push(piece);
	assert.equal(pieces.join(''), 'ä €\n');
	await sandbox.mkdir(at('one'));
	await sandbox.moveFile(at('a.bin'), at('one'));
	const { files } = await sandbox.listFiles(at('one'));
	assert.deepEqual(files.map(({ name, size }) => [name, size]), [['a.bin', bytes.length]]);
	const missing = await failure(sandbox.readFile(at('a.bin')));
	assert.deepEqual([missing.name, missing.code], ['FileNotFoundError', 'FILE_NOT_FOUND']);
	// Relative to the directory of another session.
	const session = await sandbox.createSession({ id: 'own', cwd: at('one') });
	await session.writeFile('here', 'own');
	assert.equal(readFileSync(at('one/here'), 'utf8'), 'own');
	assert.equal((await session.readFile('here')).content, 'own');
});

sandboxes('watching files, and checking for changes', async (sandbox, server) => {
	const at = (name) => path.join(server.cwd, name);
	const seen = [];
	const stream = await sandbox.watch(server.cwd, { include: ['*.ts'] });
	const reading = (async () => {
		for await (const event of sdk.parseSSEStream(stream)) {
			seen.push(event);
			if (event.eventType === 'delete') break;
		}
	})();
	await until('the start of the watch', () => seen[0]?.type === 'watching');
	writeFileSync(at('a.js'), '');
	writeFileSync(at('a.ts'), '');
	rmSync(at('a.ts'));
	await until('the deletion', () => seen.at(-1).eventType === 'delete');
	await reading;
	assert.deepEqual([...new Set(seen.slice(1).map((event) => event.path))], [at('a.ts')]);

	const first = await sandbox.checkChanges(server.cwd);
	assert.equal(first.status, 'unchanged');
	writeFileSync(at('b'), '');
	await until('a change', async () => (await sandbox.checkChanges(server.cwd, { since: first.version })).status === 'changed');
});

/** The client stores archives there before it uploads them. */
const noArchives = (() => {
	try {
		accessSync('/var/backups', constants.W_OK);
		return existsSync('/usr/bin/unsquashfs') ? false : 'there are no squashfs-tools';
	} catch {
		return '/var/backups cannot be written';
	}
})();

sandboxes('a backup in a bucket', async (sandbox, server) => {
	const dir = path.join(server.cwd, 'project'), at = (name) => path.join(dir, name);
	mkdirSync(at('node_modules'), { recursive: true });
	writeFileSync(at('file'), 'one');
	writeFileSync(at('node_modules/x'), '');
	const backup = await sandbox.createBackup({ dir, name: 'mine', excludes: ['node_modules'], localBucket: true });
	assert.deepEqual([backup.dir, backup.localBucket], [dir, true]);
	rmSync(dir, { recursive: true });
	mkdirSync(dir);
	const { success } = await sandbox.restoreBackup(backup);
	assert.equal(success, true);
	assert.equal(readFileSync(at('file'), 'utf8'), 'one');
	assert.equal(existsSync(at('node_modules')), false);
	const missing = await failure(sandbox.restoreBackup({ ...backup, id: '00000000-0000-4000-8000-000000000000' }));
	assert.equal(missing.code, 'BACKUP_NOT_FOUND');
	const nowhere = await failure(sandbox.createBackup({ dir: path.join(server.cwd, 'none'), localBucket: true }));
	assert.equal(nowhere.code, 'BACKUP_CREATE_FAILED');
	rmSync(`/var/backups/${backup.id}.sqsh`, { force: true });
}, { skip: noArchives, only: 'rpc' });

scenario('tunnels are not available, and the error says so', async (server) => {
	const namespace = namespaceOf(server, { SANDBOX_TRANSPORT: 'rpc' });
	const sandbox = sdk.getSandbox(namespace, 'box');
	await namespace.started('box');
	try {
		const error = await failure(sandbox.tunnels.get(8080));
		assert.match(error.message, /tunnels\.\w+ is not available/);
	} finally {
		namespace.disconnect();
	}
});
