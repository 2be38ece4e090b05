// Holders and their server: processes that attach to a holder, impostors, holders that are regained, and processes that a
// killed holder leaves.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { metric } from './lib/control.mjs';
import { cmdline, descendants, isAlive, kill, parentOf } from './lib/proc.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const script = fileURLToPath(new URL('lib/holder.py', import.meta.url));

/** The name of a session's directory. */
const placeOf = (server, id) => {
	const [name] = readdirSync(path.join(server.dir, 'sessions')).filter((each) => each.startsWith(`${id}+`));
	return `sessions/${name}`;
};
const group = together();
/** A test that sees only its own log lines. */
const shared = (name, options, body) => (typeof options === 'function' ? shared(name, {}, options) : group(name, options, (server, t) => {
	server.stderr = '';
	return body(server, t);
}));
const lines = (server, pattern) => server.stderr.split('\n').filter((line) => pattern.test(line)).length;

/** Run holder.py; returns its output so far, and its end. */
function python(server, ...args) {
	const child = spawn('python3', [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, RINGSIDE_TEST_ROOT: server.root } });
	const it = { child, output: '' };
	child.stdout.setEncoding('utf8').on('data', (text) => { it.output += text; });
	it.ended = new Promise((resolve) => { child.on('close', resolve); });
	it.end = () => {
		child.stdin.end();
		return within('the end of holder.py', it.ended);
	};
	return it;
}

const attach = async (server, id, ...rest) => {
	const it = python(server, 'attach', path.join(server.dir, placeOf(server, id)), ...rest);
	await it.end();
	return it.output.trim();
};

scenario('nothing in a sandbox reaches its holder', { skip: noSandboxes, args: ['--isolate=system'], ordinary: true, pids: true }, async (server) => {
	await server.session({ id: 's', cwd: '/' });
	const where = path.join(server.dir, placeOf(server, 's'));
	assert.equal(await server.run('s', `ls -A ${where}`), 'shell\n');
	assert.match(await server.run('s', `ls ${where}/shell/.. ${where}/shell/../..; echo x >${where}/shell/x`), /^\S+:\nshell\n\n\S+:\ns\+[0-9a-f]{16}\n[^]*Read-only file system/);
	assert.match(await server.run('s', 'ls -A /proc/$PPID/fd/3'), /^shell\n$/);
	// All processes: the starter, the shell, and its commands.
	assert.equal(await server.run('s', 'names=$(cat /proc/[0-9]*/comm); echo $names | tr " " "\\n" | sort -u'), 'bash\ncat\nringside-start\n');
});

// Take the open FIFO of the starter with pidfd_getfd(2), as its user may.
const unblock = `import ctypes, fcntl, os, sys
fd = ctypes.CDLL(None).syscall(438, os.pidfd_open(int(sys.argv[1])), 7, 0)
fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NONBLOCK)`;

scenario('the files that a starter has open cannot block its holder', { skip: noSandboxes, args: ['--isolate=system'], ordinary: true, pids: true }, async (server) => {
	const { pid } = await server.session({ id: 's', cwd: '/' });
	assert.match(cmdline(parentOf(pid)), /ringside-holder.* --starter/);
	const { status, stderr } = spawnSync('python3', ['-c', unblock, parentOf(pid)], { encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	for (let i = 0; i < 3; i += 1) assert.equal(await server.run('s', `echo ${i}`), `${i}\n`);
	await server.api.call('POST', '/api/session/s/resize', { cols: 70, rows: 20 });
	assert.equal(await server.run('s', 'stty size'), '20 70\n');
});

shared('a holder is regained from another process of the user', { pids: true }, async (server) => {
	await server.session({ id: 's' });
	const before = await metric(server, 'holders_regained_total');
	for (let round = 1; round <= 3; round += 1) {
		const thief = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), '--hold');
		await until('the end of the other attachment', () => /status 0, 5 descriptors\ntaken/.test(thief.output));
		await thief.end();
		await until('the count', async () => await metric(server, 'holders_regained_total') === before + round);
		assert.equal(await server.run('s', 'echo still here'), 'still here\n');
	}
	assert.equal(lines(server, /another process had attached to its holder: taken back/), 1, 'the warning is logged once');
	assert.equal(lines(server, /another server has (taken it|attached to its holder)/), 0);
	await server.restart();
	assert.equal(await server.run('s', 'echo and again'), 'and again\n');
});

shared('many sessions are adopted at once', { timeout: 120_000 }, async (server) => {
	const ids = Array.from({ length: times(5, 20) }, (_, at) => `s${at}`);
	await Promise.all(ids.map((id) => server.session({ id })));
	await Promise.all(ids.map((id) => server.run(id, `mine=${id}`)));
	const { processId } = await server.api.call('POST', '/api/process/start', { command: 'sleep 1000' });
	await server.restart();
	await Promise.all(ids.map(async (id) => assert.equal(await server.run(id, 'echo $mine'), `${id}\n`)));
	assert.equal((await server.api.call('GET', `/api/process/${processId}`)).process.status, 'running');
	assert.equal(lines(server, /refused/), 0, server.stderr);
});

