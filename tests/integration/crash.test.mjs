// The server may be killed at any instant: sessions survive, and no byte is lost or duplicated.
//
// RINGSIDE_TEST_KILLS: number of kills under the counter stream.
// RINGSIDE_TEST_CHAOS: number of kills during each of create, attach, resize and delete.
// RINGSIDE_TEST_ADOPT: number of sessions that one start adopts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RawClient, Refused, sha256 } from './lib/client.mjs';
import { cmdline, isAlive, kill, parentOf, processesNaming } from './lib/proc.mjs';
import { binary, readText, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, slowness, until } from './lib/until.mjs';
import { assertShows, Watcher } from './lib/watcher.mjs';
import { piece, Random } from '../lib/grammar.mjs';
import { Reference } from '../lib/screen.mjs';

const kills = times(12, 500, 'RINGSIDE_TEST_KILLS');
const chaos = times(2, 40, 'RINGSIDE_TEST_CHAOS');
const adopted = times(8, 50, 'RINGSIDE_TEST_ADOPT');
const random = (limit) => Math.floor(Math.random() * limit);

// Prints numbered lines, a few every millisecond: continuous, but no flood. Ends when the file "stop" exists.
const counter = `$| = 1; my $i = 0;
until (-e "stop") { for (1 .. 5) { printf "line %09d of the counter\\n", $i++ } select undef, undef, undef, 0.001 }
print "last $i\\n";`;

const holders = (server) => processesNaming(server.root).filter((pid) => /ringside-holder/.test(cmdline(pid)));

/** There are exactly the holders of the listed sessions. */
const tidy = (server) => until(() => `as many holders as sessions: ${holders(server).map(cmdline).join('; ')}`,
	async () => {
		const { sessions } = await server.api.list();
		return holders(server).length === sessions.length;
	});

scenario(`${kills} kill -9 under a counter stream: every byte once, in order`, {
	args: ['--ring-size', '128M'], timeout: 600_000,
}, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	writeFileSync(path.join(server.cwd, 'counter.pl'), counter);
	const followers = [];
	const clients = Array.from({ length: 3 }, () => server.client({ sessionId: 's', lag: 1e12, keepLog: false }));
	for (const client of clients) {
		await client.connect({ history: true });
		await client.close();
		const followed = client.follow();
		followed.catch((error) => { client.failure ??= error; });
		followers.push(followed);
	}
	await api.input('s', 'perl counter.pl\r');
	const { pid, epoch } = await api.get('s');
	const check = () => clients.forEach((client) => client.check());
	const advanced = async (behind) => {
		const before = clients.map(({ offset }) => offset);
		await until(() => `progress of the clients: ${clients.map(({ offset, attached }, at) => `${before[at]} ${offset} ${JSON.stringify(attached)}`)}`, () => {
			check();
			return clients.filter(({ offset, ready }, at) => ready && offset > before[at]).length >= clients.length - behind;
		}, { interval: 2, timeout: 30_000 });
	};
	const begun = Date.now();
	for (let round = 0; round < kills; round += 1) {
		const manner = round % 10;
		if (manner < 6) await advanced(0); // every client is back
		else if (manner < 8) await advanced(2); // at least one client is back
		else await pause(random(8)); // perhaps no client is back
		await pause(random(4));
		await server.kill('SIGKILL');
		await server.start({ wait: manner !== 9 });
		if (manner === 9) { // during its start
			await pause(random(40));
			await server.kill('SIGKILL');
			await server.start();
		}
		if (round % 50 === 5) { // frozen for a while
			await server.kill('SIGSTOP');
			await pause(300);
			await server.kill('SIGCONT');
		}
	}
	const seconds = (Date.now() - begun) / 1000;
	console.log(`# ${kills} kills in ${seconds.toFixed(1)} s`);
	await advanced(0);
	writeFileSync(path.join(server.cwd, 'stop'), '');
	await server.outputMatches('s', /last \d+\r\n/, Math.max(0, (await api.get('s')).offset - 2000), { timeout: 30_000 });
	await server.shellReady('s');
	const { offset } = await until('quiet', async () => {
		const one = await api.get('s');
		await pause(100);
		const two = await api.get('s');
		return one.offset === two.offset && two;
	});
	await Promise.all(clients.map((client) => client.untilOffset(offset, { timeout: 30_000 })));
	const session = await api.get('s');
	assert.deepEqual([session.pid, session.epoch, session.oldest], [pid, epoch, 0]);
	const whole = await api.output('s');
	assert.equal(whole.length, offset);
	for (const client of clients) {
		assert.deepEqual(client.gaps.map(({ from, to, skipped }) => ({ from, to, skipped })), []);
		assert.ok(client.since < 10_000, 'it was connected from the start');
		assert.equal(client.offset, offset);
		assert.equal(sha256(client.bytes), sha256(whole.subarray(client.since)), 'a client has other bytes than the ring');
		assert.ok(client.connections > kills / 3, `only ${client.connections} connections`);
	}
	const text = whole.toString('latin1').replace(/\x1b\]133;[^\x07]*\x07/g, ''); // without the shell's marks
	const lines = [...text.matchAll(/^line (\d{9}) of the counter\r$/gm)];
	for (const [at, [, number]] of lines.entries()) {
		assert.equal(Number(number), at, `line ${at} is lost or duplicated`);
	}
	assert.equal(/^last (\d+)\r$/m.exec(text)[1], String(lines.length));
	assert.ok(lines.length > kills * 5, 'there is too little output');
});

