// Holders and their server: who may attach, what stands in a holder's place and is none, and what is taken is taken back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive, kill, parentOf } from './lib/proc.mjs';
import { noRooms } from './lib/rooms.mjs';
import { binaries, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const script = fileURLToPath(new URL('lib/holder.py', import.meta.url));

/** The directory of a session, as it is below the runtime directory. */
const placeOf = (server, id) => {
	const [name] = readdirSync(path.join(server.dir, 'sessions')).filter((each) => each.startsWith(`${id}+`));
	return `sessions/${name}`;
};
const secretOf = (server) => Buffer.from(readFileSync(path.join(server.dir, 'holders.key'), 'utf8').split('\n')[0], 'hex');
const keyOf = (server, id) => createHmac('sha256', secretOf(server)).update(`ringside key of a holder\n${placeOf(server, id)}`).digest('hex');
const metric = async (server, name) => Number(new RegExp(`^ringside_${name} (\\d+)$`, 'm').exec((await server.api.raw('GET', '/metrics')).text)[1]);
const group = together();
/** What a test finds in the log is its own. */
const shared = (name, options, body) => (typeof options === 'function' ? shared(name, {}, options) : group(name, options, (server, t) => {
	server.stderr = '';
	return body(server, t);
}));
const lines = (server, pattern) => server.stderr.split('\n').filter((line) => pattern.test(line)).length;

/** holder.py: what it has said so far, and its end. */
function python(server, ...args) {
	const child = spawn('python3', [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, RINGSIDE_TEST_ROOT: server.root } });
	const it = { child, said: '' };
	child.stdout.setEncoding('utf8').on('data', (text) => { it.said += text; });
	it.ended = new Promise((resolve) => { child.on('close', resolve); });
	it.end = () => {
		child.stdin.end();
		return within('end of holder.py', it.ended);
	};
	return it;
}

const attach = async (server, id, ...rest) => {
	const it = python(server, 'attach', path.join(server.dir, placeOf(server, id)), ...rest);
	await it.end();
	return it.said.trim();
};

for (const [world, args] of [['', []], [', in a room of its own', ['--isolate=system']]]) {
	const skip = args.length > 0 && noRooms;
	scenario(`nobody inside a session attaches to its holder${world}`, { skip, start: false, numbers: true, ordinary: args.length > 0 }, async (server) => {
		const tools = path.join(server.root, 'tools');
		mkdirSync(tools);
		copyFileSync(script, path.join(tools, 'holder.py'));
		await server.start({ args: args.length > 0 ? [...args, '--ro-bind', tools] : [] });
		await server.session({ id: 's', cwd: '/' });
		const where = path.join(server.dir, placeOf(server, 's'));
		const from = async (prefix, key) => server.run('s', `${prefix} python3 ${tools}/holder.py attach ${where} ${key} </dev/null`);
		// The holder shows that it knows the key, and lets nobody in who shows the same.
		for (const prefix of ['', 'setsid -w']) {
			for (const key of ['', keyOf(server, 's')])
				assert.equal(await from(prefix, key), 'status -1, 0 descriptors\n', `${prefix} ${key && 'with the key'}`);
		}
		assert.equal(await metric(server, 'holders_regained_total'), 0);
		if (args.length > 0) assert.match(await server.run('s', `cat ${server.dir}/holders.key`), /No such file/);
	});
}

shared('who knows the key may attach, and is robbed in turn', { numbers: true }, async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	assert.equal(await attach(server, 's'), 'status -13, 0 descriptors', 'without a key');
	assert.equal(await attach(server, 's', keyOf(server, 'other')), 'it does not know the key\nstatus -13, 0 descriptors');
	const before = await metric(server, 'holders_regained_total');
	for (let round = 1; round <= 3; round += 1) {
		const thief = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), keyOf(server, 's'), '--hold');
		await until('the thief to be robbed', () => /status 0, 5 descriptors\ntaken/.test(thief.said));
		await thief.end();
		await until('the count', async () => await metric(server, 'holders_regained_total') === before + round);
		assert.equal(await server.run('s', 'echo still here'), 'still here\n');
	}
	assert.equal(lines(server, /another process had attached to its holder: taken back/), 1, 'it is said once');
	assert.equal(lines(server, /another server has taken it/), 0);
	await server.restart();
	assert.equal(await server.run('s', 'echo and again'), 'and again\n');
	assert.equal((await server.api.list()).data.length, 2);
});

