/*
 * Cells of a terminal's buffer, counted from its first one, and the words in them. No DOM, so that unit tests cover it.
 */

interface Cell {
	getChars(): string;
	getWidth(): number;
}

interface Line {
	readonly isWrapped: boolean;
	getCell(column: number): Cell | undefined;
}

export interface Rows {
	getLine(row: number): Line | undefined;
}

/** A range of cells. */
export interface Range {
	readonly start: number;
	readonly end: number; // exclusive
}

const WORD_MAX = 20_000; // cells to each side

/** The word at a cell, also across wrapped rows; null if there is none. separators: the characters between words. */
export function wordAt(rows: Rows, cols: number, separators: string, at: number): Range | null {
	if (!inWord(rows, cols, separators, at))
		return null;
	let start = at, end = at + 1;
	while (at - start < WORD_MAX && joined(rows, cols, start) && inWord(rows, cols, separators, start - 1))
		start--;
	while (end - at < WORD_MAX && joined(rows, cols, end) && inWord(rows, cols, separators, end))
		end++;
	return { start, end };
}

/** Grow a range so that it contains no half of a wide character. */
export function wholeCells(rows: Rows, cols: number, { start, end }: Range): Range {
	return { start: isSecondHalf(rows, cols, start) ? start - 1 : start, end: isSecondHalf(rows, cols, end) ? end + 1 : end };
}

/** Whether this cell and the one before it are in one line of text. */
function joined(rows: Rows, cols: number, at: number): boolean {
	return at > 0 && (at % cols > 0 || rows.getLine(at / cols)?.isWrapped === true);
}

function cellAt(rows: Rows, cols: number, at: number): Cell | undefined {
	return rows.getLine(Math.floor(at / cols))?.getCell(at % cols);
}

function inWord(rows: Rows, cols: number, separators: string, at: number): boolean {
	const cell = cellAt(rows, cols, at);
	if (cell === undefined)
		return false;
	if (cell.getWidth() === 0)
		return true; // the second half of a wide character
	if (cell.getChars() === '')
		return isFiller(rows, cols, at);
	return !separators.includes(cell.getChars());
}

/** Whether the cell is empty only because a wide character, now in the next row, did not fit. */
function isFiller(rows: Rows, cols: number, at: number): boolean {
	const next = rows.getLine(Math.floor(at / cols) + 1);
	return at % cols === cols - 1 && next?.isWrapped === true && next.getCell(0)?.getWidth() === 2;
}

function isSecondHalf(rows: Rows, cols: number, at: number): boolean {
	return at % cols > 0 && cellAt(rows, cols, at)?.getWidth() === 0;
}