shared('a frozen server loses nothing and continues', async (server) => {
	await server.session({ id: 's' });
	writeFileSync(path.join(server.cwd, 'counter.pl'), counter);
	const client = await server.client({ sessionId: 's' }).connect();
	client.type('perl counter.pl\r');
	await client.untilText('line 000000100');
	for (let round = 0; round < 2; round += 1) {
		await server.kill('SIGSTOP');
		await pause(250);
		await server.kill('SIGCONT');
		const { offset } = client;
		await until('more', () => client.offset > offset);
	}
	writeFileSync(path.join(server.cwd, 'stop'), '');
	const [, last] = await client.untilText(/last (\d+)\r\n/);
	const numbers = [...client.text.matchAll(/line (\d{9}) /g)].map(([, number]) => Number(number));
	assert.equal(numbers.length, Number(last));
	assert.ok(numbers.every((number, at) => number === at));
	assert.equal(client.connections, 1);
});

shared('killed while it creates sessions', { timeout: 120_000 }, async (server) => {
	for (let round = 0; round < chaos; round += 1) {
		const asked = [0, 1, 2].map((at) => server.api.raw('POST', '/api/session/create', { id: `r${round}-${at}`, name: `name ${at}`, cols: 90 + at })
			.then(({ status }) => status, () => 0));
		await pause(random(25));
		await server.kill('SIGKILL');
		const statuses = await Promise.all(asked);
		await server.start();
		const { sessions } = await server.api.list();
		for (const [at, status] of statuses.entries()) {
			const id = `r${round}-${at}`;
			const session = sessions.find((each) => each.id === id);
			if (status === 200) assert.ok(session, `${id} was created and is gone`);
			if (session) {
				assert.deepEqual([session.name, session.cols, session.state === 'exited'], [`name ${at}`, 90 + at, false]);
				assert.ok(isAlive(session.pid));
				await server.shellReady(id);
				await server.api.delete(id);
			} else {
				// The client got no response: the session may appear a moment later, or never.
				await server.api.open({ id });
				await server.shellReady(id);
				await server.api.delete(id);
			}
		}
		await tidy(server);
	}
});

shared('killed while clients attach, type and resize', { timeout: 120_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.run('s', 'seq 1 500');
	const { pid, epoch } = await api.get('s');
	const witness = await server.client({ sessionId: 's' }).connect({ history: true });
	await witness.close();
	for (let round = 0; round < chaos; round += 1) {
		const clients = Array.from({ length: 3 }, (_, at) => server.client({ sessionId: 's', cols: 60 + round + at, rows: 20 + at }));
		const attached = clients.map(async (client, at) => {
			await client.connect();
			for (let step = 0; step < 10; step += 1) {
				client.control({ type: 'resize', cols: 60 + step + at, rows: 20 + at });
				client.type(`: ${round}-${at}-${step}\r`);
				await pause(1);
			}
		});

		const resized = [api.raw('POST', '/api/session/s/resize', { cols: 200 + round, rows: 50 }),
			api.raw('POST', '/api/session/s/rename', { name: `round ${round}` })];
		[...attached, ...resized].forEach((each) => each.catch(() => {})); // most of them are cut off
		await pause(random(30));
		await server.kill('SIGKILL');
		await Promise.allSettled([...attached, ...resized]);
		await server.start();
		clients.forEach((client) => client.terminate());
		await api.input('s', '\x15'); // drop half-typed input
		await server.shellReady('s');
		const session = await api.get('s');
		assert.deepEqual([session.pid, session.epoch, session.state, session.clients], [pid, epoch, 'running', 0]);
		assert.equal((await server.run('s', 'stty size')).trim(), `${session.rows} ${session.cols}`,
			'the size of the session is not that of its terminal');
		await witness.connect();
		assert.deepEqual(witness.gaps, []);
		const { offset } = await api.get('s');
		await witness.untilOffset(offset);
		await witness.close();
	}
	const whole = await api.output('s');
	assert.equal(sha256(witness.bytes), sha256(whole.subarray(0, witness.offset)));
	// The recorded resizes form a consistent history.
	await witness.connect({ resume: { epoch, offset: 0 } });
	const sizes = witness.messages.slice(witness.messages.findLastIndex(({ type }) => type === 'attached'))
		.filter(({ type }) => type === 'resize');
	assert.ok(sizes.every(({ offset }, at) => at === 0 || offset >= sizes[at - 1].offset));
	const session = await api.get('s');
	assert.deepEqual([sizes.at(-1).cols, sizes.at(-1).rows], [session.cols, session.rows]);
});

