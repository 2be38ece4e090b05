// Snapshots, for clients that do not resume or have fallen behind: the exact screen, with all attributes.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { metric } from './lib/control.mjs';
import { rssAnon } from './lib/proc.mjs';
import { Road } from './lib/road.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { together as sharing } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';
import { assertShows, PlainWatcher, settled, watch, Watcher, witness } from './lib/watcher.mjs';
import { Reference } from '../lib/screen.mjs';

// Clients that read nothing for more than a ping and its answer would be disconnected: 20 s, which a busy machine may take.
const shared = sharing({ args: ['--ping-interval', '600'] });
const SCROLLBACK = 10_000; // the server's default
const types = (client) => client.log.map(({ type }) => type);

const SHORT = 1000; // for tests that are mostly about the screen

/* Output in pieces; the screen is compared after each. screen.test.mjs has all kinds of contents. */
const pieces = Object.entries({
	'an empty screen': 'x\b \b',
	colours: '\x1b[1;31mred\x1b[0m \x1b[38;5;200;48;2;1;2;3mmore\x1b[m \x1b[4:3;58;2;9;8;7mcurly\x1b[m\r\n',
	'wide and combining characters': 'e\u0301 \u754c\u{1f3aa} \u{1f469}\u200d\u{1f467} \u0e19\u0e49\u0e33\r\n',
	'a pending wrap': 'x'.repeat(80),
	scrollback: Array.from({ length: 300 }, (_, line) => `\x1b[3${line % 8}mline ${line}\x1b[m ${'.'.repeat(line % 100)}\r\n`).join(''),
	'margins and origin': '\x1b[5;15r\x1b[?6h\x1b[3;3Hin the margins\x1b7\x1b[1;44m',
	'restored cursor': '\x1b8\x1b[?6l\x1b[r\x1b[m',
	modes: '\x1b[?1h\x1b=\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[4h\x1b[?25l\x1b[5 q\x1b[?7l\x1b[?1004h',
	titles: '\x1b]0;one\x07\x1b[22;0t\x1b]2;two \u00fc\x07\x1b]1;icon\x07',
	links: '\x1b]8;id=a;http://x.example/?a=b\x1b\\link\x1b]8;;\x1b\\ none \x1b]8;;http://y.example/\x1b\\open',
	'the alternate screen': '\x1b[?1049h\x1b[2J\x1b[5;10Hmiddle\x1b[24;1H\x1b[7mstatus\x1b[m\x1b[12;40H',
	'half a CSI': '\x1b[3',
	'the rest of the CSI': '5mmagenta',
	'half a character': '\xe7\x95',
	'the rest of the character': '\x8c',
	'half a title': '\x1b]2;ti',
	'the rest of the title': 'tle\x07',
	'half a device control string': '\x1bP+q54',
	'dropped': '\x18',
	'back from the alternate screen': '\x1b[?1049l',
	'a full reset': '\x1bcafter the reset',
	'more than the scrollback holds': `${Array.from({ length: SHORT + 500 }, (_, line) => `${line}`).join('\r\n')}\r\n`,
}).map(([name, text]) => [name, /[^\0-\xff]/.test(text) ? Buffer.from(text) : Buffer.from(text, 'latin1')]);

/** Start a program that prints a piece for each byte of input. Returns a function that prints a piece. */
async function begin(server, id, list) {
	list.forEach(([, bytes], at) => writeFileSync(path.join(server.cwd, `piece-${at}`), bytes));
	writeFileSync(path.join(server.cwd, 'pieces'), `stty raw -echo; printf '<<begin''>>\\033c'
for i in {0..${list.length - 1}}; do read -rN1; cat piece-$i; done; read -rN1; stty sane\n`);
	await server.api.input(id, '. ./pieces\r');
	await server.outputMatches(id, /<<begin>>\x1bc/);
	let { offset } = await server.api.get(id);
	return async (at) => {
		await server.api.input(id, 'x');
		offset += list[at][1].length;
		await until(list[at][0], async () => (await server.api.get(id)).offset === offset);
		return offset;
	};
}

