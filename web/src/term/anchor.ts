/* Finds a position in the text again after the terminal was refilled. */

export interface TextRows {
	readonly length: number;
	getLine(row: number): { translateToString(trimRight: boolean): string } | undefined;
}

export interface Anchor {
	readonly row: number;
	readonly fromEnd: number;
	readonly text: readonly string[]; // of the rows around it
	readonly above: number; // how many of these are above it
}

const AROUND = 12;

export function createAnchor(rows: TextRows, row: number): Anchor {
	const first = Math.max(0, row - AROUND);
	const count = Math.min(rows.length, row + AROUND) - first;
	const text = Array.from({ length: count }, (_, index) => textOf(rows, first + index));
	return { row, fromEnd: rows.length - row, text, above: row - first };
}

/**
 * The row where the anchor's text is now, or null if it is gone. If the text occurs several times, the result is the
 * occurrence that needs the fewest new lines below it.
 */
export function findAnchor(rows: TextRows, { fromEnd, text, above }: Anchor): number | null {
	const known: string[] = [];
	const alike = (row: number) => text.reduce((count, line, index) => {
		const at = row - above + index;
		return count + Number(line !== '' && at >= 0 && (known[at] ??= textOf(rows, at)) === line);
	}, 0);
	const all = text.filter((line) => line !== '').length;
	const expected = Math.min(Math.max(0, rows.length - fromEnd), rows.length - 1);
	let best: number | null = null;
	let most = Math.max(0, all / 2 - 1); // some lines may have changed or be gone
	for (let step = 0; step < rows.length; step++) {
		const row = step <= expected ? expected - step : step;
		const count = alike(row);
		if (count === all)
			return row;
		if (count > most) {
			most = count;
			best = row;
		}
	}
	return best;
}

function textOf(rows: TextRows, row: number): string {
	return rows.getLine(row)?.translateToString(true).trimEnd() ?? '';
}