shared('killed while it deletes sessions', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 'keep' });
	for (let round = 0; round < chaos; round += 1) {
		const ids = [0, 1, 2].map((at) => `d${round}-${at}`);
		const sessions = await Promise.all(ids.map((id) => server.session({ id })));
		await Promise.all(ids.map((id) => server.run(id, 'setsid sleep 5000 & sleep 5000 & true')));
		const answers = ids.map((id) => server.api.raw('POST', '/api/session/delete', { sessionId: id })
			.then(({ status }) => status, () => 0));
		await pause(random(20));
		await server.kill('SIGKILL');
		const statuses = await Promise.all(answers);
		await server.start();
		const { data } = await server.api.list();
		assert.ok(data.includes('keep'));
		for (const [at, id] of ids.entries()) {
			if (statuses[at] === 200) assert.ok(!data.includes(id), `${id} was deleted and is back`);
			if (data.includes(id)) {
				await server.api.raw('POST', '/api/session/delete', { sessionId: id });
			}
			await until('end of the shell', () => !isAlive(sessions[at].pid));
		}
		await until(() => `end of the trees: ${processesNaming(server.root).map(cmdline)}`,
			() => processesNaming(server.root).every((pid) => !/sleep 5000/.test(cmdline(pid))));
		await tidy(server);
	}
	assert.equal(await server.run('keep', 'echo kept'), 'kept\n');
});

shared('a killed holder ends its session, and only its own', async (server) => {
	const { api } = server;
	const victim = await server.session({ id: 'victim' });
	const other = await server.session({ id: 'other' });
	await server.run('victim', 'sleep 5001 & true');
	const client = await server.client({ sessionId: 'victim' }).connect();
	const neighbour = await server.client({ sessionId: 'other' }).connect();
	kill(parentOf(victim.pid));
	const exit = await client.untilMessage('exit');
	assert.deepEqual([exit.code, exit.reason], [null, 'holder_died']);
	assert.equal(exit.offset, client.offset);
	const session = await api.get('victim');
	assert.equal(session.state, 'exited');
	assert.equal(session.exit.reason, 'holder_died');
	await until('end of the shell', () => !isAlive(victim.pid));
	neighbour.type('echo un""touched\r');
	await neighbour.untilText('untouched\r\n');
	assert.equal((await api.get('other')).pid, other.pid);
	const late = await api.raw('POST', '/api/session/victim/input', { data: 'x' });
	assert.ok(late.status >= 400 && late.status < 500, late.text);
	const again = await api.create({ id: 'victim' });
	assert.notEqual(again.epoch, victim.epoch);
	await server.shellReady('victim');

	// Killed while the server is down.
	kill(server.pid);
	await server.ended;
	kill(parentOf(again.pid));
	await until('end of the shell', () => !isAlive(again.pid));
	await server.start();
	const { sessions } = await api.list();
	const left = sessions.find(({ id }) => id === 'victim');
	if (left) assert.deepEqual([left.state, left.exit.reason], ['exited', 'holder_died']);
	assert.equal(sessions.find(({ id }) => id === 'other').pid, other.pid);
	await api.create({ id: 'victim' });
	assert.equal(await server.run('victim', 'echo new'), 'new\n');
	await tidy(server);
});

