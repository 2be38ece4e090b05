// Resizes: the server's screen still equals that of xterm.js, and a snapshot restores it, with resizes before and after it,
// also within a sequence. A difference is reported with the shortest steps.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { step } from '../lib/grammar.mjs';
import { all, describe, differs } from '../lib/rounds.mjs';
import { Ours } from '../lib/screen.mjs';
import { times } from './lib/soak.mjs';

const ROUNDS = times(50, 5000, 'SCREEN_RESIZE_ROUNDS'); // random ones of each kind
const POINTS = times(100, 5000, 'SCREEN_RESIZE_POINTS'); // offsets in the corpus

const ours = new Ours();
after(() => ours.end());

/* Former differences. [columns, rows, steps]: output, sizes, and null for a snapshot. */
const ONCE = {
	'half a wide character in the last column, and a wide one after it':
		[4, 1, ['\0世', '\x1b[3b', [3, 1], '\0xxxxxxxx', "\x1b[79'~", [2, 1], [5, 1]]],
	'fewer lines than there were, below a cursor that was saved above them':
		[12, 2, ['\0ghijklmnopqrstuvwxyz0123', '\x1b[?1K', '\x1b[S', [2, 1], [2, 2]]],
	'half a wide character and the rest of another, in colour, above another line':
		[6, 2, ['\x1b[4m', '\x1b[?7l世世世世', '\x1bD', '\0x', null]],
	'a mark that treats the cell before the last column as wide':
		[12, 2, ['\0世世世世世', '\x1b[?7l', '\0xxxxxxxx\u{1f468}\u200d', null]],
	'only a mark there':
		[2, 1, ['\x1b[80C', '\x1b[?7l', '\0世\u0301', null]],
	'a mark that treats a narrow character before an empty column as wide':
		[6, 2, ['\x1b[?7l', '\0aaaaa', '\0世\u0301', null]],
	'the rest of a wide character in the last column of the last drawn line':
		[15, 2, ['\0世', '\x1b[3b', '\x1b[1m', '\0世世世', '\b\b\b', '\x1b[@', '\0abc', null]],
	'its rest in the last column of the last row':
		[3, 1, ['\x1b[2m', '\x1b[48;5;17m', '\x1b[?1047h', '\x1b[999C', '\0世', null]],
	'half a link in the last column, and a wide character after it':
		[3, 1, ['\x1b]8;id=x;http://a/2\x07', '\0abfg\u{1f468}\u{1f469}', [2, 1], null]],
	'half a wide character and a wrap, with no other row':
		[21, 1, ['\0\x1b[?7l世世世世世世世世世世世世世世世世', '\n', [2, 1], null]],
	'a pending wrap after half a wide character':
		[18, 1, ['\x1b[?7l', '\0世世世世世世世', '\0xxxx', '\x1b[4 A', '\0x', null]],
	'a pending wrap in the alternate buffer, over cells of a larger size':
		[2, 1, [[12, 3], '\x1b[?1047h', [2, 1], '\x1b[11;22H', '\0\u0301', '\x1b[2 A', null]],
	'a cursor after a lone combining mark at the edge': [5, 1, ['\0abcde', '\0\u0301', null, "\x1b['~"]],
	'an underline of the saved cursor only': [2, 1, ['\x1b[4m', '\x1b8', '\x1b]8;;\x1b\\', null, '\x1b7']],
	'the colour of an underline that does not count':
		[2, 1, ['\x1b[4m', '\x1b7', '\x1b[m', '\x1b8', '\x1b[58;2;1;2;3m', '\x1b]8;;\x1b\\', '\x1b[?47h', '\0x', null]],
};

for (const [name, [cols, rows, list]] of Object.entries(ONCE))
	test(`once: ${name}`, async () => {
		const round = { cols, rows, scrollback: 50, steps: list.map((item) => {
			if (item === null)
				return { cut: true };
			return Array.isArray(item) ? { resize: item } : { bytes: Buffer.from(item) };
		}) };
		const found = await differs(ours, round);
		assert.ok(!found, found && describe(round, found));
	});

const beginning = (random) => ({ cols: 2 + random.below(24), rows: 1 + random.below(12), scrollback: random.pick([50, 1000]) });
const steps = (random, count) => Array.from({ length: count }, () => step(random, true, true));

/* A sequence or a character: a NUL before a character makes it a separate piece of text. */
const WHOLE = /^(?:\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x1b\x07]*\x07|\0[\xc2-\xf4][\x80-\xbf]+)$/;

/** Put resizes into the middle of sequences and characters now and then. */
function interrupted(list, random) {
	return list.flatMap((next) => {
		const { bytes } = next;
		if (!bytes || !WHOLE.test(bytes.toString('latin1')) || random.below(8) > 0)
			return [next];
		const at = 1 + random.below(bytes.length - 1);
		return [{ bytes: bytes.subarray(0, at) }, { resize: [2 + random.below(30), 1 + random.below(14)] }, { bytes: bytes.subarray(at) }];
	});
}

test('random output and resizes', async (t) => {
	await all(t, ours, ROUNDS, (i, random) => ({ ...beginning(random), steps: interrupted(steps(random, 50), random) }), 1);
});

/* Some random states cannot be restored by bytes: see the end of ring/screen/README.md. */
const MOSTLY = 0.998;

test('a snapshot between them', async (t) => {
	await all(t, ours, ROUNDS, (i, random) => ({ ...beginning(random),
		steps: [...steps(random, 1 + random.below(40)), { cut: true }, ...steps(random, 14)] }), MOSTLY);
});

/* The scrollback gets fewer of the characters that this one repeats. */
const corpus = loadCorpus().filter(({ name }) => name !== 'csi-huge-numbers');
const NEAR = 30; // half of the size changes are at most this large

/** A stream of the corpus with resizes at random offsets, and a snapshot at another. */
function resized(stream, random) {
	const total = stream.steps.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
	const places = Array.from({ length: 3 + random.below(4) }, () => random.below(total + 1)).sort((a, b) => a - b);
	const snapshot = random.below(places.length);
	const size = () => (random.below(2) === 0 ? [2 + random.below(140), 1 + random.below(60)]
		: [Math.max(2, stream.cols - NEAR / 2 + random.below(NEAR)), Math.max(1, stream.rows - NEAR / 2 + random.below(NEAR))]);
	const list = [];
	let [at, next] = [0, 0];
	for (const { bytes, resize } of stream.steps) {
		if (resize)
			list.push({ resize });
		for (let from = 0; bytes && from < bytes.length;) {
			const to = Math.min(bytes.length, next < places.length ? places[next] - at : bytes.length);
			if (to > from)
				list.push({ bytes: bytes.subarray(from, to) });
			from = Math.max(from, to);
			if (next < places.length && at + from === places[next])
				list.push(next++ === snapshot ? { cut: true } : { resize: size() });
		}
		at += bytes?.length ?? 0;
	}
	list.push({ resize: size() }, { resize: size() });
	return list;
}

test('recordings and handwritten streams with resizes, and a snapshot between them', async (t) => {
	const { name, ...first } = corpus[0];
	assert.ok(name && first.steps.length > 0);
	await all(t, ours, POINTS, (i, random) => {
		const stream = corpus[i % corpus.length];
		return { name: stream.name, sparse: true, cols: stream.cols, rows: stream.rows, scrollback: random.pick([100, 1000]), steps: resized(stream, random) };
	}, MOSTLY);
});
