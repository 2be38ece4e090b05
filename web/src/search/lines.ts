/* The text of a terminal's lines, which may be wrapped over several rows, and where it is in cells. */
import type { IBuffer, IBufferLine } from '@xterm/xterm';

const ROWS_MAX = 50; // a longer line is searched in parts: regular expressions can take the square of its length

/** Cells of a piece of a line; it may go on in the rows below. */
export interface Place {
	readonly row: number;
	readonly column: number;
	readonly size: number;
}

/** The text of each row of the line that starts at the row. */
export function readLine(buffer: IBuffer, row: number): string[] {
	const pieces: string[] = [];
	let line = buffer.getLine(row);
	while (line !== undefined) {
		const below: IBufferLine | undefined = buffer.getLine(++row);
		const next = below?.isWrapped ? below : undefined;
		pieces.push(textOf(line, next));
		line = pieces.length < ROWS_MAX ? next : undefined;
	}
	return pieces;
}

function textOf(line: IBufferLine, next: IBufferLine | undefined): string {
	const text = line.translateToString(next === undefined);
	const last = line.getCell(line.length - 1);
	// A wide character did not fit into the last column.
	const gap = next?.getCell(0)?.getWidth() === 2 && last?.getChars() === '' && last.getWidth() === 1;
	return gap ? text.slice(0, -1) : text;
}

/** The cells of the text at [offset, offset + length) of a line. pieces: what readLine() returns for its first row. */
export function placeOf(buffer: IBuffer, row: number, pieces: readonly string[], offset: number, length: number,
	columns: number): Place {
	const start = cellAt(buffer, row, pieces, offset, false);
	const end = cellAt(buffer, row, pieces, offset + length, true);
	return { ...start, size: (end.row - start.row) * columns + end.column - start.column };
}

/** Where the text at the offset starts, or where the text before it ends. */
function cellAt(buffer: IBuffer, row: number, pieces: readonly string[], offset: number,
	ends: boolean): { row: number; column: number } {
	let at = 0;
	for (let length; at < pieces.length - 1; at++, offset -= length) {
		length = pieces[at]?.length ?? 0;
		if (offset < length || (ends && offset === length))
			break;
	}
	return { row: row + at, column: columnAt(buffer.getLine(row + at), offset) };
}

function columnAt(line: IBufferLine | undefined, offset: number): number {
	let column = 0;
	while (line !== undefined && offset > 0 && column < line.length) {
		const cell = line.getCell(column);
		offset -= cell?.getChars().length || 1;
		column += cell?.getWidth() || 1;
	}
	return column;
}
