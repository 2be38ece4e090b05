// --record: the output of sessions is on disk, with times, sizes, commands and their ends, also when the server is killed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { printed, read, segments, tapes } from './lib/recording.mjs';
import { binary, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

/** A scenario whose server records into `record` beside its working directory. */
const recorded = (name, body, more = []) => scenario(name, { start: false }, async (server) => {
	const dir = path.join(server.root, 'record');
	await server.start({ args: ['--record', dir, ...more] });
	await body(server, dir);
});

const text = (tape) => printed(read(tape)).toString();

const exec = (server, command, id = 's') => server.api.call('POST', `/api/session/${id}/exec`, { command });

const often = { interval: 100 }; // each poll starts zstd

/** The recording of a session that contains this text. */
const tapeWith = async (dir, id, what) => {
	await until(() => `${what} in the recording of ${id}`, () => tapes(dir, id).some((tape) => text(tape).includes(what)), often);
	return tapes(dir, id).find((tape) => text(tape).includes(what));
};

/** Wait until the recording of a session has ended and is sealed. */
const sealed = (dir, id = 's') => until('the sealed recording', () => tapes(dir, id).some((tape) => segments(tape).every((file) => file.endsWith('.zst'))
	&& read(tape).at(-1)?.type === 'exit'), often);

recorded('output, sizes, blocks and the end, with times; also of a deleted session, without secrets', async (server, dir) => {
	const { api } = server;
	await server.session({ id: 's', cols: 91, rows: 21 });
	const before = Date.now() / 1000;
	await exec(server, 'printf "one%s\\n" two; false');
	await api.resize('s', 100, 30);
	await exec(server, 'echo after the resize');
	await api.input('s', 'exit 7\r');
	await sealed(dir);
	const [tape] = tapes(dir, 's'), list = read(tape);
	assert.equal(statSync(tape).mode & 0o777, 0o700);
	for (const file of segments(tape)) assert.equal(statSync(file).mode & 0o777, 0o600);
	assert.deepEqual(list[0], { ...list[0], type: 'size', rows: 21, cols: 91 });
	assert.ok(list.some(({ type, rows, cols }) => type === 'size' && rows === 30 && cols === 100), 'the other size');
	const begin = list.findIndex(({ type, command }) => type === 'begin' && command.includes('two; false'));
	const out = list.find(({ type, bytes }) => type === 'output' && bytes.includes('onetwo'));
	const end = list.findIndex(({ type, start }) => type === 'end' && start === list[begin].offset);
	// The start of a command may be within a piece of output: it is recorded after that piece.
	const places = [list[begin].offset, out.offset + out.bytes.indexOf('onetwo') + 6, list[end].offset];
	assert.deepEqual(places, places.toSorted((a, b) => a - b), 'in order');
	assert.ok(begin < end);
	assert.equal(list[end].status, 1);
	assert.deepEqual(list.at(-1), { ...list.at(-1), type: 'exit', status: 7 << 8, known: true });
	assert.equal(list.filter(({ type }) => type === 'exit').length, 1);
	for (const [i, { time }] of list.entries()) assert.ok(i === 0 || time >= list[i - 1].time, 'times never decrease');
	assert.ok(list[begin].time >= before - 1 && list.at(-1).time <= Date.now() / 1000 + 1, 'times are those of this clock');

	// Input without echo and the key of the marks are in no recording.
	{
		await server.session({ id: 'quiet' });
		await api.input('quiet', 'read -s -p "word: "; echo; echo d""one\r');
		await tapeWith(dir, 'quiet', 'word: ');
		await api.input('quiet', 'correct horse\r');
		const tape = await tapeWith(dir, 'quiet', 'done');
		const all = Buffer.concat(read(tape).map(({ bytes, command }) => bytes ?? Buffer.from(command ?? '')));
		assert.ok(!all.includes('correct horse'), 'the input is recorded');
		assert.ok(!/133;C;[^\x07\x1b]*[0-9a-f]{32}/.test(all.toString('latin1')), 'a nonce is recorded');
	}

	// A deleted session keeps its recording; a new session of that id has another.
	{
		await server.session({ id: 'twice' });
		await exec(server, 'echo fi""rst', 'twice');
		await api.delete('twice');
		await sealed(dir, 'twice');
		await server.session({ id: 'twice' });
		await exec(server, 'echo sec""ond', 'twice');
		const tape = await tapeWith(dir, 'twice', 'second');
		assert.equal(tapes(dir, 'twice').length, 2);
		assert.ok(tapes(dir, 'twice').some((other) => other !== tape && text(other).includes('first')));
	}

	// A removed recording is started again.
	{
		await server.session({ id: 'removed' });
		await exec(server, 'echo be""fore', 'removed');
		const tape = await tapeWith(dir, 'removed', 'before');
		rmSync(tape, { recursive: true });
		await exec(server, 'echo af""ter', 'removed');
		await until('the new recording', () => tapes(dir, 'removed').length > 0 && read(tape).some(({ bytes }) => bytes?.includes('after')), often);
	}
});

recorded('kill -9 during output: every byte once, also after a torn tail', async (server, dir) => {
	const { api } = server;
	await server.session({ id: 's' });
	writeFileSync(path.join(server.cwd, 'counter.pl'), `$| = 1; my $i = 0;
until (-e "stop") { for (1 .. 20) { printf "line %09d of the counter\\n", $i++ } select undef, undef, undef, 0.001 }
print "last $i\\n";`);
	await api.input('s', 'perl counter.pl\r');
	const size = () => (tapes(dir, 's').length ? printed(read(tapes(dir, 's')[0])).length : 0);
	for (let i = 0; i < times(3, 5); i++) {
		const now = size();
		await until('more of the recording', () => size() > now + 2000, often);
		await server.kill();
		// As after a crash of the machine.
		const open = segments(tapes(dir, 's')[0]).find((file) => file.endsWith('.open'));
		if (i % 2 && open) writeFileSync(open, Buffer.from('28b52ffd04587506002a', 'hex'), { flag: 'a' });
		await server.start();
	}
	writeFileSync(path.join(server.cwd, 'stop'), '');
	const tape = await tapeWith(dir, 's', '\nlast ');
	const list = read(tape), shown = text(tape);
	assert.equal(tapes(dir, 's').length, 1);
	assert.ok(!list.some(({ type }) => type === 'gap'), 'the recording has no gap');
	const lines = shown.match(/line \d{9} of the counter/g);
	const [, last] = /\nlast (\d+)/.exec(shown);
	assert.equal(lines.length, Number(last));
	lines.forEach((line, i) => assert.equal(Number(line.slice(5, 14)), i));
	assert.equal(list.filter(({ type, command }) => type === 'begin' && command.includes('counter.pl')).length, 1, 'a block begins once');
});

recorded('output without a server is recorded by the next one; an end too', async (server, dir) => {
	const { api } = server;
	await server.session({ id: 's' });
	await api.input('s', 'until [ -e go ]; do sleep .05; done; echo alone; echo >gone; exit 3\r');
	await tapeWith(dir, 's', 'alone; echo');
	await server.kill('SIGTERM');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the end of the program', () => readdirSync(server.cwd).includes('gone'));
	await server.start();
	await sealed(dir);
	const [tape] = tapes(dir, 's'), list = read(tape);
	assert.match(text(tape), /\x07alone\r\n/);
	assert.equal(list.at(-1).status, 3 << 8);
	const files = segments(tape).join();
	await server.kill('SIGTERM');
	await server.start();
	await server.session({ id: 'other' });
	await tapeWith(dir, 'other', 'awake');
	assert.equal(segments(tape).join(), files, 'an ended session is not recorded again');
	assert.equal(read(tape).length, list.length);
});

recorded('segments are sealed as they grow, and the oldest are removed', async (server, dir) => {
	await server.session({ id: 's' });
	// Hardly compressible output beyond the limit: only the newest part is kept.
	await exec(server, 'head -c 7000000 /dev/urandom | base64 -w 100');
	await exec(server, 'echo the""end');
	const tape = tapes(dir, 's')[0];
	const bytes = () => segments(tape).reduce((sum, file) => sum + statSync(file).size, 0);
	await until(() => `the removal of the oldest: ${segments(tape)}`, () => {
		try {
			return !segments(tape)[0].endsWith('00000001.zst') && bytes() < 9 << 20;
		} catch {
			return false; // a file has just been removed
		}
	}, { timeout: 60_000, ...often });
	await until('the newest output', () => read(tape).some(({ bytes: b }) => b?.includes('theend')), often);
	const list = read(tape);
	const first = list.find(({ type }) => type === 'output').offset;
	printed(list, first);
	assert.ok(first > 1 << 20 && !list.some(({ type }) => type === 'gap'));
}, ['--record-size', '1M']);

scenario('old recordings are removed at the start, other files stay; a directory that other users can write to is refused; off disables it', { args: ['--record', 'off'] }, async (server) => {
	const dir = path.join(server.root, 'record'), old = path.join(dir, 's+0123456789abcdef');
	mkdirSync(old, { recursive: true, mode: 0o700 });
	chmodSync(dir, 0o700);
	const past = Date.now() / 1000 - 90 * 86400;
	for (const name of ['00000001.zst', '00000002.open', 'notes.txt']) {
		writeFileSync(path.join(old, name), 'x');
		utimesSync(path.join(old, name), past, past);
	}
	await server.kill('SIGTERM');
	await server.start({ args: ['--record', dir] });
	await until('the removal of old recordings', () => readdirSync(old).join() === 'notes.txt');

	// A directory that other users can write to is refused.
	{
		const dir = path.join(server.root, 'open');
		mkdirSync(dir);
		chmodSync(dir, 0o755);
		const { status, stderr } = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', path.join(server.root, 'r2'),
			'--record', dir], { encoding: 'utf8' });
		assert.equal(status, 1);
		assert.match(stderr, /chmod 700/);
		assert.deepEqual(readdirSync(dir), []);
	}
});
