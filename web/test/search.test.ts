import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, readLine } from '../src/search/lines';
import { compile, findMatches } from '../src/search/pattern';
import { Results } from '../src/search/results';
import { Scanner } from '../src/search/scanner';
import { newTerminal, numbered, write } from './terminals';

const query = (text: string, options: { caseSensitive?: boolean; regex?: boolean } = {}) =>
	compile({ text, caseSensitive: false, regex: false, ...options });
const find = (pattern: RegExp, ...lines: string[]) => {
	const found: number[] = [];
	for (const [line, text] of lines.entries())
		findMatches(pattern, text, (offset, length) => found.push(line, offset, length));
	return found;
};

test('text is found literally, and case matters only if asked', () => {
	assert.deepEqual(find(query('a.b'), 'axb', 'xA.bA.B'), [1, 1, 3, 1, 4, 3]);
	assert.deepEqual(find(query('A.b', { caseSensitive: true }), 'a.b A.b'), [0, 4, 3]);
	for (const text of ['[', '(a', '\\', '*', 'a|b', '$1', '^', '{2}', ']', '/', '\\d', 'İ', '🫠'])
		assert.deepEqual(find(query(text), `x${text}y`), [0, 1, text.length], text);
	assert.deepEqual(find(query('x'), 'İİx'), [0, 2, 1], 'a character with a longer small letter does not move matches');
});

test('regular expressions', () => {
	assert.deepEqual(find(query('^l\\w+ \\d+$', { regex: true }), 'Line 7', ' line 8', 'line 9'), [0, 0, 6, 2, 0, 6]);
	assert.deepEqual(find(query('o*', { regex: true }), 'foo', ''), [0, 1, 2], 'no empty matches');
	assert.deepEqual(find(query('^.$', { regex: true }), '🫠'), [0, 0, 2]);
	assert.deepEqual(find(query('a\\-b', { regex: true }), 'a-b'), [0, 0, 3], 'an escape that is invalid with the flag u');
	for (const text of ['(', '[a', 'a{2,1}', '*', '\\', '(?<n'])
		assert.throws(() => query(text, { regex: true }), /^Error: Invalid expression: \S[^:]+$/, text);
});

test('expressions that are likely to take for ever are refused', () => {
	for (const text of ['(a+)+$', '^(a*)*b', '(\\w+\\s*)+:', '((a+))+', '(?:[a-z]+)*', '(x|y*)+', '(a{2,}){3,}', '(.|\\s)*x', '(?<n>\\d+)+', '(a+b?)+'])
		assert.throws(() => query(text, { regex: true }), /can take for ever/, text);
	for (const text of ['([a-z]+\\.)+com', '(foo|bar)+', '\\w+\\s+\\d*', '(a+)?', '(ab)+', '[(a+)+]', '\\(a+\\)+', '(a+){2}', '(?=a+)b+', '(, \\d+)*', '.*x.*'])
		assert.ok(query(text, { regex: true }), text);
});

test('the place of a match in wrapped lines and beside wide and combined characters', async () => {
	const terminal = newTerminal(); // 40 columns
	await write(terminal, `${'x'.repeat(38)}needle\r\n日本needle e\u0301needle\r\n${'y'.repeat(39)}日needle\r\n${'z'.repeat(34)}needle`);
	const buffer = terminal.buffer.active;
	const place = (row: number) => {
		const pieces = readLine(buffer, row), text = pieces.join('');
		return placeOf(buffer, row, pieces, text.indexOf('needle'), 6, terminal.cols);
	};
	assert.deepEqual(place(0), { row: 0, column: 38, size: 6 });
	assert.deepEqual(place(2), { row: 2, column: 4, size: 6 });
	const pieces = readLine(buffer, 2), text = pieces.join('');
	assert.deepEqual(placeOf(buffer, 2, pieces, text.lastIndexOf('needle'), 6, 40), { row: 2, column: 12, size: 6 });
	assert.equal(readLine(buffer, 3).join(''), `${'y'.repeat(39)}日needle`);
	assert.deepEqual(place(3), { row: 4, column: 2, size: 6 });
	assert.deepEqual(place(5), { row: 5, column: 34, size: 6 });
});

test('a line over very many rows is read in parts', async () => {
	const terminal = newTerminal();
	await write(terminal, 'a'.repeat(40 * 450));
	assert.deepEqual([0, 50, 440].map((row) => readLine(terminal.buffer.active, row).length), [50, 50, 10]);
});