shared('a stopped holder carries out earlier requests when it continues, also under another server', async (server) => {
	const { api } = server;
	const { pid } = await server.session({ id: 's' });
	await api.input('s', 'trap "echo us""r1" USR1\r');
	await server.shellReady('s');
	const holder = parentOf(pid);
	kill(holder, 'SIGSTOP');
	for (const at of [1, 2, 3]) await api.resize('s', 100 + at, 30 + at);
	await api.signal('s', 'USR1', 'shell');
	await api.resize('s', 104, 34);
	await server.kill('SIGKILL');
	// The holder may see the new connection before or after it has read the old one to its end.
	const started = server.start();
	await pause(random(60));
	kill(holder, 'SIGCONT');
	await started;
	await until('the last size', async () => {
		const { cols, rows } = await api.get('s');
		return cols === 104 && rows === 34;
	});
	assert.equal(await server.run('s', 'stty size'), '34 104\n');
	await server.outputMatches('s', /usr1\r\n/);
});

scenario('a full ring blocks the program, and it continues after the restart', { args: ['--ring-size', '64K'] }, async (server) => {
	const { api } = server;
	const lines = 12_000;
	await server.session({ id: 's' });
	const { stdout } = spawnSync('seq', ['-f', 'number %09.0f of a finite stream', '1', String(lines)], { maxBuffer: 1 << 24 });
	const expected = Buffer.from(stdout.toString().replaceAll('\n', '\r\n'));
	writeFileSync(path.join(server.cwd, 'file'), stdout);
	const client = await server.client({ sessionId: 's' }).connect();
	client.type('printf "be""gin"; until [ -e go ]; do sleep 0.02; done; dd if=file bs=512 status=none; echo en""d\r');
	await client.untilText('begin');
	const start = client.since + client.bytes.indexOf('begin') + 5;
	const following = client.follow.bind(client);
	await server.kill('SIGKILL');
	writeFileSync(path.join(server.cwd, 'go'), '');
	const program = await until('the program', () => processesNaming(server.root).find((pid) => /^dd if=file/.test(cmdline(pid))));
	const written = () => Number(/^wchar: (\d+)$/m.exec(readText(`/proc/${program}/io`))[1]);
	let before = -1;
	await until('a blocked program', async () => {
		const now = written();
		const still = now === before && now > 60_000;
		before = now;
		await pause(150);
		return still;
	});
	assert.ok(isAlive(program), 'the program ended although the ring was full');
	assert.ok(written() < 200_000, `${written()} bytes were written into a ring of 64K`);
	await pause(500);
	assert.ok(isAlive(program));
	await server.start();
	const followed = following();
	followed.catch((error) => { client.failure ??= error; });
	await until('end of the program', () => !isAlive(program));
	const end = start + expected.length;
	await client.untilOffset(end + 5);
	const { offset, oldest, ringSize } = await api.get('s');
	assert.ok(offset - oldest <= ringSize);
	// The ring's contents, and the client's bytes, are the stream's bytes at those offsets.
	const kept = await api.output('s', oldest, end);
	assert.equal(sha256(kept), sha256(expected.subarray(oldest - start)));
	assert.ok((await api.text('s', end)).startsWith('end\r\n'), 'bytes were lost');
	const runs = [...client.gaps.map(({ from, chunks }) => [from, Buffer.concat(chunks)]), [client.offset, client.bytes]]
		.map(([to, bytes]) => [to - bytes.length, bytes]);
	let sum = 0;
	for (const [from, bytes] of runs) {
		const [low, high] = [Math.max(from, start), Math.min(from + bytes.length, end)];
		if (high <= low) continue;
		sum += high - low;
		assert.equal(sha256(bytes.subarray(low - from, high - from)), sha256(expected.subarray(low - start, high - start)),
			`other bytes from ${low} to ${high}`);
	}
	for (const gap of client.gaps) assert.equal(gap.skipped, gap.to - gap.from);
	const skipped = client.gaps.reduce((total, gap) => total + Math.max(0, Math.min(gap.to, end) - Math.max(gap.from, start)), 0);
	assert.equal(sum + skipped, expected.length);
});

scenario('output that fits into the ring while the server is down reaches the client complete', { args: ['--ring-size', '1M'] }, async (server) => {
	await server.session({ id: 's' });
	const { stdout } = spawnSync('seq', ['1', '100000'], { maxBuffer: 1 << 24 });
	const expected = Buffer.from(`begin${stdout.toString().replaceAll('\n', '\r\n')}end`);
	const client = await server.client({ sessionId: 's', lag: 1e12 }).connect();
	client.type('printf "be""gin"; until [ -e go ]; do sleep 0.02; done; seq 1 100000; printf "en""d"; touch done\r');
	await client.untilText('begin');
	await server.kill('SIGKILL');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the end of the program, with no server', () => {
		try {
			return statSync(path.join(server.cwd, 'done'));
		} catch {
			return false;
		}
	});
	await server.start();
	await client.connect();
	await until('end', () => client.bytes.indexOf(expected.subarray(-20)) > 0);
	assert.deepEqual(client.gaps, []);
	const at = client.bytes.indexOf('begin1\r\n');
	assert.equal(sha256(client.bytes.subarray(at, at + expected.length)), sha256(expected));
});

