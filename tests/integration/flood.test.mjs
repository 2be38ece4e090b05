// A flood with fast, slow, stalled and reconnecting clients.
//
// Clients with a large lag= get every byte; others get a snapshot in place of their backlog (see snapshot.test.mjs).
//
// RINGSIDE_TEST_FLOOD_MB: size of the output. It is printed in parts; the next part starts when the reading clients have
// nearly caught up: the test shares the processors with the server, and a reader that falls behind the ring only because the
// test is slow proves nothing.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hashing } from './lib/client.mjs';
import { rssAnon } from './lib/proc.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { pause, until } from './lib/until.mjs';

const megabytes = times(20, 200, 'RINGSIDE_TEST_FLOOD_MB');
const ring = times(4, 64); // MiB; less than a stalled client falls behind
const readers = 7;
const everything = 1e12; // as lag: only bytes that the ring has lost are skipped

const KERNEL_KEEPS = 8e6; // for one connection, as tcp_rmem and tcp_wmem set it

/** Mixed text: log lines, colours, CJK, emoji, random base64. Line feeds only, no queries. */
function mixture(length) {
	const parts = [];
	let size = 0;
	for (let at = 0; size < length; at += 1) {
		const line = [
			`${at} GET /index.html 200 ${at * 37 % 1000} ms\n`,
			`\x1b[1;${31 + at % 7}mcolour ${at}\x1b[0m and \x1b[38;5;${at % 256}mmore\x1b[m\n`,
			`端末の多重化 ${at} 字符 🎪 ähnlich ${'界'.repeat(at % 40)}\n`,
			`${randomBytes(90).toString('base64')}\n`,
			`\x1b[${at % 24 + 1};${at % 80 + 1}H\x1b[K${'#'.repeat(at % 120)}\x1b]0;title ${at}\x07\n`,
		][at % 5];
		const bytes = Buffer.from(line);
		parts.push(bytes);
		size += bytes.length;
	}
	return Buffer.concat(parts);
}

/** Mark every offset at which a terminal in its ground state can start. */
function groundStates(bytes) {
	const ground = new Uint8Array(bytes.length + 1);
	let state = 'ground';
	for (let at = 0; at < bytes.length; at += 1) {
		const byte = bytes[at];
		if (state === 'ground') ground[at] = (byte & 0xc0) === 0x80 ? 0 : 1;
		if (state === 'ground') {
			if (byte === 0x1b) state = 'escape';
		} else if (state === 'escape') {
			state = byte === 0x5b ? 'csi' : byte === 0x5d ? 'osc' : 'ground';
		} else if (state === 'csi') {
			if (byte >= 0x40 && byte <= 0x7e) state = 'ground';
		} else if (byte === 0x07) {
			state = 'ground';
		}
	}
	ground[bytes.length] = state === 'ground' ? 1 : 0;
	return ground;
}

/** Compares received bytes with a stream that repeats `period` from `start` to `end`. */
class Comparison {
	constructor(period) {
		this.period = period;
		this.twice = Buffer.concat([period, period]);
		this.start = Infinity;
		this.end = Infinity;
		this.compared = 0;
		this.early = [];
	}

	begin(start, end) {
		this.start = start;
		this.end = end;
		const { early } = this;
		this.early = undefined;
		for (const [bytes, offset] of early) this.push(bytes, offset);
	}

	push(bytes, offset) {
		if (this.early) {
			this.early.push([bytes, offset]);
			return;
		}
		let from = Math.max(0, this.start - offset);
		const to = Math.min(bytes.length, this.end - offset);
		while (from < to) {
			const phase = (offset + from - this.start) % this.period.length;
			const length = Math.min(to - from, this.period.length);
			if (bytes.compare(this.twice, phase, phase + length, from, from + length) !== 0) {
				const at = bytes.findIndex((byte, index) => index >= from && byte !== this.twice[phase + index - from]);
				throw new Error(`different bytes from offset ${offset + at} on (the piece starts at ${offset}): `
					+ `${JSON.stringify(bytes.toString('latin1', at, at + 60))} instead of `
					+ `${JSON.stringify(this.twice.toString('latin1', phase + at - from, phase + at - from + 60))}`);
			}
			this.compared += length;
			from += length;
		}
	}
}

