// The server's screen equals that of xterm.js: for recordings of real programs, for handwritten streams, and for random
// output. A snapshot restores the same screen in a terminal, wherever it is taken.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { Random, step } from '../lib/grammar.mjs';
import { difference, Ours, Reference, restorable } from '../lib/screen.mjs';
import { times } from './lib/soak.mjs';

/* Streams that repeat a character excessively: the scrollback gets fewer of them. */
const HUGE = ['csi-huge-numbers'];
const ALL = 1000000;
const only = process.env.SCREEN_ONLY;
const corpus = loadCorpus().filter(({ name }) => !only || only.split(',').includes(name));
corpus.forEach((stream) => { stream.scrollback = HUGE.includes(stream.name) ? 0 : 100; });

const ours = new Ours();
const scout = new Ours(); // reads ahead
after(() => {
	ours.end();
	scout.end();
});

const escaped = (bytes) => JSON.stringify(Buffer.from(bytes).toString('latin1'));

function assertSame(mine, theirs, where) {
	const found = difference(mine, theirs);
	if (found)
		assert.fail(`${where()}\n  ${JSON.stringify(found.ours)}\n  ${JSON.stringify(found.theirs)}`);
}

/** Cut the output of the steps into random pieces. */
function split(steps, random) {
	return steps.flatMap(({ bytes, resize }) => {
		const pieces = [];
		for (let at = 0; bytes && at < bytes.length;) {
			const size = 1 + random.below(random.below(3) === 0 ? 8 : 500);
			pieces.push({ bytes: bytes.subarray(at, at + size) });
			at += size;
		}
		return resize ? [{ resize }] : pieces;
	});
}

function take(screen, { bytes, resize }) {
	return resize ? screen.resize(...resize) : screen.feed(bytes);
}

test('recordings and handwritten streams draw the same as in xterm.js', async () => {
	for (const { name, cols, rows, scrollback, steps } of corpus) {
		const theirs = new Reference(cols, rows, scrollback);
		ours.start(cols, rows, scrollback);
		const every = Math.max(1, Math.floor(steps.length / 5));
		for (const [i, next] of steps.entries()) {
			take(ours, next);
			take(theirs, next);
			if (i % every === 0 || i === steps.length - 1)
				assertSame(await ours.dump(), theirs.dump(), () => `${name}, step ${i} of ${steps.length}`);
		}
		theirs.end();
		const whole = await ours.dump();
		ours.start(cols, rows, scrollback);
		split(steps, new Random(name.length)).forEach((next) => take(ours, next));
		assertSame(await ours.dump(), whole, () => `${name}, split`);
	}
});

/** Feed random output to both, until the deadline. */
async function fuzz(seed, resizes, milliseconds) {
	const random = new Random(seed);
	const until = Date.now() + milliseconds;
	let rounds = 0;
	while (Date.now() < until) {
		const began = random.state;
		const [cols, rows] = [2 + random.below(24), 1 + random.below(12)];
		/* With a small scrollback, xterm.js rewraps lines incorrectly. */
		const scrollback = random.pick(resizes ? [50, 1000] : [0, 3, 10, 50, 1000]);
		const log = [];
		const theirs = new Reference(cols, rows, scrollback);
		ours.start(cols, rows, scrollback);
		for (let i = 0; i < 60; i++) {
			const next = step(random, resizes);
			log.push(next.resize ? `resize ${next.resize}` : escaped(next.bytes));
			take(theirs, next);
			if (theirs.dead)
				break;
			take(ours, next);
			assertSame(await ours.dump(), theirs.dump(), () => `seed ${began}, ${cols} x ${rows}, `
				+ `scrollback ${scrollback}, step ${i}\n${log.slice(-15).join('\n')}`);
		}
		theirs.end();
		rounds++;
	}
	return rounds;
}

const seed = Number(process.env.SCREEN_SEED ?? 1);
const seconds = times(1, 60, 'SCREEN_SECONDS');

test('random output draws the same as in xterm.js', async (t) => {
	t.diagnostic(`${await fuzz(seed, false, seconds * 1000)} rounds`);
});

test('the same with resizes', async (t) => {
	t.diagnostic(`${await fuzz(seed + 1, true, seconds * 1000)} rounds`);
});

/** A terminal with a snapshot; first: earlier output. */
function restored({ cols, rows, scrollback }, snapshot, first = []) {
	const terminal = new Reference(cols, rows, scrollback);
	if (first.length > 0)
		terminal.feed(first);
	terminal.replies = '';
	assert.ok(terminal.feed(snapshot), 'xterm.js cannot process the snapshot');
	assert.equal(terminal.replies, '', 'a snapshot causes no replies');
	return terminal;
}