shared('a second server on the same runtime directory refuses', async (server) => {
	await server.session({ id: 's' });
	const second = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir],
		{ timeout: 10_000 * slowness, encoding: 'utf8', env: { ...process.env, RINGSIDE_TEST_ROOT: server.root } });
	assert.equal(second.error, undefined, 'it did not refuse');
	assert.ok(second.status > 0, `it ended with ${second.status ?? second.signal}`);
	assert.ok(second.stderr.includes(server.dir), second.stderr);
	assert.match(second.stderr, /already|in use|another|locked/i);
	assert.doesNotMatch(second.stdout, /Ringside is at/);
	assert.equal(await server.run('s', 'echo un""touched'), 'untouched\n');
	await server.restart();
	assert.equal(await server.run('s', 'echo un""touched'), 'untouched\n');
});

shared('SIGTERM and SIGINT end the server and leave the sessions', async (server) => {
	const { pid } = await server.session({ id: 's' });
	const { token } = server;
	for (const signal of ['SIGTERM', 'SIGINT']) {
		assert.deepEqual(await server.kill(signal), { code: 0, signal: null });
		assert.ok(isAlive(pid));
		await server.start();
		assert.equal(server.token, token, 'the token changes with a restart');
		assert.equal(await server.run('s', 'echo $$'), `${pid}\n`);
	}
	const mode = (name) => (statSync(path.join(server.dir, name)).mode & 0o777).toString(8);
	assert.deepEqual([mode('.'), mode('token')], ['700', '600']);
	assert.equal(readText(path.join(server.dir, 'token')).trim(), token);
});

scenario('--kill-sessions-on-exit ends the sessions with the server', { args: ['--kill-sessions-on-exit'], mayHaveDied: true }, async (server) => {
	for (const id of ['a', 'b']) {
		await server.session({ id });
		await server.run(id, 'setsid sleep 5002 & true');
	}
	assert.deepEqual(await server.kill('SIGTERM'), { code: 0, signal: null });
	await until(() => `end of all: ${processesNaming(server.root).map(cmdline)}`, () => processesNaming(server.root).length === 0);
	await server.start();
	assert.deepEqual((await server.api.list()).data, []);
});

shared(`a start adopts ${adopted} sessions as they were`, { timeout: 120_000 }, async (server) => {
	const { api } = server;
	for (let at = 0; at < adopted; at += 1) {
		await api.create({ id: `s${at}`, name: `Session ${at} ü`, cols: 80 + at, rows: 24 + at, idleTimeoutMs: 7_200_000 + at });
	}
	await server.shellReady('s0');
	await api.input('s0', 'exit 5\r');
	await until('exit', async () => (await api.get('s0')).state === 'exited');
	await api.call('POST', '/api/session/s1/rename', { name: 'renamed' });
	await api.resize('s2', 133, 44);
	const viewer = await api.link('s3', 'viewer', 600_000);
	const revoked = await api.link('s3', 'driver', 600_000);
	await api.call('DELETE', `/api/session/s3/links/${revoked.link.id}`);
	const state = async () => {
		const { sessions } = await api.list();
		return sessions.map(({ lastActivityAt, activity, ...rest }) => rest).sort((a, b) => a.pid - b.pid);
	};
	const before = await until('quiet', async () => {
		const one = await state();
		await pause(200);
		const two = await state();
		return JSON.stringify(one) === JSON.stringify(two) && two.every((each) => each.state !== 'starting') && two;
	}, { timeout: 30_000 });
	await server.kill('SIGKILL');
	const begun = Date.now();
	await server.start();
	console.log(`# ${adopted} sessions adopted, start to URL: ${Date.now() - begun} ms`);
	assert.deepEqual(await state(), before);
	for (const id of ['s1', 's2', `s${adopted - 1}`]) {
		const { cols, rows } = before.find((each) => each.id === id);
		assert.equal(await server.run(id, 'stty size'), `${rows} ${cols}\n`);
	}
	const { links } = await api.call('GET', '/api/session/s3/links');
	assert.ok(links.some(({ id }) => id === viewer.link.id));
	await server.client({ sessionId: 's3', token: viewer.token }).connect();
	await assert.rejects(server.client({ sessionId: 's3', token: revoked.token }).connect(),
		(error) => error instanceof Refused && error.status === 401, 'a revoked link works again after a restart');
	// A connection to the old server does not affect the new one.
	const raw = new RawClient(server).send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
	assert.ok([200, 403].includes(await raw.status()));
	await tidy(server);
});