/** All clients have all output; of an incomplete sequence perhaps only a part. */
async function together(server, id, ...watchers) {
	let before;
	await until(() => `the same offset for all: ${watchers.map(({ client }) => client.offset)}`, () => {
		watchers.forEach(({ client }) => client.check());
		const places = new Set(watchers.map(({ client }) => client.offset));
		const now = places.size === 1 && [...places][0];
		const still = now !== false && now === before;
		before = now;
		return still;
	});
}

scenario('an attach shows the exact screen in any state; a reconnect does too', { args: ['--scrollback', String(SHORT)], timeout: 100_000 }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.run('s', 'seq 100');
	const truth = await witness(server, 's');
	const print = await begin(server, 's', pieces);
	const early = await watch(server, 's');
	const coming = await watch(server, 's');
	for (const [at, [name]] of pieces.entries()) {
		const head = await print(at);
		const late = await watch(server, 's');
		const plainClient = server.client({ sessionId: 's' });
		const plain = new PlainWatcher(plainClient, 80, 24, SHORT);
		await plainClient.connect();
		await together(server, 's', truth, early, coming, late, plain);
		const [snapshot] = late.client.snapshots;
		assert.ok(snapshot.offset <= head && head - snapshot.offset < 16, `${name}: a snapshot of ${snapshot.offset} at ${head}`);
		assert.deepEqual([snapshot.cols, snapshot.rows, snapshot.reason, snapshot.skipped], [80, 24, 'attach', undefined]);
		assert.equal(snapshot.lines, snapshot.total, `${name}: lines are missing`);
		const order = types(late.client).slice(0, types(late.client).indexOf('ready'));
		assert.deepEqual(order.filter((type) => type !== 'bytes'), ['attached', 'snapshot', 'sync'], name);
		assertShows(late, truth, `${name}, in a new client`);
		assertShows(plain, truth, `${name}, in a client that ignores messages`);
		if (at % 3 === 0) {
			assertShows(early, truth, `${name}, in the first client`);
			assertShows(coming, truth, `${name}, in a reconnecting client`);
		}
		late.client.terminate();
		plainClient.terminate();
		await coming.client.close();
		await until('two clients', async () => (await server.api.get('s')).clients === 2);
		await coming.client.connect();
	}
	await server.api.input('s', 'x');
	await server.shellReady('s');
	assert.equal(early.client.snapshots.length, 1);
	assert.deepEqual(early.client.gaps, []);
	assert.equal(coming.client.snapshots.length, 1, 'it could have resumed');
	await settled(server, 's', truth, early, coming);
	for (const each of [early, coming]) assertShows(each, truth, 'the end');
});

shared('scrollback=N: that many lines of history, and no more', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.run('s', 'seq -f "a line with the number %g" 700');
	const truth = await witness(server, 's');
	await settled(server, 's', truth);
	const { total } = (await watch(server, 's')).client.snapshots[0];
	assert.ok(total > 650 && total < 720, `${total} lines`);
	for (const [asked, lines] of [[0, 0], [50, 50], [total, total], [1e15, total], [undefined, total]]) {
		const watcher = await watch(server, 's', { scrollback: asked });
		const [snapshot] = watcher.client.snapshots;
		assert.deepEqual([snapshot.lines, snapshot.total], [lines, total], `scrollback=${asked}`);
		assertShows(watcher, truth, `scrollback=${asked}`, { lines });
		watcher.client.terminate();
	}
	// Fewer lines than the session has: the terminal keeps later output.
	const few = await watch(server, 's', { scrollback: 10 });
	const { offset } = await api.get('s');
	await api.input('s', 'seq 30\r');
	await server.outputMatches('s', /\n30\r\n/, offset); // the shell may be slow to begin
	await settled(server, 's', few, truth);
	assert.equal(few.reference.terminal.buffer.active.baseY, 10 + 31);
});

