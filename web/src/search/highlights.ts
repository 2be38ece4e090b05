import type { IDecoration, IMarker, Terminal } from '@xterm/xterm';
import { h } from '../ui/dom';
import type { SearchColors } from './colors';
import type { Place } from './lines';

const PIECES_MAX = 1000; // on one screen

/**
 * Highlights the matches in view, and marks rows in the scroll bar. Those in view are elements over the text: the decorations
 * of xterm.js get out of order when a program clears rows that have some.
 */
export class Highlights {
	#terminal: Terminal;
	#layer = h('div', { class: 'search-layer', 'aria-hidden': 'true' });
	#ruler: { readonly marker: IMarker; readonly decoration: IDecoration | undefined }[] = [];
	#oldMarkers: IMarker[] = [];

	constructor(terminal: Terminal) {
		this.#terminal = terminal;
	}

	/** Highlight these places, and the current one. */
	showView(places: readonly Place[], current: Place | null): void {
		if (!this.#layer.isConnected)
			this.#terminal.element?.querySelector('.xterm-screen')?.append(this.#layer);
		this.#layer.replaceChildren(...[
			...places.flatMap((place) => this.#piecesOf(place, 'search-match')),
			...(current === null ? [] : this.#piecesOf(current, 'search-current')),
		].slice(-PIECES_MAX));
	}

	/** Mark these rows in the scroll bar, and the current one. Rows of the screen get no marks. */
	showRuler(rows: readonly number[], current: number | null, colors: SearchColors): void {
		const terminal = this.#terminal;
		const { baseY, cursorY } = terminal.buffer.active;
		const marks = [
			...rows.map((row) => ({ row, color: colors.match })),
			...(current === null ? [] : [{ row: current, color: colors.current }]),
		].filter(({ row }) => row < baseY);
		for (const { marker, decoration } of this.#ruler.splice(0)) {
			decoration?.dispose();
			this.#oldMarkers.push(marker);
		}
		for (const { row, color } of marks) {
			const marker = terminal.registerMarker(row - baseY - cursorY);
			const decoration = terminal.registerDecoration({ marker, overviewRulerOptions: { color, position: 'center' } });
			this.#ruler.push({ marker, decoration });
		}
		// xterm.js removes decorations from its list when it inserts the next, and needs their markers until then.
		if (marks.length > 0)
			for (const marker of this.#oldMarkers.splice(0))
				marker.dispose();
	}

	clear(): void {
		this.#layer.remove();
		this.showRuler([], null, { match: '', current: '' });
	}

	#piecesOf({ row, column, size }: Place, look: string): HTMLElement[] {
		const { cols, rows, buffer } = this.#terminal;
		const pieces: HTMLElement[] = [];
		let line = row - buffer.active.viewportY;
		for (let at = column, rest = size; rest > 0 && line < rows; at = 0, line++) {
			const width = Math.min(cols - at, rest);
			rest -= width;
			if (line < 0)
				continue;
			const piece = h('div', { class: look });
			piece.style.left = `${at * 100 / cols}%`;
			piece.style.width = `${width * 100 / cols}%`;
			piece.style.top = `${line * 100 / rows}%`;
			piece.style.height = `${100 / rows}%`;
			pieces.push(piece);
		}
		return pieces;
	}
}