/*
 * Screens and lines in all colours and states, as full-screen programs and shells leave them. Random output has no wide
 * characters: screen.test.mjs tests their halves.
 */
function mixture(random, length) {
	const parts = [];
	let size = 0;
	for (let at = 0; size < length; at += 1) {
		const lines = Array.from({ length: 5 + random.below(30) }, (_, i) =>
			`\x1b[3${i % 8}m${at}.${i}\x1b[m ${['plain', '\u7aef\u672b \u{1f3aa}', '\x1b[1;48;5;99mbold', 'e\u0301\u0302'][random.below(4)]} ${'.'.repeat(random.below(100))}\r\n`).join('');
		const drawn = Array.from({ length: random.below(20) }, () =>
			`\x1b[${1 + random.below(24)};${1 + random.below(80)}H\x1b[${random.below(2)};4${random.below(8)}m${at}\x1b[K`).join('');
		const wild = Array.from({ length: random.below(25) }, () => piece(random))
			.filter((bytes) => !/[^\0-\x7f]|\x1bc|3J|\?(47|1047|1049)[hl]/.test(bytes.toString('latin1')));
		const bytes = Buffer.concat([
			Buffer.from(`\x1b]2;title ${at}\x07${lines}`),
			...(random.below(3) === 0 ? [Buffer.from(`\x1b[?1049h\x1b[?1;2004${'hl'[random.below(2)]}${drawn}`), ...wild] : []),
			Buffer.from(random.below(5) === 0 ? '' : '\x18\x0f\x1b(B\x1b[!p\x1b[?1049l\x1b[20l\x1b[?7h\x1b[m\x1b[24;1H\r\n'),
		]);
		parts.push(bytes);
		size += bytes.length;
	}
	return Buffer.concat(parts);
}

/* Print a file at a pace in bytes per ms while a second file exists, up to the offset in that file. */
const pacer = `use Time::HiRes "sleep"; $| = 1; my ($name, $pace) = @ARGV; open my $file, "<:raw", $name; print "<begin>"; my $to = 0;
sub may { open my $run, "<", "run" or return 0; my $text = <$run>; $to = $text if defined $text; $to > tell $file }
while (!eof $file) { sleep 0.002 until may(); read $file, my $bytes, $pace; for (my $at = 0; $at < length $bytes;) { $at += syswrite STDOUT, $bytes, length($bytes) - $at, $at } sleep 0.001 }
open my $done, ">", "done"; sleep 0.01 until -e "leave";`;

/**
 * Kill the server repeatedly while the program prints more than the ring holds. After each start, a new client must show what
 * all bytes from the start have drawn.
 */
async function crashes(server, { bytes, pace, rounds, scrollback }) {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	writeFileSync(path.join(server.cwd, 'stream'), bytes);
	writeFileSync(path.join(server.cwd, 'pacer.pl'), pacer);
	await api.input('s', `stty raw -echo; perl pacer.pl stream ${pace}; stty sane\r`);
	await server.outputMatches('s', /<begin>/);
	const before = await api.output('s');
	const all = Buffer.concat([before, bytes]);
	const truth = new Reference(80, 24, scrollback);
	let fed = 0;
	// Each round has its share of the bytes, so the number of kills is the same on a slow machine.
	let round = 0;
	const run = (on) => {
		if (!on) return rmSync(path.join(server.cwd, 'run'));
		writeFileSync(path.join(server.cwd, 'run.new'), String(Math.ceil(bytes.length * Math.min(1, (round + 1) / rounds))));
		return renameSync(path.join(server.cwd, 'run.new'), path.join(server.cwd, 'run'));
	};
	/* Check the screen on connection, and once more with later output. */
	const look = async (where) => {
		const client = await server.client({ sessionId: 's', lag: 1e12 }).connect();
		await pause(5);
		client.check();
		run(false); // the check takes time
		// A client that falls behind by more than the ring gets another snapshot, and continues from there.
		const { gaps, bytes } = client;
		const snapshot = client.snapshots.at(client.taken ? -2 : -1);
		client.terminate();
		for (const gap of gaps) assert.ok(gap.skipped > 0 && gap.to - gap.from === gap.skipped);
		const reference = new Reference(80, 24, scrollback);
		reference.feed(snapshot.data);
		for (const [from, to] of [[0, 0], [0, bytes.length]]) {
			reference.feed(bytes.subarray(from, to));
			assert.ok(truth.feed(all.subarray(fed, snapshot.offset + to)), 'xterm.js cannot process this stream');
			fed = snapshot.offset + to;
			assertShows(reference, truth, () => `${where}, a snapshot of ${snapshot.offset} at ${fed}`);
		}
		run(true);
		return snapshot;
	};
	run(true);
	const over = () => statSync(path.join(server.cwd, 'done'), { throwIfNoEntry: false });
	let lines = 0;
	for (; round < rounds; run(true)) {
		await pause(random(120));
		await server.kill('SIGKILL');
		await pause(random(30));
		await server.start();
		lines = Math.max(lines, (await look(`after kill ${round}`)).lines);
		round += 1;
	}
	await until('end of the program', over, { timeout: 60_000, progress: async () => (await api.get('s')).offset });
	await until('all output', async () => (await api.get('s')).offset === all.length);
	await server.restart();
	await look('at the end');
	const { oldest } = await api.get('s');
	writeFileSync(path.join(server.cwd, 'leave'), '');
	return { oldest, lines };
}