shared('snapshots on request, any number', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.run('s', 'seq 700');
	const { token } = await api.link('s', 'viewer', 60_000);
	const truth = await witness(server, 's');
	for (const watcher of [await watch(server, 's', { scrollback: 5 }), await watch(server, 's', { token, scrollback: 5 })]) {
		const { client } = watcher;
		await settled(server, 's', truth, watcher);
		assertShows(watcher, truth, 'few lines', { lines: 5 });
		for (const [scrollback, lines] of [[100, 100], [1e6, client.snapshots[0].total], [undefined, 0], [-5, 0], ['x', 0], [1e400, 0]]) {
			const before = client.snapshots.length;
			client.control({ type: 'snapshot', scrollback });
			await until(`snapshot of ${scrollback} lines`, () => client.snapshots.length > before);
			const last = client.snapshots.at(-1);
			assert.deepEqual([last.reason, last.lines, last.skipped], ['request', lines, undefined]);
			await settled(server, 's', truth, watcher);
			assertShows(watcher, truth, `${scrollback} lines on request`, { lines });
		}
		assert.equal(client.messages.filter(({ type }) => type === 'ready').length, 1, '"ready" came twice');
		assert.deepEqual(client.gaps, []);
	}

	// Requests during output, faster than snapshots can be sent.
	const watcher = await watch(server, 's');
	await api.input('s', 'for i in {1..1000}; do echo "number $i $RANDOM"; done\r');
	for (let round = 0; round < 20; round += 1) {
		watcher.client.control({ type: 'snapshot', scrollback: round % 2 ? 10_000 : 3 });
		if (round % 5 === 0) await pause(3);
	}
	watcher.client.control({ type: 'snapshot', scrollback: 10_000 });
	await server.outputMatches('s', /number 1000 /);
	await settled(server, 's', truth, watcher);
	await until('the last snapshot', () => watcher.client.snapshots.at(-1).lines > 3);
	await settled(server, 's', truth, watcher);
	assertShows(watcher, truth, 'after many requests');

	// An ended session: the exit is not sent again.
	await api.input('s', 'exit 3\r');
	await watcher.client.untilMessage('exit');
	const before = watcher.client.snapshots.length;
	watcher.client.control({ type: 'snapshot', scrollback: 7 });
	await until('a snapshot of the ended session', () => watcher.client.snapshots.length > before);
	watcher.client.control({ type: 'ping', t: 1 });
	await watcher.client.untilMessage('pong');
	await settled(server, 's', truth, watcher);
	assertShows(watcher, truth, 'an ended session', { lines: 7 });
	assert.equal(watcher.client.messages.filter(({ type }) => type === 'exit').length, 1, 'the exit came twice');
});

shared('sizes: a snapshot has the current one, and later ones come at their offsets', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	const truth = await witness(server, 's');
	await server.run('s', 'seq -f "a rather long line that will be wrapped when it gets narrow: %g" 100');
	const early = await watch(server, 's');
	for (const [cols, rows] of [[40, 10], [132, 43], [2, 1], [100, 30], [33, 50], [80, 24]]) {
		await api.resize('s', cols, rows);
		await early.client.untilMessage('resize', (resize) => resize.cols === cols);
		const late = await watch(server, 's');
		assert.deepEqual([late.client.snapshots[0].cols, late.client.snapshots[0].rows], [cols, rows]);
		await server.run('s', `echo at ${cols} x ${rows}`);
		await settled(server, 's', truth, early, late);
		assertShows(early, truth, `${cols} x ${rows}, in the first client`);
		assertShows(late, truth, `${cols} x ${rows}, in a new client`);
	}
	// Within a sequence.
	await server.run('s', 'stty -echo');
	await settled(server, 's', truth, early);
	await api.input('s', "printf 'x\\033[3'; read -n 1; printf '1mred\\r\\n'; stty echo\r");
	const { offset } = await until('half a sequence', async () => {
		const session = await api.get('s');
		return session.offset > truth.client.offset && session;
	});
	await api.resize('s', 50, 15);
	const late = await until('a client that sees the new size', async () => {
		const watcher = await watch(server, 's');
		if (watcher.client.snapshots[0].cols === 50) return watcher;
		watcher.client.terminate();
		return undefined;
	});
	const first = late.client.messages.filter(({ type }) => type === 'snapshot' || type === 'sync');
	assert.deepEqual(first.map(({ cols, rows }) => [cols, rows]), [[50, 15], [50, 15]]);
	await api.input('s', 'x');
	await server.outputMatches('s', /31mred/, offset - 3);
	await settled(server, 's', truth, early, late);
	assertShows(early, truth, 'a resize within a sequence, in the first client');
	assertShows(late, truth, 'a resize within a sequence, in a new client');
});

