/*
 * Minimises a round of output and resizes that shows a difference: leaves out steps, splits output into sequences, and
 * reduces sizes one by one.
 *
 * A round is { cols, rows, steps }; a step is { bytes }, { resize: [cols, rows] } or { cut: true }, which always stays.
 * fails(round) resolves to the difference, with the step's index in `at`, or to null.
 */

const SEQUENCE = /\x1b\[[^@-~]*[@-~]|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[^]|[\xc0-\xff][\x80-\xbf]*|[^]/g;

/** Split output into sequences. A NUL, which does nothing, keeps runs of text apart. */
function pieces({ bytes }) {
	return Buffer.from(bytes).toString('latin1').match(SEQUENCE)
		.map((text) => ({ bytes: Buffer.from(/^[ -~\xc0-\xff]/.test(text) ? `\0${text}` : text, 'latin1') }));
}

/** Leave out steps that are not needed, in halves first. */
async function leaveOutSteps(steps, fails) {
	for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
		for (let i = 0; i < steps.length;) {
			const rest = [...steps.slice(0, i), ...steps.slice(i + size)];
			if (!steps.slice(i, i + size).some(({ cut }) => cut) && await fails(rest))
				steps = rest;
			else
				i += size;
		}
	return steps;
}

/** Reduce a value while it fails. shrink(value) returns the next smaller one, or null. */
async function reduce(value, shrink, fails) {
	for (let next = shrink(value); next && await fails(next); next = shrink(value))
		value = next;
	return value;
}

const MIN = [2, 1]; // columns, rows
const less = (which) => (size) => (size[which] > MIN[which] ? size.with(which, size[which] - 1) : null);

export async function minimise(round, fails) {
	const found = await fails(round);
	const failing = (steps) => fails({ ...round, steps });
	let steps = await leaveOutSteps(round.steps.slice(0, found.at + 1), failing);
	const apart = steps.flatMap((step) => (step.bytes?.length > 0 ? pieces(step) : [step]));
	if (await failing(apart))
		steps = await leaveOutSteps(apart, failing);
	for (const which of [0, 1]) {
		for (const [i, { resize }] of steps.entries())
			if (resize)
				steps = steps.with(i, { resize: await reduce(resize, less(which), (size) => failing(steps.with(i, { resize: size }))) });
		const [cols, rows] = await reduce([round.cols, round.rows], less(which),
			(size) => fails({ ...round, cols: size[0], rows: size[1], steps }));
		round = { ...round, cols, rows };
	}
	return { ...round, steps };
}