scenario('a screen outlives the server, and bytes that the ring has lost', { args: ['--ring-size', '256K', '--scrollback', '1000'], timeout: 200_000 }, async (server) => {
	const bytes = mixture(new Random(7), times(6e5, 6e6));
	const { oldest, lines } = await crashes(server, { bytes, pace: 3000, rounds: times(4, 30), scrollback: 1000 });
	assert.ok(oldest > bytes.length - 3e5, 'the ring has lost nothing');
	assert.equal(lines, 1000);
});

scenario('a torn checkpoint is never used', { args: ['--ring-size', '64K', '--scrollback', '150'], timeout: 300_000 }, async (server) => {
	const bytes = mixture(new Random(11), times(2e6, 24e6));
	const { oldest } = await crashes(server, { bytes, pace: 60_000, rounds: times(5, 40), scrollback: 150 });
	assert.ok(oldest > bytes.length - 1e6);
});

scenario('killed under full-screen programs and resizes: a new client sees the same as an old one', { args: ['--ring-size', '64M', '--scrollback', '1000'], timeout: 200_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	// Print while the file "go" exists, and report each pause.
	writeFileSync(path.join(server.cwd, 'stream'), mixture(new Random(3), 1e6));
	writeFileSync(path.join(server.cwd, 'player.pl'), `use Time::HiRes "sleep"; $| = 1; open my $file, "<:raw", "stream"; print "<begin>"; my $part = 0;
for (;;) { until (-e "run") { if ($part) { open my $rest, ">", "rests-$part"; $part = 0 } exit if -e "leave"; sleep 0.005 }
if (!$part) { open my $run, "<", "run"; $part = <$run> } read($file, my $bytes, 2500) or seek($file, 0, 0); print $bytes; sleep 0.001 }`);
	const witness = new Watcher(server.client({ sessionId: 's', lag: 1e12, sink: () => {} }));
	await witness.client.connect({ history: true });
	await api.input('s', 'stty raw -echo; perl player.pl; stty sane\r');
	await server.outputMatches('s', /<begin>/);
	await witness.client.close();
	const followed = witness.client.follow();
	followed.catch((error) => { witness.client.failure ??= error; });
	for (let round = 1; round <= times(4, 30); round += 1) {
		writeFileSync(path.join(server.cwd, 'run.new'), String(round));
		renameSync(path.join(server.cwd, 'run.new'), path.join(server.cwd, 'run'));
		await pause(30 + random(60));
		if (round % 2 === 0) {
			await api.resize('s', 40 + random(80), 10 + random(30));
			await pause(random(20));
		}
		await server.kill('SIGKILL');
		await pause(random(40));
		rmSync(path.join(server.cwd, 'run'));
		await until('the pause of the program', () => statSync(path.join(server.cwd, `rests-${round}`), { throwIfNoEntry: false }));
		await server.start();
		const late = new Watcher(server.client({ sessionId: 's' }));
		await late.client.connect();
		await until('the same offset for both', async () => {
			witness.client.check();
			const { offset } = witness.client;
			await pause(30);
			return witness.client.ready && offset === witness.client.offset && offset === late.client.offset && (await api.get('s')).offset - offset < 100;
		});
		assert.deepEqual(witness.client.gaps, []);
		assertShows(late, witness, `round ${round}`);
		late.client.terminate();
	}
	assert.equal(witness.client.snapshots.length, 0);
	writeFileSync(path.join(server.cwd, 'leave'), '');
});

/*
 * Ask for the cursor position, each time elsewhere, with a lot of output in between, and read until the reply. Lost replies
 * are not detected by time: when there is a new server (the file "alive" has another number), it sends another query, and
 * earlier replies must come first. Prints how many queries got no reply, and unexpected input.
 */
