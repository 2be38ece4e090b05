/*
 * Rounds of output, resizes and snapshots: the server's screen and xterm.js headless after each step, told as short as it
 * can be where they differ. A round is as minimise.mjs has it, with the scrollback and, unless that is '11', `unicode`.
 */
import assert from 'node:assert/strict';
import { Random } from './grammar.mjs';
import { minimise } from './minimise.mjs';
import { difference, Ours, Reference, restorable } from './screen.mjs';

const ALL = 1000000;
const seed = Number(process.env.SEED ?? 1);

const escaped = (bytes) => JSON.stringify(Buffer.from(bytes).toString('latin1'));

export function told({ cols, rows, scrollback, unicode = '11', steps }, { ours: mine, theirs }) {
	const lines = steps.map(({ bytes, resize }) => (resize ? `resize ${resize}` : bytes ? escaped(bytes) : '-- a snapshot'));
	return `${cols} x ${rows}, scrollback ${scrollback}, ${unicode}\n${lines.join('\n')}\n  ${JSON.stringify(mine)}\n  ${JSON.stringify(theirs)}`;
}

/* apart: ours gets one byte after the other. */
function take(screen, { bytes, resize, apart }) {
	if (resize)
		screen.resize(...resize);
	else if (apart && screen instanceof Ours)
		bytes.forEach((byte) => screen.feed([byte]));
	else
		screen.feed(bytes);
}

/** What a terminal has that a snapshot was drawn in, and one that has seen it all. */
function compared(copy, theirs) {
	const [mine, wanted] = [copy.dump(), theirs.dump()];
	/* A title and a blinking cursor that the program has not asked for are what the terminal had before. */
	for (const [i, line] of wanted.entries()) {
		if (line === 'title ' || line === 'icon ')
			mine[i] = line;
		if (/^modes \d{8}0/.test(line))
			mine[i] = mine[i].replace(/^(modes \d{8})1/, '$10');
	}
	return difference(restorable(mine), restorable(wanted));
}

/** The first difference of a round, with the number of the step in `at`, or null. sparse: output alone is not compared each time. */
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
			assert.ok(copy.feed(await ours.snapshot(ALL)), 'the snapshot is too much for xterm.js');
			assert.equal(copy.replies, '', 'a snapshot asks nothing');
			copy.feed(fed.subarray(await ours.resumeOffset()));
		} else {
			take(theirs, next);
			if (theirs.dead)
				break;
			take(copy ?? ours, next);
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

/** Rounds one after the other; the first differences, as short as they can be. */
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
			failures.push(`${name ?? 'round'} ${i}: ${told(short, await differs(ours, short))}`);
		}
	}
	t.diagnostic(`${count - failed} of ${count} the same`);
	assert.ok(failed <= (1 - share) * count, failures.join('\n'));
	failures.forEach((failure) => t.diagnostic(failure));
}
