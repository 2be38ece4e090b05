// A program of the server's user writes into the memory that a holder shares with the server, or changes its descriptors. That session may be lost, with
// a reason; the server is not, nor are others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { isAlive, kill, parentOf } from './lib/proc.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const shared = together({}, { keep: ['other'] });

// Of the header of a ring (ring/ring.h), and of the control page (ring/control.h).
const [HEAD, RESERVED, SIZE, POSITION, EVENTS_HEAD, EVENTS_RESERVED, EVENTS_SIZE] = [48, 56, 64, 72, 80, 88, 96];
const [GEOMETRY, EXITED, EXIT_OFFSET] = [44, 116, 128];
const CONTROL_SIZE = 16;
const FULL = 2n ** 64n - 1n;

/** What a holder has mapped of one of its files, to be written by anybody who may trace it; null: nobody may here. */
class Shared {
	constructor(holder, name) {
		const part = (line) => /^(\w+)-(\w+) rw-s (\w+)/.exec(line).slice(1).map((hex) => parseInt(hex, 16));
		this.parts = readFileSync(`/proc/${holder}/maps`, 'latin1').split('\n')
			.filter((line) => line.includes(`memfd:ringside-${name}`) && line.includes(' rw-s ')).map(part);
		assert.ok(this.parts.length > 0);
		this.fd = openSync(`/proc/${holder}/mem`, 'r+');
	}

	/** At an offset of the file. */
	write(offset, bytes) {
		const [start, , from] = this.parts.find(([first, last, begin]) => offset >= begin && offset < begin + last - first);
		writeSync(this.fd, bytes, 0, bytes.length, start + offset - from);
	}

	word(offset, value) {
		const bytes = Buffer.alloc(8);
		bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
		this.write(offset, bytes);
	}

	get size() {
		return Math.max(...this.parts.map(([first, last, begin]) => begin + last - first));
	}

	close() {
		closeSync(this.fd);
	}
}

/** Rings that were found damaged. */
const damaged = async (server) => Number(/^ringside_rings_damaged_total (\d+)$/m.exec((await server.api.raw('GET', '/metrics')).text)[1]);
const complaints = (server) => server.stderr.match(/makes no sense/g)?.length ?? 0;

/** All that reads a session: what it answers is not our business here, but that it does. */
async function readAll(server, id) {
	const paths = ['', '/output', '/screen', '/screen?format=ansi', '/search?q=line', '/blocks', '/state', '/output?from=0&to=100000'];
	for (const path of paths) {
		const { status } = await server.api.raw('GET', `/api/session/${id}${path}`);
		assert.ok(status < 500 || status === 503, `${path}: ${status}`);
	}
}

let fences = 0;
/** The others are served, by the same server. */
async function expectServed(server, other, pid) {
	assert.equal(server.pid, pid);
	fences += 1;
	other.type(`echo un""touched${fences}\r`);
	await other.untilText(`untouched${fences}\r\n`);
}

/** Make its holder write, and wake the server: output, unless it has no idea how much it has written, and an event. */
async function speak(server, id) {
	await server.api.raw('POST', `/api/session/${id}/input`, { data: 'seq 300\r' });
	await server.api.raw('POST', `/api/session/${id}/resize`, { cols: 99, rows: 33 });
}

const spoilt = {
	'a head that goes back': (ring) => ring.word(HEAD, 1),
	'a head that overflows': (ring) => ring.word(HEAD, FULL),
	'all reserved': (ring) => ring.word(RESERVED, FULL),
	'a log whose head goes back': (ring) => ring.word(EVENTS_HEAD, 8),
	'all of a log reserved': (ring) => ring.word(EVENTS_RESERVED, FULL),
};

shared('a header that makes no sense ends its session, with a reason', async (server) => {
	const { pid } = server;
	await server.session({ id: 'other' });
	const other = await server.client({ sessionId: 'other' }).connect();
	let count = await damaged(server);
	const before = complaints(server) - count;
	for (const [name, spoil] of Object.entries(spoilt)) {
		const { pid: shell } = await server.session({ id: 'victim' });
		const client = await server.client({ sessionId: 'victim' }).connect();
		const holder = parentOf(shell), ring = new Shared(holder, 'ring');
		spoil(ring);
		await speak(server, 'victim');
		const exit = await client.untilMessage('exit');
		assert.deepEqual([exit.code, exit.reason], [null, 'ring_damaged'], name);
		count++;
		assert.equal(await damaged(server), count, name);
		await readAll(server, 'victim');
		await readAll(server, 'victim');
		await expectServed(server, other, pid);
		assert.equal(complaints(server) - before, count, 'it is logged once');
		ring.close();
		await server.api.raw('POST', '/api/session/delete', { sessionId: 'victim' });
		kill(holder);
		await until('end of its shell', () => !isAlive(shell));
	}
});

