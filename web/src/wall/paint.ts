/* Turns a picture into rectangles and texts, in cells from the upper left corner of its tile. No DOM, so that unit tests cover it. */
import type { Colors } from './colors';
import type { Picture, Run } from './picture';
import { columnsOf } from '../term/unicode';

export interface Rect {
	readonly column: number;
	readonly row: number;
	readonly columns: number;
	readonly color: string;
}

/** Text whose characters all have one column, or a single character. */
export interface Text {
	readonly column: number;
	readonly row: number;
	readonly columns: number;
	readonly text: string;
	readonly color: string;
	readonly bold: boolean;
	readonly italic: boolean;
	readonly dim: boolean;
}

export interface Painting {
	readonly rects: readonly Rect[];
	readonly texts: readonly Text[];
}

/** The part of a picture that a tile shows, and its size in device pixels. */
export interface Frame {
	readonly cellWidth: number;
	readonly cellHeight: number; // an integer, so that there are no seams between rows
	readonly columns: number; // including one that is cut at the edge
	readonly top: number; // the first row
	readonly rows: number;
}

const CELL_MIN = 2.2; // CSS pixels of a cell's width: the least that is readable
const CELL_MAX = 8;
const RATIO = 2; // cell height to width

/** All columns, if they are readable, and the rows down to the cursor. ratio: device pixels per CSS pixel. */
export function frameOf(picture: Picture, width: number, height: number, ratio: number): Frame {
	const cellWidth = Math.min(CELL_MAX * ratio, Math.max(CELL_MIN * ratio, width / picture.cols));
	const cellHeight = Math.max(1, Math.round(cellWidth * RATIO));
	const rows = Math.min(picture.rows.length, Math.max(1, Math.floor(height / cellHeight)));
	return {
		cellWidth, cellHeight, rows, columns: Math.min(picture.cols, Math.ceil(width / cellWidth)),
		top: Math.max(0, Math.min(lastRow(picture) + 1, picture.rows.length) - rows),
	};
}

/** The row of the cursor, or the last row that is not blank if the cursor is hidden. */
function lastRow({ cursor, rows }: Picture): number {
	if (cursor !== null)
		return cursor.row;
	let last = rows.length - 1;
	while (last > 0 && !rows[last]?.some(({ text, bg }) => bg !== null || text.trim() !== ''))
		last--;
	return last;
}

/** isMonospaced: whether a character beyond ASCII is as wide as ASCII ones, so that they can be drawn together. */
export function paintPicture(picture: Picture, frame: Frame, colors: Colors, isMonospaced: (character: string) => boolean): Painting {
	const rects: Rect[] = [], texts: Text[] = [];
	for (let row = 0; row < frame.rows; row++) {
		for (const run of picture.rows[frame.top + row] ?? []) {
			if (run.column >= frame.columns)
				continue;
			const color = colors.backgroundOf(run.bg);
			if (color !== null)
				rects.push({ column: run.column, row, columns: Math.min(run.columns, frame.columns - run.column), color });
			if (run.text !== '')
				pushTexts(texts, run, row, frame.columns, colors.text(run.fg, run.bg), isMonospaced);
		}
	}
	const { cursor } = picture;
	if (cursor !== null && cursor.row >= frame.top && cursor.row < frame.top + frame.rows && cursor.column < frame.columns)
		rects.push({ column: cursor.column, row: cursor.row - frame.top, columns: 1, color: colors.cursor });
	return { rects, texts };
}

function pushTexts(texts: Text[], run: Run, row: number, columns: number, color: string, isMonospaced: (character: string) => boolean): void {
	const { bold, italic, dim } = run;
	const end = Math.min(columns, run.column + run.columns);
	let column = run.column, from = column, together = '';
	const flush = () => {
		const text = together.trimEnd();
		if (text !== '')
			texts.push({ column: from, row, columns: column - from, text, color, bold, italic, dim });
		together = '';
		from = column;
	};
	for (const character of run.text) {
		if (character >= ' ' && character <= '~') {
			if (column >= end)
				break;
			together += character;
			column++;
			continue;
		}
		// Skip control characters, direction overrides, and combining marks, which are too small to see.
		const width = columnsOf(character.codePointAt(0) ?? 0);
		if (width === 0)
			continue;
		if (column + width > end)
			break;
		const hidden = /\p{C}/u.test(character);
		if (width === 1 && !hidden && isMonospaced(character)) {
			together += character;
			column++;
			continue;
		}
		flush();
		column += width;
		if (!hidden)
			texts.push({ column: from, row, columns: width, text: character, color, bold, italic, dim });
		from = column;
	}
	flush();
}