shared('many sessions are adopted at once, each by its own key', { timeout: 120_000 }, async (server) => {
	const ids = Array.from({ length: times(5, 20) }, (_, at) => `s${at}`);
	await Promise.all(ids.map((id) => server.session({ id })));
	await Promise.all(ids.map((id) => server.run(id, `mine=${id}`)));
	const { processId } = await server.api.call('POST', '/api/process/start', { command: 'sleep 1000' });
	await server.restart();
	await Promise.all(ids.map(async (id) => assert.equal(await server.run(id, 'echo $mine'), `${id}\n`)));
	assert.equal((await server.api.call('GET', `/api/process/${processId}`)).process.status, 'running');
	assert.equal(lines(server, /refused/), 0, server.stderr);
});

/** A directory that says it is of a session of this id. */
function plant(server, model, id, random) {
	const to = path.join(server.dir, 'sessions', `${id}+${random}`);
	mkdirSync(to, { mode: 0o700 });
	const meta = readFileSync(path.join(server.dir, model, 'meta.json'), 'utf8');
	writeFileSync(path.join(to, 'meta.json'), meta.replaceAll(/("id": *)"[^"]*"/g, `$1"${id}"`), { mode: 0o600 });
	return to;
}

/** Those that listen in the places of holders: [directory, kind] of each. */
async function startFakes(server, ...fakes) {
	const all = python(server, 'fake', ...fakes.flat());
	await until(`fakes of kind ${fakes.map(([, kind]) => kind)}`, () => all.said.match(/^ready$/gm)?.length === fakes.length);
	return all;
}

shared('what is no holder is refused, and keeps nobody out', { timeout: 120_000 }, async (server) => {
	const { pid } = await server.session({ id: 'real' });
	await server.run('real', 'mine=real');
	const model = placeOf(server, 'real');
	await server.kill('SIGKILL');
	const kinds = ['mute', 'full', 'close', 'garbage', 'short', 'old', 'echo', 'wrong-fds', 'directory-fds', 'fifo-fds', 'many-fds'];
	const fakes = [];
	let number = 0;
	// As anybody would be, as one that has prepared itself, and one of these in the name of the session that is there.
	for (const kind of [...kinds, ...kinds.map((each) => `=${each}`)]) {
		number += 1;
		const id = kind === '=old' ? 'real' : `fake${number}`;
		fakes.push([plant(server, model, id, String(number).padStart(16, '0')), kind]);
	}
	const all = await startFakes(server, ...fakes);
	symlinkSync(path.join(server.dir, model), path.join(server.dir, 'sessions', 'link+0000000000000099'));
	writeFileSync(path.join(server.dir, 'sessions', 'file+0000000000000098'), '');
	const before = performance.now();
	await server.start();
	const took = performance.now() - before;
	assert.equal(await server.run('real', 'echo $mine'), 'real\n');
	assert.ok(isAlive(pid));
	// None was told more than that it should show who it is.
	assert.doesNotMatch(all.said, /asked [^8]/);
	await until('a word about each of them', () => lines(server, /refused: what listens|its holder does not answer/) >= fakes.length, { timeout: 15_000 });
	assert.equal(lines(server, /refused: what listens|its holder does not answer/), fakes.length, server.stderr);
	const list = (await server.api.list()).sessions;
	assert.deepEqual(list.filter(({ state }) => state === 'running').map(({ id }) => id), ['real']);
	assert.deepEqual(list.filter(({ state }) => state !== 'running').map(({ state }) => state), ['unresponsive', 'unresponsive'], 'those that say nothing');
	assert.ok(took < 20_000, `the start took ${took} ms`);
	await all.end();
	for (const name of readdirSync(path.join(server.dir, 'sessions'))) if (!model.endsWith(name)) rmSync(path.join(server.dir, 'sessions', name), { recursive: true });
	await server.restart();
	assert.equal(await server.run('real', 'echo $mine'), 'real\n');
});

shared('a socket in the place of a session\'s own', { timeout: 90_000 }, async (server) => {
	const { pid } = await server.session({ id: 's' });
	await server.run('s', 'mine=s');
	const where = path.join(server.dir, placeOf(server, 's'));
	for (const kind of ['=old', 'mute', '=close'].slice(0, times(2, 3))) {
		await server.kill('SIGKILL');
		const fake = await startFakes(server, [where, kind]);
		await server.start();
		await until('a word about it', () => lines(server, /refused: what listens/) > 0, { timeout: 15_000 });
		assert.ok(isAlive(pid), 'who is refused is no reason to end anybody');
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

scenario('holders that older releases have started are adopted', { start: false }, async (server) => {
	// What meta.json has is written by a server; the holder is started as those did: nothing on its standard input.
	await server.start();
	await server.session({ id: 'model' });
	const meta = readFileSync(path.join(server.dir, placeOf(server, 'model'), 'meta.json'), 'utf8');
	await server.api.delete('model');
	await server.kill('SIGTERM');
	rmSync(server.dir, { recursive: true });
	const directory = path.join(server.dir, 'sessions', 'old+00000000000000aa');
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	writeFileSync(path.join(directory, 'meta.json'), meta.replaceAll('"model"', '"old"'), { mode: 0o600 });
	const fd = openSync(directory, 'r');
	const holder = spawn(path.join(binaries, 'ringside-holder'), ['--dir-fd', '3', '--report-fd', '4', '--ring-size', '1048576', '--control-size', '16777216', '--cwd', '/', '--', 'bash', '--norc'],
		{ stdio: ['ignore', 'ignore', 'ignore', fd, 'pipe'], detached: true, env: { PATH: process.env.PATH, PS1: '$ ', RINGSIDE_TEST_ROOT: server.root } });
	closeSync(fd);
	await within('its report', new Promise((resolve) => { holder.stdio[4].once('data', resolve); }));
	await server.start();
	await server.outputMatches('old', /\$ /);
	await server.api.input('old', 'echo a""dopted\r');
	await server.outputMatches('old', /adopted/);
	await server.session({ id: 'new' });
	assert.match(readFileSync(path.join(server.dir, 'holders.key'), 'utf8'), /^[0-9a-f]{64}\nsessions\/old\+00000000000000aa\n$/);
	await server.restart();
	await server.api.input('old', 'echo a""gain\r');
	await server.outputMatches('old', /again/);
	assert.equal(await server.run('new', 'echo both'), 'both\n');
	assert.equal(lines(server, /refused/), 0, server.stderr);
});

shared('the secret is lost, and found', async (server) => {
	const { pid } = await server.session({ id: 's' });
	const file = path.join(server.dir, 'holders.key');
	await server.kill('SIGKILL');
	renameSync(file, `${file}.away`);
	await server.start();
	await until('a word about it', () => lines(server, /started with another secret/) === 1);
	assert.equal((await server.api.list()).data.length, 0);
	assert.ok(isAlive(pid));
	await server.kill('SIGTERM');
	writeFileSync(file, 'nonsense\n', { mode: 0o600 });
	server.stderr = '';
	await server.start({ wait: false });
	assert.equal((await within('its end', server.ended)).code, 1);
	assert.match(server.stderr, /holders\.key, the secret .* damaged/);
	renameSync(`${file}.away`, file);
	await server.start();
	assert.equal(await server.run('s', 'echo found'), 'found\n');
	assert.ok(!existsSync(`${file}.away`));
});

shared('a holder that is killed while its session is taken is lost', { numbers: true }, async (server) => {
	const { pid } = await server.session({ id: 's' });
	const holder = parentOf(pid);
	const thief = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), keyOf(server, 's'), '--hold');
	await until('the thief to be robbed', () => /taken/.test(thief.said));
	const second = python(server, 'attach', path.join(server.dir, placeOf(server, 's')), keyOf(server, 's'), '--hold');
	await until('the second', () => /status 0/.test(second.said));
	kill(holder);
	await until('its end', () => !isAlive(pid));
	await until('the end of the session', async () => (await server.api.list()).sessions.every(({ state }) => state === 'exited'));
	await thief.end();
	await second.end();
});