shared('what is copied once, or has limits, harms nobody', async (server) => {
	const { pid } = server;
	await server.session({ id: 'other' });
	const other = await server.client({ sessionId: 'other' }).connect();
	const { pid: shell } = await server.session({ id: 'victim' });
	const client = await server.client({ sessionId: 'victim' }).connect();
	const holder = parentOf(shell), ring = new Shared(holder, 'ring'), control = new Shared(holder, 'control');
	const before = await damaged(server);
	for (const value of [0n, 1n, 4096n, 2n ** 63n, FULL]) {
		for (const at of [SIZE, POSITION, EVENTS_SIZE]) ring.word(at, value);
		ring.write(GEOMETRY, Buffer.alloc(4, Number(value & 0xffn)));
		control.word(CONTROL_SIZE, value);
		for (let at = 48; at < 48 + 128; at += 8) control.word(at, value);
		await server.api.raw('POST', '/api/session/victim/input', { data: `echo h""ere${value}\r` });
		await client.untilText(`here${value}\r\n`);
		await readAll(server, 'victim');
	}
	ring.word(EXIT_OFFSET, FULL);
	ring.write(EXITED, Buffer.from([1, 0, 0, 0]));
	await speak(server, 'victim');
	const exit = await client.untilMessage('exit');
	assert.ok(exit.offset <= (await server.api.get('victim')).offset, 'no end beyond the head');
	await readAll(server, 'victim');
	await expectServed(server, other, pid);
	assert.equal(await damaged(server), before);
	for (const each of [ring, control]) each.close();
	kill(holder);
	await until('end of its shell', () => !isAlive(shell));
});

/** Whoever may trace a holder has what it has, and its flags: make all block that it shares with the server. */
async function makeBlock(holder) {
	const shared = readdirSync(`/proc/${holder}/fd`).filter((fd) => /ptmx|eventfd/.test(readlinkSync(`/proc/${holder}/fd/${fd}`)));
	assert.ok(shared.length >= 3, `${shared}`);
	const script = `use Fcntl; my $holder = syscall(434, ${holder}, 0);
		for my $fd (qw(${shared.join(' ')})) {
			my $copy = syscall(438, $holder, $fd + 0, 0);
			open(my $file, '+<&=', $copy) or die "$fd: $!";
			fcntl($file, F_SETFL, fcntl($file, F_GETFL, 0) & ~O_NONBLOCK) or die $!;
		}`;
	execFileSync('perl', ['-e', script]);
}

shared('a terminal that is made to block stops nobody but its own session', async (server) => {
	const { pid } = server;
	await server.session({ id: 'other' });
	const other = await server.client({ sessionId: 'other' }).connect();
	const { pid: shell } = await server.session({ id: 'victim' });
	const client = await server.client({ sessionId: 'victim' }).connect();
	const holder = parentOf(shell), before = await damaged(server);
	client.type('stty raw -echo; echo re""ady; sleep 1000\r');
	await client.untilText('ready');
	await makeBlock(holder);
	const typed = server.api.raw('POST', '/api/session/victim/input', { data: 'x'.repeat(200_000) });
	await expectServed(server, other, pid);
	await typed;
	const exit = await client.untilMessage('exit');
	assert.deepEqual([exit.code, exit.reason], [null, 'ring_damaged']);
	await readAll(server, 'victim');
	await expectServed(server, other, pid);
	assert.equal(await damaged(server), before + 1);
	await server.api.delete('victim');
	await until('end of its shell', () => !isAlive(shell));
});

/** Prints 2,000 lines fifty times a second: all the time would leave nothing for who reads. */
const talking = `perl -e '$| = 1; while (1) { print map { "$_\\n" } 1 .. 2000; select undef, undef, undef, 0.02 }'`;

/** Numbers that look random, and are the same in every run. */
function* numbers(state = 12345) {
	for (;;) {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		yield state >>> 8;
	}
}

shared('garbage anywhere, while clients read, and for the server that comes next', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 'other' });
	const random = numbers(), below = (n) => random.next().value % n;
	const edges = [0n, 1n, 4096n, 65536n, 2n ** 32n, 2n ** 60n, 2n ** 63n, FULL];
	const tries = times(15, 60);
	for (let round = 0; round < times(2, 4); round++) {
		const { pid } = server;
		const other = await server.client({ sessionId: 'other' }).connect();
		const { pid: shell } = await server.session({ id: 'victim' });
		await server.client({ sessionId: 'victim' }).connect();
		const holder = parentOf(shell), files = ['ring', 'control'].map((name) => new Shared(holder, name));
		await server.api.raw('POST', '/api/session/victim/input', { data: `${talking}\r` });
		for (let i = 0; i < tries && isAlive(holder); i++) {
			for (let n = 0; n < 100; n++) {
				const file = files[below(2)], first = round % 2 === 0 ? 4096 : 0;
				// The first page is where it hurts most, the bytes what is parsed.
				const at = below(3) && first === 0 && i > tries / 2 ? below(24) * 8 : first + below((file.size - first) / 8 - 1) * 8;
				file.word(at, below(2) ? edges[below(edges.length)] : BigInt(random.next().value));
			}
			await readAll(server, 'victim');
		}
		await expectServed(server, other, pid);
		await server.restart();
		await server.shellReady('other');
		await readAll(server, 'victim');
		await server.api.raw('POST', '/api/session/delete', { sessionId: 'victim' });
		for (const file of files) file.close();
		kill(holder);
		await until('end of its shell', () => !isAlive(shell));
		// It is known again, ended, or forgotten: its name is free for the next round.
		await until('its end', async () => (await server.api.raw('GET', '/api/session/victim')).status === 404
			|| (await server.api.raw('POST', '/api/session/delete', { sessionId: 'victim' })).status === 200);
	}
});
