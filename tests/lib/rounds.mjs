/*
 * Compares the server's screen with headless xterm.js after each step of rounds of output, resizes and snapshots, and
 * reports the shortest round that differs. A round is that of minimise.mjs with `scrollback` and, unless it is 'wcwidth',
 * `unicode`.
 */
import assert from 'node:assert/strict';
import { Random } from './grammar.mjs';
import { minimise } from './minimise.mjs';
import { difference, Ours, Reference, restorable } from './screen.mjs';

const ALL = 1000000;
const seed = Number(process.env.SEED ?? 1);

const escaped = (bytes) => JSON.stringify(Buffer.from(bytes).toString('latin1'));

export function describe({ cols, rows, scrollback, unicode = 'wcwidth', steps }, { ours: mine, theirs }) {
	const lines = steps.map(({ bytes, resize }) => (resize ? `resize ${resize}` : bytes ? escaped(bytes) : '-- a snapshot'));
	return `${cols} x ${rows}, scrollback ${scrollback}, ${unicode}\n${lines.join('\n')}\n  ${JSON.stringify(mine)}\n  ${JSON.stringify(theirs)}`;
}

/* apart: ours gets the bytes one by one. */
function feedStep(screen, { bytes, resize, apart }) {
	if (resize)
		screen.resize(...resize);
	else if (apart && screen instanceof Ours)
		bytes.forEach((byte) => screen.feed([byte]));
	else
		screen.feed(bytes);
}

/** Compare a terminal that a snapshot was drawn in with one that was fed everything. */
export function compared(copy, theirs) {
	const [mine, wanted] = [copy.dump(), theirs.dump()];
	/* If the program has not set a title, the terminal keeps what it had before. */
	for (const [i, line] of wanted.entries())
		if (line === 'title ' || line === 'icon ')
			mine[i] = line;
	return difference(restorable(mine), restorable(wanted));
}

/**
 * The first difference of a round, with the step's index in `at`, or null. sparse: compare after resizes, cuts and the
 * last step only.
 */
export async function differs(ours, { cols, rows, scrollback, unicode, steps, sparse }) {
	const theirs = new Reference(cols, rows, scrollback, unicode);
	let copy = null;
	let fed = Buffer.alloc(0);
	let found = null;
	ours.start(cols, rows, scrollback, unicode);
	for (const [at, next] of steps.entries()) {
		if (next.cut) {
			theirs.forget();
			copy = new Reference(cols, rows, scrollback, unicode);
			assert.ok(copy.feedSnapshot(await ours.marked(ALL)), 'xterm.js fails on the snapshot');
			assert.equal(copy.replies, '', 'a snapshot contains no queries');
			copy.feed(fed.subarray(await ours.resumeOffset()));
		} else {
			feedStep(theirs, next);
			if (theirs.dead)
				break;
			feedStep(copy ?? ours, next);
			[cols, rows] = next.resize ?? [cols, rows];
			fed = next.resize ? fed : Buffer.concat([fed, next.bytes]);
		}
		if (sparse && next.bytes && at + 1 < steps.length)
			continue;
		found = copy ? compared(copy, theirs) : difference(await ours.dump(), theirs.dump());
		if (found) {
			found.at = at;
			break;
		}
	}
	copy?.end();
	theirs.end();
	return found;
}

/** Run count rounds. Fails with the first differences, minimised, if fewer than this share are equal. */
export async function all(t, ours, count, make, share) {
	const failures = [];
	let failed = 0;
	t.diagnostic(`SEED=${seed}, ${count} rounds`);
	for (let i = 0; i < count; i++) {
		const { name, ...round } = make(i, new Random(Math.imul(seed * 1000003 + i, 2654435761)));
		if (!await differs(ours, round))
			continue;
		failed++;
		if (failures.length < 5) {
			const short = await minimise(round, (shorter) => differs(ours, shorter));
			failures.push(`${name ?? 'round'} ${i}: ${describe(short, await differs(ours, short))}`);
		}
	}
	t.diagnostic(`${count - failed} of ${count} equal`);
	assert.ok(failed <= (1 - share) * count, failures.join('\n'));
	failures.forEach((failure) => t.diagnostic(failure));
}
