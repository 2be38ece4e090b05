/* Where on the page commands are: all of it follows from what is known of them and of the terminal. */
import { colorOf, kindOf, type Block, type BlockKind } from './block';

export interface MarkPlace {
	readonly row: number; // of the buffer
	readonly left: boolean;
}

/** Rows of the buffer, both included. */
export interface PlacedBlock {
	readonly block: Block;
	readonly row: number;
	readonly endRow: number;
	readonly begins: boolean; // its first row is there
}

export interface Viewport {
	readonly top: number; // row of the buffer
	readonly rows: number;
}

/** A stretch of the gutter, in rows of the window. */
export interface Segment {
	readonly id: string;
	readonly block: Block;
	readonly top: number;
	readonly height: number;
	readonly kind: BlockKind;
	readonly color: number | null; // of the program that ran it; null: people
	readonly begins: boolean; // its first row is in sight
}

/**
 * Those that are in the buffer, from above. A command goes from the row in which it was typed to the last in which it has
 * printed something, or to the cursor while it runs. One whose first row has gone begins behind the one before.
 * find: of a mark, by its offset. cursor: the row it is in.
 */
export function placeBlocks(blocks: readonly Block[], find: (offset: number) => MarkPlace | null, cursor: number): PlacedBlock[] {
	const placed: PlacedBlock[] = [];
	for (const block of blocks) {
		const first = block.inputMark === null ? null : find(block.inputMark);
		const last = block.endMark === null ? null : find(block.endMark);
		if (first === null && last === null && !(block.state === 'running' && block.inputMark !== null))
			continue;
		const row = first?.row ?? (placed.at(-1)?.endRow ?? -1) + 1;
		let endRow = row;
		if (block.state === 'running')
			endRow = Math.max(row, cursor);
		else if (last !== null)
			endRow = last.left && (last.row > row || first === null) ? last.row - 1 : last.row;
		if (endRow >= row)
			placed.push({ block, row, endRow, begins: first !== null });
	}
	return placed;
}

/** What of them is in sight. */
export function segmentsOf(placed: readonly PlacedBlock[], { top, rows }: Viewport): Segment[] {
	const segments: Segment[] = [];
	for (const { block, row, endRow, begins } of placed) {
		const from = Math.max(row, top);
		const to = Math.min(endRow, top + rows - 1);
		if (from <= to)
			segments.push({
				id: block.id, block, top: from - top, height: to - from + 1, kind: kindOf(block),
				color: block.by === 'exec' ? colorOf(block) : null, begins: begins && row >= top,
			});
	}
	return segments;
}

/** The one whose beginning has left the window at the top, while some of it is still there. */
export function headOf(placed: readonly PlacedBlock[], top: number): PlacedBlock | null {
	return placed.find(({ row, endRow, begins }) => endRow >= top && (row < top || (row === top && !begins))) ?? null;
}

/** The first row of the command before (or after) the row that is at the top now; null: there is none. */
export function neighbour(placed: readonly PlacedBlock[], top: number, direction: 'before' | 'after'): number | null {
	const rows = placed.filter(({ begins }) => begins).map(({ row }) => row);
	return (direction === 'before' ? rows.reverse().find((row) => row < top) : rows.find((row) => row > top)) ?? null;
}