scenario(`${megabytes} MB to ten clients, two of them stalled, one reconnecting`, {
	memory: true,
	args: ['--ring-size', `${ring}M`], timeout: 600_000,
}, async (server) => {
	const { api } = server;
	const period = mixture((1 << 20) + 4093);
	const parts = Math.max(8, Math.ceil(megabytes / 20));
	const repeats = Math.max(1, Math.round(megabytes * 1e6 / parts / period.length));
	const file = path.join(server.cwd, 'file');
	writeFileSync(file, '');
	for (let at = 0; at < repeats; at += 1) appendFileSync(file, period);
	const partLength = repeats * period.length;
	const total = parts * partLength;
	const whole = createHash('sha256');
	for (let at = 0; at < parts * repeats; at += 1) whole.update(period);
	const expected = whole.digest('hex');

	await server.session({ id: 's', cols: 120, rows: 40 });
	writeFileSync(path.join(server.cwd, 'flood.sh'), `stty raw -echo
until [ -e start ]; do sleep 0.02; done
printf '<begin>'
for i in {1..${parts}}; do
	cat file
	echo -n $i > done.tmp && mv done.tmp done
	until [ -e go$i ]; do sleep 0.01; done
done
printf 'end'
stty sane
echo
touch over
`);

	const make = () => {
		const comparison = new Comparison(period);
		const hash = hashing();
		const client = server.client({
			sessionId: 's',
			lag: everything,
			scrollback: 0,
			keepLog: false,
			sink: (bytes, offset) => {
				comparison.push(bytes, offset);
				if (client.begin === undefined) return;
				client.hashed(bytes, offset);
			},
		});
		// Hash exactly the flood: its pieces in the order in which they arrive.
		client.hashed = (bytes, offset) => {
			const from = Math.max(0, client.begin - offset);
			const to = Math.min(bytes.length, client.begin + total - offset);
			if (from < to) hash.push(bytes.subarray(from, to));
		};
		return Object.assign(client, { comparison, hash });
	};
	const reading = Array.from({ length: readers }, make);
	const visitor = make();
	const stalled = [make(), make()];
	const everyClient = [...reading, visitor, ...stalled];
	for (const client of everyClient) await client.connect();
	const { offset: beforeScript } = await api.get('s');
	await api.input('s', '. ./flood.sh\r');
	await server.outputMatches('s', /flood\.sh\r\n/, beforeScript);
	stalled.forEach((client) => client.stall());

	let visited = 0;
	const visits = (async () => {
		while (!visitor.stopped && !visitor.over) {
			await pause(300);
			if (visitor.stopped || visitor.over) break;
			if (visited % 2) await visitor.close();
			else {
				visitor.terminate();
				visitor.stopped = false;
			}
			await visitor.connect({ waitReady: false });
			visited += 1;
		}
	})();
	visits.catch((error) => { visitor.failure ??= error; });

	writeFileSync(path.join(server.cwd, 'start'), '');
	const begin = await until('the beginning', async () => {
		const piece = await api.output('s', beforeScript, beforeScript + 8192);
		const at = piece.indexOf('<begin>');
		return at >= 0 && beforeScript + at + 7;
	});
	for (const client of everyClient) {
		client.begin = begin;
		for (const [bytes, offset] of client.comparison.early) client.hashed(bytes, offset);
		client.comparison.begin(begin, begin + total);
	}

	const begun = Date.now();
	const check = () => everyClient.forEach((client) => client.check());
	let base;
	let peak = 0;
	for (let part = 1; part <= parts; part += 1) {
		await until(`part ${part} of the flood: a program that waits`, () => {
			check();
			peak = Math.max(peak, rssAnon(server.pid));
			try {
				return Number(readFileSync(path.join(server.cwd, 'done'), 'latin1')) >= part;
			} catch {
				return false;
			}
		}, { timeout: 60_000 });
		const head = begin + part * partLength;
		await until(() => `readers near ${head}: ${[...reading, visitor].map(({ offset }) => offset)}`, () => {
			check();
			peak = Math.max(peak, rssAnon(server.pid));
			return [...reading, visitor].every(({ offset }) => offset >= head - (ring << 18));
		}, { timeout: 60_000 });
		if (part === 2) {
			base = rssAnon(server.pid);
			peak = base;
		}
		await until('another visit', () => visited >= Math.min(2, part - 1) || visitor.check());
		writeFileSync(path.join(server.cwd, `go${part}`), '');
	}
	const end = begin + total;
	await Promise.all([...reading, visitor].map((client) => client.untilOffset(end + 3, { timeout: 60_000 })));
	const seconds = (Date.now() - begun) / 1000;
	console.log(`# ${(total / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, RssAnon ${(base / 1048576).toFixed(1)} MiB, at most ${(peak / 1048576).toFixed(1)} MiB`);
	visitor.over = true;
	await visits;
	for (const [at, client] of [...reading, visitor].entries()) {
		const name = client === visitor ? 'the visitor' : `reader ${at}`;
		assert.deepEqual(client.gaps.map(({ from, to, skipped }) => ({ from, to, skipped })), [], name);
		assert.equal(client.hash.length, total, name);
		assert.equal(client.hash.digest(), expected, name);
	}
	for (const client of reading) assert.equal(client.connections, 1);

	// The stalled clients read again: they get the stream, except for announced gaps, each replaced by a snapshot.
	assert.ok(stalled.every(({ offset }) => offset < end - (ring << 20)), 'no client was stalled: the flood is too small');
	stalled.forEach((client) => client.unstall());
	await Promise.all(stalled.map((client) => client.untilOffset(end + 3, { timeout: 60_000 })));
	peak = Math.max(peak, rssAnon(server.pid));
	for (const client of stalled) {
		assert.ok(client.gaps.length >= 1);
		let skipped = 0;
		for (const gap of client.gaps) {
			assert.equal(gap.skipped, gap.to - gap.from, 'the gap differs from its announcement');
			assert.ok(gap.skipped > 0);
			skipped += Math.max(0, Math.min(gap.to, end) - Math.max(gap.from, begin));
		}
		assert.equal(client.messages.filter(({ type, reason }) => type === 'snapshot' && reason === 'lag').length, client.gaps.length);
		assert.equal(client.connections, 1, 'a stalled client was disconnected');
		assert.equal(client.hash.length + skipped, total);
		assert.equal(client.comparison.compared, client.hash.length);
	}
	if (!sanitized()) {
		assert.ok(peak - base < 16 << 20, `RssAnon grew from ${base} to ${peak}`);
	}
	assert.equal(await server.run('s', 'echo $((6*7))'), '42\n');
});