test('results can be removed at both ends', () => {
	const results = new Results();
	for (let row = 0; row < 100; row++)
		results.add(row, row % 3, 2);
	results.removeAbove(10);
	assert.deepEqual([results.count, results.at(0)?.row, results.at(-1), results.before(12, 0)], [90, 10, null, 2]);
	results.removeAbove(80);
	results.removeFrom(90);
	assert.deepEqual([results.count, results.at(0)?.row, results.at(10)], [10, 80, null]);
	assert.equal(results.indexOf({ row: 82, offset: 1, length: 2 }), 2);
	assert.equal(results.indexOf({ row: 82, offset: 1, length: 3 }), -1);
	results.removeFrom(0);
	results.removeAbove(1000);
	assert.equal(results.count, 0);
});

function scanned(scrollback: number) {
	const terminal = newTerminal();
	terminal.options.scrollback = scrollback;
	let meanwhile: (() => Promise<void>) | null = null;
	const scanner = new Scanner(terminal, async () => {
		const run = meanwhile;
		meanwhile = null;
		await run?.();
	}, 0);
	return {
		terminal, scanner,
		/** Texts of all matches, from the terminal. */
		texts(): string[] {
			const { results, gone } = scanner;
			return Array.from({ length: results.count }, (_, index) => {
				const match = results.at(index);
				return match === null ? '' : readLine(terminal.buffer.active, match.row - gone).join('').slice(match.offset, match.offset + match.length);
			});
		},
		during(run: () => Promise<void>): void {
			meanwhile = run;
		},
	};
}

test('new output is searched without searching the history again', async () => {
	const t = scanned(5000);
	await write(t.terminal, numbered(1, 3000).join('\r\n'));
	let searched = 0;
	t.scanner.reset(Object.assign(query('line \\d+', { regex: true }), {
		[Symbol.matchAll](this: RegExp, text: string) {
			searched++;
			return RegExp.prototype[Symbol.matchAll].call(this, text);
		},
	}));
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts(), numbered(1, 3000));
	searched = 0;
	await write(t.terminal, `\r\n${numbered(3001, 3020).join('\r\n')}`);
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts(), numbered(1, 3020));
	assert.ok(searched > 0 && searched < 60);
	// The screen changes: its old matches are gone.
	await write(t.terminal, '\x1b[2J\x1b[Hline 7');
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts(), [...numbered(1, 3010), 'line 7']);
});

test('matches follow rows that leave the buffer, also during a search', async () => {
	const t = scanned(100); // 110 rows
	await write(t.terminal, numbered(1, 110).join('\r\n'));
	t.scanner.reset(query('line \\d+', { regex: true }));
	t.during(() => write(t.terminal, `\r\n${numbered(111, 130).join('\r\n')}`));
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts().slice(0, 90), numbered(21, 110));
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts(), numbered(21, 130));
	// All rows are replaced during a search.
	t.scanner.reset();
	t.during(() => write(t.terminal, `\r\n${numbered(131, 500).join('\r\n')}`));
	assert.ok(!await t.scanner.scan() && !t.scanner.complete);
	assert.ok(await t.scanner.scan() && t.scanner.complete);
	assert.deepEqual(t.texts(), numbered(391, 500));
	await write(t.terminal, '\x1b[3J');
	assert.ok(await t.scanner.scan());
	assert.deepEqual(t.texts(), numbered(491, 500));
});

test('after any output the matches are those of a new search', async () => {
	const seed = Number(process.env['SEED'] ?? Date.now() % 1e6);
	let state = seed;
	const random = (below: number) => {
		state = (state * 48271 + 11) % 2147483647;
		return state % below;
	};
	const t = scanned(60);
	t.scanner.reset(query('ab', { regex: true }));
	for (let round = 0; round < 400; round++) {
		const pieces = ['\r\nabab ab', '\r\nx', `\r\n${'ab'.repeat(random(200))}`, '\x1b[2J', '\x1b[H', '\x1b[3;8r', '\x1b[r', '\x1b[2L', '\x1b[3M', '\x1b[3J',
			`\x1b[${random(10)};5Hab日`, '\x1b[2S', '\x1b[2T', '\x1bM', '\n', '\r\n'.repeat(random(90))];
		await write(t.terminal, Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join(''));
		while (!await t.scanner.scan());
		const fresh = new Scanner(t.terminal, () => Promise.resolve());
		fresh.reset(query('ab', { regex: true }));
		await fresh.scan();
		// Not in the rest of a line whose start has left the buffer.
		let top = 0;
		while (t.terminal.buffer.active.getLine(top)?.isWrapped)
			top++;
		const all = ({ results, gone }: Scanner) => Array.from({ length: results.count }, (_, index) => results.at(index))
			.filter((match) => match !== null && match.row - gone >= top)
			.map((match) => match === null ? '' : `${match.row - gone}:${match.offset}`);
		assert.deepEqual(all(t.scanner), all(fresh), `SEED=${seed} round ${round}`);
	}
});
