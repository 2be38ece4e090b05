// Commands in the shared shell under disturbances: typed input, killed servers, a full disk.
//
// RINGSIDE_SEED: seed of the random commands. RINGSIDE_TEST_COMMANDS: their number. RINGSIDE_TEST_EXEC_KILLS: number of kills
// of the server during commands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { randomCommand, randomOf } from './lib/commands.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const id = 's';
const seed = Number(process.env.RINGSIDE_SEED ?? 1);
const count = times(30, 2000, 'RINGSIDE_TEST_COMMANDS');
const kills = times(8, 200, 'RINGSIDE_TEST_EXEC_KILLS');

const exec = (server, command, fields = {}, session = id) => server.api.call('POST', `/api/session/${session}/exec`,
	{ command, queue: true, ...fields }).then(({ data }) => data);

/** Number of open file descriptors of a process. */
const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;

// `bash -c` gives another status than its eval if a quote is open at the end.
shared('random commands behave as in bash', { timeout: 600_000 }, async (server) => {
	const random = randomOf(seed);
	const env = { PATH: process.env.PATH, HOME: server.home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
	const reference = (command) => new Promise((resolve, reject) => {
		const child = spawn('bash', ['-c', '(eval "$COMMAND")'], { cwd: server.cwd, env: { ...env, COMMAND: command }, stdio: ['ignore', 'pipe', 'ignore'] });
		const out = [];
		child.stdout.on('data', (chunk) => out.push(chunk));
		child.on('error', reject);
		child.on('close', (code) => resolve({ code, stdout: Buffer.concat(out).toString('base64') }));
	});
	// Commands about the shell itself behave differently in an interactive one; another test kills it.
	const aboutTheShell = /\$\$|\$-|return 5|ulimit|\$0|trap|BASHPID|unset_variable/;
	const commands = [];
	while (commands.length < count) {
		const command = `true\n${randomCommand(random)}`; // as if a command had come before
		if (!aboutTheShell.test(command)) commands.push(command);
	}
	let next = 0;
	const worker = async (session) => {
		await server.session({ id: session });
		while (next < commands.length) {
			const command = commands[next++];
			const [e, wanted] = await Promise.all([
				exec(server, command, { streams: 'pipes', stdin: null, isolate: true, format: 'base64' }, session),
				reference(command)]);
			const about = `seed ${seed}: ${JSON.stringify(command)}: ${JSON.stringify(e).slice(0, 1000)}`;
			assert.equal(e.endedBy, 'command', about);
			assert.equal(e.exitCode, wanted.code, about);
			assert.equal(e.stdout, wanted.stdout, about);
			assert.ok(e.outputExact, about);
		}
	};
	await Promise.all(['a', 'b', 'c'].map(worker));
});

shared('several clients at once, while a person types', { timeout: 120_000 }, async (server) => {
	await server.session({ id });
	const watcher = await server.client({ sessionId: id }).connect();
	let typing = true;
	const typed = [];
	const human = (async () => {
		for (let at = 0; typing; at += 1) {
			for (const key of `echo typed-${at}-$((${at}*2))`) {
				watcher.type(key);
				await pause(3);
			}
			watcher.type('\r');
			typed.push(`typed-${at}-${at * 2}`);
			await pause(40);
		}
	})();
	const results = await Promise.all(Array.from({ length: 4 }, async (_, client) => {
		const mine = [];
		for (let at = 0; at < times(5, 15); at += 1) {
			const e = await exec(server, `echo ${client}-${at}; (exit ${at})`, { streams: 'pipes', stdin: null });
			mine.push([e.exitCode, e.stdout, e.endedBy]);
		}
		return mine;
	}));
	typing = false;
	await human;
	results.forEach((mine, client) => mine.forEach((got, at) => assert.deepEqual(got, [at, `${client}-${at}\n`, 'command'])));
	// All typed lines have been run too.
	await until(() => `these lines in ${JSON.stringify(watcher.text)}: ${typed.filter((text) => !watcher.text.includes(`${text}\r\n`))}`, () => typed.every((text) => watcher.text.includes(`${text}\r\n`)));
});

shared('the server is killed during commands, again and again', { timeout: 600_000 }, async (server) => {
	await server.session({ id });
	const shell = (await server.api.get(id)).pid;
	const holderDescriptors = async () => descriptors(Number(readFileSync(`/proc/${shell}/status`, 'utf8').match(/^PPid:\s+(\d+)/m)[1]));
	const before = await holderDescriptors();
	let lived = 0;
	for (let at = 0; at < kills; at += 1) {
		const key = `key ${at}`;
		const command = `for i in 1 2 3 4 5; do echo ${at} $i; sleep 0.0${at % 7}; done; (exit ${at % 200})`;
		const streams = at % 2 ? 'pipes' : 'terminal';
		const fields = { key, streams, ...streams === 'pipes' ? { stdin: null } : {} };
		const first = exec(server, command, fields).catch(() => undefined);
		await pause(at % 13 * 6);
		await server.restart();
		lived += Boolean(await first);
		// The same key returns the same command, or runs it if the server had not received it.
		let e = await exec(server, command, fields);
		// It was about to be typed: certainly nothing was run, and the same request tries again.
		if (e.endedBy === 'not_started') e = await exec(server, command, fields);
		const about = JSON.stringify(e);
		assert.equal(e.state, 'done', about);
		assert.deepEqual([e.exitCode, e.endedBy, e.outputExact, e.lost], [at % 200, 'command', true, 0], about);
		assert.equal(e.output ?? e.stdout, [1, 2, 3, 4, 5].map((i) => `${at} ${i}\n`).join(''), about);
	}
	console.log(`# ${lived} of ${kills} commands ended before the kill`);
	assert.ok(lived < kills, 'no command was interrupted by a kill');
	assert.equal((await server.api.get(id)).pid, shell);
	assert.equal(await holderDescriptors(), before);
	// Each of them ran once. Queued commands were not started, and were sent again.
	const { data } = await server.api.call('GET', `/api/session/${id}/exec`);
	assert.equal(new Set(data.map(({ id: each }) => each)).size, data.length);
	const tries = data.filter(({ key }) => key?.startsWith('key'));
	const runs = tries.filter(({ endedBy }) => endedBy !== 'not_started');
	assert.equal(runs.length, Math.min(kills, runs.length));
	assert.equal(new Set(runs.map(({ key }) => key)).size, runs.length);
	console.log(`# ${tries.length - runs.length} were queued at the kill`);
});

const small = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=256k,mode=700 none "$SMALL" && exec "$@"', 'sh'];

scenario('the disk is full', { skip: process.getuid() !== 0 && 'needs a mount', start: false, prefix: small }, async (server) => {
	mkdirSync(server.dir);
	server.options.env = { SMALL: server.dir };
	await server.start();
	await server.session({ id });
	await exec(server, `head -c 1000000 /dev/zero >${server.dir}/fill; :`);
	for (const streams of ['terminal', 'pipes']) {
		const e = await exec(server, 'echo still; (exit 3)', { streams });
		assert.deepEqual([e.exitCode, e.output ?? e.stdout], [3, 'still\n']);
	}
	const refused = await server.api.refused(500, 'NO_SPACE', 'POST', `/api/session/${id}/exec`,
		{ command: 'cat', stdin: 'x'.repeat(300_000), queue: true });
	assert.ok(refused.message);
	await exec(server, `rm ${server.dir}/fill`);
	assert.equal((await exec(server, 'cat', { stdin: 'x'.repeat(10_000) })).output, 'x'.repeat(10_000));
	assert.deepEqual(readdirSync(path.join('/proc', String(server.pid), 'root', server.dir, 'sessions'))
		.flatMap((name) => readdirSync(path.join('/proc', String(server.pid), 'root', server.dir, 'sessions', name, 'shell')))
		.filter((name) => name.startsWith('input.')), []);
});

scenario('several sessions at once leave nothing', { timeout: 120_000 }, async (server) => {
	const ids = Array.from({ length: times(5, 20) }, (_, at) => `s${at}`);
	await Promise.all(ids.map((each) => server.session({ id: each })));
	const before = descriptors(server.pid);
	await Promise.all(ids.map(async (each) => {
		for (let at = 0; at < times(8, 20); at += 1) {
			const e = await exec(server, `echo ${each} ${at} | cat; echo e >&2`, { streams: at % 2 ? 'pipes' : 'terminal', stdin: null }, each);
			assert.equal(e.stdout ?? e.output, at % 2 ? `${each} ${at}\n` : `${each} ${at}\ne\n`);
		}
	}));
	await until('as few descriptors as before', () => descriptors(server.pid) <= before + 1);
	for (const name of readdirSync(path.join(server.dir, 'sessions')))
		assert.deepEqual(readdirSync(path.join(server.dir, 'sessions', name), { recursive: true }).filter((file) => /input|new$/.test(file)), []);
});
