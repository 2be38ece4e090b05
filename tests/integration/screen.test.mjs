// The server's screen is xterm.js' screen: for recordings of real programs, for streams written by hand, and
// for output at random. A snapshot brings a terminal to the same screen, wherever it is taken.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { Random, step } from '../lib/grammar.mjs';
import { difference, Ours, Reference, restorable } from '../lib/screen.mjs';
import { times } from './lib/soak.mjs';

/* Streams that repeat a character more often than is worth it: the scrollback has fewer of them. */
const HUGE = ['csi-huge-numbers'];
const ALL = 1000000;
const only = process.env.SCREEN_ONLY;
const corpus = loadCorpus().filter(({ name }) => !only || only.split(',').includes(name));
corpus.forEach((stream) => { stream.scrollback = HUGE.includes(stream.name) ? 0 : 100; });

const ours = new Ours();
const scout = new Ours(); // which looks ahead
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

/** The steps with their output cut into pieces at random. */
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

test('recordings and streams by hand draw what they draw in xterm.js', async () => {
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

/** Both take output at random, until the deadline. */
async function fuzz(seed, resizes, milliseconds) {
	const random = new Random(seed);
	const until = Date.now() + milliseconds;
	let rounds = 0;
	while (Date.now() < until) {
		const began = random.state;
		const [cols, rows] = [2 + random.below(24), 1 + random.below(12)];
		/* With little room, xterm.js fails to lay lines out anew. */
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

test('output at random draws what it draws in xterm.js', async (t) => {
	t.diagnostic(`${await fuzz(seed, false, seconds * 1000)} rounds`);
});

test('so it does with resizes', async (t) => {
	t.diagnostic(`${await fuzz(seed + 1, true, seconds * 1000)} rounds`);
});

/** A terminal that has taken a snapshot; first: what it has taken before. */
function restored({ cols, rows, scrollback }, snapshot, first = []) {
	const terminal = new Reference(cols, rows, scrollback);
	if (first.length > 0)
		terminal.feed(first);
	terminal.replies = '';
	assert.ok(terminal.feed(snapshot), 'the snapshot is too much for xterm.js');
	assert.equal(terminal.replies, '', 'a snapshot asks nothing');
	return terminal;
}

/** Counts what is the same, and collects what is not. */
class Tally {
	total = 0;
	failures = [];

	check(mine, theirs, where) {
		/* A title and a blinking cursor that the program has not asked for are what the terminal had before. */
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

	/** So many must be the same. The first that is not is told, of each stream. */
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

const SMALL = times(12, 300);
const CUTS = times(6, 40, 'SCREEN_CUTS');

/** Offsets of the stream's output at which to cut it: all, or some at random. */
function cutsOf(length, random) {
	if (length <= SMALL)
		return new Set(Array.from({ length }, (_, i) => i));
	return new Set(Array.from({ length: CUTS }, () => random.below(length)));
}

/** For each byte of the steps' output, whether a sequence or character ends there, or none is under way. */
async function groundsOf({ cols, rows, steps }) {
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
 * Cut the stream: at each cut a terminal takes the snapshot, and what comes from there on up to the next cut
 * behind which nothing is left unfinished. prepare: what the terminal has taken before.
 */
async function cut(stream, tally, { cuts, prepare = () => [] }) {
	const { name, scrollback } = stream;
	let { cols, rows } = stream;
	const grounds = await groundsOf(stream);
	const theirs = new Reference(cols, rows, scrollback);
	ours.start(cols, rows, scrollback);
	let all = Buffer.alloc(0); // the output so far, of the reference
	let fed = 0; // of it, what ours has
	let copy = null;
	let since = 0;
	const compare = (at, why) => {
		if (copy && !tally.check(copy.dump(), theirs.dump(), () => `${name} from ${since} at ${at}, ${why}`))
			copy = copy.end();
	};
	for (const { bytes, resize } of stream.steps) {
		if (resize) {
			compare(all.length, 'before a resize');
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
			if (!last && !(cuts.has(to - 1) && grounds[to - 1]))
				continue;
			theirs.feed(all.subarray(from, to));
			copy?.feed(all.subarray(from, to));
			compare(to, 'later');
			if (cuts.has(to - 1) || last) {
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

test('a snapshot is the same screen, wherever it is taken', async (t) => {
	const tally = new Tally();
	for (const stream of corpus) {
		const length = stream.steps.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
		await cut(stream, tally, { cuts: cutsOf(length, new Random(length)) });
	}
	tally.report(t);
});

test('so it is in a terminal that was used before', async (t) => {
	const tally = new Tally();
	const random = new Random(7);
	for (const stream of corpus) {
		const before = () => {
			const { steps } = random.pick(corpus);
			const bytes = Buffer.concat(steps.map((next) => next.bytes ?? Buffer.alloc(0)));
			return bytes.subarray(0, random.below(Math.min(bytes.length, 3000)));
		};
		const cuts = new Set(Array.from({ length: 3 }, () => random.below(5000)));
		await cut(stream, tally, { cuts, prepare: before });
	}
	tally.report(t);
});

/*
 * What output at random comes to and no program: halves of wide characters under others, a wrap where nothing fits, a
 * charset that DECRC has brought from the other buffer. What no bytes bring is taken from the reference first.
 */
const MOSTLY = 0.999;

/** Output at random, a snapshot, and more output at random for both. */
test('so it is where output is at random, and whatever comes then', async (t) => {
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
			assert.ok(theirs.dead || !copy.dead, `${began}: xterm.js fails behind the snapshot only`);
			copy.end();
		}
		theirs.end();
	}
	tally.report(t, MOSTLY);
});

test('a snapshot of few lines has these', async () => {
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

test('a snapshot of what a snapshot has drawn is the same', async () => {
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
		/* Titles that were never set are empty ones once they have been put aside. */
		const [a, b] = [first, second].map((bytes) => bytes.toString('latin1').replace(/\x1b\][12];\x1b\\/g, ''));
		assert.equal(escaped(b), escaped(a), name);
	}
});
