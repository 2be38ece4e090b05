/* Positions of tiles, in CSS pixels from the upper left corner of the scrolled area. No DOM, so that unit tests cover it. */

export interface Layout {
	readonly count: number;
	readonly columns: number;
	readonly tileWidth: number;
	readonly tileHeight: number;
	readonly headHeight: number;
	readonly height: number; // of all rows
}

export interface Place {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
	readonly headHeight: number;
}

const HEAD_HEIGHT = { fine: 30, coarse: 44 }; // of a tile, as in wall.css and targets.css
const GAP = 10;
const MARGIN = 12;
const TILE_MIN = 250;
const TILE_MAX = 720;
const PHONE_MAX = 560; // a window up to this width has one column
const SHAPE = 0.6; // height of a picture relative to its width, as of 80×24 cells

/** The largest tiles with which all are visible, but not smaller than readable. coarse: for fingers. */
export function layOut(count: number, width: number, height: number, coarse: boolean): Layout {
	const headHeight = coarse ? HEAD_HEIGHT.coarse : HEAD_HEIGHT.fine;
	const most = width <= PHONE_MAX ? 1 : Math.max(1, Math.floor((width - 2 * MARGIN + GAP) / (TILE_MIN + GAP)));
	for (let columns = 1; columns < most; columns++) {
		const layout = withColumns(count, columns, width, headHeight);
		if (layout.height <= height)
			return layout;
	}
	return withColumns(count, most, width, headHeight);
}

function withColumns(count: number, columns: number, width: number, headHeight: number): Layout {
	const tileWidth = Math.min(TILE_MAX, Math.floor((width - 2 * MARGIN - (columns - 1) * GAP) / columns));
	const tileHeight = headHeight + Math.round(tileWidth * SHAPE);
	const rows = Math.ceil(count / columns);
	return { count, columns, tileWidth, tileHeight, headHeight, height: 2 * MARGIN + rows * tileHeight + Math.max(0, rows - 1) * GAP };
}

export function placeOf({ columns, tileWidth, tileHeight, headHeight }: Layout, at: number): Place {
	return {
		x: MARGIN + (at % columns) * (tileWidth + GAP), y: MARGIN + Math.floor(at / columns) * (tileHeight + GAP),
		width: tileWidth, height: tileHeight, headHeight,
	};
}

/** The tiles that overlap the range from top to bottom: from first to end (exclusive). */
export function tilesBetween({ count, columns, tileHeight }: Layout, top: number, bottom: number): { first: number; end: number } {
	const row = tileHeight + GAP;
	const first = Math.max(0, Math.floor((top - MARGIN + GAP) / row)) * columns;
	const end = Math.max(0, Math.ceil((bottom - MARGIN) / row)) * columns;
	return { first: Math.min(count, first), end: Math.max(Math.min(count, first), Math.min(count, end)) };
}

/** The tile that a key leads to, or null for other keys. page: number of visible rows. */
export function moveBy(key: string, at: number, { count, columns }: Layout, page: number): number | null {
	const last = count - 1;
	switch (key) {
	case 'ArrowLeft':
		return Math.max(0, at - 1);
	case 'ArrowRight':
		return Math.min(last, at + 1);
	case 'ArrowUp':
		return at - columns >= 0 ? at - columns : at;
	case 'ArrowDown':
		// If there is no tile below in the last row, the last tile.
		return at + columns <= last ? at + columns : Math.floor(at / columns) < Math.floor(last / columns) ? last : at;
	case 'PageUp':
		return at - page * columns >= 0 ? at - page * columns : at % columns;
	case 'PageDown':
		return Math.min(last, at + page * columns);
	case 'Home':
		return 0;
	case 'End':
		return last;
	default:
		return null;
	}
}
