import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeCells, wordAt } from '../src/touch/cells';
import { newTerminal, write } from './terminals';

const COLS = 40;
const SEPARATORS = ' ()[]{}\',"`';

test('a word ends at separators, and goes on in wrapped rows', async () => {
	const terminal = newTerminal();
	await write(terminal, `say "two words" (x)\r\n${'a'.repeat(COLS - 2)} ${'b'.repeat(COLS + 5)}\r\n${'c'.repeat(COLS)}\r\nd`);
	const word = (row: number, column: number) => wordAt(terminal.buffer.active, COLS, SEPARATORS, row * COLS + column);
	assert.deepEqual(word(0, 0), { start: 0, end: 3 });
	assert.deepEqual(word(0, 6), { start: 5, end: 8 });
	assert.deepEqual(word(0, 17), { start: 17, end: 18 });
	for (const [row, column] of [[0, 3], [0, 4], [0, 30], [7, 0], [-1, 5], [9999, 0]] as const)
		assert.equal(word(row, column), null, `${row} ${column}`);
	const wrapped = { start: COLS + COLS - 1, end: COLS + COLS + COLS + 4 };
	for (const at of [wrapped.start, wrapped.start + 1, wrapped.end - 1])
		assert.deepEqual(word(0, at), wrapped);
	// A full row that is not wrapped ends its word.
	assert.deepEqual(word(4, 0), { start: 4 * COLS, end: 5 * COLS });
	assert.deepEqual(word(5, 0), { start: 5 * COLS, end: 5 * COLS + 1 });
});

test('wide characters are whole, also where one did not fit', async () => {
	const terminal = newTerminal();
	await write(terminal, `字字 x${'字'.repeat(COLS / 2)}`);
	const rows = terminal.buffer.active;
	for (const at of [0, 1, 2, 3])
		assert.deepEqual(wordAt(rows, COLS, SEPARATORS, at), { start: 0, end: 4 });
	for (const at of [5, 6, COLS - 2, COLS, COLS + 1])
		assert.deepEqual(wordAt(rows, COLS, SEPARATORS, at), { start: 5, end: COLS + 6 });
	assert.deepEqual(wholeCells(rows, COLS, { start: 1, end: 3 }), { start: 0, end: 4 });
	assert.deepEqual(wholeCells(rows, COLS, { start: 2, end: 5 }), { start: 2, end: 5 });
});

test('an endless word is cut', async () => {
	const terminal = newTerminal();
	terminal.options.scrollback = 2000;
	await write(terminal, 'w'.repeat(1500 * COLS));
	const word = wordAt(terminal.buffer.active, COLS, SEPARATORS, 750 * COLS);
	assert.deepEqual(word, { start: 750 * COLS - 20_000, end: 750 * COLS + 20_000 });
});