/** The session's head at each snapshot, to tell how old a shown screen is. */
class Ages {
	constructor(server, id, client) {
		this.head = 0;
		this.snapshots = [];
		this.timer = setInterval(() => server.api.get(id).then(({ offset }) => { this.head = offset; }, () => {}), 60);
		server.clients.add({ terminate: () => clearInterval(this.timer) });
		client.on('snapshot', ({ offset }) => this.snapshots.push({ offset, head: this.head }));
	}

	/** The age of the nth screen, in snapshots. */
	of(n) {
		let age = 0;
		while (age < n && this.snapshots[n - age - 1].head > this.snapshots[n].offset) age += 1;
		return age;
	}
}

const FLOOD = times(10e6, 100e6); // bytes: more than the ring and the kernel hold

/* Print endless numbered lines at full speed, until a file says stop; another file slows it down, but to more than any road here. */
const flood = String.raw`$| = 1; my $n = 0; my $pad = "x" x 60;
until (-e "stop") { select undef, undef, undef, 0.2 if -e "calmly"; my $text = ""; $text .= sprintf("\e[3%dmline %09d\e[m of the flood %s\n", $n % 8, $n, substr($pad, 0, $n % 60)), $n++ for 1 .. 2000; print $text }
print "the last of $n\n";`;

/** The terminal that the ring's bytes draw; their beginning has scrolled out of it. */
async function drawn(server, id) {
	const { oldest, cols, rows } = await server.api.get(id);
	const bytes = await server.api.output(id, oldest);
	const reference = new Reference(cols, rows, SCROLLBACK);
	reference.feed(bytes.subarray(bytes.indexOf('\n') + 1));
	assert.equal(reference.terminal.buffer.active.baseY, SCROLLBACK, 'the ring is too small for this test');
	return reference;
}