/** Counts equal lines, and collects differences. */
class Tally {
	total = 0;
	failures = [];

	check(mine, theirs, where) {
		/* If the program has set no title or blinking cursor, the terminal keeps its own. */
		for (const [i, line] of theirs.entries()) {
			if (line === 'title ' || line === 'icon ')
				mine[i] = line;
			if (/^modes \d{8}0/.test(line))
				mine[i] = mine[i].replace(/^(modes \d{8})1/, '$10');
		}
		this.total++;
		const found = difference(restorable(mine), restorable(theirs));
		if (found && process.env.SCREEN_VERBOSE)
			console.log(where(), JSON.stringify(found, null, 1));
		if (found)
			this.failures.push(`${where()}\n  ${JSON.stringify(found.ours)}\n  ${JSON.stringify(found.theirs)}`);
		return !found;
	}

	/** Assert this share of equal lines; prints the first difference of each stream. */
	report(t, share = 1) {
		const same = this.total - this.failures.length;
		t.diagnostic(`${same} of ${this.total} the same (${(100 * same / this.total).toFixed(3)} %)`);
		const first = new Map();
		for (const failure of this.failures) {
			const [name] = failure.split(' ', 1);
			first.set(name, first.get(name) ?? failure);
		}
		assert.ok(same >= share * this.total, [...first.values()].slice(0, 12).join('\n'));
	}
}

const SMALL = times(8, 300);
const CUTS = times(4, 40, 'SCREEN_CUTS');

/** Offsets at which to cut the stream's output: all, or random ones. */
function cutsOf(length, random) {
	if (length <= SMALL)
		return new Set(Array.from({ length }, (_, i) => i));
	return new Set(Array.from({ length: CUTS }, () => random.below(length)));
}

/** For each byte of the steps' output, whether no sequence or character is incomplete after it. */
async function findGrounds({ cols, rows, steps }) {
	scout.start(cols, rows, 0);
	const grounds = [];
	for (const next of steps) {
		if (next.resize)
			scout.resize(...next.resize);
		else
			grounds.push(...await scout.grounds(next.bytes));
	}
	return grounds;
}

/**
 * Cut the stream, also after `ends` of its steps: at each cut a terminal gets the snapshot, and then the output up to the next cut
 * without an incomplete sequence. prepare: earlier output of the terminal.
 */
async function cut(stream, tally, { cuts, ends, prepare = () => [] }) {
	const { name, scrollback } = stream;
	let { cols, rows } = stream;
	const grounds = stream.grounds ??= await findGrounds(stream);
	const theirs = new Reference(cols, rows, scrollback);
	ours.start(cols, rows, scrollback);
	let all = Buffer.alloc(0); // the reference's output so far
	let fed = 0; // how much of it ours has got
	let copy = null;
	let since = 0;
	const compare = (at, why) => {
		if (copy && !tally.check(copy.dump(), theirs.dump(), () => `${name} from ${since} at ${at}, ${why}`))
			copy = copy.end();
	};
	const every = Math.max(1, Math.ceil(stream.steps.length / ends));
	for (const [at, { bytes, resize }] of stream.steps.entries()) {
		if (resize) {
			compare(all.length, 'before a resize');
			ours.feed(all.subarray(fed));
			fed = all.length;
			[cols, rows] = resize;
			ours.resize(cols, rows);
			theirs.resize(cols, rows);
			copy = copy?.end();
			continue;
		}
		const start = all.length;
		all = Buffer.concat([all, bytes]);
		for (let from = start, to = start + 1; to <= all.length; to++) {
			const last = to === all.length;
			const ended = last && (stream.steps.length - 1 - at) % every === 0;
			if (!last && !(cuts.has(to - 1) && grounds[to - 1]))
				continue;
			theirs.feed(all.subarray(from, to));
			copy?.feed(all.subarray(from, to));
			if (cuts.has(to - 1) || ended) {
				compare(to, 'later');
				ours.feed(all.subarray(fed, to));
				fed = to;
				const snapshot = await ours.snapshot(ALL);
				const resume = await ours.resumeOffset();
				copy?.end();
				copy = restored({ cols, rows, scrollback }, snapshot, prepare());
				copy.feed(all.subarray(resume, to));
				since = to;
				compare(to, 'at once');
			}
			from = to;
		}
	}
	copy?.end();
	theirs.end();
}

