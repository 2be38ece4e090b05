// Standard input of the command line: of any length, as slow as its source, and no faster than the command reads.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli, environment } from './lib/cli.mjs';
import { binary, scenario } from './lib/server.mjs';
import { inEach } from './lib/shells.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const MiB = 1 << 20;

/** `ringside ARGS` with a pipe as standard input. */
class Fed {
	constructor(server, args, env) {
		this.child = spawn(binary, args, { env: environment(server, env), cwd: server.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
		this.stdout = '';
		this.stderr = '';
		this.taken = 0;
		this.child.stdin.on('error', () => {});
		this.child.stdout.setEncoding('utf8').on('data', (text) => { this.stdout += text; });
		this.child.stderr.setEncoding('utf8').on('data', (text) => { this.stderr += text; });
		this.ended = new Promise((resolve) => { this.child.on('close', (code, signal) => resolve({ code, signal })); });
	}

	shows(text) {
		return until(() => `${text} in ${this.stdout}${this.stderr}`, () => this.stdout.includes(text));
	}

	/** Write zeros until the pipe stays full for a while, or `most` bytes are written; returns their number. */
	async flood(most) {
		const piece = Buffer.alloc(MiB / 4);
		for (let stuck = false; !stuck && this.taken < most;) {
			const before = this.taken;
			const took = new Promise((resolve) => { this.child.stdin.write(piece, () => { this.taken += piece.length; resolve(true); }); });
			stuck = !await Promise.race([took, new Promise((resolve) => { setTimeout(resolve, 1500, false); })]);
			assert.ok(stuck || this.taken > before);
		}
		return this.taken;
	}
}

const ways = [['exec', '-i', '--pipes', 's'], ['run', '-i', '--pipes']];
/** A small quarantine for AddressSanitizer. */
const small = { ASAN_OPTIONS: [process.env.ASAN_OPTIONS, 'quarantine_size_mb=8'].filter(Boolean).join(':') };
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

scenario('input may be of any length, and memory does not grow', { env: small }, async (server) => {
	await server.session({ id: 's' });
	const name = path.join(server.cwd, 'zeros');
	const size = 128 * MiB;
	const before = memory(server.child.pid);
	for (const way of [['exec', '-i', 's'], ['run', '-i']]) {
		// A pipe, which cannot be measured beforehand; the bytes are free.
		const fed = new Fed(server, [...way, `head -c 1 >${name}; cat | wc -c`], small);
		let most = 0;
		const source = spawn('head', ['-c', String(size), '/dev/zero'], { stdio: ['ignore', 'pipe', 'inherit'] });
		source.stdout.on('data', () => { if (Math.random() < 0.02) most = Math.max(most, memory(fed.child.pid)); });
		source.stdout.pipe(fed.child.stdin);
		assert.deepEqual([await fed.ended, fed.stdout.trim(), fed.stderr], [{ code: 0, signal: null }, String(size - 1), '']);
		assert.ok(most > 0 && most < 96 * MiB, `the client used ${most} bytes`);
	}
	const grown = memory(server.child.pid) - before;
	assert.ok(grown < 48 * MiB, `memory of the server grew by ${grown} bytes`);
	await until('the removal of the input', () => readdirSync(path.join(server.dir, 'stdin')).length === 0);
});

shared('late input arrives when it is sent, and its end is passed on', async (server) => {
	await server.session({ id: 's' });
	for (const way of ways) {
		const fed = new Fed(server, [...way, 'while read -r line; do echo "<$line>"; done; echo over']);
		await until('the command', () => server.api.call('GET', '/api/session/s/exec').then(({ data }) => way[0] === 'run' || data.at(-1)?.state === 'running'));
		for (const line of ['one', 'two', 'three']) {
			fed.child.stdin.write(`${line}\n`);
			await fed.shows(`<${line}>`);
		}
		fed.child.stdin.end('four\n');
		assert.deepEqual([await fed.ended, fed.stdout], [{ code: 0, signal: null }, '<one>\n<two>\n<three>\n<four>\nover\n']);
	}
});

shared('a command that does not read blocks its writer, and Ctrl-C ends it', async (server) => {
	await server.session({ id: 's' });
	for (const way of ways) {
		const fed = new Fed(server, [...way, 'echo here; sleep 1000']);
		await until('the command', async () => (fed.child.stdin.write('x'), fed.stdout.includes('here')));
		const accepted = await fed.flood(64 * MiB);
		assert.ok(accepted < 32 * MiB, `${accepted} bytes were accepted`);
		fed.child.kill('SIGINT');
		assert.equal((await fed.ended).code, 130, fed.stderr);
		assert.equal(await server.run('s', 'echo alive'), 'alive\n');
	}
});

shared('a command that has read enough ends before its input', async (server) => {
	await server.session({ id: 's' });
	for (const way of ways) {
		const fed = new Fed(server, [...way, 'head -c 5; (exit 7)']);
		fed.child.stdin.write('hello');
		await fed.shows('hello');
		void fed.flood(64 * MiB);
		assert.deepEqual([(await fed.ended).code, fed.stdout, fed.stderr], [7, 'hello', '']);
	}
});

shared('a client that dies ends the input', async (server) => {
	await server.session({ id: 's' });
	const fed = new Fed(server, ['exec', '-i', 's', 'echo ready; wc -c >got']);
	await until('the command', async () => (fed.child.stdin.write('xx'), fed.stdout.includes('ready')));
	fed.child.kill('SIGKILL');
	await until('the end of the command', () => existsSync(path.join(server.cwd, 'got')) && Number(readFileSync(path.join(server.cwd, 'got'))) >= 2);
	// The same while the command is queued: it does not wait for a writer.
	const busy = new Fed(server, ['exec', 's', 'read -r x; echo "$x"']);
	await until('a shell that reads', async () => (await server.api.call('GET', '/api/session/s/state')).state?.state === 'waiting_input'
		|| (await server.api.call('GET', '/api/session/s/exec')).data.at(-1).state === 'running');
	const queued = new Fed(server, ['exec', '-i', '--queue', 's', 'cat; echo next >next']);
	await until('the queued command', async () => (await server.api.call('GET', '/api/session/s/exec')).data.some(({ state }) => state === 'queued'));
	queued.child.kill('SIGKILL');
	await queued.ended;
	await cli(server, ['send', '--text', 'on', '--enter', 's']);
	assert.equal((await busy.ended).code, 0);
	await until('the end of the next command', () => existsSync(path.join(server.cwd, 'next')));
	await until('the removal of the input', () => readdirSync(path.join(server.dir, 'stdin')).length === 0);
});

shared('a lost server is reported: the command has not got all input', async (server) => {
	await server.session({ id: 's' });
	const fed = new Fed(server, ['exec', '-i', 's', 'echo ready; wc -c']);
	await until('the command', async () => (fed.child.stdin.write('xx'), fed.stdout.includes('ready')));
	await server.restart();
	const { code } = await fed.ended;
	assert.equal(code, 125, fed.stderr);
	assert.match(fed.stderr, /the server was lost: the command has received only a part of its input/);
	assert.equal(await server.run('s', 'echo alive'), 'alive\n');
	// Input that is complete at once survives.
	assert.equal((await cli(server, ['exec', '-i', 's', 'cat'], { input: 'short\n' })).stdout, 'short\n');
});

shared('a shell that waits for input of a lost server continues', async (server) => {
	const last = async (shell) => (await server.api.call('GET', `/api/session/${shell}/exec`)).data.at(-1);
	await inEach(async (shell) => {
		await server.session({ id: shell, shell });
		const { id } = await server.api.call('POST', '/api/stdin', {});
		await server.api.call('POST', `/api/session/${shell}/exec`, { command: 'cat; echo over', stdinFrom: id, yieldMs: 0 });
		await until('the command', async () => (await last(shell)).state === 'running');
	});
	await server.restart();
	await inEach(async (shell) => {
		await until(`the end in ${shell}`, async () => (await last(shell)).state === 'done');
		const { exitCode, endedBy, output } = (await server.api.call('GET', `/api/session/${shell}/exec/${(await last(shell)).id}`)).data;
		assert.deepEqual([exitCode, endedBy, output], [0, 'command', 'over\n'], shell);
	});
	const kept = readdirSync(path.join(server.dir, 'sessions'), { recursive: true }).filter((name) => name.includes('/input.'));
	assert.deepEqual(kept, [], 'no input is left');
});

shared('detached, it sends the input, then exits', async (server) => {
	await server.session({ id: 's' });
	const fed = new Fed(server, ['exec', '-d', '-i', 's', 'wc -c >count']);
	await fed.shows('exec_');
	fed.child.stdin.end(Buffer.alloc(3 * MiB));
	assert.equal((await fed.ended).code, 0);
	await until('the count', () => existsSync(path.join(server.cwd, 'count')) && readFileSync(path.join(server.cwd, 'count'), 'utf8').trim() === String(3 * MiB));
});

shared('send types any amount, as fast as the session accepts it', async (server) => {
	await server.session({ id: 's' });
	const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} of what is typed\n`).join('');
	const name = path.join(server.cwd, 'typed');
	writeFileSync(name, lines);
	const reading = new Fed(server, ['exec', 's', `stty -echo; echo rea""dy; head -c ${lines.length} | cmp - typed && echo same; stty echo`]);
	await reading.shows('ready');
	const { code, stderr } = await cli(server, ['send', '-i', 's'], { input: lines });
	assert.deepEqual([code, stderr], [0, '']);
	await reading.shows('same');
	assert.equal((await reading.ended).code, 0);
});

shared('the route', async (server) => {
	const { api } = server;
	const octets = { headers: { 'Content-Type': 'application/octet-stream' } };
	const put = (id, body) => api.raw('PUT', `/api/stdin/${id}`, body, octets);
	const { id } = await api.call('POST', '/api/stdin', {});
	const running = api.call('POST', '/api/run', { command: 'cat', stdinFrom: id, streams: 'pipes' });
	assert.deepEqual(await put(id, Buffer.from('as it comes')).then(({ status, json: { bytes, closed } }) => [status, bytes, closed]), [200, 11, false]);
	assert.equal((await running).stdout, 'as it comes');
	for (const gone of [id, '0'.repeat(32), 'x', '..%2Fx']) assert.ok([400, 404].includes((await put(gone, Buffer.from('x'))).status), gone);
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/run', { command: 'cat', stdinFrom: id });
	// A command that does not read is reported, and a run that does not start releases its writer.
	const closed = await api.call('POST', '/api/stdin', {});
	const done = api.raw('POST', '/api/run', { command: 'exec <&-; exit 3', stdinFrom: closed.id });
	const answer = await put(closed.id, Buffer.alloc(MiB));
	assert.deepEqual([answer.status, answer.json.closed, (await done).json.exitCode], [200, true, 3]);
	// As many as the limit, but no more.
	let made = 0;
	for (let status = 200; status === 200; made += 1) ({ status } = await api.raw('POST', '/api/stdin', {}));
	assert.equal(made, 65);
	await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/stdin', {});
	await server.restart();
	assert.equal((await api.raw('POST', '/api/stdin', {})).status, 200, 'the inputs of the last server do not count');
});
