// Stateless exec: POST /api/run.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { randomCommand, randomOf } from './lib/commands.mjs';
import { metric } from './lib/control.mjs';
import { descriptors, isAlive, kill, processesNaming, rssAnon } from './lib/proc.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const both = ['terminals', 'pipes'];

async function run(server, command, fields = {}, options = {}) {
	const answer = await server.api.raw('POST', '/api/run', { command, ...fields }, options);
	assert.equal(answer.status, 200, `${command}: ${answer.text}`);
	return answer.json;
}

/** The event stream of a POST. */
class Stream extends EventStream {
	constructor(server, url, body) {
		super(server, url, { method: 'POST', body });
	}

	text(type) {
		return this.events.filter((each) => each.type === type).map((each) => each.data).join('');
	}

	async end() {
		await until(() => `the end of the stream; events so far: ${JSON.stringify(this.events).slice(0, 2000)}`, () => this.closed);
		return this.events.at(-1);
	}
}

const activeRuns = (server) => metric(server, 'runs_active');
const idle = (server) => until('the end of all runs', async () => (await activeRuns(server)) === 0);

shared('the form of a response', async (server) => {
	const answer = await run(server, 'echo out; echo err >&2');
	assert.deepEqual(Object.keys(answer).sort(), ['command', 'durationMs', 'endedAt', 'exitCode', 'outputExact', 'startedAt',
		'stderr', 'stdout', 'success', 'timedOut', 'timestamp']);
	assert.deepEqual([answer.success, answer.exitCode, answer.stdout, answer.stderr, answer.timedOut, answer.command],
		[true, 0, 'out\n', 'err\n', false, 'echo out; echo err >&2']);
	for (const field of ['startedAt', 'endedAt', 'timestamp']) assert.match(answer[field], iso);
	assert.ok(Number.isInteger(answer.durationMs) && answer.durationMs >= 0);
	assert.ok(Date.parse(answer.endedAt) - Date.parse(answer.startedAt) < answer.durationMs + 100);
	const killed = await run(server, 'kill -SEGV $$');
	assert.deepEqual([killed.exitCode, killed.signal, killed.success], [139, 'SEGV', false]);
	const before = await metric(server, 'run_timeouts_total');
	const late = await run(server, 'sleep 711', { timeoutMs: 200 });
	assert.deepEqual([late.exitCode, late.timedOut, late.success, late.survivors], [124, true, false, undefined]);
	assert.equal(await metric(server, 'run_timeouts_total'), before + 1);
});

shared('bytes are exact', async (server) => {
	const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
	for (const streams of both) {
		const answer = await run(server, 'cat; tac -s "" </dev/null; cat <&3 >&2',
			{ streams, encoding: 'base64', stdinBase64: bytes.toString('base64') });
		assert.ok(Buffer.from(answer.stdout, 'base64').equals(bytes), streams);
		assert.equal('lossy' in answer, false);
	}
});

shared('terminals are terminals, pipes are pipes', async (server) => {
	assert.equal((await run(server, '[ -t 1 ]; echo $?', { streams: 'pipes' })).stdout, '1\n');
	assert.equal((await run(server, 'stty size <&1; stty size <&2', { cols: 132, rows: 43 })).stdout, '43 132\n43 132\n');
	assert.equal((await run(server, 'stty size <&1')).stdout, '24 80\n');
});

shared('standard input', async (server) => {
	for (const streams of both) {
		assert.equal((await run(server, 'cat; echo end', { streams, stdin: 'text é\n' })).stdout, 'text é\nend\n');
		// Unread input is not an error.
		assert.equal((await run(server, 'echo fine', { streams, stdin: 'x'.repeat(500_000) })).stdout, 'fine\n');
	}
});

shared('environment', async (server) => {
	assert.equal((await run(server, 'echo "$HOME,$RINGSIDE_TEST_ROOT"; env | grep -c ^RINGSIDE', { env: { HOME: '/somewhere' } })).stdout, '/somewhere,\n0\n');
	const large = await server.api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/run',
		{ command: 'true', env: { A: 'x'.repeat(200_000) } });
	assert.match(large.message, /environment is too large/);
});