shared('a slow client sees the current screen a few times a second, in its current size, and everything at the end', { timeout: 120_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	writeFileSync(path.join(server.cwd, 'flood.pl'), flood);
	const road = await Road.build(server, Infinity);
	const slow = new Watcher(road.client({ sessionId: 's' }));
	await slow.client.connect();
	const fast = await watch(server, 's', { sink: () => {}, keepLog: false, scrollback: 0 });
	fast.client.removeAllListeners('bytes');

	road.pace = 0;
	const resyncs = await metric(server, 'resyncs_total');
	const { offset: begun } = await api.get('s');
	await api.input('s', 'perl flood.pl\r');
	await until('a flood while it reads nothing', async () => (await api.get('s')).offset > begun + FLOOD, { timeout: 60_000 });
	writeFileSync(path.join(server.cwd, 'calmly'), '');
	assert.ok(slow.client.socket, 'it was disconnected');
	assert.ok(slow.client.offset < begun + 1e6);

	// Bytes in kernel buffers come first; later ones are not old.
	road.pace = 150_000;
	const first = slow.client.snapshots.length;
	await until('a snapshot', () => slow.client.snapshots.length > first, { timeout: 20_000 });
	const before = slow.client.snapshots.length;
	const seen = new Ages(server, 's', slow.client);
	const count = times(14, 20);
	await until(`${count} snapshots`, () => seen.snapshots.length >= count, { progress: () => seen.snapshots.length });
	const ages = seen.snapshots.map((_, at) => seen.of(at));
	console.log(`# age of each shown screen, in snapshots: ${ages}`);
	// Sometimes the server tests whether the client keeps up with the stream: then the kernel's buffers come first.
	assert.ok(ages.filter((age) => age <= 4).length >= count / 2, `its screens are old: ${ages}`);
	assert.ok(Math.max(...ages) <= 16, `its screens are old: ${ages}`);
	for (const snapshot of slow.client.snapshots.slice(before)) {
		assert.deepEqual([snapshot.reason, snapshot.lines], ['lag', 0]);
		assert.ok(snapshot.skipped > 0);
		assert.ok(snapshot.bytes < 16_384, `${snapshot.bytes} bytes for a screen`);
	}
	const shown = Number(/line (\d{9}) of/.exec(slow.text)?.[1]);
	assert.ok(shown > 1000, slow.text);

	for (const [cols, rows] of [[100, 30], [60, 20], [132, 43], [70, 22]]) {
		await api.resize('s', cols, rows);
		await until(`a snapshot of ${cols} x ${rows}`, () => {
			slow.client.check();
			const last = slow.client.snapshots.at(-1);
			return last?.cols === cols && last.rows === rows;
		});
		assert.deepEqual([slow.reference.terminal.cols, slow.reference.terminal.rows], [cols, rows]);
	}
	rmSync(path.join(server.cwd, 'calmly'));
	const { offset: resized } = await api.get('s');
	await until('more output in that size than the ring holds', async () => (await api.get('s')).offset > resized + FLOOD / 2, { timeout: 30_000 });
	writeFileSync(path.join(server.cwd, 'stop'), '');
	await server.outputMatches('s', /the last of \d+\r\n/, Math.max(0, (await api.get('s')).offset - 2000));
	await server.shellReady('s');
	const { received } = slow.client;
	await settled(server, 's', slow);
	assert.ok(slow.client.received - received < 4e6, 'it had to read output that was no longer shown');
	await until('the whole scrollback', () => slow.client.snapshots.at(-1).lines === SCROLLBACK, { timeout: 30_000 });
	await settled(server, 's', slow);
	const truth = await drawn(server, 's');
	// Resizes move a saved cursor; the comparison has only the last size.
	assertShows(slow, truth, 'after the flood', { saved: false });
	assert.equal(slow.client.connections, 1);
	assert.ok(slow.client.socket);
	for (const gap of slow.client.gaps) assert.equal(gap.skipped, gap.to - gap.from);
	assert.ok(await metric(server, 'resyncs_total') >= resyncs + count);

	// It is back in the stream: every byte, without snapshots.
	const { offset } = slow.client;
	const snapshots = slow.client.snapshots.length;
	await server.run('s', 'seq 100');
	await settled(server, 's', slow);
	assert.equal(slow.client.snapshots.length, snapshots);
	assert.deepEqual(slow.client.bytes.subarray(offset - slow.client.since), await api.output('s', offset));
});

