// The server's screen equals that of xterm.js: for recordings of real programs, for handwritten streams, and for random
// output. A snapshot restores the same screen in a terminal, wherever it is taken. screen_resize adds resizes.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { Random, step } from '../lib/grammar.mjs';
import { all, compared } from '../lib/rounds.mjs';
import { difference, Ours, Reference, restorable } from '../lib/screen.mjs';
import { times } from './lib/soak.mjs';

/* Streams that repeat a character excessively: the scrollback gets fewer of them. */
const HUGE = ['csi-huge-numbers'];
const ALL = 1000000;
const ROUNDS = times(50, 5000, 'SCREEN_ROUNDS'); // of random output
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

/** A snapshot of few lines has exactly those. */
async function assertFew(size, theirs, name) {
	for (const lines of [0, 5]) {
		const copy = restored(size, await ours.snapshot(lines));
		const visible = (dump) => {
			const at = dump.findIndex((line) => line.startsWith('P cursor'));
			const first = dump.findIndex((line) => line.startsWith('colors')) + 1;
			return [...dump.slice(1, first), ...dump.slice(Math.max(first, at - lines), at + 1), ...dump.slice(at + 2)];
		};
		assertSame(visible(restorable(copy.dump())), visible(restorable(theirs.dump())), () => `${name}, ${lines} lines`);
		copy.end();
	}
}

/** A snapshot of a restored screen is the same. */
async function assertStable({ cols, rows, scrollback }, name) {
	const first = await ours.snapshot(ALL);
	ours.start(cols, rows, scrollback);
	ours.feed(first);
	const second = await ours.snapshot(ALL);
	/* Titles that were never set become empty ones once they were pushed, and slots for charsets stay designated. */
	const [a, b] = [first, second].map((bytes) => bytes.toString('latin1').replace(/\x1b\][12];\x1b\\|\x1b[()*+]B/g, ''));
	assert.equal(escaped(b), escaped(a), name);
}

test('recordings and handwritten streams draw the same as in xterm.js; snapshots of the end', async () => {
	for (const { name, cols, rows, scrollback, steps } of corpus) {
		const theirs = new Reference(cols, rows, scrollback);
		let size = { cols, rows, scrollback };
		ours.start(cols, rows, scrollback);
		const every = Math.max(1, Math.floor(steps.length / times(2, 5)));
		for (const [i, next] of steps.entries()) {
			take(ours, next);
			take(theirs, next);
			if (next.resize)
				size = { cols: next.resize[0], rows: next.resize[1], scrollback };
			if (i % every === 0 || i === steps.length - 1)
				assertSame(await ours.dump(), theirs.dump(), () => `${name}, step ${i} of ${steps.length}`);
		}
		const whole = await ours.dump();
		await assertFew(size, theirs, name);
		theirs.end();
		await assertStable(size, name);
		ours.start(cols, rows, scrollback);
		split(steps, new Random(name.length)).forEach((next) => take(ours, next));
		assertSame(await ours.dump(), whole, () => `${name}, split`);
	}
});

test('random output draws the same as in xterm.js', async (t) => {
	await all(t, ours, ROUNDS, (i, random) => ({ cols: 2 + random.below(24), rows: 1 + random.below(12),
		scrollback: random.pick([0, 3, 10, 50, 1000]), steps: Array.from({ length: 60 }, () => step(random, false, true)) }), 1);
});

const SMALL = times(8, 300);
const CUTS = times(3, 40, 'SCREEN_CUTS');

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
async function cut(stream, failures, { cuts, ends, prepare }) {
	const { name, scrollback } = stream;
	let { cols, rows } = stream;
	const grounds = await findGrounds(stream);
	const theirs = new Reference(cols, rows, scrollback);
	ours.start(cols, rows, scrollback);
	let all = Buffer.alloc(0); // the reference's output so far
	let fed = 0; // how much of it ours has got
	let copy = null;
	let since = 0;
	const compare = (at, why) => {
		const found = copy && compared(copy, theirs);
		if (!found)
			return;
		failures.push(`${name} from ${since} at ${at}, ${why}\n  ${JSON.stringify(found.ours)}\n  ${JSON.stringify(found.theirs)}`);
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

test('a snapshot restores the same screen, wherever it is taken, also in a terminal that was used before', async () => {
	const failures = [];
	const random = new Random(7);
	const prepare = () => {
		if (random.below(2) === 0)
			return [];
		const { steps } = random.pick(corpus);
		const bytes = Buffer.concat(steps.map((next) => next.bytes ?? Buffer.alloc(0)));
		return bytes.subarray(0, random.below(Math.min(bytes.length, 3000)));
	};
	for (const stream of corpus) {
		const length = stream.steps.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
		await cut(stream, failures, { cuts: cutsOf(length, new Random(length)), ends: times(2, Infinity), prepare });
	}
	assert.equal(failures.length, 0, failures.slice(0, 12).join('\n'));
});