const inquirer = `$| = 1; my ($asked, $lost, $odd) = (0, 0, ""); my $pad = "x" x 3000;
sub alive { open my $file, "<", "alive" or return ""; my $number = <$file>; $number }
sub more { my $r = ""; vec($r, 0, 1) = 1; return "" unless select($r, undef, undef, 0.05) > 0; sysread STDIN, my $b, 4096; $b }
sub fence { my $reply = ""; for (;;) { my $now = alive(); print "\\e[?15n"; until ($reply =~ s/\\e\\[\\?13n//g) { $reply .= more(); last if alive() ne $now } return $reply if $now eq alive() } }
until (-e "stop") {
	my ($row, $col, $now) = (1 + $asked % 20, 1 + int($asked / 20) % 70, alive()); $asked++;
	print "\\e[H$pad\\e[$row;\${col}H\\e[6n";
	my $reply = "";
	until ($reply =~ /R$/) { $reply .= more(); if (alive() ne $now) { $reply .= fence(); last } }
	$reply =~ s/\\e\\[\\?13n//g;
	if ($reply eq "") { $lost++ } elsif ($reply ne "\\e[$row;\${col}R") { $odd .= unpack("H*", $reply) . "," }
}
my $late = fence(); $odd .= "late" . unpack("H*", $late) if $late ne "";
printf "\\ec\\r\\nasked=$asked lost=$lost odd=[$odd]\\r\\n";`;

scenario('queries that were answered before a crash are not answered again', { args: ['--ring-size', '256K'], timeout: 120_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	writeFileSync(path.join(server.cwd, 'inquirer.pl'), inquirer);
	const alive = (number) => {
		writeFileSync(path.join(server.cwd, 'alive.new'), String(number));
		renameSync(path.join(server.cwd, 'alive.new'), path.join(server.cwd, 'alive'));
	};
	alive(0);
	await api.input('s', 'stty raw -echo; perl inquirer.pl; stty sane\r');
	const rounds = times(6, 40);
	for (let round = 0; round < rounds; round += 1) {
		const { offset } = await api.get('s');
		await until('progress', async () => (await api.get('s')).offset > offset + 50_000);
		await pause(random(20));
		await server.kill('SIGKILL');
		await pause(random(20));
		await server.start();
		alive(round + 1);
		const client = await server.client({ sessionId: 's' }).connect();
		client.terminate();
	}
	const { offset } = await api.get('s');
	await until('more output than the ring holds', async () => (await api.get('s')).offset > offset + 300_000);
	await server.restart();
	alive('last');
	writeFileSync(path.join(server.cwd, 'stop'), '');
	const [, asked, lost, odd] = await server.outputMatches('s', /asked=(\d+) lost=(\d+) odd=\[(.*?)\]/, offset);
	console.log(`# asked ${asked}, of which ${lost} got no reply in ${rounds + 1} crashes`);
	assert.equal(odd, '', 'an unexpected reply');
	assert.ok(Number(asked) > rounds);
	// If output before a crash counts as answered, each crash loses one reply; otherwise only a reply that was being written.
	assert.ok(Number(lost) <= rounds / 2, `${lost} of ${asked} got no reply`);
});

shared('a query that the old server had not read is answered by the next', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	writeFileSync(path.join(server.cwd, 'asks.pl'), `$| = 1; sub wait_for { select(undef, undef, undef, 0.02) until -e $_[0] }
print "re" . "ady\\r\\n"; wait_for("ask"); print "\\e[2;3H\\e[6n"; open my $told, ">", "asked"; close $told;
my $reply = ""; until ($reply =~ /R$/) { sysread STDIN, my $b, 100; $reply .= $b }
print "\\e[?15n"; until ($reply =~ /13n$/) { sysread STDIN, my $b, 100; $reply .= $b }
print "\\r\\nreply=[" . unpack("H*", $reply) . "]\\r\\n";`);
	await api.input('s', 'stty raw -echo; perl asks.pl; stty sane\r');
	await server.outputMatches('s', /ready\r\n/);
	await server.kill('SIGSTOP');
	writeFileSync(path.join(server.cwd, 'ask'), '');
	await until('the question', () => statSync(path.join(server.cwd, 'asked'), { throwIfNoEntry: false }));
	await server.kill('SIGKILL');
	await server.start();
	const [, reply] = await server.outputMatches('s', /reply=\[(.*?)\]/);
	assert.equal(reply, Buffer.from('\x1b[2;3R\x1b[?13n').toString('hex'), 'once, and before later replies');
});