shared('clients that do not read cost no memory and slow nothing down', { timeout: 120_000, memory: true }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.session({ id: 'calm' });
	writeFileSync(path.join(server.cwd, 'flood.pl'), flood);
	const fast = await server.client({ sessionId: 's', lag: 1e12, sink: () => {}, keepLog: false }).connect();
	const calm = await server.client({ sessionId: 'calm' }).connect();
	await api.input('s', 'perl flood.pl\r');
	/* The best of three measurements in MB/s: this machine does other work as well. */
	const speed = async () => {
		let best = 0;
		for (let look = 0; look < 3; look += 1) {
			const [from, at] = [(await api.get('s')).offset, performance.now()];
			await pause(times(100, 700));
			best = Math.max(best, ((await api.get('s')).offset - from) / (performance.now() - at) / 1000);
		}
		return best;
	};
	await until('a flood', async () => (await api.get('s')).offset > FLOOD / 3, { timeout: 30_000 });
	const alone = await speed();
	const echo = async (word) => {
		const began = performance.now();
		calm.type(`echo ${word.slice(0, 3)}""${word.slice(3)}=\r`);
		await until('the echo', () => calm.text.includes(`${word}=\r\n`), { interval: 1 });
		return performance.now() - began;
	};
	const before = [];
	const echoes = times(12, 30);
	for (let at = 0; at < echoes; at += 1) before.push(await echo(`alone${at}`));
	const base = rssAnon(server.pid);
	const stalled = [];
	for (let at = 0; at < 10; at += 1) {
		const client = await server.client({ sessionId: 's', scrollback: at % 2 ? undefined : 0, sink: () => {}, keepLog: false }).connect();
		client.stall();
		stalled.push(client);
	}
	/* Repeat: the server would slow the program down all the time, other programs on this machine do not. */
	let crowded = 0;
	await until(() => `${crowded} MB/s in place of ${alone}`, async () => {
		crowded = Math.max(crowded, await speed());
		return crowded > alone / 3;
	}, { timeout: 40_000 });
	let peak = 0;
	const took = [];
	for (let at = 0; at < echoes; at += 1) {
		took.push(await echo(`crowded${at}`));
		peak = Math.max(peak, rssAnon(server.pid));
	}
	const median = (of) => of.sort((a, b) => a - b)[of.length >> 1];
	const [lonely, together] = [median(before), median(took)];
	const { received } = fast;
	await until('progress of the reading client', () => fast.received > received + 1e6);
	console.log(`# ${alone.toFixed(0)} MB/s, with ten that do not read ${crowded.toFixed(0)} MB/s; echo beside it ${lonely.toFixed(1)} and ${together.toFixed(1)} ms; RssAnon ${(base / 1048576).toFixed(1)} MiB, at most ${(peak / 1048576).toFixed(1)} MiB`);
	assert.ok(together < 5 * lonely + 50, `median echo ${together} ms instead of ${lonely}`);
	if (!sanitized()) assert.ok(peak - base < 16 << 20, `RssAnon grew from ${base} to ${peak}`);
	writeFileSync(path.join(server.cwd, 'calmly'), '');
	stalled.forEach((client) => client.unstall());
	await until('the current screen for all', async () => {
		const { offset } = await api.get('s');
		return stalled.every((client) => client.offset > offset - 200e6 && client.snapshots.length > 1);
	}, { timeout: 30_000 });
	writeFileSync(path.join(server.cwd, 'stop'), '');
	await server.outputMatches('s', /the last of \d+\r\n/, Math.max(0, (await api.get('s')).offset - 2000), { timeout: 30_000 });
	const { offset } = await api.get('s');
	await Promise.all(stalled.map((client) => client.untilOffset(offset, { timeout: 30_000 })));
	assert.ok(stalled.every((client) => client.socket && client.connections === 1), 'a client was disconnected');
});

shared('a client that is slow at the end of the session sees the whole end', { timeout: 100_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	const road = await Road.build(server, Infinity);
	const slow = new Watcher(road.client({ sessionId: 's' }));
	await slow.client.connect();
	road.pace = 0;
	await api.input('s', `seq ${times(650_000, 2_000_000)}; printf "\\e[31mgood bye"; exit 4\r`);
	await until('the end', async () => (await api.get('s')).state === 'exited', { timeout: 30_000 });
	road.pace = 200_000;
	const exit = await slow.client.untilMessage('exit', () => true, { timeout: 30_000 });
	assert.equal(exit.code, 4);
	assert.equal(slow.client.log.find(({ type }) => type === 'exit').at, exit.offset);
	await until('the whole scrollback', () => slow.client.snapshots.at(-1).lines === SCROLLBACK, { timeout: 30_000 });
	await settled(server, 's', slow);
	assertShows(slow, await drawn(server, 's'), 'the end');
	assert.equal(slow.client.messages.filter(({ type }) => type === 'exit').length, 1);
});
