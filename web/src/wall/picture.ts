/* The screen of a session, updated by the server's replies. No DOM, so that unit tests cover it. */

/** A colour from the server: an index into the palette, "#rrggbb", or null for the default. */
export type Color = number | string | null;

/** Cells of a row in one style. */
export interface Run {
	readonly column: number;
	readonly columns: number;
	readonly text: string;
	readonly fg: Color;
	readonly bg: Color;
	readonly bold: boolean;
	readonly dim: boolean;
	readonly italic: boolean;
}

export interface Picture {
	readonly cols: number;
	readonly rows: readonly (readonly Run[])[];
	readonly cursor: { readonly row: number; readonly column: number } | null; // null if hidden
	readonly version: number;
	readonly offset: number; // of the output up to which it is current
	readonly plain: boolean; // fetched without styles, because there are too many
}

/** The screen has to be fetched again: completely, or without styles. */
export type Again = 'whole' | 'plain';

const COLS_MAX = 1000; // no session has more
const ROWS_MAX = 1000;

/** Stand for swapped default colours of inverse cells: text in the background colour and vice versa. */
export const SWAPPED = { foreground: -1, background: -2 } as const;

/**
 * The picture after a reply of screen?cells=1&since=V, which updates `before`; null if the reply is invalid. Cells outside of the
 * picture are cut off.
 */
export function applyScreen(before: Picture | null, answer: unknown, plain: boolean): Picture | Again | null {
	const body = objectOf(answer);
	const cols = countOf(body['cols'], COLS_MAX), count = countOf(body['rows'], ROWS_MAX);
	if (cols === 0 || count === 0 || !Array.isArray(body['lines']))
		return null;
	if (typeof body['next'] === 'number' && !plain)
		return 'plain';
	if (before !== null && (before.cols !== cols || before.rows.length !== count))
		return 'whole';
	const rows = before === null ? Array.from({ length: count }, (): readonly Run[] => []) : [...before.rows];
	for (const each of body['lines'] as unknown[]) {
		const line = objectOf(each), row = line['row'];
		if (typeof row === 'number' && Number.isInteger(row) && row >= 0 && row < count)
			rows[row] = runsOf(line, cols);
	}
	const cursor = objectOf(body['cursor']);
	return {
		cols, rows, plain, version: countOf(body['version'], Number.MAX_SAFE_INTEGER), offset: countOf(body['offset'], Number.MAX_SAFE_INTEGER),
		cursor: cursor['visible'] === true
			? { row: countOf(cursor['row'], count - 1), column: countOf(cursor['col'], cols - 1) } : null,
	};
}

function runsOf(line: Readonly<Record<string, unknown>>, cols: number): Run[] {
	const cells = Array.isArray(line['cells']) ? line['cells'] as unknown[] : [{ column: 0, columns: cols, text: line['text'] }];
	return cells.map((each) => runOf(objectOf(each), cols)).filter((run) => run.columns > 0);
}

function runOf(cell: Readonly<Record<string, unknown>>, cols: number): Run {
	const column = countOf(cell['column'], cols);
	const fg = colorOf(cell['fg']), bg = colorOf(cell['bg']);
	const inverse = cell['inverse'] === true;
	return {
		column, columns: countOf(cell['columns'], cols - column),
		text: typeof cell['text'] === 'string' && cell['conceal'] !== true ? cell['text'] : '',
		fg: inverse ? bg ?? SWAPPED.foreground : fg, bg: inverse ? fg ?? SWAPPED.background : bg,
		bold: cell['bold'] === true, dim: cell['dim'] === true, italic: cell['italic'] === true,
	};
}

function colorOf(value: unknown): Color {
	if (typeof value === 'number')
		return countOf(value, 255);
	return typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value) ? value : null;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
}

/** An integer from 0 to most; 0 for invalid values. */
function countOf(value: unknown, most: number): number {
	return typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), most) : 0;
}