scenario('a gap never ends inside a character or an escape sequence', {
	args: ['--ring-size', '256K'], timeout: 120_000,
}, async (server) => {
	const { api } = server;
	const period = Buffer.from(Array.from({ length: 3000 }, (_, at) => `\x1b[38;2;${at % 256};${at % 251};7m端末${'界🎪'.repeat(at % 9)}\x1b[0;1;4m字\x1b]0;題 ${at}\x07`).join(''));
	const ground = groundStates(period);
	assert.ok(ground[period.length] === 1);
	writeFileSync(path.join(server.cwd, 'file'), period);
	writeFileSync(path.join(server.cwd, 'print.pl'), 'open my $file, "<:raw", "file" or die; local ($/, $|) = (undef, 1); my $text = <$file>; print $text until -e "stop"');
	await server.session({ id: 's' });
	const clients = Array.from({ length: 6 }, () => {
		const comparison = new Comparison(period);
		const client = server.client({ sessionId: 's', lag: everything, scrollback: 0, keepLog: false,
			sink: (bytes, offset) => comparison.push(bytes, offset) });
		return Object.assign(client, { comparison });
	});
	for (const client of clients) await client.connect();
	const { offset } = await api.get('s');
	await api.input('s', "stty raw -echo; printf 'be''gin'; read -n 1; perl print.pl; touch over\r");
	await server.outputMatches('s', /begin$/, offset);
	const { offset: begin } = await api.get('s');
	for (const client of clients) client.comparison.begin(begin, Infinity);
	clients.forEach((client) => client.stall());
	await api.input('s', 'x');
	const newcomers = [];
	const rounds = times(6, 80);
	const gaps = () => clients.reduce((sum, client) => sum + client.gaps.length, 0);
	for (let round = 0; round < rounds; round += 1) {
		const client = clients[round % clients.length];
		// More than the kernel buffers for a stalled reader: later bytes have left the ring.
		await until('the flood', async () => (await api.get('s')).offset > client.offset + KERNEL_KEEPS);
		const gapsBefore = client.gaps.length;
		client.unstall();
		await until('a gap', () => {
			clients.forEach((each) => each.check());
			return client.gaps.length > gapsBefore;
		}, { timeout: 20_000 });
		client.stall();
		const newcomer = server.client({ sessionId: 's', keepLog: false, sink: () => {} });
		await newcomer.connect({ waitReady: false });
		await newcomer.untilMessage('sync');
		newcomers.push(newcomer.messages.find(({ type }) => type === 'sync').offset);
		newcomer.terminate();
	}
	writeFileSync(path.join(server.cwd, 'stop'), '');
	clients.forEach((client) => client.unstall());
	assert.ok(gaps() >= rounds, `${gaps()} gaps`);
	for (const client of clients) {
		client.check();
		for (const gap of client.gaps) {
			assert.equal(gap.skipped, gap.to - gap.from);
			const phase = (gap.to - begin) % period.length;
			assert.ok(ground[phase], `a gap ends at ${gap.to}, before ${JSON.stringify(period.toString('latin1', phase, phase + 30))} `
				+ `after ${JSON.stringify(period.toString('latin1', Math.max(0, phase - 30), phase))}`);
		}
		assert.ok(client.comparison.compared > 0);
	}
	for (const at of newcomers) {
		assert.ok(at >= begin, 'the ring still has the beginning of the flood');
		assert.ok(ground[(at - begin) % period.length], `a new client begins at ${at}, inside a character or a sequence`);
	}
});