scenario("the soft limit of descriptors is the server's original one",
	{ prefix: ['bash', '-c', 'ulimit -Sn 700; exec "$@"', 'bash'] }, async (server) => {
		assert.equal((await run(server, 'ulimit -Sn')).stdout, '700\n');
		assert.equal((await run(server, 'ulimit -Sn', { streams: 'pipes' })).stdout, '700\n');
	});

shared('working directory', async (server) => {
	const place = path.join(server.root, 'a place');
	mkdirSync(place);
	symlinkSync(place, path.join(server.root, 'link'));
	assert.equal((await run(server, 'pwd', { cwd: place })).stdout, `${place}\n`);
	assert.equal((await run(server, 'pwd; pwd -P', { cwd: path.join(server.root, 'link') })).stdout,
		`${server.root}/link\n${place}\n`);
	assert.equal((await run(server, 'pwd')).stdout, `${server.cwd}\n`);
});

shared('the limit of kept output', async (server) => {
	const cut = await run(server, 'seq 20000; seq 3 >&2', { maxOutput: 5000 });
	assert.equal(cut.stdout.length, 5000);
	assert.deepEqual(cut.truncated, { stdout: { totalBytes: 108_894, omittedBytes: 103_894, headBytes: 2500 } });
});

shared('a stream of events', async (server) => {
	for (const streams of both) {
		const stream = new Stream(server, '/api/run', {
			command: 'echo one; echo problem >&2; printf "\\342"; sleep 0.1; printf "\\202\\254 \\377 \\303"; exit 3',
			streams,
			stream: true,
		});
		const last = await stream.end();
		assert.equal(stream.status, 200);
		assert.equal(stream.headers['content-type'], 'text/event-stream');
		const [first] = stream.events;
		assert.equal(first.type, 'start');
		assert.ok(first.pid > 1);
		assert.match(first.command, /^echo one/);
		assert.equal(stream.text('stdout'), 'one\n€ \ufffd \ufffd');
		assert.equal(stream.text('stderr'), 'problem\n');
		assert.deepEqual([last.type, last.exitCode, last.timedOut, last.lossy], ['complete', 3, false, true]);
		for (const each of stream.events) assert.match(each.timestamp, iso);
		assert.equal(stream.events.filter((each) => each.type === 'complete').length, 1);
	}
	const base64 = new Stream(server, '/api/run', { command: 'printf "\\303"; sleep 0.05; printf "\\251\\0"', stream: true, encoding: 'base64' });
	await base64.end();
	assert.equal(Buffer.concat(base64.events.filter((each) => each.type === 'stdout')
		.map((each) => Buffer.from(each.data, 'base64'))).toString(), 'é\0');
});

shared('a run ends with its client', async (server) => {
	const stream = new Stream(server, '/api/run', { command: 'echo $$; setsid sleep 741 & sleep 742', stream: true });
	const pid = await until('the start', () => stream.events[0]?.pid);
	await until('the output', () => stream.text('stdout').length > 0);
	stream.terminate();
	await until('the end of its processes', () => !isAlive(pid) && processesNaming(server.root).length === 1);
	// The same for a client that waits for its response.
	const plain = new Stream(server, '/api/run', { command: 'echo $$ > pid; trap "" TERM; sleep 743; sleep 744' });
	await until('the command', async () => (await activeRuns(server)) === 1 && processesNaming(server.root).length > 1);
	plain.terminate();
	await idle(server);
	await until('the end of its runner', () => processesNaming(server.root).length === 1);
});