test('a snapshot restores the same screen, wherever it is taken', async (t) => {
	const tally = new Tally();
	for (const stream of corpus) {
		const length = stream.steps.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
		await cut(stream, tally, { cuts: cutsOf(length, new Random(length)), ends: times(3, Infinity) });
	}
	tally.report(t);
});

test('the same in a terminal that was used before', async (t) => {
	const tally = new Tally();
	const random = new Random(7);
	for (const stream of corpus) {
		const before = () => {
			const { steps } = random.pick(corpus);
			const bytes = Buffer.concat(steps.map((next) => next.bytes ?? Buffer.alloc(0)));
			return bytes.subarray(0, random.below(Math.min(bytes.length, 3000)));
		};
		const cuts = new Set(Array.from({ length: 3 }, () => random.below(5000)));
		await cut(stream, tally, { cuts, ends: times(1, Infinity), prepare: before });
	}
	tally.report(t);
});

/*
 * Only random output has these: halves of wide characters below others, a wrap where nothing fits, a charset that DECRC has
 * restored from the other buffer. State that no bytes can restore is copied from the reference.
 */
const MOSTLY = 0.999;

/** Random output, a snapshot, and more random output for both. */
test('the same for random output before and after', async (t) => {
	const tally = new Tally();
	const random = new Random(seed + 2);
	const until = Date.now() + seconds * 1000;
	while (Date.now() < until) {
		const began = random.state;
		let [cols, rows] = [2 + random.below(24), 1 + random.below(12)];
		const scrollback = random.pick([50, 1000]);
		const theirs = new Reference(cols, rows, scrollback);
		const log = [];
		const next = (screens) => {
			const { bytes, resize } = step(random, true);
			if (resize)
				[cols, rows] = resize;
			log.push(resize ? `resize ${resize}` : escaped(bytes));
			screens.forEach((screen) => take(screen, { bytes, resize }));
		};
		ours.start(cols, rows, scrollback);
		for (let i = random.below(40); i >= 0 && !theirs.dead; i--)
			next([ours, theirs]);
		if (!theirs.dead && theirs.isGround()) {
			log.push('--');
			theirs.forget();
			const copy = restored({ cols, rows, scrollback }, await ours.snapshot(ALL));
			for (let i = 0; i < 12 && !theirs.dead && !copy.dead; i++) {
				if (!tally.check(copy.dump(), theirs.dump(), () => `${began} ${log.length}\n${log.slice(-15).join('\n')}`))
					break;
				next([theirs, copy]);
			}
			assert.ok(theirs.dead || !copy.dead, `${began}: xterm.js fails only after the snapshot`);
			copy.end();
		}
		theirs.end();
	}
	tally.report(t, MOSTLY);
});

test('a snapshot of few lines has exactly those', async () => {
	for (const { name, cols, rows, scrollback, steps } of corpus) {
		const theirs = new Reference(cols, rows, scrollback);
		let size = { cols, rows, scrollback };
		ours.start(cols, rows, scrollback);
		for (const next of steps) {
			take(ours, next);
			take(theirs, next);
			if (next.resize)
				size = { cols: next.resize[0], rows: next.resize[1], scrollback };
		}
		for (const lines of [0, 1, 5]) {
			const copy = restored(size, await ours.snapshot(lines));
			const visible = (dump) => {
				const at = dump.findIndex((line) => line.startsWith('P cursor'));
				const first = dump.findIndex((line) => line.startsWith('colors')) + 1;
				return [...dump.slice(1, first), ...dump.slice(Math.max(first, at - lines), at + 1), ...dump.slice(at + 2)];
			};
			assertSame(visible(restorable(copy.dump())), visible(restorable(theirs.dump())), () => `${name}, ${lines} lines`);
			copy.end();
		}
		theirs.end();
	}
});

test('a snapshot of a restored screen is the same', async () => {
	for (const { name, cols, rows, scrollback, steps } of corpus) {
		let size = [cols, rows, scrollback];
		ours.start(...size);
		for (const next of steps) {
			take(ours, next);
			size = next.resize ? [...next.resize, scrollback] : size;
		}
		const first = await ours.snapshot(ALL);
		ours.start(...size);
		ours.feed(first);
		const second = await ours.snapshot(ALL);
		/* Titles that were never set become empty ones once they were pushed. */
		const [a, b] = [first, second].map((bytes) => bytes.toString('latin1').replace(/\x1b\][12];\x1b\\/g, ''));
		assert.equal(escaped(b), escaped(a), name);
	}
});
