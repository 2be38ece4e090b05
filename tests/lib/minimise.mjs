/*
 * A round of output and resizes that shows a difference, made as short as it still shows one: steps are left out, output is
 * taken apart into sequences, and sizes come down one by one.
 *
 * A round is { cols, rows, steps }, a step { bytes }, { resize: [cols, rows] } or { cut: true }, which stays. fails(round)
 * resolves to what differs, with the number of the step in `at`, or to null.
 */

const SEQUENCE = /\x1b\[[^@-~]*[@-~]|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[^]|[\xc0-\xff][\x80-\xbf]*|[^]/g;

/** Output in pieces; a NUL, which does nothing, keeps stretches of text apart. */
function pieces({ bytes }) {
	return Buffer.from(bytes).toString('latin1').match(SEQUENCE)
		.map((text) => ({ bytes: Buffer.from(/^[ -~\xc0-\xff]/.test(text) ? `\0${text}` : text, 'latin1') }));
}

/** Leaves out what need not be there, in halves first. */
async function leaveOut(steps, fails) {
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

/** Smaller, one at a time, as long as it fails. shrink(size): one that is smaller by one, or null. */
async function comeDown(value, shrink, fails) {
	for (let next = shrink(value); next && await fails(next); next = shrink(value))
		value = next;
	return value;
}

const MIN = [2, 1]; // columns, rows
const less = (which) => (size) => (size[which] > MIN[which] ? size.with(which, size[which] - 1) : null);

export async function minimise(round, fails) {
	const found = await fails(round);
	const failing = (steps) => fails({ ...round, steps });
	let steps = await leaveOut(round.steps.slice(0, found.at + 1), failing);
	const apart = steps.flatMap((step) => (step.bytes?.length > 0 ? pieces(step) : [step]));
	if (await failing(apart))
		steps = await leaveOut(apart, failing);
	for (const which of [0, 1]) {
		for (const [i, { resize }] of steps.entries())
			if (resize)
				steps = steps.with(i, { resize: await comeDown(resize, less(which), (size) => failing(steps.with(i, { resize: size }))) });
		const [cols, rows] = await comeDown([round.cols, round.rows], less(which),
			(size) => fails({ ...round, cols: size[0], rows: size[1], steps }));
		round = { ...round, cols, rows };
	}
	return { ...round, steps };
}