shared('a slow reader misses nothing: the command blocks, and memory does not grow', { timeout: 90_000 }, async (server) => {
	const pieces = times(256, 512);
	const progress = path.join(server.root, 'progress');
	const body = JSON.stringify({
		command: `printf -v piece %${64 << 10}s; for ((i = 0; i < ${pieces}; i++)); do printf %s "$piece"; echo $i >${progress}; done; echo the end >&2`,
		stream: true,
		streams: 'pipes',
	});
	await run(server, `head -c ${8 << 20} /dev/zero`);
	const before = rssAnon(server.pid);
	const socket = net.connect(server.port, '127.0.0.1');
	socket.on('error', () => {});
	const chunks = [];
	socket.pause();
	socket.write(`POST /api/run HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n`
		+ `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
	let most = 0;
	let last = '';
	let same = 0;
	await until('a blocked writer', () => {
		most = Math.max(most, rssAnon(server.pid));
		const now = existsSync(progress) ? readFileSync(progress, 'utf8') : '';
		same = now && now === last ? same + 1 : 0;
		last = now;
		return same > 50;
	}, { timeout: 60_000 });
	assert.ok(Number(last) < pieces - 1, last);
	assert.equal(await activeRuns(server), 1);
	if (!sanitized()) assert.ok(most - before < pieces << 15, `${(most - before) >> 20} MiB more`);
	// Other requests were served; now it reads.
	socket.on('data', (chunk) => chunks.push(chunk)).resume();
	const text = () => Buffer.concat(chunks).toString('latin1');
	await until('the last event', () => /"complete"/.test(text().slice(-4000)), { timeout: 60_000 });
	socket.destroy();
	let data = 0;
	let stderr = '';
	for (const [, json] of text().matchAll(/^data: (.*)$/gm)) {
		const event = JSON.parse(json);
		assert.notEqual(event.type, 'truncated');
		if (event.type === 'stdout') data += event.data.length;
		if (event.type === 'stderr') stderr += event.data;
		if (event.type === 'complete') assert.equal(event.lost, 0);
	}
	assert.equal(data, pieces << 16);
	assert.equal(stderr, 'the end\n');
});

shared('many at once leave nothing', { timeout: 90_000 }, async (server) => {
	await run(server, 'true');
	const before = Object.keys(descriptors(server.pid)).length;
	const runs = await metric(server, 'runs_total');
	const count = times(20, 200);
	for (let round = 0; round < 2; round++) {
		const answers = await Promise.all(Array.from({ length: count }, (_, i) => run(server,
			`echo ${i}; echo e${i} >&2; exit ${i}`, { streams: both[i % 2] }, { timeout: 60_000 })));
		answers.forEach((answer, i) => assert.deepEqual([answer.stdout, answer.stderr, answer.exitCode],
			[`${i}\n`, `e${i}\n`, i]));
	}
	await idle(server);
	await until(() => `as few descriptors: ${JSON.stringify(descriptors(server.pid))}`,
		() => Object.keys(descriptors(server.pid)).length <= before);
	assert.equal(Object.values(descriptors(server.pid)).filter((each) => each.includes('ptmx')).length, 0);
	await until('the end of all processes', () => `${processesNaming(server.root)}` === `${server.pid}`);
	assert.equal(await metric(server, 'runs_total'), runs + 2 * count);
});

scenario('commands end with the server', { mayHaveDied: true }, async (server) => {
	const stubborn = new Stream(server, '/api/run', {
		command: 'trap "" TERM; setsid sleep 761 & (trap "" HUP; sleep 762) & echo on; while :; do sleep 763; done', stream: true,
	});
	const plain = new Stream(server, '/api/run', { command: 'echo on; sleep 764', streams: 'pipes' });
	await until('both commands', async () => stubborn.text('stdout') === 'on\n' && (await activeRuns(server)) === 2);
	assert.equal((await server.kill('SIGTERM')).code, 0);
	assert.deepEqual(processesNaming(server.root), []);
	plain.terminate();
	stubborn.terminate();
});

scenario('runs end with a killed server', async (server) => {
	const stream = new Stream(server, '/api/run', {
		command: 'trap "" TERM; setsid sleep 771 & echo on; while :; do sleep 772; done', stream: true,
	});
	await until('the command', () => stream.text('stdout') === 'on\n');
	const kept = Number((await run(server, 'sleep 773 >/dev/null 2>&1 & echo $!')).stdout);
	await server.kill('SIGKILL');
	await until('the end of the connection', () => stream.closed);
	assert.notEqual(stream.events.at(-1).type, 'complete');
	await until('the end of its processes', () => processesNaming(server.root).length === 1);
	await server.start();
	assert.ok(isAlive(kept), 'processes that an ended run has left stay');
	kill(kept);
	assert.equal((await run(server, 'echo again')).stdout, 'again\n');
});

scenario('the log has the author and the command, but no secrets', { args: ['--log-commands'] }, async (server) => {
	await run(server, `echo é; : ${'x'.repeat(300)}`, { env: { SECRET_VALUE: 'hunter2' }, stdin: 'hunter3' });
	await run(server, 'exit 3', { cwd: '/' });
	const lines = await until('two lines', () => {
		const found = server.stderr.split('\n').filter((line) => line.includes('module=run'));
		return found.length >= 2 && found;
	});
	assert.match(lines[0], / level=info module=run msg=done id=\d+ peer=127\.0\.0\.1 principal=owner command="echo é; : x+" cwd=\S+ end=exited exit=0 ms=\d+ /);
	assert.ok(lines[0].length < 500);
	assert.match(lines[1], / command="exit 3" cwd=\/ end=exited exit=3 /);
	assert.doesNotMatch(server.stderr, /hunter/);
});

const sessionless = '__DISABLE_SESSION__';

shared('stateless exec as in the container', async (server) => {
	const { api } = server;
	const answer = await api.raw('POST', '/api/execute',
		{ command: 'echo out; echo err >&2; [ -t 1 ]; echo $?; exit 3', sessionId: sessionless, env: { A: '1' }, origin: 'user' });
	assert.equal(answer.status, 200, answer.text);
	const { timestamp, duration, ...rest } = answer.json;
	assert.match(timestamp, iso);
	assert.ok(Number.isInteger(duration));
	assert.deepEqual(rest, {
		success: false,
		exitCode: 3,
		stdout: 'out\n1\n',
		stderr: 'err\n',
		command: 'echo out; echo err >&2; [ -t 1 ]; echo $?; exit 3',
	});
	const { json: late } = await api.raw('POST', '/api/execute',
		{ command: 'echo a; printf b >&2; sleep 781', sessionId: sessionless, timeoutMs: 300 });
	assert.deepEqual([late.exitCode, late.success, late.stdout, late.stderr],
		[124, false, 'a\n', 'b\nCommand timed out after 300ms\n']);
});

shared('its stream: a timeout, and the end of its client', async (server) => {
	const late = new Stream(server, '/api/execute/stream', { command: 'echo a; sleep 782', sessionId: sessionless, timeoutMs: 300 });
	assert.equal((await late.end()).exitCode, 124);
	assert.equal(late.text('stderr'), 'Command timed out after 300ms\n');
	assert.equal(late.events.filter((each) => each.type === 'complete').length, 1);
	const gone = new Stream(server, '/api/execute/stream', { command: 'echo a; sleep 783', sessionId: sessionless });
	await until('the output', () => gone.text('stdout') === 'a\n');
	gone.terminate();
	await idle(server);
	assert.deepEqual(processesNaming(server.root), [server.pid]);
});

shared('random commands behave as in bash', { timeout: 600_000 }, async (server) => {
	const seed = Number(process.env.RINGSIDE_SEED ?? 1);
	const random = randomOf(seed);
	const commands = Array.from({ length: times(40, 4000, 'RINGSIDE_TEST_COMMANDS') }, () => randomCommand(random));
	const env = { PATH: process.env.PATH, HOME: server.home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
	const signals = (await import('node:os')).constants.signals;
	const reference = (command) => new Promise((resolve, reject) => {
		const child = spawn('bash', ['-c', command], { cwd: server.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
		const out = [];
		const err = [];
		child.stdout.on('data', (chunk) => out.push(chunk));
		child.stderr.on('data', (chunk) => err.push(chunk));
		child.on('error', reject);
		child.on('close', (code, signal) => resolve({
			code: code ?? 128 + signals[signal],
			stdout: Buffer.concat(out).toString('latin1'),
			stderr: Buffer.concat(err).toString('latin1'),
		}));
	});
	// Pids of killed processes differ.
	const shown = (text) => text.replace(/^(.*line \d+:) +\d+ /gm, '$1 PID ');
	let next = 0;
	const worker = async () => {
		while (next < commands.length) {
			const index = next++;
			const command = commands[index];
			// The output must not depend on the terminal.
			const streams = both[index % 2 || command.includes('test -t') ? 1 : 0];
			const [answer, want] = await Promise.all([
				run(server, command, { streams, encoding: 'base64' }), reference(command)]);
			const got = {
				code: answer.exitCode,
				stdout: Buffer.from(answer.stdout, 'base64').toString('latin1'),
				stderr: Buffer.from(answer.stderr, 'base64').toString('latin1'),
			};
			const where = `seed ${seed}, command ${index} in ${streams}: ${JSON.stringify(command)}`;
			assert.equal(got.code, want.code, where);
			assert.equal(got.stdout, want.stdout, where);
			assert.equal(shown(got.stderr), shown(want.stderr), where);
		}
	};
	await Promise.all(Array.from({ length: 4 }, worker));
});
