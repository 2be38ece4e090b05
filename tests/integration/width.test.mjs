// Columns of every code point: the server's are those of the page, and differ from the C library's only for a reason.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Ours } from '../lib/screen.mjs';
import { graphemes, wcwidth } from '../lib/page.mjs';
import { outputs } from '../unicode/generate.mjs';
import { codesWith } from '../unicode/properties.mjs';

const CODES = 0x110000;
const ours = new Ours();
after(() => ours.end());

/** Assert that check(code) returns nothing for any code point, else what is wrong. */
function forAll(check) {
	const wrong = [];
	for (let code = 0; code < CODES; code++) {
		const text = check(code);
		if (text)
			wrong.push(`U+${code.toString(16)}: ${text}`);
	}
	assert.deepEqual(wrong.slice(0, 20), []);
}

test('the tables are those that the generator writes', async () => {
	for (const [path, content] of await outputs())
		assert.ok(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8') === content, `${path}: run node tests/unicode/generate.mjs`);
});

test('every code point has as many columns as on the page', async () => {
	const widths = await ours.widths();
	assert.equal(widths.length, CODES);
	forAll((code) => {
		const states = [0, 2 << 1].map((before) => wcwidth.charProperties(code, before)).join();
		const width = widths[code];
		return wcwidth.wcwidth(code) !== width || states !== `${width << 1},${width === 0 ? 2 << 1 | 1 : width << 1}`
			? `${width}, on the page ${wcwidth.wcwidth(code)} and ${states}` : null;
	});
});

test('every code point is of the same kind and width in clusters as on the page', async () => {
	const mine = await ours.graphemes();
	assert.equal(mine.length, 3 * CODES);
	forAll((code) => {
		const state = graphemes.charProperties(code, 0);
		const theirs = `${(state >> 3).toString(16).padStart(2, '0')}${state >> 1 & 3}`;
		const here = mine.slice(3 * code, 3 * code + 3);
		return here === theirs ? null : `${here}, on the page ${theirs}`;
	});
});

/* Unicode 15.1 and 16 changed these: [first, last, columns before, columns now]. */
const CHANGED = [
	[0x1171e, 0x1171e, 0, 1], // a vowel sign of Ahom: General_Category was Mn
	[0x2630, 0x2637, 1, 2], [0x268a, 0x268f, 1, 2], // trigrams and their parts: East_Asian_Width was N
	[0x1d300, 0x1d356, 1, 2], [0x1d360, 0x1d376, 1, 2], // Tai Xuan Jing symbols, counting rods
];

test('wcwidth() of the C library has the same columns', async (t) => {
	const libc = await ours.wcwidths();
	if (libc === '') {
		t.skip('there is no locale C.UTF-8');
		return;
	}
	const widths = await ours.widths();
	const assigned = new Set(await codesWith('Binary_Property/Assigned'));
	forAll((code) => {
		const [here, there] = [widths[code], Number(libc[code])];
		if (libc[code] === '-') // it is a control, or this version of the C library does not have it
			return null;
		if (here === there || !assigned.has(code)) // a newer version has it
			return null;
		return CHANGED.some(([first, last, before, now]) => code >= first && code <= last && there === before && here === now)
			? null : `${here}, wcwidth() ${there}`;
	});
});
