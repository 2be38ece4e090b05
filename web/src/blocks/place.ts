/* Where commands are on the page. Pure. */
import { colorOf, kindOf, type Block, type BlockKind } from './block';

export interface MarkPlace {
	readonly row: number; // of the buffer
	readonly left: boolean; // in the first column
}

/** Rows of the buffer, endRow included. */
export interface PlacedBlock {
	readonly block: Block;
	readonly row: number;
	readonly endRow: number;
	readonly begins: boolean; // its first row is in the buffer
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
	readonly color: number | null; // of the program that ran it; null for people
	readonly begins: boolean; // its first row is visible
}

/**
 * The commands that are in the buffer, from top to bottom. A command goes from the row in which it was typed to the last
 * row of its output, or to the cursor while it runs. If its first row is gone, it begins after the previous command.
 * find: the place of a mark by its offset. cursor: the row of the cursor.
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

/** The visible parts of the commands. */
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

/** The command whose first row is above the window while some of its rows are in it. */
export function headOf(placed: readonly PlacedBlock[], top: number): PlacedBlock | null {
	return placed.find(({ row, endRow, begins }) => endRow >= top && (row < top || (row === top && !begins))) ?? null;
}

/** The first row of the next command before (or after) the row at the top of the window, or null. */
export function neighbour(placed: readonly PlacedBlock[], top: number, direction: 'before' | 'after'): number | null {
	const rows = placed.filter(({ begins }) => begins).map(({ row }) => row);
	return (direction === 'before' ? rows.reverse().find((row) => row < top) : rows.find((row) => row > top)) ?? null;
}