/** A directory that claims to be of a session of this id. */
function plant(server, model, id, random) {
	const to = path.join(server.dir, 'sessions', `${id}+${random}`);
	mkdirSync(path.join(to, 'shell'), { recursive: true, mode: 0o700 });
	const meta = readFileSync(path.join(server.dir, model, 'meta.json'), 'utf8');
	writeFileSync(path.join(to, 'meta.json'), meta.replaceAll(/("id": *)"[^"]*"/g, `$1"${id}"`), { mode: 0o600 });
	return to;
}

/** Start impostors of holders: [directory, kind] of each. */
async function startFakes(server, ...fakes) {
	const all = python(server, 'fake', ...fakes.flat());
	await until(`fakes of kind ${fakes.map(([, kind]) => kind)}`, () => all.output.match(/^ready$/gm)?.length === fakes.length);
	return all;
}

shared('impostors of holders are refused, and block no session', { timeout: 120_000 }, async (server) => {
	const { pid } = await server.session({ id: 'real' });
	await server.run('real', 'mine=real');
	const model = placeOf(server, 'real');
	await server.kill('SIGKILL');
	const kinds = ['mute', 'full', 'close', 'garbage', 'short', 'refuse', 'echo', 'wrong-fds', 'directory-fds', 'fifo-fds', 'many-fds'];
	// One impostor uses the id of the real session.
	const fakes = kinds.map((kind, at) => [plant(server, model, kind === 'refuse' ? 'real' : `fake${at}`, String(at).padStart(16, '0')), kind]);
	const all = await startFakes(server, ...fakes);
	symlinkSync(path.join(server.dir, model), path.join(server.dir, 'sessions', 'link+0000000000000099'));
	writeFileSync(path.join(server.dir, 'sessions', 'file+0000000000000098'), '');
	const before = performance.now();
	await server.start();
	const took = performance.now() - before;
	assert.equal(await server.run('real', 'echo $mine'), 'real\n');
	assert.ok(isAlive(pid));
	assert.doesNotMatch(all.output, /asked [^2]/, 'the server only asks to attach');
	const complaint = /refused: |cannot attach to its holder|its holder does not answer/;
	await until('a log line for each', () => lines(server, complaint) >= fakes.length, { timeout: 15_000 });
	assert.equal(lines(server, complaint), fakes.length, server.stderr);
	const list = (await server.api.list()).sessions;
	assert.deepEqual(list.filter(({ state }) => state === 'running').map(({ id }) => id), ['real']);
	assert.deepEqual(list.filter(({ state }) => state !== 'running').map(({ state }) => state), ['unresponsive', 'unresponsive'], 'silent impostors are listed');
	assert.ok(took < 20_000, `the start took ${took} ms`);
	await all.end();
	for (const name of readdirSync(path.join(server.dir, 'sessions'))) if (!model.endsWith(name)) rmSync(path.join(server.dir, 'sessions', name), { recursive: true });
	await server.restart();
	assert.equal(await server.run('real', 'echo $mine'), 'real\n');
});

shared('an impostor at the socket of a session', { timeout: 90_000 }, async (server) => {
	const { pid } = await server.session({ id: 's' });
	await server.run('s', 'mine=s');
	const where = path.join(server.dir, placeOf(server, 's'));
	for (const kind of ['refuse', 'garbage', 'wrong-fds'].slice(0, times(2, 3))) {
		await server.kill('SIGKILL');
		const fake = await startFakes(server, [where, kind]);
		await server.start();
		await until('the log line', () => lines(server, /refused: |cannot attach/) > 0, { timeout: 15_000 });
		assert.ok(isAlive(pid), 'a refused impostor must not get the process killed');
		assert.equal((await server.api.list()).data.length, 0);
		await server.kill('SIGKILL');
		await fake.end();
		rmSync(path.join(where, 's'));
		renameSync(path.join(where, 'real'), path.join(where, 's'));
		server.stderr = '';
		await server.start();
		assert.equal(await server.run('s', 'echo $mine'), 's\n', `after ${kind}`);
	}
});

shared('a holder that is killed while another process has it is lost', { pids: true }, async (server) => {
	const { pid } = await server.session({ id: 's' });
	const holder = parentOf(pid);
	const thief = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), '--hold');
	await until('the end of the other attachment', () => /taken/.test(thief.output));
	const second = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), '--hold');
	await until('the second attachment', () => /status 0/.test(second.output));
	kill(holder);
	await until('the end of the shell', () => !isAlive(pid));
	await until('the end of the session', async () => (await server.api.list()).sessions.every(({ state }) => state === 'exited'));
	await thief.end();
	await second.end();
});

/** Daemons outside the shell's session: one ignores all signals that it can, one is stopped. */
const daemons = '(setsid sh -c "trap \'\' HUP TERM INT; sleep 1000; :" &); (setsid sh -c "setsid sleep 1000 & kill -STOP \\$\\$" &); sleep 1000 & disown';

shared('a killed holder leaves no processes', { pids: true, timeout: 90_000 }, async (server) => {
	const sleeping = (holder) => descendants(holder).filter((pid) => cmdline(pid) === 'sleep 1000').length;
	const gone = (pids) => until('the end of all processes', () => pids.every((pid) => !isAlive(pid)));
	// A holder that the server started, an adopted one, and one that is killed together with its server.
	for (const world of ['started', 'adopted', 'alone']) {
		const { pid } = await server.session({ id: world });
		const holder = parentOf(pid);
		await server.run(world, daemons);
		await until('the daemons', () => sleeping(holder) === 3);
		const pids = [...descendants(holder), parentOf(holder)];
		assert.match(cmdline(pids.at(-1)), /^ringside-guard/);
		if (world === 'adopted') await server.restart();
		if (world === 'alone') await server.kill('SIGKILL');
		const where = path.join(server.dir, placeOf(server, world));
		kill(holder);
		await gone(pids);
		if (world === 'alone') {
			await server.start();
			await until('the removal of the directory', () => !existsSync(where));
		} else {
			await until('the end of the session', async () => (await server.api.get(world)).state === 'exited');
			await server.api.delete(world);
		}
	}
});
